"""Vibration suppression during a maneuver (Sadigh 1995, section 8.2.3.1): time-varying LQR about a damped reference.

The perturbation theory of the thesis linearises about the undeformed motion of the rigid counterpart. This motion does
not satisfy the elastic equations, and the residual is large: joint and modal accelerations cancel only to first
order of the deflection, so that the linear model drifts away although the real motion does not. Here the model is
taken about the motion of the same plant with well damped modes under the planned inputs, in which link deflections
follow the torques without vibration.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from spacectl.controllers.regulators.lqr import LqrLaw
from spacectl.controllers.regulators.lqr_along import design_lqr_along
from spacectl.core.control_law import ControlLaw
from spacectl.core.trajectory import Trajectory
from spacectl.dynamics.form import form_equations
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.linear.along import linearize_along
from spacectl.maneuvers.settling import open_loop, plan_states, regulator_trim
from spacectl.model.system import System
from spacectl.planners.plan import Plan
from spacectl.simulation.run.simulate import simulate

__all__ = ["damped_system", "settle_along"]

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
