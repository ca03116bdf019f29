"""Jacobian and Hessian of a phase: the sparsity pattern once, the values at each iterate.

Entries may repeat a position; `nlp` sums them.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from spacectl.planners.collocation.transcription.phase import PhaseBlock, PhaseState

__all__ = ["PhaseDerivatives"]


class PhaseDerivatives:
    """Derivatives of the rows and of the Lagrangian of a phase.

    Parameters
    ----------
    block : PhaseBlock
        The phase.
    """

    def __init__(self, block: PhaseBlock):
        self.block = block
        model = block.model
        derivatives, places = model.derivatives, block.places
        self.rate_entries = np.flatnonzero(derivatives.rows < model.sizes["q"])  # of q_dot among the nonzeros of F
        rates = np.arange(model.sizes["rates"])
        self.rate_rows = np.concatenate(
            [derivatives.rows[self.rate_entries] + places["q"].start, places["v"].start + rates]
        )
        self.rate_columns = np.concatenate([derivatives.columns[self.rate_entries], places["rates"].start + rates])
        below, last = model.sizes["q"], model.sizes["q"] + model.sizes["residual"] + model.sizes["path"]
        self.row_entries = np.flatnonzero((derivatives.rows >= below) & (derivatives.rows < last))
        self.cost_entries = np.flatnonzero(derivatives.rows == last)
        self.pairs = np.argwhere(block.scheme.A != 0.0)  # (j, i): row j of an interval needs the rates at point i
        self.mixed = np.unique(np.concatenate([self.rate_columns, derivatives.columns[self.cost_entries]]))

    def _column(self, point: np.ndarray, entry: np.ndarray) -> np.ndarray:
        return self.block.column + point * self.block.model.n_z + entry

    @cached_property
    def jacobian_places(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns of the entries, in the order of `jacobian`."""
        block = self.block
        d, n_X, sizes = block.d, block.model.n_X, block.model.sizes
        k, j, x = np.meshgrid(np.arange(block.N), np.arange(d), np.arange(n_X), indexing="ij")
        defect = block.row_groups["defect"][0] + (k * d + j) * n_X + x
        rows = [defect, defect]
        columns = [self._column(k * d + j + 1, x), self._column(k * d, x)]
        intervals, pair_j, pair_i = np.arange(block.N)[:, None, None], self.pairs[:, :1], self.pairs[:, 1:]
        rows.append(block.row_groups["defect"][0] + (intervals * d + pair_j) * n_X + self.rate_rows)
        columns.append(self._column(intervals * d + pair_i, self.rate_columns))
        rows.append(defect)
        columns.append(np.full(defect.shape, block.duration_column))
        points = np.arange(block.P)[:, None]
        which = block.model.derivatives.rows[self.row_entries] - sizes["q"]
        is_path = which >= sizes["residual"]
        at_path = block.row_groups["path"][0] + points * sizes["path"] + which - sizes["residual"]
        at_residual = block.row_groups["residual"][0] + points * sizes["residual"] + which
        rows.append(np.where(is_path, at_path, at_residual))
        columns.append(self._column(points, block.model.derivatives.columns[self.row_entries]))
        equal = block.row_groups["undetermined"][0] + np.arange(len(block.undetermined))
        rows += [equal, equal]
        columns += [
            self._column(np.zeros(1, dtype=int), block.undetermined),
            self._column(np.ones(1, dtype=int), block.undetermined),
        ]
        for key, end, point in (("start", block.model.ends[0], 0), ("end", block.model.ends[1], block.P - 1)):
            is_row = end.rows < block.row_groups[key][1]
            rows.append(block.row_groups[key][0] + end.rows[is_row])
            columns.append(self._column(np.array([point]), end.columns[is_row]))
        return np.concatenate([item.ravel() for item in rows]), np.concatenate([item.ravel() for item in columns])

    def rate_derivatives(self, at: PhaseState) -> np.ndarray:
        """Return entries of the Jacobian of X_dot with respect to z, (P, n), at (`rate_rows`, `rate_columns`)."""
        ones = np.ones((self.block.P, self.block.model.sizes["rates"]))
        return np.hstack([at.JF[:, self.rate_entries], ones])

    def jacobian(self, at: PhaseState) -> np.ndarray:
        """Return the entries of the Jacobian of the rows."""
        block, A = self.block, self.block.scheme.A
        n = block.N * block.d * block.model.n_X
        derivatives = block.pieces(self.rate_derivatives(at))[:, self.pairs[:, 1]]
        moved = -at.T * block.ds[:, None, None] * A[self.pairs[:, 0], self.pairs[:, 1]][:, None] * derivatives
        by_T = -block.ds[:, None, None] * np.einsum("ji,kix->kjx", A, block.pieces(at.X_dot))
        equal = np.ones(len(block.undetermined))
        out = [np.ones(n), -np.ones(n), moved, by_T, at.JF[:, self.row_entries], equal, -equal]
        for key, end, bound, k in zip(("start", "end"), block.model.ends, block.bound_ends, (0, -1), strict=True):
            is_row = end.rows < block.row_groups[key][1]
            out.append(bound.jacobian(at.Z[[k]][:, block.places["X"]])[0, is_row])
        return np.concatenate([item.ravel() for item in out])

    @cached_property
    def hessian_places(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns of the entries (upper triangle), in the order of `hessian`."""
        block = self.block
        points = np.arange(block.P)[:, None]
        derivatives = block.model.derivatives
        rows = [self._column(points, derivatives.upper_rows), self._column(points, self.mixed)]
        columns = [
            self._column(points, derivatives.upper_columns),
            np.full((block.P, len(self.mixed)), block.duration_column),
        ]
        for end, point in zip(block.model.ends, (0, block.P - 1), strict=True):
            rows.append(self._column(np.array([point]), end.upper_rows))
            columns.append(self._column(np.array([point]), end.upper_columns))
        return np.concatenate([item.ravel() for item in rows]), np.concatenate([item.ravel() for item in columns])

    def hessian(self, at: PhaseState, sigma: float, multipliers: np.ndarray) -> np.ndarray:
        """Return the entries of the Hessian of ``sigma cost + multipliers' rows`` (all rows of the programme)."""
        block, sizes = self.block, self.block.model.sizes

        def of(key: str) -> np.ndarray:
            first, count = block.row_groups[key]
            return multipliers[first : first + count]

        rate_weights = self._rate_weights(of("defect"))
        weights = np.hstack([
            -at.T * rate_weights[:, block.places["q"]], of("residual").reshape(block.P, sizes["residual"]),
            of("path").reshape(block.P, sizes["path"]), sigma * at.T * block.quadrature[:, None],
        ])  # fmt: skip
        out = [block.bound.hessian(at.Z, weights), self._mixed(at, sigma, rate_weights)]
        for key, bound, k in zip(("start", "end"), block.bound_ends, (0, -1), strict=True):
            more = [sigma] if key == "end" else []
            w = np.concatenate([of(key), more])[None, :]
            out.append(bound.hessian(at.Z[[k]][:, block.places["X"]], w))
        return np.concatenate([item.ravel() for item in out])

    def _rate_weights(self, defect: np.ndarray) -> np.ndarray:
        """Return the weights of each point's rates in the multiplied defects, without the factor -T, (P, n_X)."""
        block = self.block
        by_interval = defect.reshape(block.N, block.d, block.model.n_X) * block.ds[:, None, None]
        return block.gather(np.einsum("ji,kjx->kix", block.scheme.A, by_interval))

    def _mixed(self, at: PhaseState, sigma: float, rate_weights: np.ndarray) -> np.ndarray:
        """Return second derivatives with respect to T and the unknowns `mixed` of each point, (P, n)."""
        block = self.block
        out = np.zeros((block.P, block.model.n_z))
        terms = -rate_weights[:, self.rate_rows] * self.rate_derivatives(at)
        for k, column in enumerate(self.rate_columns):
            out[:, column] += terms[:, k]
        costs = block.model.derivatives.columns[self.cost_entries]
        out[:, costs] += sigma * block.quadrature[:, None] * at.JF[:, self.cost_entries]
        return out[:, self.mixed]
