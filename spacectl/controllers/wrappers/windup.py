"""Anti-windup: bound the integrators of a law while its command exceeds the limits of the plant.

The wrapper needs to know the limits, the names of the integrators, and how the command depends on them, which it reads
from the law's own expression.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import casadi as ca
import numpy as np

from spacectl.controllers.wrappers.base import call_symbols, derive_law, free_prefix, require_law
from spacectl.controllers.wrappers.limits import limits_by_signal, require_sampled
from spacectl.core.array import as_array
from spacectl.core.control_law import LAW_INPUTS, LAW_OUTPUTS, ControlLaw
from spacectl.core.errors import ModelError, as_number
from spacectl.core.labels import Labels
from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["prevent_windup"]

Method = Literal["back_calculation", "clamping"]


def prevent_windup(
    law: ControlLaw,
    limits: Any,
    *,
    integrators: Iterable[str] | None = None,
    rate: float | None = None,
    gain: Any = None,
    method: Method = "back_calculation",
) -> ControlLaw:
    """Hold integrators while a command is beyond its limits.

    Back-calculation: ``z_dot_i += rate G (clip(u) - u)`` with ``G = pinv(du / dz_i)``, so that the excess of the
    command decays with `rate`; sampled laws have ``z_next_i += rate period G (clip(u) - u)``. Clamping: an
    integrator is held while its change would push the command further beyond. The command itself is not clipped: the
    plant does.

    The law must hold its integrators in its memory, and its command must depend on them; for back-calculation without
    `gain`, linearly with constant coefficients (a PI law, LQR with integral action). Apply this wrapper before
    others, which are between integrators and command.

    Parameters
    ----------
    law : ControlLaw
        With integrators in its memory.
    limits : EquationsOfMotion, float or mapping of names to float or (low, high)
        Of the commanded inputs; equations stand for the limits of their actuators.
    integrators : iterable of str, optional
        Names of the law's memory entries; default those that begin with ``integral.``, as `design_lqr` names them.
    rate : float, optional
        Of back-calculation [1/s], of the order of the loop's bandwidth; at most 1/period, which is the default
        for sampled laws.
    gain : array, shape (integrators, limited inputs), optional
        G, where it cannot be derived from the law or is to be different.
    method : {"back_calculation", "clamping"}
        Clamping switches, and is for sampled laws only.

    Returns
    -------
    ControlLaw
    """
    require_law(law, "prevent_windup")
    what = f"anti-windup of law '{law.name}'"
    if integrators is None:
        integrators = [name for name in law.memory.names if name.startswith("integral.")]
    names = (integrators,) if isinstance(integrators, str) else tuple(integrators)
    if not names:
        raise ModelError(
            f"{what}: no integrators; its memory has: {', '.join(law.memory.names) or 'nothing'}; pass integrators="
        )
    where = list(law.memory.indices(names))
    bounds = _limits(law, limits, what)
    rows = list(law.inputs.indices(bounds))
    prefix = free_prefix(law, "windup")
    numbers = {
        f"{prefix}.{name}.{key}": value
        for name, pair in bounds.items()
        for key, value in zip(("low", "high"), pair, strict=True)
        if np.isfinite(value)
    }
    if method == "back_calculation":
        speed = _rate(law, rate, what)
        numbers[f"{prefix}.rate"] = speed
        G = _gain(law, rows, where, what) if gain is None else np.asarray(as_array(gain, (len(where), len(rows)), what))
        pairs = [(i, j) for i in range(len(where)) for j in range(len(rows))]
        numbers |= {f"{prefix}.{names[i]}.{tuple(bounds)[j]}": float(G[i, j]) for i, j in pairs}
    elif method == "clamping":
        require_sampled(law, "prevent_windup(method='clamping')", "its integrators would switch at unknown times")
        if rate is not None or gain is not None:
            raise ModelError(f"{what}: rate and gain belong to back-calculation; leave them out")
    else:
        raise ModelError(f"{what}: method is {method!r}, expected 'back_calculation' or 'clamping'")
    function, arguments = call_symbols(law, 0, len(numbers))
    t, x, y, z, r, p = arguments
    p_law = p[: len(law.parameters)]
    own = dict(zip(numbers, ca.vertsplit(p[len(law.parameters) :]), strict=True))
    u, z_dot, z_next = function(t, x, y, z, r, p_law)
    excess = [u[k] - _clip(u[k], own, f"{prefix}.{name}") for k, name in zip(rows, bounds, strict=True)]
    change = z_next - z if law.is_sampled else z_dot
    entries = ca.vertsplit(change)
    slopes = ca.jacobian(u, z)
    for i, k in enumerate(where):
        if method == "clamping":
            push = sum(item * slopes[row, k] for item, row in zip(excess, rows, strict=True))
            entries[k] = ca.if_else(push * entries[k] > 0.0, 0.0, entries[k])
        else:
            pull = sum(own[f"{prefix}.{names[i]}.{tuple(bounds)[j]}"] * item for j, item in enumerate(excess))
            entries[k] = entries[k] - own[f"{prefix}.rate"] * (law.period if law.is_sampled else 1.0) * pull
    change = ca.vertcat(*entries)
    outputs = [u, z_dot, z + change] if law.is_sampled else [u, change, z_next]
    details = {
        "kind": "anti-windup",
        "method": method,
        "integrators": list(names),
        "limits": {name: list(pair) for name, pair in bounds.items()},
    }
    return derive_law(
        law,
        name=f"{law.name}, with anti-windup",
        function=ca.Function(
            "law", arguments, [ca.densify(item) for item in outputs], list(LAW_INPUTS), list(LAW_OUTPUTS)
        ),
        parameters=law.parameters + Labels(tuple(numbers), (), "law parameter"),
        p=np.concatenate([np.asarray(law.p), list(numbers.values())]),
        notes={**law.notes, "wrappers": [*law.notes.get("wrappers", ()), details]},
    )


def _clip(value: Any, own: Any, prefix: str) -> Any:
    above = ca.fmax(value, own[f"{prefix}.low"]) if f"{prefix}.low" in own else value
    return ca.fmin(above, own[f"{prefix}.high"]) if f"{prefix}.high" in own else above


def _limits(law: ControlLaw, limits: Any, what: str) -> dict[str, tuple[float, float]]:
    if isinstance(limits, EquationsOfMotion):
        low, high = limits.limits()
        places = dict(zip(law.inputs.names, limits.labels.u.indices(law.inputs.names), strict=True))
        limits = {name: (float(low[k]), float(high[k])) for name, k in places.items()}
    found = limits_by_signal(law, limits, on="inputs", what="anti-windup")
    if not found:
        raise ModelError(f"{what}: no input has a limit; give limits={{name: (low, high)}} or limits to the actuators")
    return found


def _rate(law: ControlLaw, rate: float | None, what: str) -> float:
    if rate is None and law.is_sampled:
        return 1.0 / law.period
    if rate is None:
        raise ModelError(f"{what}: a continuous law needs rate= [1/s], of the order of the loop's bandwidth")
    number = as_number(rate, f"{what}: rate")
    most = 1.0 / law.period if law.is_sampled else np.inf
    if not 0.0 < number < np.inf or number > most * (1.0 + 1e-12):
        raise ModelError(
            f"{what}: rate is {number:g} 1/s, expected a positive number up to {most:g} (one over the period)"
        )
    return number


def _gain(law: ControlLaw, rows: list[int], where: list[int], what: str) -> np.ndarray:
    """Return the pseudo-inverse of du/dz of the limited inputs by the integrators."""
    function, arguments = call_symbols(law)
    slopes = ca.densify(ca.jacobian(function(*arguments)[0], arguments[3])[rows, where])
    cure = "wrap the bare law first, or pass gain="
    if ca.depends_on(slopes, ca.vertcat(*arguments[:5])):
        raise ModelError(f"{what}: the command does not depend on the integrators with constant coefficients; {cure}")
    J = np.asarray(ca.Function("slopes", [arguments[5]], [slopes])(np.asarray(law.p))).reshape(len(rows), len(where))
    for k, column in zip(where, J.T, strict=True):
        if not np.any(column):
            raise ModelError(
                f"{what}: memory entry '{law.memory.names[k]}' does not act directly on any limited input; {cure}"
            )
    return np.linalg.pinv(J)
