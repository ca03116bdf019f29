"""Where singular values of a frequency response cross a level: eigenvalues of a Hamiltonian matrix.

A realisation (A, B, C, D) and a level give the frequencies of all crossings. `norms` searches peaks with it,
`structured` proves bounds over whole intervals of frequency.
"""

from __future__ import annotations

import numpy as np

from spacectl.linear.models.scaling import balancing_scale

__all__ = ["Realisation", "crossing_frequencies", "find_peak"]

Realisation = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def balanced(system: Realisation) -> Realisation:
    """Balance the entries of A by a diagonal scaling; the transfer matrix is unchanged."""
    A, B, C, D = system
    scale = balancing_scale(A)
    return A * scale / scale[:, None], B / scale[:, None], C * scale, D


def response(system: Realisation, w: float) -> np.ndarray:
    """Return ``C (j w - A)^-1 B + D``; D at infinite frequency."""
    A, B, C, D = system
    if not np.isfinite(w):
        return D.astype(complex)
    return C @ np.linalg.solve(1j * w * np.eye(len(A)) - A, B.astype(complex)) + D


def largest(system: Realisation, w: float) -> float:
    """Return the largest singular value at a frequency."""
    return float(np.linalg.norm(response(system, w), 2)) if system[3].size else 0.0


def crossing_frequencies(system: Realisation, level: float) -> np.ndarray:
    """Return the frequencies [rad/s], ascending, at which a singular value may equal `level`.

    The Hamiltonian matrix ``[[F, B R^-1 B.T], [-C.T (I + D R^-1 D.T) C, -F.T]]`` with ``R = level^2 - D.T D`` and ``F =
    A + B R^-1 D.T
    C`` has the eigenvalue j w exactly if `level`, no singular value of D, is one at w [1]_. They are accepted up to
    1e-5 of the largest off the axis, so rounding causes no missed crossing; some of them may be spurious.

    References
    ----------
    .. [1] S. Boyd, V. Balakrishnan, P. Kabamba, A bisection method for computing the H-infinity norm of a transfer
       matrix and related problems, 1989.
    """
    A, B, C, D = system
    R = level**2 * np.eye(D.shape[1]) - D.T @ D
    gain = np.linalg.solve(R, np.hstack([D.T @ C, B.T]))
    n = len(A)
    F = A + B @ gain[:, :n]
    upper = level * (B @ gain[:, n:])
    lower = -(C.T @ C + C.T @ D @ gain[:, :n]) / level
    values = np.linalg.eigvals(np.block([[F, upper], [lower, -F.T]]))
    size = np.abs(values)
    near = (values.imag >= 0.0) & (np.abs(values.real) <= 1e-5 * size + 1e-12 * np.max(size, initial=0.0))
    return np.sort(values.imag[near])


def find_peak(system: Realisation, tolerance: float) -> tuple[float, float]:
    """Return the peak of the largest singular value over frequency, and its frequency [rad/s].

    The two-step method of Bruinsma and Steinbuch [1]_: from the best value known, find the crossings slightly above
    it and evaluate the midpoints of the intervals between them; no higher value there proves the bound. A must have
    no eigenvalue on the imaginary axis.

    References
    ----------
    .. [1] N. A. Bruinsma, M. Steinbuch, A fast algorithm to compute the H-infinity norm of a transfer function matrix,
       Systems & Control Letters 14, 1990.
    """
    system = balanced(system)
    poles = np.linalg.eigvals(system[0]) if len(system[0]) else np.zeros(0)
    undamped = np.sqrt(np.maximum(poles.imag**2 - poles.real**2, 0.0))  # where a second-order response peaks
    starts = {0.0, np.inf, *np.abs(poles.imag).tolist(), *np.abs(poles).tolist(), *undamped.tolist()}
    best, where = max((largest(system, w), -w) for w in starts)
    where = abs(where)
    for _ in range(100):
        if best == 0.0 or not len(poles):
            break
        crossings = crossing_frequencies(system, best * (1.0 + 2.0 * tolerance))
        middles = [*crossings, *(0.5 * (crossings[:-1] + crossings[1:])), *np.sqrt(crossings[:-1] * crossings[1:])]
        value, place = max(((largest(system, w), w) for w in middles), default=(0.0, 0.0))
        if value <= best * (1.0 + 2.0 * tolerance):
            if value > best:
                best, where = value, place
            break
        best, where = value, place
    return best, float(where)
