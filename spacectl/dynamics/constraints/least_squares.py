"""Solve constraint equations by damped least squares: the common iteration of all loop closing.

Newton steps of least weighted change, ``min |S^-1 dv|`` subject to ``J dv = -g``, are taken as long as they reduce the
residual; where they do not, Levenberg's damping shortens and turns them towards steepest descent. Callers pass the
residual, its Jacobian along the speeds and the map W from displacements along the speeds to coordinates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from spacectl.core.errors import SolverError
from spacectl.dynamics.constraints.solvers import RANK

__all__ = ["Linearized", "Solution", "is_level", "least_change", "limit_step", "solve_constraints"]

#: Coordinates -> residual (m,), its derivative along the speeds (m, n), and W (n_q, n)
Linearized = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]

_LARGEST_STEP = 0.5  # [rad or m], for which constraint equations may count as nearly linear
_SHORTER = 20  # halvings of a step that ends where a constraint is not defined
_ROUNDING = 1e3  # tolerances within which a residual that no step reduces is due to rounding
_FIRST_DAMPING, _LARGEST_DAMPING = 1e-6, 1e8  # relative to the largest column of J
_LEVEL = 1e-10  # gradient relative to |J| |g| at which the residual has a stationary point
_STALLED, _PATIENCE = 1e-5, 3  # relative gain of a step that counts as none, and how many of these end the iteration


@dataclass(frozen=True)
class Solution:
    """Result of the iteration.

    Parameters
    ----------
    q : array, shape (n_q,)
        Coordinates.
    g : array, shape (m,)
        Residual there.
    steps : int
        Accepted steps.
    is_solved : bool
        Whether the residual is below the tolerance, or as close to it as rounding permits.
    """

    q: np.ndarray
    g: np.ndarray
    steps: int
    is_solved: bool

    @property
    def gap(self) -> float:
        """Norm of the residual."""
        return float(np.linalg.norm(self.g))


def solve_constraints(
    linearized: Linearized,
    q: np.ndarray,
    *,
    tolerance: float,
    weight: np.ndarray | None = None,
    normalize: Callable[[np.ndarray], np.ndarray] | None = None,
    accept: Callable[[np.ndarray], bool] | None = None,
    damping: float = 0.0,
    largest_step: float = _LARGEST_STEP,
    max_steps: int = 60,
) -> Solution:
    """Return the coordinates near a start that solve ``g(q) = 0``, or a stationary point of ``|g|``.

    Parameters
    ----------
    linearized : function
        Residual (m,), its derivative along the speeds (m, n), and W (n_q, n).
    q : array, shape (n_q,)
        Start.
    tolerance : float
        Largest entry of the residual that counts as zero.
    weight : array, shape (n,) or (n, n), optional
        S: the steps are ``S z`` of least ``|z|``. Speeds of weight zero do not move. Identity by default.
    normalize : function, optional
        Coordinates -> coordinates with quaternions of unit length.
    accept : function, optional
        Coordinates -> whether a step may end there.
    damping : float
        Initial damping relative to the largest column of J; 0 starts with Newton steps.
    largest_step : float
        Largest change of an entry in one step; infinite for equations that are linear.
    max_steps : int
        Evaluations of the residual.
    """
    steps, stalled = 0, 0
    g, J, W = linearized(q)
    S = np.ones(J.shape[1]) if weight is None else weight
    if not all(np.all(np.isfinite(item)) for item in (g, J, W)):
        return Solution(q, g, 0, False)
    for _ in range(max_steps):
        gap = float(np.linalg.norm(g))
        if np.max(np.abs(g), initial=0.0) <= tolerance or is_level(g, _weighted(J, S), _LEVEL) or stalled == _PATIENCE:
            break
        step = least_change(J, -g, S) if damping == 0.0 else _damped_change(J, -g, S, damping)
        change = W @ limit_step(step, largest_step)
        trial, found = _defined(linearized, normalize or np.array, q, change)
        reduced = float(np.linalg.norm(found[0]))
        if reduced < gap and (accept is None or accept(trial)):
            stalled = stalled + 1 if reduced > (1.0 - _STALLED) * gap else 0
            q, (g, J, W), steps = trial, found, steps + 1
            damping = 0.1 * damping if damping > 1e-14 else 0.0
        elif np.max(np.abs(g)) <= _ROUNDING * tolerance or damping > _LARGEST_DAMPING:
            break
        else:
            damping = max(10.0 * damping, _FIRST_DAMPING)
    return Solution(q, g, steps, bool(np.max(np.abs(g), initial=0.0) <= _ROUNDING * tolerance))


def least_change(J: np.ndarray, b: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the least weighted change with ``J change = b``; dependent equations are permitted.

    Raises
    ------
    SolverError
        If an entry is not finite.
    """
    if not b.size:
        return np.zeros(len(weight))
    scaled = _weighted(J, weight)
    if not (np.all(np.isfinite(scaled)) and np.all(np.isfinite(b))):
        raise SolverError("a constraint is not defined at a state that Newton's method reached; start closer")
    size = np.linalg.norm(scaled, axis=1)
    size = np.where(size > 1e-9 * np.max(size, initial=0.0), size, np.inf)
    return _unweighted(np.linalg.lstsq(scaled / size[:, None], b / size, rcond=RANK)[0], weight)


def _damped_change(J: np.ndarray, b: np.ndarray, weight: np.ndarray, damping: float) -> np.ndarray:
    """Return Levenberg's step ``min |J dv - b|^2 + d |z|^2`` with ``dv = S z``."""
    scaled = _weighted(J, weight)
    d = damping * max(float(np.max(np.sum(scaled**2, axis=0), initial=0.0)), 1e-300)
    n = scaled.shape[1]
    A = np.vstack([scaled, np.sqrt(d) * np.eye(n)])
    return _unweighted(np.linalg.lstsq(A, np.concatenate([b, np.zeros(n)]), rcond=None)[0], weight)


def _weighted(J: np.ndarray, weight: np.ndarray) -> np.ndarray:
    product: np.ndarray = J * weight if weight.ndim == 1 else J @ weight
    return product


def _unweighted(z: np.ndarray, weight: np.ndarray) -> np.ndarray:
    change: np.ndarray = weight * z if weight.ndim == 1 else weight @ z
    return change


def _defined(
    linearized: Linearized, normalize: Callable[[np.ndarray], np.ndarray], q: np.ndarray, change: np.ndarray
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Halve a step as long as it ends where a constraint is not defined."""
    for _ in range(_SHORTER):
        trial = normalize(q + change)
        found = linearized(trial)
        if all(np.all(np.isfinite(item)) for item in found):
            break
        change = 0.5 * change
    return trial, found


def is_level(g: np.ndarray, J: np.ndarray, limit: float) -> bool:
    """Return whether the gradient of ``|g|^2 / 2`` vanishes, relative to ``|J| |g|``."""
    return bool(np.linalg.norm(J.T @ g) <= limit * np.linalg.norm(J) * np.linalg.norm(g))


def limit_step(step: np.ndarray, largest: float = _LARGEST_STEP) -> np.ndarray:
    """Shorten a step whose largest entry exceeds a limit, by default half a radian or metre."""
    return step * min(1.0, largest / max(float(np.max(np.abs(step), initial=0.0)), 1e-300))
