"""Which loop of a constrained system is nearest to a singular position, and whether it can still close a little later.

Rows scaled to unit length hide a row that vanishes as a whole, as where all links lie on one line. So rows are measured by their
sizes around the reference (`levers`), and the rank that they ought to have by states beside this one that meet the constraints:
rows that depend on each other only there (Bennett's linkage) are no singular position.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl.dynamics.closing.closures import Closure, in_levers, loop_closures, near_of, rank_of
from spacectl.dynamics.constraints.least_squares import solve_constraints
from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["SINGULAR_NEAR", "WeakLoop", "can_close", "find_weak_loop", "singular_loop"]

SINGULAR_NEAR = 1e-6  #: nearness below which a position counts as singular: half of the digits are lost
_BESIDE = (0.3, 0.1, 0.03)  # [rad or m] how far beside
_CLOSED = 1e-14  # residual, of the largest coordinate (at least 1), of a closed loop
_SHOWN = 6


@dataclass(frozen=True, eq=False)
class WeakLoop:
    """The loop that is nearest to a singular position.

    Parameters
    ----------
    near : float
        How far it is: 0 in a singular position, about 1 far away.
    constraints, joints : tuple of str
        What closes it, and the joints that take part.
    loose : tuple of str
        The joints that are held least.
    closure : Closure
        Its rows.
    """

    near: float
    constraints: tuple[str, ...]
    joints: tuple[str, ...]
    loose: tuple[str, ...]
    closure: Closure

    def __str__(self) -> str:
        return f"loop {_listed(self.constraints)} (joints {_listed(self.joints)})"

    @property
    def measure(self) -> str:
        """How near, and what is loose there, as a clause of a message."""
        return f"nearness {self.near:.1e}, 0 there and about 1 far away; {_listed(self.loose)} held least"


def find_weak_loop(eom: EquationsOfMotion, t: float, x: Any, p: Any = None) -> WeakLoop | None:
    """The loop that is nearest to a singular position; None without loops, and for a state that is not finite.

    Parameters
    ----------
    eom : EquationsOfMotion
        Of a constrained system.
    t : float
        Time [s].
    x : array, shape (n_x,)
        State that meets the constraints.
    p : array, optional
        Run-time parameters.
    """
    if not np.all(np.isfinite(np.asarray(x, dtype=float))):
        return None
    found = [(_nearness(item, t), item) for item in loop_closures(eom, t, x, p)]
    if not found:
        return None
    (near, rank), closure = min(found, key=lambda pair: pair[0][0])
    J = closure.rows(t, closure.q)[1]
    U, _, V = np.linalg.svd(in_levers(J, closure.levers))
    weak = max(rank, 1) - 1
    free = np.linalg.norm(V[weak:], axis=0)  # of what is not held there, or hardly
    return WeakLoop(
        near,
        _named(closure.constraints, np.abs(U[:, weak]), 0.1),
        _named(closure.joints, np.abs(V[weak]), 0.1),
        _named(closure.joints, free, 0.9, few=True),
        closure,
    )


def singular_loop(eom: EquationsOfMotion, t: float, x: Any, p: Any = None) -> WeakLoop | None:
    """The weakest loop if the position is singular, else None."""
    if not eom.constraint_rows:
        return None
    loop = find_weak_loop(eom, t, x, p)
    return loop if loop is not None and loop.near < SINGULAR_NEAR else None


def can_close(closure: Closure, t: float, push: float = 0.05) -> bool:
    """Whether a loop can close at another time: from its coordinates, or some beside them by `push` [rad or m]."""
    J, _, W = closure.rows(t, closure.q)[1:]
    weak = np.linalg.svd(J)[2]
    sides = [np.zeros(J.shape[1]), *(sign * push * row for row in weak[::-1][:2] for sign in (1.0, -1.0))]
    return any(_close(closure, t, closure.q + W @ side) is not None for side in sides)


def _nearness(closure: Closure, t: float) -> tuple[float, int]:
    """Nearness, and the rank that it is meant for: that of states beside this one, where it matters."""
    J = closure.rows(t, closure.q)[1]
    near = near_of(J, closure.levers, rank=closure.rank)
    if near > SINGULAR_NEAR:
        return near, closure.rank
    beside = [closure.rows(t, q)[1] for q in _beside(closure, t, J)]
    rank = max((rank_of(item, closure.levers) for item in beside), default=closure.rank)
    if rank == closure.rank:
        return near, rank
    most = max(near_of(item, closure.levers, rank=rank) for item in beside)
    levers = np.append(closure.levers[:-1], closure.levers[-1] * (most or 1.0))
    return near_of(J, levers, rank=rank), rank


def _beside(closure: Closure, t: float, J: np.ndarray) -> Iterator[np.ndarray]:
    """Closed positions beside this one, along what the rows leave free."""
    _, values, V = np.linalg.svd(in_levers(J, closure.levers))
    free = V[int(np.sum(values > 1e-3 * max(float(np.max(values, initial=0.0)), 1e-300))) :]
    W, rng = closure.rows(t, closure.q)[3], np.random.default_rng(0)
    for size in _BESIDE if len(free) else ():
        way = rng.standard_normal(len(free)) @ free
        q = _close(closure, t, closure.q + W @ (size * way / np.linalg.norm(way)))
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
    """Each name once; of many (or if `few`) those with at least a share of the largest weight."""
    if len(set(names)) > _SHOWN or few:
        names = tuple(n for n, weight in zip(names, weights, strict=True) if weight >= share * np.max(weights))
    return tuple(dict.fromkeys(names))


def _listed(names: tuple[str, ...]) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"
