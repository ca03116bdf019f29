"""Constrained accelerations as a differentiable CasADi function around a numeric solver.

An expression graph cannot pivot, so the solver is a callback; its derivatives follow from the same equations:
``M dv = df - dM v_dot + dE lam + E dlam``, ``J dv = dgamma - dJ v_dot`` is again a constrained system.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Protocol

import casadi as ca
import numpy as np

from spacectl.core.errors import SolverError
from spacectl.dynamics.constraints.sharing import least_work
from spacectl.dynamics.constraints.solvers import SOLVERS, Solution

__all__ = ["AccelerationSolver", "constrained_solve", "shared_reactions"]


class AccelerationSolver(Protocol):
    """A solver for the accelerations that uses more than the matrices, such as a partition of the speeds; hashable."""

    def __hash__(self) -> int: ...

    def solve(
        self, M: np.ndarray, f: np.ndarray, J: np.ndarray, gamma: np.ndarray, E: np.ndarray, *, check: bool = True
    ) -> Solution:
        """Return accelerations and multipliers."""


@lru_cache(maxsize=256)
def constrained_solve(n: int, m: int, solver: str | AccelerationSolver, check: bool = True) -> ca.Function:
    """Return (M, f, J, gamma, E) -> (v_dot, lam) for n speeds and m constraint equations.

    `solver` is a key of `SOLVERS` or an `AccelerationSolver`. Where there is no solution the results are NaN; the equations
    of motion report the cause. With `check`, contradictions among dependent equations count as no solution. The function is
    cached for the life of the process, as CasADi demands of callbacks.
    """
    return _Solve(n, m, solver, check)


class _Callback(ca.Callback):  # type: ignore[misc]
    """A numeric function of dense matrices with two vectors as results, and forward derivatives."""

    NAMES: tuple[str, ...]

    def __init__(self, name: str, shapes: Sequence[tuple[int, int]], sizes: tuple[int, int]):
        super().__init__()
        self.shapes, self.sizes = shapes, sizes
        self.construct(name, {})

    def values(self, *given: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the results; raise `SolverError` where there are none."""
        raise NotImplementedError

    def derivative(self, given: Sequence[Any], results: Sequence[Any], seeds: Sequence[Any]) -> list[Any]:
        """Return the derivatives of the results along seeds of the arguments."""
        raise NotImplementedError

    def get_n_in(self) -> int:
        return len(self.shapes)

    def get_n_out(self) -> int:
        return 2

    def get_sparsity_in(self, i: int) -> Any:
        return ca.Sparsity.dense(*self.shapes[i])

    def get_sparsity_out(self, i: int) -> Any:
        return ca.Sparsity.dense(self.sizes[i], 1)

    def eval(self, arg: list[Any]) -> list[Any]:
        try:
            return [ca.DM(item) for item in self.values(*(np.asarray(item.full()) for item in arg))]
        except (SolverError, np.linalg.LinAlgError, ValueError):
            return [ca.DM.nan(size, 1) for size in self.sizes]

    def has_forward(self, nfwd: int) -> bool:
        return True

    def get_forward(
        self, nfwd: int, name: str, inames: list[str], onames: list[str], opts: dict[str, Any]
    ) -> ca.Function:
        given = [ca.MX.sym(key, *shape) for key, shape in zip(self.NAMES, self.shapes, strict=True)]
        results = [ca.MX.sym(f"r{i}", size) for i, size in enumerate(self.sizes)]
        seeds = [ca.MX.sym(f"d{i}", rows, columns * nfwd) for i, (rows, columns) in enumerate(self.shapes)]
        pieces = [  # without constraints E has no columns to split
            ca.horzsplit(seed, columns) if columns else [seed] * nfwd
            for seed, (_, columns) in zip(seeds, self.shapes, strict=True)
        ]
        found = [self.derivative(given, results, [piece[k] for piece in pieces]) for k in range(nfwd)]
        outputs = [ca.horzcat(*[item[i] for item in found]) for i in range(2)]
        return ca.Function(name, [*given, *results, *seeds], outputs, inames, onames, opts)


class _Solve(_Callback):
    """The solver as a CasADi callback."""

    NAMES = ("M", "f", "J", "gamma", "E")

    def __init__(self, n: int, m: int, solver: str | AccelerationSolver, check: bool):
        self.n, self.m, self.solver, self.check = n, m, solver, check
        self.solve = SOLVERS[solver] if isinstance(solver, str) else solver.solve
        name = f"constrained_{solver if isinstance(solver, str) else 'solver'}"
        super().__init__(name, [(n, n), (n, 1), (m, n), (m, 1), (n, m)], (n, m))

    def values(self, *given: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        M, f, J, gamma, E = given
        if not (np.all(np.isfinite(J)) and np.all(np.isfinite(E))):  # comparing pivots would not find such equations
            raise SolverError("constraint equations are not defined here")
        solution = self.solve(M, f[:, 0], J, gamma[:, 0], E, check=self.check)
        return solution.v_dot, solution.lam

    def derivative(self, given: Sequence[Any], results: Sequence[Any], seeds: Sequence[Any]) -> list[Any]:
        M, _, J, _, E = given
        v_dot, lam = results
        d_M, d_f, d_J, d_gamma, d_E = seeds
        # single seeds may violate dependent equations, although sums of seeds along the constraints satisfy them
        solve = constrained_solve(self.n, self.m, self.solver, False)
        found: list[Any] = solve(M, d_f - d_M @ v_dot + d_E @ lam, J, d_gamma - d_J @ v_dot, E)
        return found


def shared_reactions(M: Any, E: Any, lam: Any, compliance: tuple[float, ...]) -> Any:
    """Return the multipliers of least work with the same effect as `lam` (`constraints.sharing`), as an expression."""
    n, m = E.shape
    return lam + _least_work(n, compliance)(M, E, ca.MX.zeros(n), -ca.DM(compliance) * lam)[0] if m else lam


@lru_cache(maxsize=256)
def _least_work(n: int, compliance: tuple[float, ...]) -> ca.Function:
    """Return (M, E, b, w) -> (lam, y) of `least_work`; cached for the life of the process, as CasADi demands of callbacks."""
    return _LeastWork(n, compliance)


class _LeastWork(_Callback):
    """`least_work` as a CasADi callback; M only scales, so it has no derivative by M.

    ``c dlam = dw + dE' y + E' dy`` and ``E dlam = db - dE lam`` are the same problem.
    """

    NAMES = ("M", "E", "b", "w")

    def __init__(self, n: int, compliance: tuple[float, ...]):
        m = len(compliance)
        self.n, self.compliance = n, compliance
        super().__init__("least_work", [(n, n), (n, m), (n, 1), (m, 1)], (m, n))

    def values(self, *given: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        M, E, b, w = given
        if not all(np.all(np.isfinite(item)) for item in given):
            raise SolverError("the load to be shared is not finite")
        return least_work(M, E, b[:, 0], w[:, 0], np.array(self.compliance))

    def derivative(self, given: Sequence[Any], results: Sequence[Any], seeds: Sequence[Any]) -> list[Any]:
        M, E, _, _ = given
        lam, y = results
        _, d_E, d_b, d_w = seeds
        found: list[Any] = _least_work(self.n, self.compliance)(M, E, d_b - d_E @ lam, d_w + d_E.T @ y)
        return found
