"""Which loop of a constrained system is nearest to a singular position, and whether it can still close a little later.

Rows scaled to unit length hide a row that vanishes as a whole, as where all links lie on one line. So rows are measured by their
sizes around the reference (`levers`), and the rank that they ought to have by states beside this one that meet the constraints:
rows that depend on each other only there (Bennett's linkage) are no singular position.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from spacectl.dynamics.constrained import NOTHING
from spacectl.dynamics.equations import EquationsOfMotion
from spacectl.dynamics.native.levers import around_rest, find_levers, nudges
from spacectl.dynamics.tree import Tree

__all__ = ["SINGULAR_NEAR", "Closure", "WeakLoop", "can_close", "find_weak_loop", "loop_closures", "singular_loop"]

SINGULAR_NEAR = 1e-6  #: nearness below which a position counts as singular: half of the digits are lost
_INDEPENDENT = 1e-7  # singular value, of the largest, from which a row beside the position counts
_BESIDE = (0.3, 0.1, 0.03)  # [rad or m] how far beside
_CLOSED = 1e-11  # residual, of the largest coordinate (at least 1), of a closed loop
_ITERATIONS = 40
_SHOWN = 6

Rows = Callable[[float, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False)
class Closure:
    """Rows that share joints: what must be closed together.

    Parameters
    ----------
    rows : callable
        (t, q) -> g, J, J_position, W of these rows and their speeds.
    q : array
        Coordinates now.
    levers : array, shape (m + 1,)
        Sizes of the rows around the reference, and the largest nearness there.
    rank : int
        The largest rank there.
    constraints : tuple of str
        The constraint of each row.
    joints : tuple of str
        The joint of each speed.
    """

    rows: Rows
    q: np.ndarray
    levers: np.ndarray
    rank: int
    constraints: tuple[str, ...]
    joints: tuple[str, ...]


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
    """The loop that is nearest to a singular position at a state that meets the constraints; None without any.

    Parameters
    ----------
    eom : EquationsOfMotion
        Of a constrained system.
    t : float
        Time [s].
    x : array, shape (n_x,)
        State.
    p : array, optional
        Run-time parameters.
    """
    found = [(_nearness(item, t), item) for item in loop_closures(eom, t, x, p)]
    if not found:
        return None
    (near, rank), closure = min(found, key=lambda pair: pair[0][0])
    J = closure.rows(t, closure.q)[1]
    U, _, V = np.linalg.svd(J / closure.levers[:-1, None])
    weak = max(rank, 1) - 1
    rows, speeds = np.abs(U[:, weak]), np.linalg.norm(V[weak:], axis=0)  # what is left free there, and nearly
    return WeakLoop(
        near,
        _named(closure.constraints, rows, 0.1),
        _named(closure.joints, speeds, 0.1),
        _named(closure.joints, speeds, 0.9, few=True),
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


def loop_closures(eom: EquationsOfMotion, t: float, x: Any, p: Any = None) -> Iterator[Closure]:
    """All sets of rows that share joints, at a state."""
    numbers = np.asarray(eom.p if p is None else p, dtype=float)
    state = np.asarray(x, dtype=float)
    if "aggregates" in eom.numeric:
        yield from _embedded_closures(eom.numeric["aggregates"](numbers), state)
        return
    v, held_rows = state[eom.n_q :], [eom.constraint_rows.index(name) for name in eom.position_rows]
    owners = np.array([name.split(".")[0] for name in eom.constraint_rows])
    joints = np.array(_joints(eom))
    for rows, speeds, levers, rank in _blocks(eom, numbers.tobytes()):
        places = np.flatnonzero(np.isin(held_rows, rows))

        def terms(t: float, q: np.ndarray, rows: Any = rows, speeds: Any = speeds, places: Any = places) -> Any:
            g, _, J, held, W = eom.call("projection", t, q, v, p=numbers)
            return g.reshape(-1)[places], J[np.ix_(rows, speeds)], held[np.ix_(places, speeds)], W[:, speeds]

        yield Closure(terms, state[: eom.n_q], levers, rank, tuple(owners[rows].tolist()), tuple(joints[speeds].tolist()))


def _embedded_closures(twin: Any, state: np.ndarray) -> Iterator[Closure]:
    """The same from the aggregates of embedded equations: nothing that spans the system is formed."""
    for member in twin.members:
        if not member.rows.size:
            continue
        v = state[twin.n_q :][member.v]

        def terms(t: float, q: np.ndarray, member: Any = member, v: Any = v) -> Any:
            g, _, J, held, W, *_ = twin.rows(member, t, q, v)
            return g.reshape(-1), J, held, W

        levers, rank = _member_levers(twin, member)
        owners = tuple(item.name for item in member.aggregate.constraints for _ in range(item.n_rows))
        yield Closure(terms, state[: twin.n_q][member.q], levers, rank, owners, _aggregate_joints(twin.model, member))


def _aggregate_joints(model: Any, member: Any) -> tuple[str, ...]:
    """The joint of each speed of an aggregate; for modes that of their body."""
    links = [model.frames.links.items[i] for i in member.aggregate.links]
    return tuple(link.node.part.joint_name for link in links for _ in range(link.speeds.stop - link.speeds.start))


@lru_cache(maxsize=256)
def _member_levers(twin: Any, member: Any) -> tuple[np.ndarray, int]:
    rest, v = twin.model.frames.tree.rest()[member.q], np.zeros(member.v.size)
    W = twin.rows(member, 0.0, rest, v)[4]
    return _measure([twin.rows(member, 0.0, rest + W @ step, v)[2] for step in nudges(member.v.size)])


@lru_cache(maxsize=64)
def _blocks(eom: Any, numbers: bytes) -> list[tuple[np.ndarray, np.ndarray, np.ndarray, int]]:
    """Rows and speeds that belong together, with the levers of the rows and their rank."""
    p, v = np.frombuffer(numbers), np.zeros(eom.n_v)
    whole = [eom.call("projection", 0.0, q, v, p=p)[2] for q in around_rest(eom)]
    touched = np.max(np.abs(whole), axis=0) > 0.0
    found, left = [], {int(k) for k in np.flatnonzero(touched.any(axis=1))}
    while left:
        rows = {min(left)}
        while True:
            speeds = touched[sorted(rows)].any(axis=0)
            more = {k for k in left if np.any(touched[k] & speeds)}
            if more == rows:
                break
            rows = more
        left -= rows
        place = np.array(sorted(rows)), np.flatnonzero(speeds)
        found.append((*place, *_measure([J[np.ix_(*place)] for J in whole])))
    return found


def _measure(jacobians: list[np.ndarray]) -> tuple[np.ndarray, int]:
    """Levers of rows from their values around the reference, and the largest rank there."""
    sizes = find_levers(jacobians, lambda J, levers: 1.0)
    rank = max(_rank(J, sizes) for J in jacobians)
    return find_levers(jacobians, partial(_near, rank=rank)), rank


def _rank(J: np.ndarray, levers: np.ndarray) -> int:
    values = np.linalg.svd(J / levers[:-1, None], compute_uv=False)
    return int(np.sum(values > _INDEPENDENT * max(float(np.max(values, initial=0.0)), 1e-300)))


def _near(J: np.ndarray, levers: np.ndarray, *, rank: int) -> float:
    """``1 / |A+|`` of rows in units of their levers, as `row_nearness`, for a given rank."""
    values = np.linalg.svd(J / levers[:-1, None], compute_uv=False)[:rank]
    if not rank:
        return 1.0
    if not np.min(values) > NOTHING * np.max(values):
        return 0.0
    return min(1.0, 1.0 / (float(np.sqrt(np.sum(values**-2.0))) * float(levers[-1])))


def _nearness(closure: Closure, t: float) -> tuple[float, int]:
    """Nearness, and the rank that it is meant for: that of states beside this one, where it matters."""
    J = closure.rows(t, closure.q)[1]
    near = _near(J, closure.levers, rank=closure.rank)
    if near > SINGULAR_NEAR or not np.all(np.isfinite(J)):
        return near, closure.rank
    beside = [closure.rows(t, q)[1] for q in _beside(closure, t, J)]
    rank = max((_rank(item, closure.levers) for item in beside), default=closure.rank)
    if rank == closure.rank:
        return near, rank
    most = max(_near(item, closure.levers, rank=rank) for item in beside)
    levers = np.append(closure.levers[:-1], closure.levers[-1] * (most or 1.0))
    return _near(J, levers, rank=rank), rank


def _beside(closure: Closure, t: float, J: np.ndarray) -> Iterator[np.ndarray]:
    """Closed positions beside this one, along what the rows leave free."""
    _, values, V = np.linalg.svd(J / closure.levers[:-1, None])
    free = V[int(np.sum(values > 1e-3 * max(float(np.max(values, initial=0.0)), 1e-300))) :]
    W, rng = closure.rows(t, closure.q)[3], np.random.default_rng(0)
    for size in _BESIDE if len(free) else ():
        way = rng.standard_normal(len(free)) @ free
        q = _close(closure, t, closure.q + W @ (size * way / np.linalg.norm(way)))
        if q is not None and float(np.linalg.norm(q - closure.q)) > 0.1 * size:
            yield q


def _close(closure: Closure, t: float, start: np.ndarray) -> np.ndarray | None:
    """Coordinates that close the loop near a start, by least squares with damping; None if there are none."""
    q, damping = np.array(start), 1e-3
    g, _, held, W = closure.rows(t, q)
    for _ in range(_ITERATIONS):
        left = float(np.linalg.norm(g))
        if left <= _CLOSED * max(1.0, float(np.max(np.abs(q), initial=0.0))):
            return q
        if not np.isfinite(left):
            return None
        brake = np.sqrt(damping * min(left, 1.0)) * float(np.linalg.norm(held)) * np.eye(held.shape[1])
        step = np.linalg.lstsq(np.vstack([held, brake]), np.append(-g, np.zeros(len(brake))), rcond=None)[0]
        trial = closure.rows(t, q + W @ step)
        if float(np.linalg.norm(trial[0])) < left:
            q, (g, _, held, W), damping = q + W @ step, trial, max(0.1 * damping, 1e-12)
        else:
            damping *= 10.0
    return None


@lru_cache(maxsize=64)
def _joints(eom: Any) -> tuple[str, ...]:
    """The joint of each speed; its own name where the speeds are not those of the joints."""
    tree = Tree.of(eom.system)
    if tuple(tree.speeds.names) != tuple(eom.speeds):
        return tuple(eom.speeds)
    names = list(eom.speeds)
    for node in tree.nodes:
        for k in range(node.v.start, node.v.stop):
            names[k] = node.part.joint_name
    return tuple(names)


def _named(names: tuple[str, ...], weights: np.ndarray, share: float, few: bool = False) -> tuple[str, ...]:
    """Each name once; of many (or if `few`) those with at least a share of the largest weight."""
    if len(set(names)) > _SHOWN or few:
        names = tuple(n for n, weight in zip(names, weights, strict=True) if weight >= share * np.max(weights))
    return tuple(dict.fromkeys(names))


def _listed(names: tuple[str, ...]) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"
