"""Newton's method for the coordinates of loops that are closed together (002 Eq 9), damped; and what is known of the result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl.dynamics.constraints.closest import Closest, find_closest
from spacectl.dynamics.partitioning.blocks import ClosingBlock
from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["OPEN", "SINGULAR", "BlockNewton"]

_STEPS = 60  # damped ones need more than the usual four
SINGULAR = 1e-7  #: of the smallest to the largest singular value of C_d: the square root of rounding
OPEN = 1e-12  #: residual, relative to the size of the coordinates (at least 1), from which loops are open


@dataclass(frozen=True)
class BlockNewton:
    """Loops to be closed at a time, for numbers p.

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
        """Residual from which loops are open."""
        return OPEN * max(1.0, float(np.max(np.abs(x[: self.eom.n_q]))))

    def close(self, block: ClosingBlock, x: np.ndarray, *, keep_side: bool = False) -> tuple[int, float]:
        """Steps on the dependent coordinates, in place, damped so that the gap never grows; their number and the gap.

        With `keep_side` no step is made across a singular position, so that the branch is kept.
        """
        n_q, n = self.eom.n_q, len(block.speeds)
        size = max(1.0, float(np.max(np.abs(x[:n_q]))))
        damping, side = 0.0, self.side(block, x) if keep_side else 0.0
        g, C, W = self._linear(block, x)
        for k in range(_STEPS if n else 0):
            gap = float(np.linalg.norm(g))
            if gap <= 1e-15 * size:
                return k, gap
            # Levenberg's term leads to a close configuration where there is no solution
            A = np.vstack([C, np.sqrt(damping) * np.eye(n)])
            step = np.linalg.lstsq(A, np.concatenate([-g, np.zeros(n)]), rcond=1e-12)[0]
            step *= min(1.0, 0.5 / max(float(np.max(np.abs(step), initial=0.0)), 1e-300))
            trial = x.copy()
            trial[:n_q] += W @ step
            trial = self.eom.state(trial)
            found = self._linear(block, trial)
            if np.linalg.norm(found[0]) < gap and (not keep_side or self.side(block, trial) * side >= 0.0):
                x[:] = trial
                g, C, W = found
                damping *= 0.1 if damping > 1e-14 else 0.0
            elif gap < OPEN * size:
                return k, gap
            else:
                damping = max(10.0 * damping, 1e-6 * float(np.sum(C**2)))
        return _STEPS, float(np.linalg.norm(g))

    def gaps(self, x: np.ndarray) -> np.ndarray:
        """What all rows that hold positions leave open."""
        return np.asarray(
            self.eom.call("projection", self.t, x[: self.eom.n_q], x[self.eom.n_q :], p=self.p)[0]
        ).ravel()

    def _linear(self, block: ClosingBlock, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        n_q, rows, columns = self.eom.n_q, np.array(block.rows, dtype=int), np.array(block.speeds, dtype=int)
        g, _, _, held, W = self.eom.call("projection", self.t, x[:n_q], x[n_q:], p=self.p)
        return g.reshape(-1)[rows], held[np.ix_(rows, columns)], W[:, columns]

    def condition(self, block: ClosingBlock, x: np.ndarray) -> tuple[float, int]:
        """How far ``C_d`` is from singular, and the speed that would have to move most for little."""
        _, C, _ = self._linear(block, x)
        _, values, V = np.linalg.svd(C)
        weakest = int(np.argmax(np.abs(V[-1])))
        return float(values[len(block.speeds) - 1] / max(values[0], 1e-300)), block.speeds[weakest]

    def side(self, block: ClosingBlock, x: np.ndarray) -> float:
        """Sign of the determinant of the independent rows, which changes only through a singular position; 0 next to one."""
        C = self._linear(block, x)[1][[k for k, i in enumerate(block.rows) if i in block.solved]]
        return float(np.sign(np.linalg.det(C))) if C.size and np.linalg.cond(C) < 1.0 / SINGULAR else 0.0

    def find_closest(self, block: ClosingBlock, starts: list[np.ndarray]) -> tuple[Closest, np.ndarray]:
        """The closest configuration of a block, and the whole state with it."""
        n_q, still, rows = self.eom.n_q, starts[0][self.eom.n_q :], np.array(block.rows, dtype=int)

        def linear(q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            g, _, _, held, W = self.eom.call("projection", self.t, q, still, p=self.p)
            return g.reshape(-1)[rows], held[rows], W

        def unit(q: np.ndarray) -> np.ndarray:
            return self.eom.state(np.concatenate([q, still]))[:n_q]

        free = np.array(block.speeds, dtype=int)
        found = find_closest(linear, unit, [x[:n_q] for x in starts], free, self.limit(starts[0]))
        return found, np.concatenate([found.q, still])
