"""`PositionEquations`: constraint equations at position level as `solve_constraints` takes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["PositionEquations"]


@dataclass(frozen=True)
class PositionEquations:
    """Residual ``g(t, q)``, its derivative along the speeds and W, for some equations and speeds of a system.

    Parameters
    ----------
    eom : EquationsOfMotion
        Of a constrained system.
    t : float
        Time [s].
    v : array, shape (n_v,)
        Speeds; they do not enter the result.
    p : array or None
        Run-time parameters.
    rows, speeds : array of int, optional
        Position-level equations to solve and speeds along which coordinates may move; all by default.
    """

    eom: EquationsOfMotion
    t: float
    v: np.ndarray
    p: Any
    rows: np.ndarray | None = None
    speeds: np.ndarray | None = None

    def __call__(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return g (m,), J (m, n) and W (n_q, n)."""
        g, _, _, J, W = self.eom.call("projection", self.t, q, self.v, p=self.p)
        g = g.reshape(-1)
        if self.rows is not None:
            g, J = g[self.rows], J[self.rows]
        return (g, J, W) if self.speeds is None else (g, J[:, self.speeds], W[:, self.speeds])

    def normalize(self, q: np.ndarray) -> np.ndarray:
        """Return coordinates with quaternions of unit length."""
        return self.eom.state(np.concatenate([q, self.v]))[: self.eom.n_q]
