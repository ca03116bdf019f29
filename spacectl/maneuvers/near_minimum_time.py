"""Near-minimum-time maneuvers of flexible systems along a path (Sadigh 1995, section 8.2): plan, law and flight in one call.

The rigid counterpart gives the fastest motion along the path; the flexible plant then flies it, and its vibration is
suppressed after the maneuver, during it, or not excited by a shaped timing. `fly_plan` does the same for any other plan.
The default weights of the settling feedback are the energy of the error against inputs in units of their limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from spacectl.controllers.regulators.lqr import design_lqr
from spacectl.core.control_law import ControlLaw
from spacectl.core.errors import ModelError
from spacectl.core.input_checks import require_memory
from spacectl.dynamics.form import form_equations
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.linear.linearize import linearize
from spacectl.linear.operating_point import OperatingPoint, find_operating_point
from spacectl.maneuvers.measure import Flight, flexible_bodies, measure_flight, motion_energy, strain_stiffness
from spacectl.maneuvers.settling import plan_states, settle_after, settle_along
from spacectl.maneuvers.shaped import shape_plan
from spacectl.model.transforms.counterpart import rigid_counterpart
from spacectl.planners.paths.limits import TorqueLimits
from spacectl.planners.paths.path import Path
from spacectl.planners.phase_plane.plan_phase_plane import plan_phase_plane
from spacectl.planners.plan import Plan
from spacectl.planners.plan_bang_bang import plan_bang_bang
from spacectl.planners.problem import Problem
from spacectl.simulation.results.simulation import Simulation
from spacectl.simulation.run.simulate import simulate

__all__ = ["STRATEGIES", "Maneuver", "energy_weights", "fly_plan", "input_weights", "plan_near_minimum_time"]


def energy_weights(eom: EquationsOfMotion, x: np.ndarray, omega: float, energy: float) -> np.ndarray:
    """Return Q, shape (2 n_v, 2 n_v): ``(v' M v + e' (K + omega^2 M) e) / energy`` with M at the state x, strain energy K.

    Parameters
    ----------
    eom : EquationsOfMotion
        The plant.
    x : array, shape (n_x,)
        State.
    omega : float
        Additional stiffness of every coordinate, as a frequency [rad/s].
    energy : float
        Energy that has the same weight as inputs at their limits [J].
    """
    n, M = eom.n_v, eom.mass_matrix(0.0, x[: eom.n_q])
    Q = np.zeros((2 * n, 2 * n))
    Q[:n, :n], Q[n:, n:] = omega**2 * M, M
    speeds = {
        name: [eom.speeds.index(f"{eom.states[k]}_dot") for k in places]
        for name, places in flexible_bodies(eom).items()
    }
    for name, places in speeds.items():
        Q[np.ix_(places, places)] += strain_stiffness(eom, name)
    return Q / energy


def input_weights(eom: EquationsOfMotion, share: float = 1.0) -> dict[str, float]:
    """Return R by input: one over the square of `share` of each limit."""
    low, high = eom.limits()
    size = np.minimum(np.abs(low), np.abs(high))
    open_ended = [name for name, value in zip(eom.inputs, size, strict=True) if not np.isfinite(value) or value == 0.0]
    if open_ended:
        raise ModelError(f"input '{open_ended[0]}' has no limit for its default weight; give R")
    return {name: 1.0 / (share * value) ** 2 for name, value in zip(eom.inputs, size, strict=True)}


Strategy = Literal["after", "during", "shaped", "bang_bang"]
STRATEGIES: tuple[Strategy, ...] = ("after", "during", "shaped", "bang_bang")
Feedback = Literal["after", "during"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Maneuver:
    """A plan, its law, and the simulation of the flexible plant.

    Parameters
    ----------
    name : str
        Shown in tables.
    plan : Plan
        Inputs and states as planned (of the rigid counterpart, or of the plant itself).
    law : ControlLaw
        Plan and feedback.
    target : OperatingPoint
        The target, at rest.
    simulation : Simulation
        The flight.
    flight : Flight
        Its measures.
    neighbourhood : float
        Largest distance of the flight from the plan over the length of the plan, in the coordinates that are not modal:
        a first-order theory requires a value well below one, such as a tenth (Sadigh 1995, section 8.2.3.2).
    weights : mapping
        Q and R of the feedback.
    """

    name: str
    plan: Plan
    law: ControlLaw
    target: OperatingPoint
    simulation: Simulation
    flight: Flight
    neighbourhood: float
    weights: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_first_order(self) -> bool:
        """Whether the flexible motion stays within a tenth of the planned one (Sadigh 1995, section 8.2.3.2)."""
        return self.neighbourhood <= 0.1


def plan_near_minimum_time(
    eom: EquationsOfMotion,
    path: Path,
    *,
    strategy: Strategy = "after",
    fraction: float | None = None,
    limits: Any = (),
    Q: Any = None,
    R: Any = None,
    shaper: Any = "ZVD",
    settle_time: float = 30.0,
    grid: int = 1001,
    name: str = "",
) -> Maneuver:
    """Plan the fastest motion of the rigid counterpart along a path and simulate the flexible plant with suppressed vibration.

    ``"after"`` applies the time-optimal inputs open loop and settles by LQR about the target (Sadigh 1995, section
    8.2.3.2). ``"during"`` plans with a fraction alpha of the limits and tracks with a time-varying LQR (section
    8.2.3.1, with a terminal weight and restarts at the switches) about the motion of a plant with well damped modes
    under the plan, then settles. ``"shaped"`` convolves the timing s(t) with an input shaper for the modes at the
    target, such that the shaped torques stay within the limits, and settles as ``"after"``. ``"bang_bang"`` uses the
    ends of the path only: the minimum time of the flexible plant itself between them (`plan_bang_bang`), which
    arrives without vibration, then settles likewise.

    Parameters
    ----------
    eom : EquationsOfMotion
        The flexible plant.
    path : Path
        The path of its rigid counterpart.
    strategy : {"after", "during", "shaped", "bang_bang"}
        As above.
    fraction : float, optional
        Fraction alpha of the limits for the plan; default 1, for ``"during"`` 0.8.
    limits : sequence of Limit
        Further limits of the plan (speeds, accelerations, loads); not for ``"bang_bang"``.
    Q, R : as in `design_lqr`, optional
        Weights of the error states and inputs; by default Q is the energy of the error (kinetic, strain, and of a
        spring that would take half the plan for a period) over a hundredth of the plan's largest kinetic energy, R
        that of inputs over their limits (for ``"during"``, over the part that the plan does not use).
    shaper : {"ZV", "ZVD", "EI"} or Shaper
        For ``"shaped"``.
    settle_time : float
        Duration of the simulation after the plan [s].
    grid : int
        Number of recorded times.
    name : str
        Shown in tables; default the strategy.

    Returns
    -------
    Maneuver

    References
    ----------
    Sadigh (1995), section 8.2; Bobrow, Dubowsky and Gibson, Int. J. Robotics Research 4 (1985) 3.
    """
    if strategy not in STRATEGIES:
        raise ModelError(f"plan_near_minimum_time: strategy is {strategy!r}, expected one of {', '.join(STRATEGIES)}")
    rigid = form_equations(rigid_counterpart(eom.system))
    alpha = fraction if fraction is not None else 0.8 if strategy == "during" else 1.0
    if strategy == "bang_bang":
        plan = _plan_ends(eom, rigid, path, alpha, limits)
    elif strategy == "shaped":
        plan = shape_plan(eom, rigid, path, shaper, limits=tuple(limits), fraction=alpha)
    else:
        plan = plan_phase_plane(rigid, path, limits=(TorqueLimits(fraction=alpha), *limits))
    feedback: Feedback = "during" if strategy == "during" else "after"
    return fly_plan(
        eom, plan, feedback=feedback, Q=Q, R=R, settle_time=settle_time, grid=grid, name=name or strategy
    )  # fmt: skip


def _plan_ends(eom: EquationsOfMotion, rigid: EquationsOfMotion, path: Path, fraction: float, limits: Any) -> Plan:
    """Plan the minimum time of the plant between the ends of a path, at rest there."""
    if limits:
        raise ModelError(
            "plan_near_minimum_time: strategy 'bang_bang' leaves the path, so limits along it do not apply; omit them, or "
            "give a Problem with bounds to plan_bang_bang"
        )
    along = plan_phase_plane(rigid, path, limits=(TorqueLimits(fraction=fraction),))
    start, end = (plan_states(eom, along, np.array([time]))[0] for time in (0.0, along.final_time))
    low, high = eom.limits()
    part = {name: (fraction * low[k], fraction * high[k]) for k, name in enumerate(eom.inputs)}
    problem = Problem(eom=eom, start=start, end=np.asarray(_target(eom, end).x), limits=part, name="bang_bang")
    return plan_bang_bang(problem, guess=along)


def fly_plan(
    eom: EquationsOfMotion,
    plan: Plan,
    *,
    feedback: Feedback = "after",
    Q: Any = None,
    R: Any = None,
    settle_time: float = 30.0,
    grid: int = 1001,
    name: str = "",
) -> Maneuver:
    """Simulate a plan on a plant and settle at its end: a plan of the plant itself, or of its rigid counterpart.

    Parameters
    ----------
    eom : EquationsOfMotion
        The plant.
    plan : Plan
        Its states are among the plant's; missing ones (modes) start and end at rest.
    feedback : {"after", "during"}
        LQR about the target from the end of the plan on, or time-varying LQR along the whole plan.
    Q, R, settle_time, grid, name
        As in `plan_near_minimum_time`.
    """
    x_begin, x_end = (plan_states(eom, plan, np.array([time]))[0] for time in (0.0, plan.final_time))
    target = _target(eom, x_end)
    end, share = plan.final_time, _reserve(eom, plan) if feedback == "during" else 1.0
    Q = energy_weights(eom, np.asarray(target.x), 4.0 * np.pi / end, _plan_energy(eom, plan)) if Q is None else Q
    R = input_weights(eom, share) if R is None else R
    regulator = design_lqr(linearize(eom, target), Q=Q, R=R, name="settling")
    law = settle_along(eom, plan, regulator, Q, R) if feedback == "during" else settle_after(plan.u, regulator)
    sim = simulate(
        eom, law, x0=x_begin, t_span=(0.0, end + settle_time), grid=_grid(end, settle_time, grid),
        stops=(*plan.switch_times, end), rtol=1e-9, atol=1e-10,
    )  # fmt: skip
    return Maneuver(
        name=name or plan.name,
        plan=plan,
        law=law,
        target=target,
        simulation=sim,
        flight=measure_flight(eom, sim, target.x, end),
        neighbourhood=_neighbourhood(eom, sim, plan),
        weights={"Q": Q, "R": R},
    )


def _reserve(eom: EquationsOfMotion, plan: Plan) -> float:
    """Return the fraction of the limits that the plan does not use, at least a twentieth."""
    _, high = eom.limits()
    u = np.abs(np.asarray(plan.u.values)) / high[list(eom.labels.u.indices(plan.u.labels.names))]
    return max(0.05, 1.0 - float(np.max(u)))


def _plan_energy(eom: EquationsOfMotion, plan: Plan) -> float:
    """Return a hundredth of the largest kinetic energy along the plan [J]."""
    t = np.linspace(0.0, plan.final_time, 101)
    x = plan_states(eom, plan, t)
    return 0.01 * float(np.max(motion_energy(eom, t, x, x[-1])))


def _target(eom: EquationsOfMotion, x_end: np.ndarray) -> OperatingPoint:
    """Return the equilibrium at the end of the plan, with modal coordinates."""
    modal = {eom.states[k] for places in flexible_bodies(eom).values() for k in places}
    held = {name: float(x_end[eom.states.index(name)]) for name in eom.coordinates if name not in modal}
    return find_operating_point(eom, q=held, guess=np.concatenate([x_end[: eom.n_q], np.zeros(eom.n_v)]))


def _grid(end: float, settle_time: float, count: int) -> np.ndarray:
    require_memory(8.0 * count, f"records at grid = {count} times", "record fewer times")
    return np.unique(np.append(np.linspace(0.0, end + settle_time, count), end))


def _neighbourhood(eom: EquationsOfMotion, sim: Simulation, plan: Plan) -> float:
    """Return the largest distance of the simulation from the plan over its length, in the coordinates that are not modal."""
    during = np.asarray(sim.t) <= plan.final_time
    x = np.asarray(sim.x)[during]
    planned = plan_states(eom, plan, np.asarray(sim.t)[during])
    modal = {k for places in flexible_bodies(eom).values() for k in places}
    kept = [k for k in range(eom.n_q) if k not in modal]
    away, gone = ((a - b)[:, kept] for a, b in ((x, planned), (planned, planned[:1])))
    far, long = (float(np.max(np.linalg.norm(d, axis=1), initial=0.0)) for d in (away, gone))
    return far / max(long, 1e-300)
