"""Initial guess of the solver: a smooth motion between the boundary states, or an earlier `Plan`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spacectl.planners.collocation.transcription.bounds import start_pairs
from spacectl.planners.collocation.transcription.phase import PhaseBlock
from spacectl.planners.plan import Plan
from spacectl.planners.problem import FREE, Problem

__all__ = ["guess_unknowns"]

_LIMIT_FRACTION = 0.9  # fraction of the limits to which guessed inputs are clipped


def guess_unknowns(blocks: Sequence[PhaseBlock], guess: Plan | None) -> np.ndarray:
    """Return a guess of the unknowns of all phases, from a plan or from the boundary conditions."""
    if guess is not None:
        return np.concatenate(_from_plan(blocks, guess))
    parts, x = [], None
    for block in blocks:
        part, x = _from_ends(block, x)
        parts.append(part)
    return np.concatenate(parts)


def _middle(pair: tuple[float, float], otherwise: float) -> float:
    """Return the number within a pair that is nearest to `otherwise`."""
    return float(np.clip(otherwise, *pair))


def _end_state(problem: Problem, start: np.ndarray) -> np.ndarray:
    eom = problem.eom
    end = np.array([_middle(problem.end.get(name, FREE), start[i]) for i, name in enumerate(eom.states)])
    end[eom.n_q :] = [_middle(problem.end.get(name, FREE), 0.0) for name in eom.speeds]
    for k in eom.quaternions:
        end[k : k + 4] *= -1.0 if end[k : k + 4] @ start[k : k + 4] < 0.0 else 1.0
    return end


def _from_ends(block: PhaseBlock, before: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the unknowns of a smooth motion that satisfies the boundary conditions, and its final state."""
    problem = block.problem
    if before is None:
        rest = np.asarray(problem.eom.x_rest)
        before = np.array([_middle(pair, rest[i]) for i, pair in enumerate(start_pairs(problem))])
    ends = _Boundary(problem, before, _end_state(problem, before))
    T = _duration(block, ends)
    Z = _smooth_motion(block, ends, T)
    _set_inputs(block, Z, T)
    return np.append(Z.ravel(), T), Z[-1, block.places["q"].start : block.places["v"].stop]


class _Boundary:
    """Boundary states of a guessed motion, with the rates of the coordinates."""

    def __init__(self, problem: Problem, start: np.ndarray, end: np.ndarray):
        eom = problem.eom
        self.v = (start[eom.n_q :], end[eom.n_q :])
        self.q = (start[: eom.n_q], end[: eom.n_q])
        self.q_dot = tuple(_rates_map(problem, q) @ v for q, v in zip(self.q, self.v, strict=True))
        pairs = [problem.end.get(name, FREE) for name in eom.coordinates]
        self.is_free = np.array([not np.isfinite(low) and not np.isfinite(high) for low, high in pairs], dtype=bool)
        self.bounds = {k: problem.bounds[name] for k, name in enumerate(eom.speeds) if name in problem.bounds}

    def last(self, T: float) -> np.ndarray:
        """Return the final coordinates; free ones follow from the mean of both boundary speeds."""
        drift = self.q[0] + 0.5 * T * (self.q_dot[0] + self.q_dot[1])
        return np.where(self.is_free, drift, self.q[1])

    def nominal_duration(self) -> float:
        """Return the longest time a coordinate needs at the mean of its boundary speeds [s]; 0 if none moves."""
        way, mean_rate = self.q[1] - self.q[0], 0.5 * (self.q_dot[0] + self.q_dot[1])
        is_consistent = ~self.is_free & (way * mean_rate > 0.0)
        return float(np.max(way[is_consistent] / mean_rate[is_consistent], initial=0.0))


def _rates_map(problem: Problem, q: np.ndarray) -> np.ndarray:
    """Return the matrix W of ``q_dot = W v``."""
    eom = problem.eom
    return np.asarray(eom.jacobian("q_dot", "q_dot", "v", 0.0, q, np.zeros(eom.n_v), p=problem.p))


def _smooth_motion(block: PhaseBlock, ends: _Boundary, T: float) -> np.ndarray:
    """Return the unknowns at the points of a cubic motion between two states, without inputs."""
    problem, eom, places = block.problem, block.problem.eom, block.places
    s = block.fractions[:, None]
    first, last = ends.q[0], ends.last(T)
    scaled_rates = [T * item for item in ends.q_dot]
    for k in eom.quaternions:
        scaled_rates[0][k : k + 4] = scaled_rates[1][k : k + 4] = 0.0  # quaternions are normalised below
    q = (
        first
        + (last - first) * (3.0 * s**2 - 2.0 * s**3)
        + s * (1.0 - s) * ((1.0 - s) * scaled_rates[0] - s * scaled_rates[1])
    )
    q_dot = (
        (last - first) * 6.0 * s * (1.0 - s)
        + scaled_rates[0] * (1.0 - s) * (1.0 - 3.0 * s)
        + scaled_rates[1] * s * (3.0 * s - 2.0)
    )
    for k in eom.quaternions:
        q[:, k : k + 4] /= np.maximum(np.linalg.norm(q[:, k : k + 4], axis=1, keepdims=True), 0.3)
    v = np.array([np.linalg.lstsq(_rates_map(problem, q[k]), q_dot[k] / T, rcond=None)[0] for k in range(block.P)])
    v = v.reshape(block.P, eom.n_v)
    v[[0, -1]] = ends.v
    Z = np.zeros((block.P, block.model.n_z))
    Z[:, : int(block.model.has_clock)] = s * T
    Z[:, places["q"]], Z[:, places["v"]] = q, v
    Z[:, places["rates"].start : places["rates"].start + eom.n_v] = np.gradient(v, block.fractions * T, axis=0)
    return Z


def _required_inputs(block: PhaseBlock, Z: np.ndarray) -> np.ndarray:
    """Return least-squares inputs for the accelerations in Z, in the order of the equations; set multipliers."""
    eom, places = block.problem.eom, block.places
    free = [name for name in eom.inputs if name not in block.model.smooth]
    order = eom.labels.u.indices([*free, *block.model.smooth])
    unknown = np.r_[places["u"], places["s"], places["lam"]].astype(int)
    out = np.zeros((block.P, eom.n_u))
    if unknown.size:
        F, J = _dense(block, Z)
        for k in range(block.P):
            step = np.linalg.lstsq(J[k][:, unknown], -F[k], rcond=1e-9)[0]
            out[k, list(order)] = step[: eom.n_u]
            Z[k, places["lam"]] = step[eom.n_u :]
    return out


def _set_inputs(block: PhaseBlock, Z: np.ndarray, T: float) -> None:
    """Set the required inputs, clipped to their limits, in the unknowns Z."""
    problem, places, sizes = block.problem, block.places, block.model.sizes
    low, high = problem.input_limits()
    u = np.clip(_required_inputs(block, Z), _LIMIT_FRACTION * low, _LIMIT_FRACTION * high)
    names = problem.eom.inputs
    Z[:, places["u"]] = u[:, [i for i, name in enumerate(names) if name not in block.model.smooth]]
    Z[:, places["s"]] = u[:, [names.index(name) for name in block.model.smooth]]
    if sizes["s"]:
        rates = slice(places["rates"].start + sizes["v"], places["rates"].stop)
        Z[:, rates] = np.gradient(Z[:, places["s"]], block.fractions * T, axis=0)


def _dense(block: PhaseBlock, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the residuals at the points and their dense Jacobians."""
    derivatives, keep = block.model.derivatives, block.places["F.residual"]
    J = np.zeros((len(Z), block.bound.n_values, block.model.n_z))
    J[:, derivatives.rows, derivatives.columns] = block.bound.jacobian(Z)
    return block.bound.value(Z)[:, keep], J[:, keep]


def _duration(block: PhaseBlock, ends: _Boundary) -> float:
    """Return the duration at which the inputs reach their limits, extended to satisfy speed bounds.

    Inertia forces scale with 1 / T^2. Doubling T separates them from gravity and spring forces.
    """
    problem = block.problem
    low, high = problem.input_limits()
    reach = 0.5 * (high - low)
    limited = np.isfinite(reach) & (reach > 0.0)
    shortest, longest = max(problem.duration[0], 1e-6), problem.duration[1]
    T = float(np.clip(max(1.0, ends.nominal_duration()), shortest, longest))
    for _ in range(2):
        required = [_required_inputs(block, _smooth_motion(block, ends, k * T))[:, limited] for k in (1, 2)]
        ratio = float((4.0 / 3.0 * np.abs(required[0] - required[1]) / reach[limited]).max(initial=0.0))
        T = T * np.sqrt(ratio) if ratio > 1e-12 else T
        T = float(np.clip(max(T, ends.nominal_duration()), shortest, longest))
    v = _smooth_motion(block, ends, T)[:, block.places["v"]]
    for k, pair in ends.bounds.items():
        fastest = min((abs(item) for item in pair if np.isfinite(item) and item), default=np.inf)
        T *= max(1.0, float(np.abs(v[:, k]).max()) / fastest)
    return float(np.clip(T, shortest, longest))


def _from_plan(blocks: Sequence[PhaseBlock], plan: Plan) -> list[np.ndarray]:
    """Return the unknowns of a plan, matched by name; states it does not name have their rest values."""
    ends = plan.notes.get("phase_times")
    if ends is None or len(ends) != len(blocks) + 1:
        ends = np.linspace(float(np.asarray(plan.x.t)[0]), plan.final_time, len(blocks) + 1)
    return [
        _phase_from_plan(block, plan, float(a), float(b))
        for block, a, b in zip(blocks, ends[:-1], ends[1:], strict=True)
    ]


def _phase_from_plan(block: PhaseBlock, plan: Plan, begin: float, end: float) -> np.ndarray:
    eom, places, model = block.problem.eom, block.places, block.model
    t = begin + (end - begin) * block.fractions
    inside = np.clip(t, begin, end - 1e-12 * max(end, 1.0))
    Z = np.zeros((block.P, model.n_z))
    Z[:, : int(model.has_clock)] = t[:, None]
    Z[:, places["q"].start : places["v"].stop] = np.asarray(eom.x_rest)

    def copy(column: int, source: Any, name: str, *, rate: bool = False) -> None:
        if name in source.labels:
            values = source.rate(inside) if rate else source(inside)
            Z[:, column] = values[:, source.labels.index(name)]

    for i, name in enumerate(eom.states):
        copy(places["q"].start + i, plan.x, name)
    for i, name in enumerate(eom.speeds):
        copy(places["rates"].start + i, plan.x, name, rate=True)
    free = [name for name in eom.inputs if name not in model.smooth]
    for i, name in enumerate(free):
        copy(places["u"].start + i, plan.u, name)
    for i, name in enumerate(model.smooth):
        copy(places["s"].start + i, plan.u, name)
        copy(places["rates"].start + model.sizes["v"] + i, plan.u, name, rate=True)
    if model.sizes["lam"]:
        F, J = _dense(block, Z)
        for k in range(block.P):
            Z[k, places["lam"]] = np.linalg.lstsq(J[k][:, places["lam"]], -F[k], rcond=1e-9)[0]
    return np.append(Z.ravel(), max(end - begin, 1e-9))
