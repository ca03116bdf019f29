"""A straight beam of Hermite elements in space along x, six components a node: consistent mass and stiffness, numpy alone."""

from __future__ import annotations

import numpy as np

__all__ = ["beam_matrices"]


def beam_matrices(
    length: float, n: int, *, mass: float, EA: float, GJ: float, EIy: float, EIz: float, polar: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mass, stiffness (6 n + 6 rows) and nodes; EIz bends along y, EIy along z; `polar` inertia of slices per length about x."""
    h, rho = length / n, mass / length
    a, b = 6.0 * h, h * h
    bend = np.array([[12, a, -12, a], [a, 4 * b, -a, 2 * b], [-12, -a, 12, -a], [a, 2 * b, -a, 4 * b]]) / h**3
    c, d = 22.0 * h, 13.0 * h
    move = (
        np.array([[156, c, 54, -d], [c, 4 * b, d, -3 * b], [54, d, 156, -c], [-d, -3 * b, -c, 4 * b]]) * rho * h / 420.0
    )
    line, share = np.array([[1.0, -1.0], [-1.0, 1.0]]) / h, h / 6.0 * np.array([[2.0, 1.0], [1.0, 2.0]])
    turn = np.diag([1.0, -1.0, 1.0, -1.0])  # rotation about y is minus the slope of z
    M, K = np.zeros((6 * n + 6, 6 * n + 6)), np.zeros((6 * n + 6, 6 * n + 6))
    for e in range(n):
        at = 6 * e
        for rows, stiff, inert in (
            ([0, 6], EA * line, rho * share),
            ([3, 9], GJ * line, polar * share),
            ([1, 5, 7, 11], EIz * bend, move),
            ([2, 4, 8, 10], EIy * turn @ bend @ turn, turn @ move @ turn),
        ):
            place = np.ix_(at + np.array(rows), at + np.array(rows))
            K[place] += stiff
            M[place] += inert
    return M, K, np.stack([h * np.arange(n + 1), np.zeros(n + 1), np.zeros(n + 1)], axis=1)
