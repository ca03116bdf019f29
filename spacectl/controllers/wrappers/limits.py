"""Limits of real hardware around a law: saturation, dead zone, quantisation, rate limit.

Each function takes a `ControlLaw` and returns one, as a pure expression, so that it runs inside the compiled loop. A
wrapper acts on the inputs that the law commands, or on the measurements or states that it reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np

from spacectl.controllers.wrappers.base import (
    Channel,
    On,
    clip,
    free_prefix,
    labels_of,
    numbers_by_signal,
    require_law,
    wrap_signals,
)
from spacectl.core.control_law import ControlLaw
from spacectl.core.errors import ModelError, as_number, unknown_name

__all__ = ["add_dead_zone", "limit_rate", "limits_by_signal", "quantize", "require_sampled", "saturate"]


def saturate(law: ControlLaw, limits: Any, *, on: On = "inputs") -> ControlLaw:
    """Clip signals of a law: ``min(max(s, low), high)``.

    Limits of actuators belong to the plant, where `simulate` clips and records both; this is for limits inside a
    controller, and for sensors of finite range.

    Parameters
    ----------
    law : ControlLaw
        The law.
    limits : float or mapping of names to float or (low, high)
        A number L means (-L, L); infinite sides are left open. Signals that a mapping leaves out stay untouched.
    on : {"inputs", "measurements", "states"}
        Which signals of the law.

    Returns
    -------
    ControlLaw

    Examples
    --------
    >>> from spacectl import design_pd, form_equations, library
    >>> law = design_pd(form_equations(library.pendulum()), kp=10.0, kd=2.0, period=0.1)
    >>> saturate(law, 0.5)(0.0, [0.1, 0.0])
    array([-0.5])
    """
    require_law(law, "saturate")
    pairs = limits_by_signal(law, limits, on=on, what="saturate")
    if not pairs:
        raise ModelError(f"saturate: no {on} of law '{law.name}' have a finite limit; leave the wrapper out")
    channels = {name: _clipped(*pair) for name, pair in pairs.items()}
    entries = {"limits": {name: list(item.numbers.values()) for name, item in channels.items()}}
    return wrap_signals(law, channels, on=on, prefix=free_prefix(law, "limit"), title="saturated", notes=entries)


def add_dead_zone(law: ControlLaw, width: Any, *, on: On = "inputs") -> ControlLaw:
    """Apply a dead zone of +-width; outside, the signal less the width: ``s - min(max(s, -width), width)``.

    Parameters
    ----------
    law : ControlLaw
        The law.
    width : float, sequence or mapping of names to float
        Half width, in units of the signal: one for all, one each, or by name (the others stay untouched).
    on : {"inputs", "measurements", "states"}
        Which signals of the law.

    Returns
    -------
    ControlLaw
    """
    require_law(law, "add_dead_zone")
    widths = numbers_by_signal(law, width, on=on, what="dead zone: width", positive=False)

    def rule(s: Any, z: Any, p: Any) -> tuple[Any, dict[str, Any]]:
        return s - clip(s, -p["width"], p["width"]), {}

    channels = {name: Channel(rule=rule, numbers={"width": value}) for name, value in widths.items()}
    prefix = free_prefix(law, "dead_zone")
    return wrap_signals(law, channels, on=on, prefix=prefix, title="with dead zone", notes={"width": widths})


def quantize(law: ControlLaw, step: Any, *, on: On = "inputs") -> ControlLaw:
    """Round signals of a sampled law to multiples of a step: ``step floor(s / step + 1/2)``.

    Parameters
    ----------
    law : ControlLaw
        A sampled law: a continuous one would jump at times that no step of an integrator can end at.
    step : float, sequence or mapping of names to float
        In units of the signal: one for all, one each, or by name (the others stay untouched).
    on : {"inputs", "measurements", "states"}
        Which signals: commands or measurements.

    Returns
    -------
    ControlLaw
    """
    require_law(law, "quantize")
    require_sampled(law, "quantize", "its command would jump between any two steps")
    steps = numbers_by_signal(law, step, on=on, what="quantisation: step")

    def rule(s: Any, z: Any, p: Any) -> tuple[Any, dict[str, Any]]:
        return p["step"] * ca.floor(s / p["step"] + 0.5), {}

    channels = {name: Channel(rule=rule, numbers={"step": value}) for name, value in steps.items()}
    prefix = free_prefix(law, "quantize")
    return wrap_signals(law, channels, on=on, prefix=prefix, title="quantised", notes={"step": steps})


def limit_rate(law: ControlLaw, rate: Any, *, bandwidth: Any = None, start: Any = 0.0, on: On = "inputs") -> ControlLaw:
    """Limit the rate of change of signals.

    Sampled: ``s_k = s_(k-1) + clip(wanted - s_(k-1), -rate T, rate T)``, exact. Continuous: a lag that saturates,
    ``s_dot = clip(bandwidth (wanted - s), -rate, rate)``; far above the loop's own frequencies, the bandwidth only
    rounds off the corners (and makes the loop stiff: ``method="radau"``).

    Parameters
    ----------
    law : ControlLaw
        The law.
    rate : float, sequence or mapping of names to float
        Largest rate, in units of the signal per second: one for all, one each, or by name.
    bandwidth : float, optional
        Of the lag [rad/s]; required for a continuous law, not used by a sampled one.
    start : float, sequence or mapping of names to float
        Value of the signals before the run.
    on : {"inputs", "measurements", "states"}
        Which signals of the law.

    Returns
    -------
    ControlLaw

    Examples
    --------
    >>> from spacectl import design_pd, form_equations, library
    >>> law = design_pd(form_equations(library.pendulum()), kp=10.0, kd=2.0, period=0.1)
    >>> limit_rate(law, 4.0)(0.0, [0.1, 0.0])  # from zero, in the first sample
    array([-0.4])
    """
    require_law(law, "limit_rate")
    rates = numbers_by_signal(law, rate, on=on, what="rate limit: rate")
    starts = numbers_by_signal(law, start, on=on, what="rate limit: start", default=0.0)
    numbers: dict[str, float] = {}
    if not law.is_sampled:
        numbers["bandwidth"] = 0.0 if bandwidth is None else as_number(bandwidth, "rate limit: bandwidth")
        if not 0.0 < numbers["bandwidth"] < np.inf:
            raise ModelError(
                f"rate limit of law '{law.name}': a continuous law needs a positive bandwidth [rad/s] of the limiter; "
                "pass bandwidth=, some ten times the fastest frequency of the loop"
            )
    elif bandwidth is not None:
        raise ModelError(f"rate limit of law '{law.name}': it is sampled and limited exactly; leave bandwidth out")
    period = law.period

    def rule(s: Any, z: Any, p: Any) -> tuple[Any, dict[str, Any]]:
        if period > 0.0:
            most = p["rate"] * period
            value = z["value"] + clip(s - z["value"], -most, most)
            return value, {"value": value}
        return z["value"], {"value": clip(p["bandwidth"] * (s - z["value"]), -p["rate"], p["rate"])}

    channels = {
        name: Channel(rule=rule, memory={"value": starts[name]}, numbers={"rate": value, **numbers})
        for name, value in rates.items()
    }
    prefix = free_prefix(law, "rate_limit")
    return wrap_signals(law, channels, on=on, prefix=prefix, title="rate limited", notes={"rate": rates, **numbers})


def require_sampled(law: ControlLaw, what: str, why: str) -> None:
    """Raise `ModelError` with the cure if a law is continuous."""
    if not law.is_sampled:
        raise ModelError(
            f"{what}: law '{law.name}' is continuous: {why}. Design it with period=..., or, if it has no memory, use "
            "dataclasses.replace(law, period=...)"
        )


def limits_by_signal(law: ControlLaw, limits: Any, *, on: On, what: str) -> dict[str, tuple[float, float]]:
    """Return (low, high) for each signal that has a finite side."""
    labels = labels_of(law, on, what)
    summary = f"{what} of law '{law.name}'"
    given = limits if isinstance(limits, Mapping) else {name: limits for name in labels.names}
    found: dict[str, tuple[float, float]] = {}
    for name, value in given.items():
        if name not in labels:
            raise ModelError(f"{summary}: {unknown_name(labels.kind, name, labels.names)}")
        pair = tuple(value) if np.ndim(value) else (-as_number(value, f"{summary}: {name}"), value)
        if len(pair) != 2:
            raise ModelError(
                f"{summary}: {labels.kind} '{name}' has limits {value!r}, expected a number or (low, high)"
            )
        low, high = (as_number(item, f"{summary}: {name}") for item in pair)
        if not low < high:
            raise ModelError(f"{summary}: {labels.kind} '{name}' has limits ({low:g}, {high:g}), expected low < high")
        if np.isfinite(low) or np.isfinite(high):
            found[name] = (low, high)
    return {name: found[name] for name in labels.names if name in found}


def _clipped(low: float, high: float) -> Channel:
    numbers = {key: value for key, value in (("low", low), ("high", high)) if np.isfinite(value)}

    def rule(s: Any, z: Any, p: Any) -> tuple[Any, dict[str, Any]]:
        return clip(s, p.get("low"), p.get("high")), {}

    return Channel(rule=rule, numbers=numbers)
