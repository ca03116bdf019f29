"""Pure delay around a law: a line of past samples, or a Pade filter where the law is continuous.

``s_out(t) = s(t - delay)``. Sampled laws are delayed exactly, by whole periods; continuous ones by the all-pass filter
of chosen order whose transfer function agrees with ``exp(-s delay)`` to order 2n + 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np

from spacectl.controllers.wrappers.base import Channel, On, free_prefix, numbers_by_signal, require_law, wrap_signals
from spacectl.core.control_law import ControlLaw
from spacectl.core.errors import ModelError

__all__ = ["add_delay", "pade_filter"]

MAX_ORDER = 10  # of the filter; above, its fastest pole is beyond 30 / delay and only makes the loop stiff


def add_delay(law: ControlLaw, delay: Any, *, order: int = 3, start: Any = 0.0, on: On = "inputs") -> ControlLaw:
    """Delay signals of a law.

    Sampled: a line of past samples, exact; a delay must be a whole number of periods. Continuous: the Pade filter
    (n, n) of ``exp(-s delay)``. Its gain is 1 at all frequencies and its phase lacks ``c (w delay)^(2n+1)`` with
    ``c = (n!)^2 / ((2n)! (2n+1)!)``: for n = 3, less than 1e-3 rad up to ``w delay = 1.9``. Jumps pass it at once,
    with the sign (-1)^n, before the delayed one arrives: where that matters, sample the law.

    Parameters
    ----------
    law : ControlLaw
        The law.
    delay : float, sequence or mapping of names to float
        [s], one for all, one each, or by name (the others stay untouched).
    order : int
        Order n of the filter for a continuous law, 1 to 10.
    start : float, sequence or mapping of names to float
        Value of the signals before the run.
    on : {"inputs", "measurements", "states"}
        Delayed signals: the command, or the measurements.

    Returns
    -------
    ControlLaw

    References
    ----------
    The filter is the ladder of Lambert's fraction ``tanh x = x / (1 + x^2 / (3 + x^2 / (5 + ...)))``, cut after n
    terms, in ``exp(-2 x) = (1 - tanh x) / (1 + tanh x)``, ``x = s delay / 2``.

    Examples
    --------
    >>> from spacectl import design_pd, form_equations, library
    >>> law = design_pd(form_equations(library.pendulum()), kp=10.0, kd=2.0, period=0.1)
    >>> add_delay(law, 0.3).memory.names
    ('delay.hinge.1', 'delay.hinge.2', 'delay.hinge.3')
    """
    require_law(law, "add_delay")
    delays = numbers_by_signal(law, delay, on=on, what="delay", positive=False)
    starts = numbers_by_signal(law, start, on=on, what="delay: start", default=0.0)
    if isinstance(order, bool) or not isinstance(order, int) or not 1 <= order <= MAX_ORDER:
        raise ModelError(
            f"delay of law '{law.name}': order is {order!r}, expected a whole number from 1 to {MAX_ORDER}"
        )
    channels = {}
    for name, seconds in delays.items():
        if law.is_sampled:
            channels[name] = _line(_periods(law, name, seconds), starts[name])
        elif seconds > 0.0:
            channels[name] = _filter(order, seconds, starts[name])
    summary = {"delay": delays} if law.is_sampled else {"delay": delays, "order": order}
    return wrap_signals(law, channels, on=on, prefix=free_prefix(law, "delay"), title="delayed", notes=summary)


def pade_filter(order: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Return (A, B, C, D) of the Pade filter (n, n) of ``exp(-2 x)`` in the time of x.

    The ladder: ``e = v1 + e2, v1' = i; i = v2 + i3, v2' = 3 e2; e2 = v3 + e4, v3' = 5 i3; ...``, cut after n states,
    with the wave ``e + i`` as input and ``e - i`` as output. A constant input has v1 = input, the other states zero.
    """
    odd = np.arange(order) % 2 == 0  # states v1, v3, ...
    last = odd if order % 2 else ~odd  # the wave that the cut determines: the sum of these states
    total, rest = last.astype(float), -last.astype(float)  # ... and the other one is the input less it
    e, i = ((total, 0.0), (rest, 1.0)) if order % 2 else ((rest, 1.0), (total, 0.0))
    A, B = np.zeros((order, order)), np.zeros(order)
    for k in range(order):
        row, gain = i if odd[k] else e
        before = np.array([j < k and odd[j] != odd[k] for j in range(order)], dtype=float)
        A[k], B[k] = (2 * k + 1) * (row - before), (2 * k + 1) * gain
    return A, B, e[0] - i[0], e[1] - i[1]


def _periods(law: ControlLaw, name: str, seconds: float) -> int:
    count = round(seconds / law.period)
    if abs(seconds - count * law.period) > 1e-9 * law.period * max(count, 1):
        below = int(seconds // law.period)
        raise ModelError(
            f"delay of law '{law.name}': '{name}' has {seconds:g} s, which is no whole number of periods of "
            f"{law.period:g} s; take {below * law.period:g} s or {(below + 1) * law.period:g} s, or sample faster"
        )
    return count


def _line(count: int, start: float) -> Channel:
    names = [f"{k + 1}" for k in range(count)]

    def rule(s: Any, z: Mapping[str, Any], p: Any) -> tuple[Any, dict[str, Any]]:
        stages = [s, *(z[name] for name in names)]
        return stages[-1], dict(zip(names, stages[:-1], strict=True))

    return Channel(rule=rule, memory=dict.fromkeys(names, start))


def _filter(order: int, seconds: float, start: float) -> Channel:
    A, B, C, D = pade_filter(order)
    names = [f"{k + 1}" for k in range(order)]

    def rule(s: Any, z: Mapping[str, Any], p: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
        v = ca.vertcat(*(z[name] for name in names))
        rates = (2.0 / p["delay"]) * (A @ v + B * s)
        return C.reshape(1, -1) @ v + D * s, dict(zip(names, ca.vertsplit(rates), strict=True))

    memory = dict.fromkeys(names, 0.0) | {"1": start}
    return Channel(rule=rule, memory=memory, numbers={"delay": seconds})
