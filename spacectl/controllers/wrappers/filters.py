"""Low-pass and notch filters around a law, by frequency and damping.

A filter is two states (one for a first-order low-pass) for each signal. Sampled laws get the bilinear transform with
the frequency prewarped, so a notch is at its frequency for any period.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np

from spacectl.controllers.wrappers.base import Channel, On, free_prefix, numbers_by_signal, require_law, wrap_signals
from spacectl.core.control_law import ControlLaw
from spacectl.core.errors import ModelError, as_number

__all__ = ["add_low_pass", "add_notch"]


def add_low_pass(
    law: ControlLaw,
    frequency: Any,
    *,
    damping: float = np.sqrt(0.5),
    order: int = 2,
    start: Any = 0.0,
    on: On = "inputs",
) -> ControlLaw:
    """Filter signals of a law by a low-pass: ``w^2 / (s^2 + 2 damping w s + w^2)``, or ``w / (s + w)`` for order 1.

    Parameters
    ----------
    law : ControlLaw
        The law.
    frequency : float, sequence or mapping of names to float
        w [rad/s]: one for all, one each, or by name (the others stay untouched).
    damping : float
        Damping ratio; the default is Butterworth's. Order 1 has none.
    order : {1, 2}
        Number of states.
    start : float, sequence or mapping of names to float
        Value at which the filter rests before the run.
    on : {"inputs", "measurements", "states"}
        Which signals of the law.

    Returns
    -------
    ControlLaw
    """
    require_law(law, "add_low_pass")
    if order not in (1, 2):
        raise ModelError(f"low-pass of law '{law.name}': order is {order!r}, expected 1 or 2; wrap twice for more")
    numbers = {"damping": _positive(damping, f"low-pass of law '{law.name}': damping")} if order == 2 else {}
    states = ("value", "rate")[:order]

    def output(signal: Any, z: list[Any], p: Mapping[str, Any]) -> Any:
        return z[0]

    return _add_filter(law, "low_pass", "low-passed", states, output, frequency, numbers, start, on)


def add_notch(
    law: ControlLaw, frequency: Any, *, damping: float = 0.5, depth: float = 0.0, start: Any = 0.0, on: On = "inputs"
) -> ControlLaw:
    """Filter signals of a law by a notch: ``(s^2 + 2 depth damping w s + w^2) / (s^2 + 2 damping w s + w^2)``.

    Its gain is `depth` at w and 1 far from it; the notch is ``2 damping w`` wide.

    Parameters
    ----------
    law : ControlLaw
        The law.
    frequency : float, sequence or mapping of names to float
        w [rad/s], for example of a flexible mode: one for all, one each, or by name (the others stay untouched).
    damping : float
        Damping ratio of the poles: large for a wide notch.
    depth : float
        Gain at w, from 0 (nothing passes) to below 1.
    start : float, sequence or mapping of names to float
        Value at which the filter rests before the run.
    on : {"inputs", "measurements", "states"}
        Which signals of the law.

    Returns
    -------
    ControlLaw

    Examples
    --------
    >>> from spacectl import design_pd, form_equations, library
    >>> law = design_pd(form_equations(library.pendulum()), kp=10.0, kd=2.0, period=0.1)
    >>> add_notch(law, 12.0, depth=0.1).parameters.names[-3:]
    ('notch.hinge.frequency', 'notch.hinge.damping', 'notch.hinge.depth')
    """
    require_law(law, "add_notch")
    summary = f"notch of law '{law.name}'"
    gain = as_number(depth, f"{summary}: depth")
    if not 0.0 <= gain < 1.0:
        raise ModelError(f"{summary}: depth is {gain:g}, expected a gain from 0 (nothing passes) to below 1")
    numbers = {"damping": _positive(damping, f"{summary}: damping"), "depth": gain}

    def output(signal: Any, z: list[Any], p: Mapping[str, Any]) -> Any:
        return signal - 2.0 * (1.0 - p["depth"]) * p["damping"] * z[1]

    return _add_filter(law, "notch", "notched", ("value", "rate"), output, frequency, numbers, start, on)


def _add_filter(
    law: ControlLaw,
    word: str,
    title: str,
    states: tuple[str, ...],
    output: Any,
    frequency: Any,
    numbers: Mapping[str, float],
    start: Any,
    on: On,
) -> ControlLaw:
    summary = f"{word.replace('_', '-')} filter"
    frequencies = numbers_by_signal(law, frequency, on=on, what=f"{summary}: frequency")
    starts = numbers_by_signal(law, start, on=on, what=f"{summary}: start", default=0.0)
    period = law.period
    for name, value in frequencies.items():
        if period > 0.0 and value * period >= np.pi:
            raise ModelError(
                f"{summary} of law '{law.name}': '{name}' has {value:g} rad/s, at or above half the sampling rate, "
                f"{np.pi / period:g} rad/s; take a lower frequency or sample faster"
            )

    def rule(signal: Any, z: Mapping[str, Any], p: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
        kept = [z[name] for name in states]
        if period > 0.0:
            middle, changes = _bilinear(kept, signal, p, period)
        else:
            middle, changes = kept, _rates(kept, signal, p)
        return output(signal, middle, p), dict(zip(states, changes, strict=True))

    channels = {
        name: Channel(
            rule=rule,
            memory=dict(zip(states, (starts[name], 0.0), strict=False)),
            numbers={"frequency": value, **numbers},
        )
        for name, value in frequencies.items()
    }
    notes = {"frequency": frequencies, **numbers}
    return wrap_signals(law, channels, on=on, prefix=free_prefix(law, word), title=title, notes=notes)


def _rates(z: list[Any], signal: Any, p: Mapping[str, Any]) -> list[Any]:
    """Return z1_dot = w z2, z2_dot = w (s - z1 - 2 damping z2); or z1_dot = w (s - z1)."""
    w = p["frequency"]
    if len(z) == 1:
        return [w * (signal - z[0])]
    return [w * z[1], w * (signal - z[0] - 2.0 * p["damping"] * z[1])]


def _bilinear(z: list[Any], signal: Any, p: Mapping[str, Any], period: float) -> tuple[list[Any], list[Any]]:
    """Return the state within the sample, ``m = (I - g A)^-1 (z + g B s)``, and the next one, ``2 m - z``; g = tan(w T / 2).

    With w = 1, so that ``s = (q - 1) / (g (q + 1))`` is i at ``q = exp(i w T)``.
    """
    g = ca.tan(0.5 * p["frequency"] * period)
    if len(z) == 1:
        middle = [(z[0] + g * signal) / (1.0 + g)]
    else:
        second = (z[1] + g * (signal - z[0])) / (1.0 + 2.0 * p["damping"] * g + g * g)
        middle = [z[0] + g * second, second]
    return middle, [2.0 * m - old for m, old in zip(middle, z, strict=True)]


def _positive(value: Any, what: str) -> float:
    number = as_number(value, what)
    if not 0.0 < number < np.inf:
        raise ModelError(f"{what} is {number:g}, expected a positive number")
    return number
