"""Laws that fly a plan: inputs as planned, then (or meanwhile) a feedback that settles what the plan has left.

After a plan: ``u = u_plan(t) - [t >= start] K (x (-) x_target)``, the sum of Sadigh (1995), Eq 8.28, with the limits left
to the plant. During a maneuver (section 8.2.3.1): time-varying LQR about the motion that a damped plant would make.

The perturbation theory of Sadigh linearises about the undeformed motion of the rigid counterpart. Its modal equations are
not satisfied there, and their residual is large: joint and modal accelerations that cancel each other only to the first
order of the deflection, so that the linear model drifts away although the real motion does not. Here the model is taken
about the motion of the same plant with well damped modes under the planned inputs, in which link deflections follow the
joint torques and nothing vibrates.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from spacectl.controllers.regulators.feedback import law_function
from spacectl.controllers.regulators.lqr import LqrLaw
from spacectl.controllers.regulators.lqr_along import design_lqr_along
from spacectl.core.control_law import ControlLaw
from spacectl.core.errors import ModelError
from spacectl.core.labels import Labels
from spacectl.core.trajectory import Trajectory
from spacectl.dynamics.form import form_equations
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.linear.along import linearize_along
from spacectl.model.system import System
from spacectl.planners.plan import Plan
from spacectl.simulation.run.simulate import simulate

__all__ = [
    "damped_system",
    "extend_inputs",
    "open_loop",
    "plan_states",
    "regulator_trim",
    "settle_after",
    "settle_along",
]


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


POINTS = 300  #: of the linear model along a plan
RATIO = 0.5  #: damping of the modes of the reference plant
RTOL = 1e-4  #: of the gains: far below the error of the linear model


def settle_along(eom: EquationsOfMotion, plan: Plan, regulator: LqrLaw, Q: Any, R: Any) -> ControlLaw:
    """Return ``u = u_ref(t) - K(t) (x (-) x_ref(t))`` along the plan, and the regulator's point and gain after its end.

    Parameters
    ----------
    eom : EquationsOfMotion
        The plant.
    plan : Plan
        Inputs of the maneuver.
    regulator : LqrLaw
        Regulator at the target; its Riccati solution is the terminal weight of the plan.
    Q, R : as in `design_lqr_along`
        Weights along the plan.
    """
    reference = _fly_damped(eom, plan)
    model = linearize_along(eom, reference[:3], x_dot=reference[3])
    law = design_lqr_along(model, Q=Q, R=R, terminal=np.asarray(regulator.S), rtol=RTOL, name="LQR along the plan")
    table, end = law.reference, plan.final_time
    assert table is not None
    rest = np.concatenate(
        [np.asarray(regulator.K).ravel(), regulator_trim(regulator), np.asarray(regulator.errors.point)]
    )
    before = np.asarray(table.t) <= end
    none = np.zeros((2, rest.size))
    extended = Trajectory(
        t=np.concatenate([np.asarray(table.t)[before], [np.nextafter(end, np.inf), end + 1.0]]),
        values=np.vstack([np.asarray(table.values)[before], rest, rest]),
        rates=np.vstack([np.asarray(table.rates)[before], none]),
        labels=table.labels,
    )
    return ControlLaw(
        name="LQR along the plan, then at the target",
        function=law.function,
        states=law.states,
        inputs=law.inputs,
        reference=extended,
        notes={**law.notes, "end": end},
    )


def damped_system(system: System, ratio: float = RATIO) -> System:
    """Return the same system with the modes of every flexible body damped by a ratio of critical.

    Parameters
    ----------
    system : System
        The system.
    ratio : float
        Of critical damping, for all modes.
    """
    parts = tuple(replace(part, body=part.body.damped(ratio)) for part in system.parts)
    return replace(system, name=f"{system.name}, damped", parts=parts)


def _fly_damped(eom: EquationsOfMotion, plan: Plan) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return times, states, inputs and rates of the damped plant under the plan's inputs; times of switches occur twice."""
    damped = form_equations(damped_system(eom.system))
    law = open_loop(damped, plan.u)
    bounds = [0.0, *plan.switch_times, plan.final_time]
    x, pieces = plan_states(eom, plan, np.zeros(1))[0], []
    for begin, end in zip(bounds[:-1], bounds[1:], strict=True):
        t = np.linspace(begin, end, max(21, int(np.ceil(POINTS * (end - begin) / plan.final_time))))
        inside = np.clip(t, begin + 1e-9 * (end - begin), end - 1e-9 * (end - begin))
        u = np.zeros((t.size, eom.n_u))
        u[:, list(eom.labels.u.indices(plan.u.labels.names))] = plan.u(inside)
        sim = simulate(damped, law, x0=x, t_span=(begin, end), grid=t, rtol=1e-8, atol=1e-9)
        states = np.asarray(sim.x)
        rates = np.array([damped.x_dot(a, b, c) for a, b, c in zip(t, states, u, strict=True)])
        pieces.append((t, states, u, rates))
        x = states[-1]
    t, x, u, rates = (np.concatenate(column) for column in zip(*pieces, strict=True))
    return t, x, u, rates
