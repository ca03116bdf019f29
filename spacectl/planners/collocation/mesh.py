"""Estimate the discretisation error of each interval, and refine the mesh.

Every interval is integrated from its initial state with the inputs of the solution, by an explicit method of
order 8 with steps that resolve the fastest mode. The difference at its end is the error of the interval.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.integrate import DOP853

from spacectl.core.errors import SolverError
from spacectl.dynamics.waist.compiled import CompiledEquations
from spacectl.planners.collocation.result import PhaseSolution

__all__ = ["Refinement", "interval_errors", "path_errors", "refine_mesh"]

_SAMPLES = np.array([0.05, 0.25, 0.5, 0.75, 0.95])  # fractions of an interval at which path equations are checked

_STABLE = 1.5  # step times the fastest rate: well inside the stability region of the method
_LEAST_STEPS = 3
_MOST_STEPS = 400


@dataclass(frozen=True, kw_only=True)
class Refinement:
    """Settings of mesh refinement.

    Parameters
    ----------
    tolerance : float
        Largest error of an interval, relative to the magnitude of each state.
    rounds : int
        Maximum number of refinements.
    intervals : int
        Maximum number of intervals per phase.
    path : float
        Largest residual of an equality path condition between collocation points, relative to its largest
        term.
    """

    tolerance: float = 1e-7
    rounds: int = 6
    intervals: int = 400
    path: float = 5e-5


def interval_errors(solution: PhaseSolution) -> np.ndarray:
    """Return the error of each interval, (N,): the largest relative state difference at its end."""
    block = solution.block
    first, last = block.places["q"].start, block.places["v"].stop
    x = block.pieces(solution.at.Z)[:, 0, first:last]
    wanted = block.pieces(solution.at.Z)[:, -1, first:last]
    found = _integrate(solution, x)
    return np.abs((found - wanted) / _sizes(solution)).max(axis=1, initial=0.0)


def path_errors(solution: PhaseSolution) -> np.ndarray:
    """Return the residual of equality path conditions in each interval, relative to their largest terms, (N,).

    These conditions hold at the collocation points only. Between them the optimiser may exploit their
    violation.
    """
    block, problem = solution.block, solution.block.problem
    equations = np.flatnonzero([item.low == item.high for item in problem.path for _ in range(item.rule.size)])
    if not equations.size:
        return np.zeros(block.N)
    anchored = {name for name, _, _ in block.model.anchors}
    wanted = [0.0 if item.name in anchored else item.low for item in problem.path for _ in range(item.rule.size)]
    Z = np.einsum("si,kiz->ksz", block.scheme.input_weights(_SAMPLES), block.pieces(solution.at.Z))
    Z[:, :, block.places["X"]] = solution.states(_SAMPLES)
    values = block.bound.value(Z.reshape(-1, Z.shape[2]))[:, block.places["F.path"]][:, equations]
    residual = np.abs(values - np.array(wanted)[equations]).reshape(block.N, -1, equations.size).max(axis=1)
    return np.asarray((residual / _terms(solution)[equations]).max(axis=1))


def _terms(solution: PhaseSolution) -> np.ndarray:
    """Return the largest term of each path condition: derivatives times magnitudes of the unknowns."""
    derivatives, Z = solution.block.model.derivatives, solution.at.Z
    terms = np.abs(solution.at.JF * np.abs(Z).max(axis=0)[derivatives.columns]).max(axis=0)
    out = np.zeros(solution.at.F.shape[1])
    np.maximum.at(out, derivatives.rows, terms)
    found = out[solution.block.places["F.path"]]
    return np.where(found > 0.0, found, 1.0)


def _sizes(solution: PhaseSolution) -> np.ndarray:
    """Return the magnitude of each state: its maximum, at least 1e-3 of that of all coordinates or speeds."""
    block, eom = solution.block, solution.block.problem.eom
    first = block.places["q"].start
    out = np.abs(solution.at.Z[:, first : first + eom.n_x]).max(axis=0)
    for part in (slice(0, eom.n_q), slice(eom.n_q, eom.n_x)):
        out[part] = np.maximum(out[part], 1e-3 * out[part].max(initial=0.0))
    return np.where(out > 0.0, out, 1.0)


def _steps(solution: PhaseSolution) -> int:
    """Return the number of integration steps per interval that resolves the fastest mode in the longest one."""
    block, eom = solution.block, solution.block.problem.eom
    first = block.places["q"].start
    x = solution.at.Z[block.P // 2, first : first + eom.n_x]
    u = solution.inputs(np.array([0.5]))[block.N // 2, 0]
    derivatives = eom.jacobian("x_dot", "x_dot", "x", solution.begin, x, u, p=block.problem.p)
    fastest = (
        float(np.abs(np.linalg.eigvals(derivatives)).max(initial=0.0)) if np.all(np.isfinite(derivatives)) else 0.0
    )
    longest = solution.at.T * float(block.ds.max())
    return int(np.clip(np.ceil(longest * fastest / _STABLE), _LEAST_STEPS, _MOST_STEPS))


def _integrate(solution: PhaseSolution, x: np.ndarray) -> np.ndarray:
    """Integrate all intervals at once with fixed steps; return the states at their ends."""
    block = solution.block
    n = _steps(solution)
    A, B, C = DOP853.A, DOP853.B, DOP853.C
    rates = _StateRates(solution)
    h = solution.at.T * block.ds / n
    for step in range(n):
        fractions = (step + C) / n
        u = solution.clipped_inputs(fractions)
        t = solution.begin + solution.at.T * (block.mesh[:-1, None] + block.ds[:, None] * fractions)
        K: list[np.ndarray] = []
        for k in range(len(C)):
            moved = sum((A[k, i] * K[i] for i in range(k) if A[k, i] != 0.0), np.zeros_like(x))
            K.append(rates(t[:, k], x + h[:, None] * moved, u[:, k]))
        x = x + h[:, None] * sum(B[i] * K[i] for i in range(len(B)) if B[i] != 0.0)
    return x


class _StateRates:
    """Evaluate x_dot at many states, in native code where available."""

    def __init__(self, solution: PhaseSolution):
        problem = solution.block.problem
        self.eom, self.p, self.has_clock = problem.eom, problem.p, solution.block.model.has_clock
        self.compiled: CompiledEquations | None = None
        with contextlib.suppress(SolverError):  # without a compiler, use CasADi's virtual machine
            self.compiled = self.eom.compiled(self.p)

    def __call__(self, t: np.ndarray, x: np.ndarray, u: np.ndarray) -> np.ndarray:
        if self.compiled is not None and not self.has_clock:
            return self.compiled.batch(x, u)
        return np.array([self.eom.x_dot(float(t[k]), x[k], u[k], self.p) for k in range(len(x))])


def refine_mesh(mesh: np.ndarray, errors: np.ndarray, tolerance: float, order: int, most: int) -> np.ndarray:
    """Return a finer mesh of at most `most` intervals.

    Intervals above the tolerance are split into 2 to 4 parts according to the order, largest errors first.
    """
    wanted = (np.maximum(errors, 1e-300) / (0.3 * tolerance)) ** (1.0 / (order + 1))
    parts = np.where(errors > tolerance, np.clip(np.ceil(wanted), 2, 4), 1).astype(int)
    extra = most - len(errors)
    for k in np.argsort(errors)[::-1]:
        parts[k] = min(parts[k], 1 + max(extra, 0))
        extra -= parts[k] - 1
    pieces: Sequence[np.ndarray] = [
        np.linspace(a, b, n + 1)[:-1] for a, b, n in zip(mesh[:-1], mesh[1:], parts, strict=True)
    ]
    return np.append(np.concatenate(pieces), mesh[-1])
