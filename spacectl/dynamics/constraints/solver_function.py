"""Constrained accelerations as a differentiable CasADi function around a numeric solver.

An expression graph cannot pivot, so the solver is a callback; its derivatives follow from the same equations:
``M dv = df - dM v_dot + dE lam + E dlam``, ``J dv = dgamma - dJ v_dot`` is again a constrained system.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Protocol

import casadi as ca
import numpy as np

from spacectl.core.errors import SolverError
from spacectl.dynamics.constraints.sharing import least_work
from spacectl.dynamics.constraints.solvers import SOLVERS, Solution

__all__ = ["Road", "constrained_solve", "shared_reactions"]


class Road(Protocol):
    """A road to the accelerations that knows more than the matrices tell; hashable."""

    def __hash__(self) -> int: ...

    def solve(
        self, M: np.ndarray, f: np.ndarray, J: np.ndarray, gamma: np.ndarray, E: np.ndarray, *, check: bool = True
    ) -> Solution:
        """Accelerations and multipliers."""


@lru_cache(maxsize=256)
def constrained_solve(n: int, m: int, road: str | Road, check: bool = True) -> ca.Function:
    """(M, f, J, gamma, E) -> (v_dot, lam) for n speeds and m constraint rows by a road: a name of `SOLVERS`, or its own.

    Where there is no solution the results are not finite, and the equations say so; `check` counts contradictions among
    dependent rows. Kept for the life of the process, as CasADi demands of callbacks.
    """
    return _Solve(n, m, road, check)


class _Solve(ca.Callback):  # type: ignore[misc]
    """The solver as a CasADi callback with forward derivatives."""

    def __init__(self, n: int, m: int, road: str | Road, check: bool):
        super().__init__()
        self.n, self.m, self.road, self.check = n, m, road, check
        self.solve = SOLVERS[road] if isinstance(road, str) else road.solve
        self.construct(f"constrained_{road if isinstance(road, str) else 'road'}", {})

    def get_n_in(self) -> int:
        return 5

    def get_n_out(self) -> int:
        return 2

    def get_sparsity_in(self, i: int) -> Any:
        n, m = self.n, self.m
        return ca.Sparsity.dense(*[(n, n), (n, 1), (m, n), (m, 1), (n, m)][i])

    def get_sparsity_out(self, i: int) -> Any:
        return ca.Sparsity.dense(self.n if i == 0 else self.m, 1)

    def eval(self, arg: list[Any]) -> list[Any]:
        M, f, J, gamma, E = (np.asarray(item.full()) for item in arg)
        try:
            if not (np.all(np.isfinite(J)) and np.all(np.isfinite(E))):  # rows that no comparison of pivots would find
                raise SolverError("constraint equations are not defined here")
            solution = self.solve(M, f[:, 0], J, gamma[:, 0], E, check=self.check)
        except (SolverError, np.linalg.LinAlgError, ValueError):
            return [ca.DM.nan(self.n, 1), ca.DM.nan(self.m, 1)]
        return [ca.DM(solution.v_dot), ca.DM(solution.lam)]

    def has_forward(self, nfwd: int) -> bool:
        return True

    def get_forward(
        self, nfwd: int, name: str, inames: list[str], onames: list[str], opts: dict[str, Any]
    ) -> ca.Function:
        M, f, J, gamma, E = (
            ca.MX.sym(key, self.get_sparsity_in(i)) for i, key in enumerate(("M", "f", "J", "gamma", "E"))
        )
        v_dot, lam = ca.MX.sym("v_dot", self.n), ca.MX.sym("lam", self.m)
        seeds = [ca.MX.sym(f"d{i}", *_wide(self.get_sparsity_in(i), nfwd)) for i in range(5)]
        widths = [self.get_sparsity_in(i).size2() for i in range(5)]
        pieces = [  # without constraints E has no columns to be split
            ca.horzsplit(seed, width) if width else [seed] * nfwd for seed, width in zip(seeds, widths, strict=True)
        ]
        results = []
        # steps that leave the constraints make dependent rows disagree; those that keep them are sums of such
        solve = constrained_solve(self.n, self.m, self.road, False)
        for k in range(nfwd):
            d_M, d_f, d_J, d_gamma, d_E = (piece[k] for piece in pieces)
            results.append(solve(M, d_f - d_M @ v_dot + d_E @ lam, J, d_gamma - d_J @ v_dot, E))
        outputs = [ca.horzcat(*[item[i] for item in results]) for i in range(2)]
        return ca.Function(name, [M, f, J, gamma, E, v_dot, lam, *seeds], outputs, inames, onames, opts)


def shared_reactions(M: Any, E: Any, lam: Any, compliance: tuple[float, ...]) -> Any:
    """The multipliers of least work that do the same as `lam` (`dynamics.constraints.sharing`), as an expression."""
    n, m = E.shape
    return lam + _least_work(n, compliance)(M, E, ca.MX.zeros(n), -ca.DM(compliance) * lam)[0] if m else lam


@lru_cache(maxsize=256)
def _least_work(n: int, compliance: tuple[float, ...]) -> ca.Function:
    """(M, E, b, w) -> (lam, y) of `least_work`; kept for the life of the process, as CasADi demands of callbacks."""
    return _LeastWork(n, compliance)


class _LeastWork(ca.Callback):  # type: ignore[misc]
    """`least_work` as a CasADi callback; M only scales, so it has no derivative by M.

    ``c dlam = dw + dE' y + E' dy`` and ``E dlam = db - dE lam`` are the same problem.
    """

    def __init__(self, n: int, compliance: tuple[float, ...]):
        super().__init__()
        self.n, self.m, self.compliance = n, len(compliance), compliance
        self.construct("least_work", {})

    def get_n_in(self) -> int:
        return 4

    def get_n_out(self) -> int:
        return 2

    def get_sparsity_in(self, i: int) -> Any:
        n, m = self.n, self.m
        return ca.Sparsity.dense(*[(n, n), (n, m), (n, 1), (m, 1)][i])

    def get_sparsity_out(self, i: int) -> Any:
        return ca.Sparsity.dense(self.m if i == 0 else self.n, 1)

    def eval(self, arg: list[Any]) -> list[Any]:
        M, E, b, w = (np.asarray(item.full()) for item in arg)
        if not all(np.all(np.isfinite(item)) for item in (M, E, b, w)):
            return [ca.DM.nan(self.m, 1), ca.DM.nan(self.n, 1)]
        lam, y = least_work(M, E, b[:, 0], w[:, 0], np.array(self.compliance))
        return [ca.DM(lam), ca.DM(y)]

    def has_forward(self, nfwd: int) -> bool:
        return True

    def get_forward(
        self, nfwd: int, name: str, inames: list[str], onames: list[str], opts: dict[str, Any]
    ) -> ca.Function:
        M, E, b, w = (ca.MX.sym(key, self.get_sparsity_in(i)) for i, key in enumerate(("M", "E", "b", "w")))
        lam, y = ca.MX.sym("lam", self.m), ca.MX.sym("y", self.n)
        seeds = [ca.MX.sym(f"d{i}", *_wide(self.get_sparsity_in(i), nfwd)) for i in range(4)]
        results = []
        for k in range(nfwd):
            d_E, d_b, d_w = seeds[1][:, k * self.m : (k + 1) * self.m], seeds[2][:, k], seeds[3][:, k]
            results.append(_least_work(self.n, self.compliance)(M, E, d_b - d_E @ lam, d_w + d_E.T @ y))
        outputs = [ca.horzcat(*[item[i] for item in results]) for i in range(2)]
        return ca.Function(name, [M, E, b, w, lam, y, *seeds], outputs, inames, onames, opts)


def _wide(sparsity: Any, nfwd: int) -> tuple[int, int]:
    return sparsity.size1(), sparsity.size2() * nfwd
