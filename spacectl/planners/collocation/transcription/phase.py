"""A phase of a transcribed problem: its unknowns and rows, assembled from those of the collocation points.

Unknowns: z of each point, then the duration T. Rows: defects ``X_j - X_0 - T ds sum_i A_ji X_dot_i``,
residuals and path conditions of each point, rows that hold undetermined inputs, conditions of both ends. Only
the points cost anything; the rest is bookkeeping with arrays.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from spacectl.codegen.batch_function import BatchFunction
from spacectl.planners.collocation.transcription.point import Derivatives, PointModel
from spacectl.planners.collocation.transcription.schemes import Scheme
from spacectl.planners.problem import Problem

__all__ = ["BoundDerivatives", "PhaseBlock", "PhaseState"]


class BoundDerivatives:
    """`Derivatives` for fixed parameters: values, Jacobian and Hessian nonzeros at many rows."""

    def __init__(self, derivatives: Derivatives, p: np.ndarray):
        self._value, self._jacobian, self._hessian = (
            BatchFunction(item, p) for item in (derivatives.value, derivatives.jacobian, derivatives.hessian)
        )
        self.n_values = self._value.n_out

    def value(self, z: np.ndarray) -> np.ndarray:
        """Return values, shape (n, n_values), at z of shape (n, n_z)."""
        return self._value(z)[0]

    def jacobian(self, z: np.ndarray) -> np.ndarray:
        """Return nonzeros of the Jacobian, one row a point."""
        return self._jacobian(z)[0]

    def hessian(self, z: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return nonzeros of the Hessian of the values weighted by w, one row a point."""
        return self._hessian(z, w)[0]


@dataclass(eq=False)
class PhaseState:
    """Unknowns of a phase with the values at its points; Jacobians are evaluated on demand."""

    block: PhaseBlock
    Z: np.ndarray
    T: float
    F: np.ndarray

    @cached_property
    def JF(self) -> np.ndarray:
        """Nonzeros of the Jacobians at the points, (P, n)."""
        return self.block.bound.jacobian(self.Z)

    @cached_property
    def X_dot(self) -> np.ndarray:
        """Rates of the extended state, (P, n_X)."""
        block = self.block
        out = np.empty((block.P, block.model.n_X))
        out[:, : int(block.model.has_clock)] = 1.0
        out[:, block.places["q"]] = self.F[:, block.places["F.q_dot"]]
        out[:, block.places["v"].start :] = self.Z[:, block.places["rates"]]
        return out


@dataclass(frozen=True, eq=False)
class PhaseBlock:
    """A phase on a mesh.

    Parameters
    ----------
    problem : Problem
        The problem of the phase.
    model : PointModel
        Equations at a collocation point.
    scheme : Scheme
        Collocation scheme.
    mesh : array, shape (N + 1,)
        Interval boundaries as fractions of the duration, 0 to 1.
    column, row : int
        First unknown and first row in the whole programme.
    bound : BoundDerivatives
        Functions of the points, bound to the problem's parameters.
    bound_ends : tuple of BoundDerivatives
        Functions of the boundary conditions, likewise.
    """

    problem: Problem
    model: PointModel
    scheme: Scheme
    mesh: np.ndarray
    column: int
    row: int
    bound: BoundDerivatives
    bound_ends: tuple[BoundDerivatives, BoundDerivatives]
    places: dict[str, slice] = field(default_factory=dict)

    @classmethod
    def of(
        cls, problem: Problem, model: PointModel, scheme: Scheme, mesh: Any, column: int, row: int, weights: Any = None
    ) -> PhaseBlock:
        """Bind the functions to the problem's parameters and to weights (n_u,) of squared inputs."""
        damping = np.zeros(problem.eom.n_u) if weights is None else np.asarray(weights)
        points = BoundDerivatives(model.derivatives, np.concatenate([problem.p, damping]))
        ends = (BoundDerivatives(model.ends[0], problem.p), BoundDerivatives(model.ends[1], problem.p))
        return cls(problem, model, scheme, np.asarray(mesh), column, row, points, ends, model.places)

    @property
    def N(self) -> int:
        """Number of intervals."""
        return len(self.mesh) - 1

    @property
    def d(self) -> int:
        """Number of points of an interval, without its first."""
        return len(self.scheme.points) - 1

    @property
    def P(self) -> int:
        """Number of points."""
        return self.N * self.d + 1

    @cached_property
    def ds(self) -> np.ndarray:
        """Lengths of the intervals as fractions of the duration."""
        return np.diff(self.mesh)

    @cached_property
    def fractions(self) -> np.ndarray:
        """Fraction of the duration of each point, (P,)."""
        inner = self.mesh[:-1, None] + self.ds[:, None] * self.scheme.points[None, :-1]
        return np.append(inner.ravel(), 1.0)

    @cached_property
    def quadrature(self) -> np.ndarray:
        """Quadrature weights over the fraction of the duration, (P,)."""
        return self.gather((self.ds[:, None] * self.scheme.A[-1])[:, :, None])[:, 0]

    @property
    def n(self) -> int:
        """Number of unknowns."""
        return self.P * self.model.n_z + 1

    @property
    def duration_column(self) -> int:
        """Column of T."""
        return self.column + self.n - 1

    @cached_property
    def undetermined(self) -> np.ndarray:
        """Entries of z at the first point that equal those of the second, as no row determines them (Radau)."""
        return np.zeros(0, dtype=int) if self.scheme.is_collocated_at_start else self.controls

    @cached_property
    def controls(self) -> np.ndarray:
        """Entries of z that are controls: rates of smooth inputs, then the other inputs."""
        z = np.arange(self.model.n_z)
        return np.concatenate([z[self.places["rates"]][self.model.sizes["v"] :], z[self.places["u"]]])

    @cached_property
    def control_limits(self) -> np.ndarray:
        """Lower and upper limit of each control, (n, 2)."""
        problem = self.problem
        limits = dict(zip(problem.eom.inputs, np.transpose(problem.input_limits()), strict=True))
        free = [limits[name] for name in problem.eom.inputs if name not in self.model.smooth]
        return np.array([*(problem.rate_limits[name] for name in self.model.smooth), *free]).reshape(-1, 2)

    def control_words(self, index: int) -> str:
        """Return the display name of a control."""
        return self.model.names[self.controls[index]].removeprefix("input ").replace("rate of input", "rate of")

    @cached_property
    def row_groups(self) -> dict[str, tuple[int, int]]:
        """First row and number of rows of each group."""
        sizes = self.model.sizes
        counts = {
            "defect": self.N * self.d * self.model.n_X,
            "residual": self.P * sizes["residual"],
            "path": self.P * sizes["path"],
            "undetermined": len(self.undetermined),
            "start": self.bound_ends[0].n_values,
            "end": self.bound_ends[1].n_values - 1,
        }
        firsts = self.row + np.concatenate([[0], np.cumsum(list(counts.values()))[:-1]])
        return {key: (int(first), count) for (key, count), first in zip(counts.items(), firsts, strict=True)}

    @property
    def m(self) -> int:
        """Number of rows."""
        return sum(count for _, count in self.row_groups.values())

    def state(self, x: np.ndarray) -> PhaseState:
        """Evaluate the phase at its part of all unknowns."""
        own = x[self.column : self.column + self.n]
        Z = own[:-1].reshape(self.P, self.model.n_z)
        return PhaseState(self, Z, float(own[-1]), self.bound.value(Z))

    def pieces(self, values: np.ndarray) -> np.ndarray:
        """Return values at points (P, k) arranged by interval, (N, d + 1, k)."""
        index = np.arange(self.N)[:, None] * self.d + np.arange(self.d + 1)
        return values[index]

    def gather(self, pieces: np.ndarray) -> np.ndarray:
        """Sum the contributions of intervals to their points: (N, d + 1, k) -> (P, k)."""
        out = np.zeros((self.P, pieces.shape[2]))
        out[:-1] = pieces[:, :-1].reshape(self.N * self.d, -1)
        out[self.d :: self.d] += pieces[:, -1]
        return out

    def objective(self, at: PhaseState) -> float:
        """Return the cost of the phase."""
        running = at.T * float(self.quadrature @ at.F[:, -1])
        final = float(self.bound_ends[1].value(at.Z[-1:, self.places["X"]])[0, -1])
        return self.problem.time_weight * at.T + running + final

    def gradient(self, at: PhaseState) -> np.ndarray:
        """Return the gradient of the cost with respect to the phase's unknowns, (n,)."""
        out = np.zeros((self.P, self.model.n_z))
        derivatives = self.model.derivatives
        of_cost = derivatives.rows == len(at.F[0]) - 1
        out[:, derivatives.columns[of_cost]] = at.T * self.quadrature[:, None] * at.JF[:, of_cost]
        end, bound = self.model.ends[1], self.bound_ends[1]
        of_end = end.rows == bound.n_values - 1
        out[-1, end.columns[of_end]] += bound.jacobian(at.Z[-1:, self.places["X"]])[0, of_end]
        by_T = self.problem.time_weight + float(self.quadrature @ at.F[:, -1])
        return np.append(out.ravel(), by_T)

    def rows(self, at: PhaseState) -> np.ndarray:
        """Return the values of the phase's rows, (m,)."""
        X, X_dot = self.pieces(at.Z[:, self.places["X"]]), self.pieces(at.X_dot)
        moved = np.einsum("ji,kix->kjx", self.scheme.A, X_dot) * (at.T * self.ds)[:, None, None]
        defects = X[:, 1:] - X[:, :1] - moved
        ends = [
            bound.value(at.Z[[k]][:, self.places["X"]])[0] for bound, k in zip(self.bound_ends, (0, -1), strict=True)
        ]
        return np.concatenate([
            defects.ravel(), at.F[:, self.places["F.residual"]].ravel(), at.F[:, self.places["F.path"]].ravel(),
            at.Z[0, self.undetermined] - at.Z[1, self.undetermined], ends[0], ends[1][:-1],
        ])  # fmt: skip
