"""Solve for the coordinates of loops that close together (Yaskevich, Eq. 9), and assess the result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl.dynamics.closing.open_loops import PositionEquations
from spacectl.dynamics.constraints.closest import Closest, find_closest
from spacectl.dynamics.constraints.least_squares import solve_constraints
from spacectl.dynamics.partitioning.blocks import ClosingBlock
from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["OPEN", "SINGULAR", "BlockNewton"]

SINGULAR = 1e-7  #: smallest over largest singular value of C_d that counts as singular: the square root of rounding
OPEN = 1e-12  #: residual, relative to the size of the coordinates (at least 1), from which loops are open


@dataclass(frozen=True)
class BlockNewton:
    """Loops to be closed at one time, for one set of parameters.

    Parameters
    ----------
    eom : EquationsOfMotion
        By ``formulation="partitioned"``.
    t : float
        Time [s].
    p : array or None
        Run-time parameters.
    """

    eom: EquationsOfMotion
    t: float
    p: Any

    def limit(self, x: np.ndarray) -> float:
        """Return the residual from which loops are open."""
        return OPEN * max(1.0, float(np.max(np.abs(x[: self.eom.n_q]))))

    def close(self, block: ClosingBlock, x: np.ndarray, *, keep_side: bool = False) -> tuple[int, float]:
        """Move the dependent coordinates, in place, until the loops close; return the number of steps and the gap.

        With `keep_side` no step crosses a singular position, so that the branch is maintained.
        """
        n_q, v = self.eom.n_q, x[self.eom.n_q :]
        side = self.side(block, x) if keep_side else 0.0
        equations = self._equations(block, x)
        found = solve_constraints(
            equations,
            x[:n_q],
            tolerance=1e-3 * self.limit(x),
            normalize=equations.normalize,
            accept=(lambda q: self.side(block, np.concatenate([q, v])) * side >= 0.0) if keep_side else None,
        )
        x[:n_q] = found.q
        return found.steps, found.gap

    def gaps(self, x: np.ndarray) -> np.ndarray:
        """Return the residuals of all position-level constraint equations."""
        return PositionEquations(self.eom, self.t, x[self.eom.n_q :], self.p)(x[: self.eom.n_q])[0]

    def _equations(self, block: ClosingBlock, x: np.ndarray) -> PositionEquations:
        rows, speeds = np.array(block.rows, dtype=int), np.array(block.speeds, dtype=int)
        return PositionEquations(self.eom, self.t, x[self.eom.n_q :], self.p, rows, speeds)

    def _jacobian(self, block: ClosingBlock, x: np.ndarray) -> np.ndarray:
        """Return ``C_d``, the Jacobian with respect to the dependent speeds."""
        return self._equations(block, x)(x[: self.eom.n_q])[1]

    def condition(self, block: ClosingBlock, x: np.ndarray) -> tuple[float, int]:
        """Return smallest over largest singular value of ``C_d``, and the speed that the equations determine least."""
        _, values, V = np.linalg.svd(self._jacobian(block, x))
        weakest = int(np.argmax(np.abs(V[-1])))
        return float(values[len(block.speeds) - 1] / max(values[0], 1e-300)), block.speeds[weakest]

    def side(self, block: ClosingBlock, x: np.ndarray) -> float:
        """Return the sign of the determinant of the independent rows of ``C_d``; 0 close to a singular position.

        It changes only through a singular position.
        """
        C = self._jacobian(block, x)[[k for k, i in enumerate(block.rows) if i in block.solved]]
        return float(np.sign(np.linalg.det(C))) if C.size and np.linalg.cond(C) < 1.0 / SINGULAR else 0.0

    def find_closest(self, block: ClosingBlock, starts: list[np.ndarray]) -> tuple[Closest, np.ndarray]:
        """Return the closest configuration of a block, and the whole state with it."""
        n_q, equations = self.eom.n_q, self._equations(block, starts[0])
        found = find_closest(equations, equations.normalize, [x[:n_q] for x in starts], self.limit(starts[0]))
        return found, np.concatenate([found.q, starts[0][n_q:]])
