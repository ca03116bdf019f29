"""Displacement and rotation at a place of a flexible body, to first and second order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["FrameShapes", "measure_from"]


@dataclass(frozen=True)
class FrameShapes:
    """First- and second-order displacement and rotation of a frame: Phi, Psi (3, m), G, H (3, m, m)."""

    Phi: np.ndarray
    Psi: np.ndarray
    G: np.ndarray
    H: np.ndarray

    def carried(self, offset: np.ndarray) -> FrameShapes:
        """Return the shapes of a point that the slice carries at `offset` from this place."""
        theta = self.Psi.T
        Phi = self.Phi + np.cross(theta, offset).T
        double = np.cross(theta[:, None, :], np.cross(theta[None, :, :], offset))  # theta_j x (theta_k x d)
        second = 0.5 * (double + double.transpose(1, 0, 2)) + np.cross(self.H.transpose(1, 2, 0), offset)
        return FrameShapes(Phi, self.Psi, self.G - second.transpose(2, 0, 1), self.H)


def measure_from(origin: FrameShapes, X: np.ndarray, fields: FrameShapes) -> FrameShapes:
    """Refer shapes at places X to the slice at the body's frame instead of a floating frame.

    With the frame's displacement ``p = Phi0 eta - ...`` and rotation ``theta0 = Psi0 eta + ...``, places move by
    ``R(theta0)' (X + u - p) - X`` and slices turn by ``R(theta0)' R(theta)``, here to second order in eta.

    Parameters
    ----------
    origin : FrameShapes
        Shapes at the body's frame, X = 0.
    X : array, shape (n, 3)
        Places of the undeformed body [m].
    fields : FrameShapes
        Shapes there: Phi, Psi (n, 3, m), G, H (n, 3, m, m).
    """
    psi0 = origin.Psi.T  # (m, 3)
    d = (fields.Phi - origin.Phi).transpose(0, 2, 1)  # u - p, (n, m, 3)
    psi = fields.Psi.transpose(0, 2, 1)
    turned = np.cross(psi0[None], X[:, None, :])  # theta0 x X, (n, m, 3)
    Phi = d - turned
    double = np.cross(psi0[None, :, None], turned[:, None, :])  # theta0_j x (theta0_k x X)
    carried = np.cross(psi0[None, :, None], d[:, None, :])  # theta0_j x (u_k - p_k)
    second = 0.5 * _both(double) - _both(carried)
    second = second - np.cross(origin.H.transpose(1, 2, 0)[None], X[:, None, None, :])
    slopes = -0.5 * _both(np.cross(psi0[None, :, None], psi[:, None, :]))
    G = fields.G - origin.G - second.transpose(0, 3, 1, 2)
    H = fields.H - origin.H + slopes.transpose(0, 3, 1, 2)
    return FrameShapes(Phi.transpose(0, 2, 1), fields.Psi - origin.Psi, G, H)


def _both(pairs: np.ndarray) -> np.ndarray:
    """Symmetrise fields of pairs (n, m, m, 3): the sum of each pair and its exchange."""
    return pairs + pairs.transpose(0, 2, 1, 3)
