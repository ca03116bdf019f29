"""Find the loop of a constrained system that is closest to a singular position, and whether it can close at a later time.

Scaling rows to unit norm would hide a row that vanishes as a whole, as where all links lie on one line. Rows are therefore
divided by their norms around the reference (`row_scales`). The rank to expect follows from nearby states that satisfy the
constraints: equations that are dependent at all of these (Bennett's linkage) do not make a position singular.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl.core.errors import list_names
from spacectl.dynamics.closing.closures import Closure, distance_of, loop_closures, rank_of, scaled_rows
from spacectl.dynamics.constraints.least_squares import solve_constraints
from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["SINGULAR_DISTANCE", "WeakLoop", "can_close", "find_weak_loop", "singular_loop"]

SINGULAR_DISTANCE = 1e-6  #: distance below which a position counts as singular: half of the digits are lost
_BESIDE = (0.3, 0.1, 0.03)  # [rad or m] distances of nearby states
_CLOSED = 1e-14  # residual of a closed loop, relative to the largest coordinate (at least 1)
_SHOWN = 6


@dataclass(frozen=True, eq=False)
class WeakLoop:
    """The loop that is closest to a singular position.

    Parameters
    ----------
    distance : float
        Distance to singularity: 0 in a singular position, about 1 far from it.
    constraints, joints : tuple of str
        The constraints that close it, and the joints that take part.
    loose : tuple of str
        The joints that it constrains least.
    closure : Closure
        Its equations.
    """

    distance: float
    constraints: tuple[str, ...]
    joints: tuple[str, ...]
    loose: tuple[str, ...]
    closure: Closure

    def __str__(self) -> str:
        return f"loop {list_names(self.constraints)} (joints {list_names(self.joints)})"

    @property
    def measure(self) -> str:
        """Distance to singularity and least constrained joints, as a clause of a message."""
        least = list_names(self.loose)
        return f"distance to singularity {self.distance:.1e}, 0 there and about 1 far away; {least} constrained least"


def find_weak_loop(eom: EquationsOfMotion, t: float, x: Any, p: Any = None) -> WeakLoop | None:
    """Find the loop that is closest to a singular position; None without loops, and for a state that is not finite.

    Parameters
    ----------
    eom : EquationsOfMotion
        Equations of a constrained system.
    t : float
        Time [s].
    x : array, shape (n_x,)
        State that satisfies the constraints.
    p : array, optional
        Run-time parameters.
    """
    if not np.all(np.isfinite(np.asarray(x, dtype=float))):
        return None
    found = [(_distance(item, t), item) for item in loop_closures(eom, t, x, p)]
    if not found:
        return None
    (distance, rank), closure = min(found, key=lambda pair: pair[0][0])
    J = closure.rows(t, closure.q)[1]
    U, _, V = np.linalg.svd(scaled_rows(J, closure.row_scales))
    weak = max(rank, 1) - 1
    free = np.linalg.norm(V[weak:], axis=0)  # share of each speed in directions that are free or nearly free
    return WeakLoop(
        distance,
        _named(closure.constraints, np.abs(U[:, weak]), 0.1),
        _named(closure.joints, np.abs(V[weak]), 0.1),
        _named(closure.joints, free, 0.9, few=True),
        closure,
    )


def singular_loop(eom: EquationsOfMotion, t: float, x: Any, p: Any = None) -> WeakLoop | None:
    """Find the weakest loop if the position is singular, else None."""
    if not eom.constraint_rows:
        return None
    loop = find_weak_loop(eom, t, x, p)
    return loop if loop is not None and loop.distance < SINGULAR_DISTANCE else None


def can_close(closure: Closure, t: float, push: float = 0.05) -> bool:
    """Return whether a loop can close at another time, from its coordinates or from ones displaced by `push` [rad or m]."""
    J, _, W = closure.rows(t, closure.q)[1:]
    weak = np.linalg.svd(J)[2]
    sides = [np.zeros(J.shape[1]), *(sign * push * row for row in weak[::-1][:2] for sign in (1.0, -1.0))]
    return any(_close(closure, t, closure.q + W @ side) is not None for side in sides)


def _distance(closure: Closure, t: float) -> tuple[float, int]:
    """Return the distance to singularity and the rank to expect, that of nearby states if the distance is small."""
    J = closure.rows(t, closure.q)[1]
    distance = distance_of(J, closure.row_scales, rank=closure.rank)
    if distance > SINGULAR_DISTANCE:
        return distance, closure.rank
    beside = [closure.rows(t, q)[1] for q in _beside(closure, t, J)]
    rank = max((rank_of(item, closure.row_scales) for item in beside), default=closure.rank)
    if rank == closure.rank:
        return distance, rank
    most = max(distance_of(item, closure.row_scales, rank=rank) for item in beside)
    row_scales = np.append(closure.row_scales[:-1], closure.row_scales[-1] * (most or 1.0))
    return distance_of(J, row_scales, rank=rank), rank


def _beside(closure: Closure, t: float, J: np.ndarray) -> Iterator[np.ndarray]:
    """Yield closed positions near this one, along directions that the equations leave free."""
    _, values, V = np.linalg.svd(scaled_rows(J, closure.row_scales))
    free = V[int(np.sum(values > 1e-3 * max(float(np.max(values, initial=0.0)), 1e-300))) :]
    W, rng = closure.rows(t, closure.q)[3], np.random.default_rng(0)
    for size in _BESIDE if len(free) else ():
        direction = rng.standard_normal(len(free)) @ free
        q = _close(closure, t, closure.q + W @ (size * direction / np.linalg.norm(direction)))
        if q is not None and float(np.linalg.norm(q - closure.q)) > 0.1 * size:
            yield q


def _close(closure: Closure, t: float, start: np.ndarray) -> np.ndarray | None:
    """Return coordinates near a start that close the loop, None if there are none."""
    size = max(1.0, float(np.max(np.abs(start), initial=0.0)))

    def linearized(q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        g, _, J, W = closure.rows(t, q)
        return g, J, W

    found = solve_constraints(linearized, start, tolerance=_CLOSED * size, damping=1e-3)
    return found.q if found.is_solved else None


def _named(names: tuple[str, ...], weights: np.ndarray, share: float, few: bool = False) -> tuple[str, ...]:
    """Return each name once; if there are many (or `few`), only those with at least a share of the largest weight."""
    if len(set(names)) > _SHOWN or few:
        names = tuple(n for n, weight in zip(names, weights, strict=True) if weight >= share * np.max(weights))
    return tuple(dict.fromkeys(names))
