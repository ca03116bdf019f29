"""The nonlinear programme: phases, linkage constraints, scaling, and assembled sparse derivatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from spacectl.planners.collocation.transcription.bounds import phase_bounds, row_bounds
from spacectl.planners.collocation.transcription.derivatives import PhaseDerivatives
from spacectl.planners.collocation.transcription.phase import PhaseBlock, PhaseState
from spacectl.planners.collocation.transcription.point import point_model
from spacectl.planners.collocation.transcription.schemes import Scheme
from spacectl.planners.problem import Problem

__all__ = ["Nlp", "SparseSum", "transcribe"]


class SparseSum:
    """Assemble a sparse matrix from entries whose positions may repeat."""

    def __init__(self, rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]):
        keys, self._place = np.unique(columns.astype(np.int64) * shape[0] + rows, return_inverse=True)
        self.columns, self.rows = np.divmod(keys, shape[0])
        starts = np.searchsorted(self.columns, np.arange(shape[1] + 1))
        self.sparsity = ca.Sparsity(shape[0], shape[1], starts.tolist(), self.rows.tolist())

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Sum the entries; return the nonzeros in CasADi's order."""
        return np.bincount(self._place, weights=values, minlength=len(self.rows))


@dataclass(eq=False)
class Nlp:
    """Minimise the cost of all phases subject to their rows, in scaled unknowns ``x = scale * x_hat``.

    Parameters
    ----------
    blocks : tuple of PhaseBlock
        The phases.
    low, high : array, shape (n,)
        Bounds of the unknowns x.
    row_low, row_high : array, shape (m,)
        Bounds of the rows.
    links : array, shape (k, 2)
        Pairs of columns that are equal (end of a phase, start of the next).
    """

    blocks: tuple[PhaseBlock, ...]
    low: np.ndarray
    high: np.ndarray
    row_low: np.ndarray
    row_high: np.ndarray
    links: np.ndarray
    scale: np.ndarray
    row_scale: np.ndarray
    cost_scale: float = 1.0
    _last: tuple[bytes, list[PhaseState]] | None = None

    @property
    def n(self) -> int:
        """Number of unknowns."""
        return len(self.low)

    @property
    def m(self) -> int:
        """Number of rows."""
        return len(self.row_low)

    @cached_property
    def derivatives(self) -> tuple[PhaseDerivatives, ...]:
        """Derivatives of the phases."""
        return tuple(PhaseDerivatives(block) for block in self.blocks)

    @cached_property
    def jacobian_sum(self) -> SparseSum:
        """Pattern of the Jacobian."""
        places = [item.jacobian_places for item in self.derivatives]
        k = np.arange(self.m - len(self.links), self.m)
        rows = np.concatenate([*(item[0] for item in places), k, k])
        columns = np.concatenate([*(item[1] for item in places), self.links[:, 0], self.links[:, 1]])
        return SparseSum(rows, columns, (self.m, self.n))

    @cached_property
    def hessian_sum(self) -> SparseSum:
        """Pattern of the upper triangle of the Hessian."""
        places = [item.hessian_places for item in self.derivatives]
        return SparseSum(
            np.concatenate([item[0] for item in places]), np.concatenate([item[1] for item in places]), (self.n,) * 2
        )

    def at(self, x_hat: np.ndarray) -> list[PhaseState]:
        """Evaluate the phases at scaled unknowns; the last result is cached."""
        key = x_hat.tobytes()
        if self._last is None or self._last[0] != key:
            x = x_hat * self.scale
            self._last = (key, [block.state(x) for block in self.blocks])
        return self._last[1]

    def objective(self, x_hat: np.ndarray) -> float:
        """Return the scaled cost."""
        return self.cost_scale * sum(item.block.objective(item) for item in self.at(x_hat))

    def gradient(self, x_hat: np.ndarray) -> np.ndarray:
        """Return the gradient of the scaled cost."""
        parts = [item.block.gradient(item) for item in self.at(x_hat)]
        return self.cost_scale * np.concatenate(parts) * self.scale

    def rows(self, x_hat: np.ndarray) -> np.ndarray:
        """Return the scaled rows."""
        x = x_hat * self.scale
        linked = x[self.links[:, 0]] - x[self.links[:, 1]]
        return np.concatenate([*(item.block.rows(item) for item in self.at(x_hat)), linked]) * self.row_scale

    def jacobian(self, x_hat: np.ndarray) -> np.ndarray:
        """Return the nonzeros of the Jacobian of the scaled rows."""
        parts = [derivatives.jacobian(item) for derivatives, item in zip(self.derivatives, self.at(x_hat), strict=True)]
        ones = np.ones(len(self.links))
        pattern = self.jacobian_sum
        return (
            pattern(np.concatenate([*parts, ones, -ones])) * self.row_scale[pattern.rows] * self.scale[pattern.columns]
        )

    def hessian(self, x_hat: np.ndarray, sigma: float, multipliers: np.ndarray) -> np.ndarray:
        """Return the nonzeros of the upper triangle of the Hessian of the scaled Lagrangian."""
        lam, weight = multipliers * self.row_scale, sigma * self.cost_scale
        parts = [item.hessian(state, weight, lam) for item, state in zip(self.derivatives, self.at(x_hat), strict=True)]
        pattern = self.hessian_sum
        return pattern(np.concatenate(parts)) * self.scale[pattern.rows] * self.scale[pattern.columns]


def transcribe(
    problems: Sequence[Problem],
    scheme: Scheme,
    meshes: Sequence[np.ndarray],
    *,
    fixed: Sequence[Mapping[str, float]] | None = None,
    weights: Sequence[np.ndarray] | None = None,
) -> Nlp:
    """Return the unscaled programme of phases on their meshes.

    `fixed` names, for each phase, entries of z that keep one value; `weights` those of its squared inputs in
    the cost rate.
    """
    models = [point_model(problem) for problem in problems]
    if any(model.has_clock for model in models) and not all(model.has_clock for model in models):
        models = [point_model(problem, clock=True) for problem in problems]
    blocks: list[PhaseBlock] = []
    column = row = 0
    for k, (problem, model, mesh) in enumerate(zip(problems, models, meshes, strict=True)):
        own = None if weights is None else weights[k]
        blocks.append(PhaseBlock.of(problem, model, scheme, mesh, column, row, own))
        column, row = column + blocks[-1].n, row + blocks[-1].m
    links = _links(blocks)
    values = [{} for _ in blocks] if fixed is None else list(fixed)
    bounds = [phase_bounds(block, is_first=k == 0, fixed=values[k]) for k, block in enumerate(blocks)]
    low, high = (np.concatenate([item[i] for item in bounds]) for i in (0, 1))
    row_low, row_high = (
        np.concatenate([*(item[i] for item in row_bounds(blocks)), np.zeros(len(links))]) for i in (0, 1)
    )
    nlp = Nlp(tuple(blocks), low, high, row_low, row_high, links, np.ones(column), np.ones(row + len(links)))
    return nlp


def _links(blocks: Sequence[PhaseBlock]) -> np.ndarray:
    """Return pairs of columns of the states that are continuous between phases, matched by name."""
    pairs = []
    for before, after in zip(blocks[:-1], blocks[1:], strict=True):
        last = before.column + (before.P - 1) * before.model.n_z
        names = {name: i for i, name in enumerate(before.model.names[: before.model.n_X])}
        for i, name in enumerate(after.model.names[: after.model.n_X]):
            if name in names:
                pairs.append((last + names[name], after.column + i))
    return np.array(pairs, dtype=int).reshape(-1, 2)
