"""State feedback as a `ControlLaw`: gains, a point or a reference table, and integrals in one compiled expression.

``u = u_ref - K (x (-) x_ref) - K_i z`` with ``z_dot = y - y_point``. Gains are parameters of the law, so new gains
require no compilation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from spacectl.controllers.analysis.error_state import ErrorState
from spacectl.core.control_law import LAW_INPUTS, LAW_OUTPUTS
from spacectl.core.errors import ModelError, unknown_name
from spacectl.core.labels import Labels
from spacectl.core.trajectory import Trajectory

__all__ = ["Integrals", "build_feedback", "law_function"]

Read = Callable[[Any, Any], Any]


@dataclass(frozen=True, kw_only=True)
class Integrals:
    """Integrated quantities of a law: error states by name, or measurements from their value at the point."""

    names: tuple[str, ...] = ()
    measured: tuple[str, ...] = ()
    y_point: np.ndarray | None = None

    @property
    def memory(self) -> Labels:
        """Names of the memory z."""
        return Labels(tuple(f"integral.{name}" for name in self.names), (), "memory")


def law_function(
    sizes: tuple[int, int, int, int, int], rule: Callable[..., tuple[Any, Any]], period: float
) -> ca.Function:
    """Return the function of a law from ``rule(t, x, y, z, r, p) -> (u, m)``, m being z_dot or z_next."""
    symbols = [ca.SX.sym("t"), *(ca.SX.sym(name, size) for name, size in zip("xyzrp", sizes, strict=True))]
    u, change = rule(*symbols)
    nothing, z = ca.SX.zeros(sizes[2]), symbols[3]
    z_dot, z_next = (nothing, change) if period > 0.0 else (change, z)
    outputs = [ca.densify(ca.SX(item)) for item in (u, z_dot, z_next)]
    return ca.Function("law", symbols, outputs, list(LAW_INPUTS), list(LAW_OUTPUTS))


def build_feedback(
    errors: ErrorState,
    inputs: Labels,
    K: np.ndarray,
    trim: np.ndarray,
    *,
    integrals: Integrals,
    K_integral: np.ndarray,
    reference: Trajectory | None,
    period: float,
    what: str,
) -> dict[str, Any]:
    """Return the fields of a `ControlLaw` for the state feedback."""
    m, n, k = len(inputs), len(errors.errors), len(integrals.names)
    follow, uses_rates = _tracking(errors, inputs, reference, what)
    y_point = np.zeros(len(integrals.measured)) if integrals.y_point is None else integrals.y_point
    numbers = {
        **_gain_names("K", inputs, errors.errors.names, K),
        **_gain_names("K_integral", inputs, integrals.names, K_integral),
        **{f"point.{name}": value for name, value in zip(errors.states.names, errors.point, strict=True)},
        **{f"trim.{name}": value for name, value in zip(inputs.names, trim, strict=True)},
        **{f"y_point.{name}": value for name, value in zip(integrals.measured, y_point, strict=True)},
    }
    splits = np.cumsum([0, m * n, m * k, len(errors.states), m, len(integrals.measured)])

    def rule(t: Any, x: Any, y: Any, z: Any, r: Any, p: Any) -> tuple[Any, Any]:
        gain, gain_z, point, at_trim, y0 = (p[a:b] for a, b in zip(splits[:-1], splits[1:], strict=True))
        x_ref, u_ref = follow(r, point, at_trim)
        e = errors.subtract(x, x_ref)
        u = u_ref - ca.reshape(gain, n, m).T @ e
        if k:
            u = u - ca.reshape(gain_z, k, m).T @ z
        missed = ca.vertcat(*(_integrand(name, e, y - y0, errors, integrals) for name in integrals.names))
        return u, z + period * missed if period > 0.0 else missed

    width = 0 if reference is None else reference.values.shape[1] * (2 if uses_rates else 1)
    sizes = (len(errors.states), len(integrals.measured), k, width, len(numbers))
    return {
        "function": law_function(sizes, rule, period),
        "states": errors.states,
        "inputs": inputs,
        "measurements": Labels(integrals.measured, (), "measurement"),
        "memory": integrals.memory,
        "parameters": Labels(tuple(numbers), (), "law parameter"),
        "z0": np.zeros(k),
        "p": list(numbers.values()),
        "period": period,
        "reference": reference,
        "reference_rates": uses_rates,
    }


def _gain_names(letter: str, inputs: Labels, columns: tuple[str, ...], gain: np.ndarray) -> dict[str, float]:
    return {f"{letter}.{u}.{x}": gain[i, j] for i, u in enumerate(inputs.names) for j, x in enumerate(columns)}


def _integrand(name: str, e: Any, y: Any, errors: ErrorState, integrals: Integrals) -> Any:
    if name in integrals.measured:
        return y[integrals.measured.index(name)]
    return e[errors.errors.index(name)]


def _tracking(
    errors: ErrorState, inputs: Labels, reference: Trajectory | None, what: str
) -> tuple[Callable[[Any, Any, Any], tuple[Any, Any]], bool]:
    """Return functions that read x_ref and u_ref from (r, point, trim), and whether rates of the table are needed."""
    if reference is None:
        return lambda r, point, trim: (point, trim), False
    if not isinstance(reference, Trajectory):
        raise ModelError(
            f"{what}: reference is {type(reference).__name__}, expected a Trajectory with states as columns"
        )
    columns = {name: k for k, name in enumerate(reference.labels.names)}
    forward = {f"u.{name}": name for name in inputs.names}
    for name in columns:
        if name not in errors.states and name not in forward:
            allowed = (*errors.states.names, *forward)
            raise ModelError(f"{what}: reference: {unknown_name('state or u.<input>', name, allowed)}")
    for at in errors.quaternions:
        four = errors.states.names[at : at + 4]
        if 0 < sum(name in columns for name in four) < 4:
            raise ModelError(f"{what}: reference: give all four of {', '.join(four)}, or none")
    width = len(columns)
    places: dict[int, int] = {}
    for k, name in enumerate(errors.states.names):
        if name in columns:
            places[k] = columns[name]
        elif name.endswith("_dot") and name.removesuffix("_dot") in columns:
            places[k] = width + columns[name.removesuffix("_dot")]
    pushes = {k: columns[f"u.{name}"] for k, name in enumerate(inputs.names) if f"u.{name}" in columns}

    def follow(r: Any, point: Any, trim: Any) -> tuple[Any, Any]:
        x_ref = ca.vertcat(*(r[places[k]] if k in places else point[k] for k in range(len(errors.states))))
        u_ref = ca.vertcat(*(r[pushes[k]] if k in pushes else trim[k] for k in range(len(inputs))))
        return x_ref, u_ref

    return follow, any(k >= width for k in places.values())
