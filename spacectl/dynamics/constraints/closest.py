"""The configuration that comes closest to meeting constraints: what an error tells when none was found that meets them.

Least squares over displacements along the speeds, ``q + W dv`` with quaternions of unit length, from a few starts; whether
it is a minimum is confirmed by the gradient and by the curvature there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

__all__ = ["Closest", "find_closest", "largest_rows"]

#: Coordinates -> residual (m,), its derivative along the speeds (m, n), and W (n_q, n)
Linear = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]

_STEPS, _POLISH = 100, 6  # Levenberg's steps of a descent, and Newton's steps at its end
_LARGEST = 0.5  # [rad or m] of a step
_SPREAD = (0.5, 0.5, 1.5, 1.5)  # [rad or m] of the other starts
_LEVEL = 1e-7  # of the gradient to |J| |g|: level, up to differences of a gradient
_SLOW = 1e-5  # of the gap that a step must gain: Newton's steps do the rest
_BENT = 1e-6  # of the least to the largest curvature, below which it does not rise in every direction
_DIFFERENCE = 1e-5  # [rad or m]


@dataclass(frozen=True)
class Closest:
    """Where a descent ended.

    Parameters
    ----------
    q : array
        Coordinates.
    g : array
        What is left open there.
    is_minimum : bool
        Whether nothing around it is closer.
    """

    q: np.ndarray
    g: np.ndarray
    is_minimum: bool

    @property
    def gap(self) -> float:
        """Norm of what is left open."""
        return float(np.linalg.norm(self.g))


def find_closest(
    linear: Linear, unit: Callable[[np.ndarray], np.ndarray], starts: list[np.ndarray], free: np.ndarray, closed: float
) -> Closest:
    """The closest configuration that a few starts lead to.

    Parameters
    ----------
    linear : function
        Residual, its derivative along the speeds, and W.
    unit : function
        Coordinates with quaternions of unit length.
    starts : list of array
        Where to start; others are taken around the first.
    free : array of int
        Speeds along which coordinates may move.
    closed : float
        Gap below which the search ends.
    """
    rng, W = np.random.default_rng(0), linear(starts[0])[2]
    around = [unit(starts[0] + W[:, free] @ (size * rng.standard_normal(len(free)))) for size in _SPREAD]
    around = [q for q in around if all(np.all(np.isfinite(item)) for item in linear(q))]
    best = _descend(linear, unit, starts[0], free)
    for start in [*starts[1:], *around]:
        if best.gap <= closed:
            break
        found = _descend(linear, unit, start, free)
        if found.gap < (1.0 - 1e-9) * best.gap:
            best = found
    return best


def _descend(linear: Linear, unit: Callable[[np.ndarray], np.ndarray], q: np.ndarray, free: np.ndarray) -> Closest:
    """Levenberg's steps, then Newton's with the curvature, which tells whether it is a minimum."""
    n = len(free)
    g, J, W = _along(linear, q, free)
    damping, slow = 1e-3, 0
    for _ in range(_STEPS):
        if _is_level(g, J, 1e-3 * _LEVEL) or slow == 3:
            break
        size = damping * max(float(np.max(np.sum(J**2, axis=0), initial=0.0)), 1e-300)
        step = np.linalg.lstsq(
            np.vstack([J, np.sqrt(size) * np.eye(n)]), np.concatenate([-g, np.zeros(n)]), rcond=None
        )[0]
        trial = unit(q + W @ _limited(step))
        found = _along(linear, trial, free)
        if np.linalg.norm(found[0]) < np.linalg.norm(g) and np.all(np.isfinite(found[1])):
            slow = slow + 1 if np.linalg.norm(found[0]) > (1.0 - _SLOW) * np.linalg.norm(g) else 0
            q, (g, J, W), damping = trial, found, max(0.2 * damping, 1e-14)
        elif damping > 1e8:
            break
        else:
            damping *= 5.0
    curvature = np.zeros(0)
    for _ in range(_POLISH if n and np.linalg.norm(g) > 0.0 else 0):
        H = _curvature(linear, unit, q, W, free)
        if not np.all(np.isfinite(H)):  # a rule is not defined beside it: no minimum in the usual sense
            return Closest(q, g, False)
        curvature, V = np.linalg.eigh(H)
        if _is_level(g, J, 1e-3 * _LEVEL) or not curvature[0] > -_BENT * curvature[-1]:
            break
        inverse = np.where(curvature > _BENT * curvature[-1], 1.0 / np.maximum(curvature, 1e-300), 0.0)
        trial = unit(q + W @ _limited(-V @ (inverse * (V.T @ (J.T @ g)))))
        found = _along(linear, trial, free)
        if not (np.linalg.norm(found[0]) <= np.linalg.norm(g) and np.all(np.isfinite(found[1]))):
            break
        q, (g, J, W) = trial, found
    rises = not curvature.size or bool(curvature[0] > -_BENT * max(float(curvature[-1]), 0.0))
    return Closest(q, g, _is_level(g, J, _LEVEL) and rises)


def _along(linear: Linear, q: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    g, J, W = linear(q)
    return g, J[:, free], W[:, free]


def _is_level(g: np.ndarray, J: np.ndarray, limit: float) -> bool:
    return bool(np.linalg.norm(J.T @ g) <= limit * np.linalg.norm(J) * np.linalg.norm(g))


def _limited(step: np.ndarray) -> np.ndarray:
    return step * min(1.0, _LARGEST / max(float(np.max(np.abs(step), initial=0.0)), 1e-300))


def _curvature(
    linear: Linear, unit: Callable[[np.ndarray], np.ndarray], q: np.ndarray, W: np.ndarray, free: np.ndarray
) -> np.ndarray:
    """Second derivative of half the squared gap along the free speeds, by central differences of its gradient."""

    def gradient(shift: np.ndarray) -> np.ndarray:
        g, J, _ = _along(linear, unit(q + shift), free)
        slope: np.ndarray = J.T @ g
        return slope

    columns = [gradient(_DIFFERENCE * W[:, k]) - gradient(-_DIFFERENCE * W[:, k]) for k in range(len(free))]
    H = np.stack(columns, axis=1) / (2.0 * _DIFFERENCE)
    return 0.5 * (H + H.T)


def largest_rows(names: tuple[str, ...], g: np.ndarray, most: int = 3) -> tuple[str, ...]:
    """Names of the rows that are open, the worst first; those a thousandth as open are met."""
    size = np.abs(np.ravel(g))
    order = [k for k in np.argsort(-size) if size[k] > 1e-3 * np.max(size, initial=0.0)]
    return tuple(names[k] for k in order[:most])
