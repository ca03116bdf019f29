"""Reference of a model-based law: coordinates, speeds and accelerations as expressions of time or of a table.

A state, a table or a rule of time gives (q_ref, v_ref, a_ref) of all coordinates; coordinates not named are at rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from spacectl.core.accessor import Accessor, evaluate_rule
from spacectl.core.errors import ModelError, unknown_name
from spacectl.core.trajectory import Trajectory
from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["MotionReference", "read_motion"]


@dataclass(frozen=True)
class MotionReference:
    """A function (t, r) -> (x_ref, a_ref), and the table r, if there is one."""

    function: ca.Function
    table: Trajectory | None


def read_motion(eom: EquationsOfMotion, reference: Any, what: str) -> MotionReference:
    """Return the reference of a law.

    Parameters
    ----------
    eom : EquationsOfMotion
        Equations of the coordinates.
    reference : None, array, mapping, Trajectory or callable
        A state to hold (default: at rest in the reference position); coordinates by name; a table with columns named
        after coordinates (their rates and second rates are the table's) or after coordinates and speeds (accelerations
        are then the rates of the speeds); or ``lambda s: {"elbow": casadi.sin(s.t)}`` with exact rates.
    what : str
        Name of the law, for messages.
    """
    t = ca.SX.sym("t")
    rest = np.array(eom.x_rest, dtype=float)
    if reference is None or isinstance(reference, (Mapping, np.ndarray, list, tuple)):
        held = eom.state(**reference) if isinstance(reference, Mapping) else rest if reference is None else None
        state = eom.state(np.asarray(reference, dtype=float)) if held is None else held
        return _function(eom, t, ca.SX(0, 1), ca.SX(ca.DM(state)), ca.SX.zeros(eom.n_v), None)
    x, a = ca.SX(ca.DM(rest)), ca.SX.zeros(eom.n_v)
    if isinstance(reference, Trajectory):
        width = reference.values.shape[1]
        r = ca.SX.sym("r", 2 * width)
        for k, name in enumerate(reference.labels.names):
            if name not in eom.states:
                raise ModelError(f"{what}: its reference names an {unknown_name('state', name, eom.states)}")
            x[eom.labels.x.index(name)] = r[k]
            if name in eom.speeds:
                a[eom.labels.v.index(name)] = r[width + k]
            elif f"{name}_dot" in eom.speeds and f"{name}_dot" not in reference.labels.names:
                x[eom.labels.x.index(f"{name}_dot")] = r[width + k]
        return _function(eom, t, r, x, a, reference)
    if not callable(reference):
        raise ModelError(f"{what}: reference is {reference!r}, expected a state, a Trajectory or lambda s: {{...}}")
    rule: Callable[[Accessor], Any] = reference
    named = evaluate_rule(rule, Accessor({}, t), f"{what}: reference")
    if not isinstance(named, Mapping):
        raise ModelError(f"{what}: its reference gives {type(named).__name__}, expected {{'elbow': expression, ...}}")
    for name, value in named.items():
        if name not in eom.coordinates or f"{name}_dot" not in eom.speeds:
            raise ModelError(
                f"{what}: its reference names an {unknown_name('coordinate with a rate', name, eom.coordinates)}"
            )
        column = ca.SX(value)
        rate = ca.gradient(column, t)
        x[eom.labels.x.index(name)] = column
        x[eom.labels.x.index(f"{name}_dot")] = rate
        a[eom.labels.v.index(f"{name}_dot")] = ca.gradient(rate, t)
    return _function(eom, t, ca.SX(0, 1), x, a, None)


def _function(eom: EquationsOfMotion, t: Any, r: Any, x: Any, a: Any, table: Trajectory | None) -> MotionReference:
    inner = ca.Function("reference", [t, r], [ca.densify(x), ca.densify(a)], ["t", "r"], ["x", "a"])
    return MotionReference(inner, table)
