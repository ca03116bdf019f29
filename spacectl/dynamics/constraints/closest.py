"""Find the configuration closest to satisfying constraints that cannot be satisfied, for error messages.

Least squares over displacements along the speeds, ``q + W dv`` with quaternions of unit length, from a few starts. Whether
the result is a minimum is decided by the gradient and the curvature there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from spacectl.dynamics.constraints.least_squares import Linearized, is_level, limit_step, solve_constraints

__all__ = ["Closest", "find_closest", "largest_rows"]

Normalize = Callable[[np.ndarray], np.ndarray]

_STEPS, _POLISH = 100, 6  # damped steps of a descent, and Newton steps with the curvature at its end
_DAMPING = 1e-3  # initial, as the equations are expected to have no solution
_SPREAD = (0.5, 0.5, 1.5, 1.5)  # [rad or m] of the additional starts
_LEVEL = 1e-7  # relative gradient that counts as zero: differences of a gradient resolve no less
_FLAT = 1e-6  # least curvature, relative to the largest, below which the residual does not rise in every direction
_DIFFERENCE = 1e-5  # [rad or m]


@dataclass(frozen=True)
class Closest:
    """End of a descent.

    Parameters
    ----------
    q : array
        Coordinates.
    g : array
        Residual there.
    is_minimum : bool
        Whether it is a local minimum of the residual.
    """

    q: np.ndarray
    g: np.ndarray
    is_minimum: bool

    @property
    def gap(self) -> float:
        """Norm of the residual."""
        return float(np.linalg.norm(self.g))


def find_closest(linearized: Linearized, normalize: Normalize, starts: list[np.ndarray], closed: float) -> Closest:
    """Return the configuration of least residual among the descents from a few starts.

    Parameters
    ----------
    linearized : function
        Residual, its derivative along the speeds that may change, and W.
    normalize : function
        Coordinates with quaternions of unit length.
    starts : list of array
        Where to start; further starts are drawn around the first.
    closed : float
        Gap below which the search ends.
    """
    rng, W = np.random.default_rng(0), linearized(starts[0])[2]
    around = [normalize(starts[0] + W @ (size * rng.standard_normal(W.shape[1]))) for size in _SPREAD]
    around = [q for q in around if all(np.all(np.isfinite(item)) for item in linearized(q))]
    best = _descend(linearized, normalize, starts[0])
    for start in [*starts[1:], *around]:
        if best.gap <= closed:
            break
        found = _descend(linearized, normalize, start)
        if found.gap < (1.0 - 1e-9) * best.gap:
            best = found
    return best


def _descend(linearized: Linearized, normalize: Normalize, start: np.ndarray) -> Closest:
    """Take damped steps, then Newton steps with the curvature, which shows whether the end is a minimum."""
    found = solve_constraints(linearized, start, tolerance=0.0, normalize=normalize, damping=_DAMPING, max_steps=_STEPS)
    q = found.q
    g, J, W = linearized(q)
    curvature = np.zeros(0)
    for _ in range(_POLISH if J.shape[1] and np.linalg.norm(g) > 0.0 else 0):
        H = _curvature(linearized, normalize, q, W)
        if not np.all(np.isfinite(H)):  # a constraint is not defined nearby: no minimum in the usual sense
            return Closest(q, g, False)
        curvature, V = np.linalg.eigh(H)
        if is_level(g, J, 1e-3 * _LEVEL) or not curvature[0] > -_FLAT * curvature[-1]:
            break
        inverse = np.where(curvature > _FLAT * curvature[-1], 1.0 / np.maximum(curvature, 1e-300), 0.0)
        trial = normalize(q + W @ limit_step(-V @ (inverse * (V.T @ (J.T @ g)))))
        there = linearized(trial)
        if not (np.linalg.norm(there[0]) <= np.linalg.norm(g) and np.all(np.isfinite(there[1]))):
            break
        q, (g, J, W) = trial, there
    rises = not curvature.size or bool(curvature[0] > -_FLAT * max(float(curvature[-1]), 0.0))
    return Closest(q, g, is_level(g, J, _LEVEL) and rises)


def _curvature(linearized: Linearized, normalize: Normalize, q: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Return the second derivative of ``|g|^2 / 2`` along the speeds, by central differences of its gradient."""

    def gradient(shift: np.ndarray) -> np.ndarray:
        g, J, _ = linearized(normalize(q + shift))
        product: np.ndarray = J.T @ g
        return product

    columns = [gradient(_DIFFERENCE * w) - gradient(-_DIFFERENCE * w) for w in W.T]
    H = np.stack(columns, axis=1) / (2.0 * _DIFFERENCE)
    return 0.5 * (H + H.T)


def largest_rows(names: tuple[str, ...], g: np.ndarray, most: int = 3) -> tuple[str, ...]:
    """Return the names of the equations with the largest residuals, down to a thousandth of the worst."""
    size = np.abs(np.ravel(g))
    order = [k for k in np.argsort(-size) if size[k] > 1e-3 * np.max(size, initial=0.0)]
    return tuple(names[k] for k in order[:most])
