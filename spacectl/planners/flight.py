"""Simulate the inputs of a plan, and measure violations of its problem.

A plan is an approximation on a mesh. `fly_inputs` integrates the equations with the plan's inputs from its
initial state, independently of the mesh, and `find_violations` compares the simulation with boundary values,
bounds and path conditions.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from spacectl.core.errors import SolverError
from spacectl.core.trajectory import Trajectory
from spacectl.planners.plan import Plan
from spacectl.planners.problem import Condition, Phases, Problem
from spacectl.planners.quantities import Quantities
from spacectl.planners.replay import replay

__all__ = ["PhaseFlight", "PlanFlight", "Violations", "find_violations", "fly_inputs"]

_SAMPLES = 3  # recorded times between two knots of a plan
_TOLERANCE = 1e-8  # relative violation of a bound that is ignored
_GROWTH = 1e4  # growth of a small error above which an open-loop simulation does not test the plan
_PIECE = 100.0  # growth of an error within one piece of such a simulation
_PERTURBATION = 1e-7  # relative perturbation of the initial speeds that measures the growth


@dataclass(frozen=True, eq=False)
class PhaseFlight:
    """Simulation of one phase.

    Parameters
    ----------
    problem : Problem
        The phase.
    t : array, shape (n,)
        Times [s].
    x : array, shape (n, n_x)
        Simulated states.
    planned : array, shape (n, n_x)
        States of the plan.
    u, u_dot : array, shape (n, n_u)
        Inputs and their rates.
    warnings : tuple of str
        Warnings of `simulate`: deflections beyond the theory, tethers in compression, saturated inputs.
    """

    problem: Problem
    t: np.ndarray
    x: np.ndarray
    planned: np.ndarray
    u: np.ndarray
    u_dot: np.ndarray
    warnings: tuple[str, ...] = ()

    @property
    def sizes(self) -> np.ndarray:
        """Magnitude of each state, (n_x,): its maximum, at least 1e-3 of that of all coordinates or speeds."""
        n_q = self.problem.eom.n_q
        out = np.abs(self.planned).max(axis=0)
        for part in (slice(0, n_q), slice(n_q, None)):
            out[part] = np.maximum(out[part], 1e-3 * out[part].max(initial=0.0))
        return np.where(out > 0.0, out, 1.0)

    @property
    def departure(self) -> float:
        """Largest difference between simulated and planned states, relative to the magnitude of each."""
        return float(np.max(np.abs(self.x - self.planned) / self.sizes, initial=0.0))


@dataclass(frozen=True, eq=False)
class PlanFlight:
    """Simulation of all phases of a plan, with the number of pieces and the growth of a small initial error.

    If errors grow by more than 1e4, no open-loop simulation can follow a plan. The simulation is then divided
    into pieces, each of which starts from the planned state.
    """

    phases: tuple[PhaseFlight, ...]
    pieces: int = 1
    growth: float | None = None

    @property
    def departure(self) -> float:
        """Largest departure over the phases."""
        return max(item.departure for item in self.phases)


@dataclass(frozen=True, eq=False)
class Violations:
    """Violations of a problem in the simulation of a phase.

    Parameters
    ----------
    names : tuple of str
        Names of the path conditions.
    path : tuple of (float, float)
        Violations of their lower and upper bounds, in their own units; both are zero for equations.
    bounds : mapping of state names to (float, float)
        Violations of state bounds, likewise.
    relative : mapping of names to float
        All violations relative to the magnitude of the bound or value: bounds and path conditions by name,
        terminal conditions as ``"end of <state>"``.
    """

    names: tuple[str, ...]
    path: tuple[tuple[float, float], ...]
    bounds: dict[str, tuple[float, float]]
    relative: dict[str, float]

    @property
    def worst(self) -> float:
        """Largest relative violation."""
        return max(self.relative.values(), default=0.0)

    @property
    def worst_bound(self) -> float:
        """Largest relative violation of bounds that can be tightened: state bounds and inequality path conditions."""
        violated = [item for item, (low, high) in zip(self.names, self.path, strict=True) if max(low, high) > 0.0]
        return max((self.relative.get(name, 0.0) for name in (*violated, *self.bounds)), default=0.0)


def fly_inputs(problem: Problem | Phases, plan: Plan) -> PlanFlight:
    """Simulate the inputs of a plan, in pieces if the motion is too unstable for open-loop simulation.

    Raises
    ------
    SolverError
        If the integration fails.
    """
    flight = PlanFlight(tuple(_phases(problem, plan, 1, 0.0)))
    if flight.departure <= 1.0 / _GROWTH:
        return flight
    perturbed = _phases(problem, plan, 1, _PERTURBATION)
    growth = max(
        float(np.max(np.abs(near.x[-1] - item.x[-1]) / item.sizes)) / _PERTURBATION
        for near, item in zip(perturbed, flight.phases, strict=True)
    )
    if growth < _GROWTH:
        return replace(flight, growth=growth)
    pieces = int(np.clip(np.ceil(np.log(growth) / np.log(_PIECE)), 2, 200)) if np.isfinite(growth) else 200
    return PlanFlight(tuple(_phases(problem, plan, pieces, 0.0)), pieces, growth)


def _phases(problem: Problem | Phases, plan: Plan, pieces: int, perturbation: float) -> list[PhaseFlight]:
    times = np.asarray(plan.notes.get("phase_times", (0.0, plan.final_time)), dtype=float)
    out: list[PhaseFlight] = []
    x = np.asarray(plan.x.values)[0].copy()
    for k, item in enumerate(problem.phases):
        cuts = np.linspace(times[k], times[k + 1], pieces + 1)
        parts = []
        for j, (begin, end) in enumerate(zip(cuts[:-1], cuts[1:], strict=True)):
            x = np.asarray(plan.x(begin)) if j else x
            parts.append(
                _simulate_phase(item, plan, float(begin), float(end), x, perturbation if not (j or k) else 0.0)
            )
            x = parts[-1].x[-1]
        out.append(_joined(parts))
    return out


def _joined(parts: Sequence[PhaseFlight]) -> PhaseFlight:
    keys = ("t", "x", "planned", "u", "u_dot")
    joined: dict[str, Any] = {key: np.concatenate([getattr(item, key) for item in parts]) for key in keys}
    joined["warnings"] = tuple(dict.fromkeys(text for item in parts for text in item.warnings))
    return replace(parts[0], **joined)


def _simulate_phase(
    problem: Problem, plan: Plan, begin: float, end: float, x: np.ndarray, perturbation: float
) -> PhaseFlight:
    part = replace(plan, x=_between(plan.x, begin, end), u=_between(plan.u, begin, end), arcs=())
    values = np.array(part.x.values)
    if perturbation:
        size = np.maximum(np.abs(values).max(axis=0), 1e-9)
        q = problem.eom.n_q
        # speeds only, as positions may include a quaternion
        x = x + perturbation * np.concatenate([np.zeros(q), size[q:]])
    values[0] = x
    t = _sample_times(np.asarray(plan.x.t), begin, part.final_time)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        moved = replace(part, x=replace(part.x, values=values))
        sim = replay(problem.eom, moved, grid=t, p=problem.p, rtol=1e-10, atol=1e-11)
    if not sim.outcome.is_success:
        raise SolverError(f"the simulation of the plan stops at {sim.t[-1]:.6g} s: {sim.outcome.message}")
    t = np.asarray(sim.t)
    entries = tuple(dict.fromkeys(str(item.message) for item in caught))
    return PhaseFlight(problem, t, np.asarray(sim.x), plan.x(t), plan.u(t), plan.u.rate(t), entries)


def _between(whole: Trajectory, begin: float, end: float) -> Trajectory:
    """Return a trajectory from `begin` to `end`, without the jump at its end."""
    knots = np.asarray(whole.t)
    if begin <= knots[0] and end >= knots[-1]:
        return whole
    last = min(float(np.nextafter(end, -np.inf)), float(knots[-1]))
    t = np.concatenate([[begin], knots[(knots > begin) & (knots < last)], [last]])
    return replace(whole, t=t, values=whole(t), rates=None if whole.rates is None else whole.rate(t))


def _sample_times(knots: np.ndarray, begin: float, end: float) -> np.ndarray:
    inside = np.unique(np.concatenate([[begin], knots[(knots > begin) & (knots < end)], [end]]))
    part = np.arange(1, _SAMPLES + 1) / (_SAMPLES + 1)
    times = np.unique(np.concatenate([inside, (inside[:-1, None] + np.diff(inside)[:, None] * part).ravel()]))
    return np.append(times[:-1][np.diff(times) > 1e-12 * max(abs(end), 1.0)], end)


def find_violations(flight: PlanFlight) -> list[Violations]:
    """Return the violations in each phase."""
    return [_measure(item) for item in flight.phases]


def _measure(flight: PhaseFlight) -> Violations:
    problem = flight.problem
    names, relative = problem.eom.labels.x, {}
    bounds = {name: _outside(flight.x[:, names.index(name)], *pair) for name, pair in problem.bounds.items()}
    values, terms = _values(problem, problem.path, flight)
    path = []
    for item, value, size in zip(problem.path, values, terms, strict=True):
        is_equality = item.low == item.high
        path.append((0.0, 0.0) if is_equality else _outside(value, item.low, item.high))
        scale = float(size.max(initial=0.0)) or 1.0 if is_equality else bound_size(item.low, item.high)
        violation = float(np.max(np.abs(value - item.low), initial=0.0)) if is_equality else max(path[-1])
        relative[item.name] = violation / scale
    relative |= {name: max(violation) / bound_size(*problem.bounds[name]) for name, violation in bounds.items()}
    sizes = flight.sizes
    for name, (low, high) in problem.end.items():
        k = names.index(name)
        violation = max(low - flight.x[-1, k], flight.x[-1, k] - high, 0.0)
        relative[f"end of {name}"] = float(violation / sizes[k])
    last = _last_of(flight)
    for item, value, size in zip(problem.conditions_end, *_values(problem, problem.conditions_end, last), strict=True):
        violation = max(float(np.max(item.low - value)), float(np.max(value - item.high)), 0.0)
        relative[f"end of {item.name}"] = violation / (float(size.max(initial=0.0)) or 1.0)
    names_of_path = tuple(item.name for item in problem.path)
    return Violations(
        names_of_path,
        tuple(path),
        bounds,
        {name: violation for name, violation in relative.items() if violation > _TOLERANCE},
    )


def _last_of(flight: PhaseFlight) -> PhaseFlight:
    """Return the final instant of a flight."""
    keys = ("t", "x", "planned", "u", "u_dot")
    return replace(flight, **{key: getattr(flight, key)[-1:] for key in keys})


def _values(
    problem: Problem, conditions: Sequence[Condition], flight: PhaseFlight
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return values of conditions along a flight and the magnitudes of their largest terms, each (n, size)."""
    if not conditions:
        return [], []
    eom, t, x = problem.eom, flight.t, flight.x
    sizes = {"t": 1, "x": eom.n_x, "u": eom.n_u, "rate": eom.n_u, "p": eom.p.size}
    time, state, u, rate, p = symbols = [ca.SX.sym(name, size) for name, size in sizes.items()]
    q, v = state[: eom.n_q], state[eom.n_q :]
    rates = {name: rate[i] for i, name in enumerate(eom.inputs)}
    v_dot = eom.functions["v_dot"](time, q, v, u, p) if eom.functions["v_dot"].is_a("SXFunction") else None
    along = Quantities(eom, time, q, v, p, u, rates, v_dot)
    found = ca.vertcat(*[along.of(item.rule, f"condition '{item.name}'") for item in conditions])
    moved = ca.vertcat(state, u, rate)
    largest = ca.DM(
        np.concatenate([np.abs(x).max(axis=0), *(np.abs(item).max(axis=0) for item in (flight.u, flight.u_dot))])
    )
    terms = ca.fabs(ca.jacobian(found, moved)) @ largest
    function = ca.Function("conditions", symbols, [found, terms]).map(len(t))
    given: list[Any] = [t[None], x.T, flight.u.T, flight.u_dot.T, np.tile(problem.p[:, None], (1, len(t)))]
    cuts = np.cumsum([item.rule.size for item in conditions])[:-1]
    value, size = (np.split(np.asarray(item).T, cuts, axis=1) for item in function(*given))
    return value, size


def _outside(values: np.ndarray, low: float, high: float) -> tuple[float, float]:
    """Return the violations of a range, below and above; zero within rounding."""
    violation = (low - float(np.min(values)), float(np.max(values)) - high)
    size = bound_size(low, high)
    return tuple(item if item > _TOLERANCE * size else 0.0 for item in violation)  # type: ignore[return-value]


def bound_size(low: float, high: float) -> float:
    """Return the magnitude of a bound: half its range, or that of its finite side."""
    if np.isfinite(high - low):
        return max(0.5 * (high - low), 1e-12)
    side = abs(low if np.isfinite(low) else high)
    return side if np.isfinite(side) and side > 0.0 else 1.0
