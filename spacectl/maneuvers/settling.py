"""Laws that track a plan: inputs as planned, then (or meanwhile) a feedback that settles the remaining motion.

``u = u_plan(t) - [t >= start] K (x (-) x_target)``: the sum of Sadigh (1995), Eq 8.28, with the limits left to the
plant.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from spacectl.controllers.regulators.feedback import law_function
from spacectl.controllers.regulators.lqr import LqrLaw
from spacectl.core.control_law import ControlLaw
from spacectl.core.errors import ModelError
from spacectl.core.labels import Labels
from spacectl.core.trajectory import Trajectory
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.planners.plan import Plan

__all__ = ["extend_inputs", "open_loop", "plan_states", "regulator_trim", "settle_after"]


def settle_after(
    u: Trajectory, regulator: LqrLaw, *, start: float | None = None, name: str = "plan, then LQR"
) -> ControlLaw:
    """Return a law with a plan's inputs, and from `start` on a regulator about its own point (Sadigh 1995, section 8.2.3.2).

    Parameters
    ----------
    u : Trajectory
        Planned inputs by name, from 0 to the end of the plan; the regulator's trim afterwards.
    regulator : LqrLaw
        Continuous, without integrals, designed at the target; it must command all inputs of the plan.
    start : float, optional
        Start of the feedback [s]; default the end of the plan. Pass it to ``simulate(..., stops=(start,))``.
    name : str
        Shown in results.

    Returns
    -------
    ControlLaw
    """
    if regulator.is_sampled or len(regulator.memory):
        raise ModelError(
            f"law '{name}': the regulator is sampled or has integrals; design it with period=0 and integral=None"
        )
    missing = [item for item in u.labels.names if item not in regulator.inputs]
    if missing:
        raise ModelError(
            f"law '{name}': the plan has the input '{missing[0]}', which the regulator does not command; add it"
        )
    errors, inputs = regulator.errors, regulator.inputs
    begin = float(np.asarray(u.t)[-1]) if start is None else float(start)
    table = extend_inputs(u, inputs, regulator_trim(regulator))
    m, n, n_x = len(inputs), len(errors.errors), len(errors.states)
    numbers = {
        "start": begin,
        **{
            f"K.{a}.{b}": float(np.asarray(regulator.K)[i, j])
            for i, a in enumerate(inputs.names)
            for j, b in enumerate(errors.errors.names)
        },
        **{f"point.{state}": float(value) for state, value in zip(errors.states.names, errors.point, strict=True)},
    }

    def rule(t: Any, x: Any, y: Any, z: Any, r: Any, p: Any) -> tuple[Any, Any]:
        gain, point = ca.reshape(p[1 : 1 + m * n], n, m).T, p[1 + m * n :]
        is_on = ca.if_else(t >= p[0], 1.0, 0.0)
        return r - is_on * (gain @ errors.subtract(x, point)), ca.SX(0, 1)

    return ControlLaw(
        name=name,
        function=law_function((n_x, 0, 0, m, len(numbers)), rule, 0.0),
        states=errors.states,
        inputs=inputs,
        parameters=Labels(tuple(numbers), (), "law parameter"),
        p=list(numbers.values()),
        reference=table,
        notes={"kind": "plan, then feedback", "start": begin, "regulator": regulator.name},
    )


def regulator_trim(regulator: LqrLaw) -> np.ndarray:
    """Return the inputs of a regulator at its point, shape (n_u,)."""
    numbers = zip(regulator.parameters.names, np.asarray(regulator.p), strict=True)
    return np.array([float(value) for key, value in numbers if key.startswith("trim.")])


def extend_inputs(u: Trajectory, inputs: Labels, trim: np.ndarray) -> Trajectory:
    """Return planned inputs in the order of `inputs`, zero where the plan has none, and `trim` after its end."""
    t = np.asarray(u.t)
    places = [inputs.index(item) for item in u.labels.names]
    values = np.zeros((t.size, len(inputs)))
    values[:, places] = np.asarray(u.values)
    after = np.array([np.nextafter(t[-1], np.inf), t[-1] + 1.0])
    rates = None
    if u.rates is not None:
        rates = np.zeros((t.size + 2, len(inputs)))
        rates[: t.size, places] = np.asarray(u.rates)
    return Trajectory(
        t=np.concatenate([t, after]),
        values=np.vstack([values, trim, trim]),
        rates=rates,
        labels=Labels(tuple(f"u.{item}" for item in inputs.names), inputs.units, "reference"),
        interpolation=u.interpolation,
    )


def open_loop(eom: EquationsOfMotion, u: Trajectory, *, name: str = "plan") -> ControlLaw:
    """Return planned inputs, zero after the end; inputs that are not in the plan are zero."""
    labels = Labels(eom.inputs, eom.labels.u.units, "input")
    function = law_function((eom.n_x, 0, 0, eom.n_u, 0), lambda t, x, y, z, r, p: (r, ca.SX(0, 1)), 0.0)
    table = extend_inputs(u, labels, np.zeros(eom.n_u))
    return ControlLaw(name=name, function=function, states=eom.labels.x, inputs=labels, reference=table)


def plan_states(eom: EquationsOfMotion, plan: Plan, t: np.ndarray) -> np.ndarray:
    """Return states of a plant along its own plan or that of its rigid counterpart, shape (n, n_x); other states are at rest."""
    alien = [name for name in plan.x.labels.names if name not in eom.states]
    if alien:
        raise ModelError(
            f"plan '{plan.name}' has a state '{alien[0]}' that the plant does not have; form both from one system"
        )
    x = np.tile(eom.state(), (t.size, 1))
    x[:, [eom.states.index(name) for name in plan.x.labels.names]] = plan.x(t)
    return x
