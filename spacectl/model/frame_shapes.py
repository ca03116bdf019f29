"""What a flexible body knows of a place on it: displacement and rotation, to first and second order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["FrameShapes"]


@dataclass(frozen=True)
class FrameShapes:
    """First- and second-order displacement and rotation of a frame: Phi, Psi (3, m), G, H (3, m, m)."""

    Phi: np.ndarray
    Psi: np.ndarray
    G: np.ndarray
    H: np.ndarray

    def carried(self, offset: np.ndarray) -> FrameShapes:
        """Shapes of a point that the slice carries at `offset` from this place."""
        theta = self.Psi.T
        Phi = self.Phi + np.cross(theta, offset).T
        double = np.cross(theta[:, None, :], np.cross(theta[None, :, :], offset))  # theta_j x (theta_k x d)
        second = 0.5 * (double + double.transpose(1, 0, 2)) + np.cross(self.H.transpose(1, 2, 0), offset)
        return FrameShapes(Phi, self.Psi, self.G - second.transpose(2, 0, 1), self.H)
