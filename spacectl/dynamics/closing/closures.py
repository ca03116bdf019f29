"""Rows of constraints that share joints, with the sizes that they have around the reference (`levers`) and their rank there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from spacectl.dynamics.closing.open_loops import rows_together
from spacectl.dynamics.constraints.row_scales import Samples, are_defined, find_levers, jacobians_around
from spacectl.dynamics.constraints.solvers import NOTHING
from spacectl.dynamics.tree.nodes import Tree
from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["Closure", "in_levers", "loop_closures", "near_of", "rank_of"]

_INDEPENDENT = 1e-7  # singular value, of the largest, from which a row counts
_NO_LEVER = 1e-200

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


def loop_closures(eom: EquationsOfMotion, t: float, x: Any, p: Any = None) -> Iterator[Closure]:
    """All sets of rows that share joints, at a state."""
    numbers = eom.parameters.of(p)
    state = np.asarray(x, dtype=float)
    if eom.handover.aggregates is not None:
        yield from _embedded_closures(eom.handover.aggregates(numbers), t, state)
        return
    v, held_rows = state[eom.n_q :], [eom.constraint_rows.index(name) for name in eom.position_rows]
    owners = np.array([name.split(".")[0] for name in eom.constraint_rows])
    joints = np.array(_joints(eom))
    for rows, speeds, levers, rank in _blocks(Samples(eom, numbers, (t, state))):
        places = np.flatnonzero(np.isin(held_rows, rows))

        def terms(t: float, q: np.ndarray, rows: Any = rows, speeds: Any = speeds, places: Any = places) -> Any:
            g, _, J, held, W = eom.call("projection", t, q, v, p=numbers)
            return g.reshape(-1)[places], J[np.ix_(rows, speeds)], held[np.ix_(places, speeds)], W[:, speeds]

        yield Closure(
            terms, state[: eom.n_q], levers, rank, tuple(owners[rows].tolist()), tuple(joints[speeds].tolist())
        )


def _embedded_closures(twin: Any, t: float, state: np.ndarray) -> Iterator[Closure]:
    """The same from the aggregates of embedded equations: nothing that spans the system is formed."""
    for member in twin.members:
        if not member.rows.size:
            continue
        v = state[twin.n_q :][member.v]
        place = _reference(twin, member) or (t, state[: twin.n_q][member.q].tobytes(), v.tobytes())

        def terms(t: float, q: np.ndarray, member: Any = member, v: Any = v) -> Any:
            g, _, J, held, W, *_ = twin.rows(member, t, q, v)
            return g.reshape(-1), J, held, W

        levers, rank = _member_levers(twin, member, *place)
        owners = tuple(item.name for item in member.aggregate.constraints for _ in range(item.n_rows))
        yield Closure(terms, state[: twin.n_q][member.q], levers, rank, owners, _aggregate_joints(twin.model, member))


def _aggregate_joints(model: Any, member: Any) -> tuple[str, ...]:
    """The joint of each speed of an aggregate; for modes that of their body."""
    links = [model.frames.links.items[i] for i in member.aggregate.links]
    return tuple(link.node.part.joint_name for link in links for _ in range(link.speeds.stop - link.speeds.start))


@lru_cache(maxsize=2048)
def _member_levers(twin: Any, member: Any, t: float, q: bytes, v: bytes) -> tuple[np.ndarray, int]:
    place = t, np.frombuffer(q), np.frombuffer(v)
    return _measure(jacobians_around(partial(_member_rows, twin, member), place))


@lru_cache(maxsize=2048)
def _reference(twin: Any, member: Any) -> tuple[float, bytes, bytes] | None:
    """The place at which rows are measured: the reference position, None if some row is not defined around it."""
    q, v = _rest(twin)[member.q], np.zeros(member.v.size)
    is_good = are_defined(partial(_member_rows, twin, member), (0.0, q, v))
    return (0.0, q.tobytes(), v.tobytes()) if is_good else None


def _member_rows(twin: Any, member: Any, t: float, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    _, _, J, _, W, *_ = twin.rows(member, t, q, v)
    return J, W


@lru_cache(maxsize=8)
def _rest(twin: Any) -> np.ndarray:
    return np.asarray(twin.model.frames.tree.rest())


@lru_cache(maxsize=64)
def _blocks(samples: Samples) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray, int], ...]:
    """Rows and speeds that belong together, with the levers of the rows and their rank."""
    whole = samples.jacobians()
    touched = np.any(np.array(whole) != 0.0, axis=0)  # what is not a number counts too
    found = []
    for rows in rows_together(touched):
        place = rows, np.flatnonzero(touched[rows].any(axis=0))
        if place[1].size:
            found.append((*place, *_measure([J[np.ix_(*place)] for J in whole])))
    return tuple(found)


def _measure(jacobians: list[np.ndarray]) -> tuple[np.ndarray, int]:
    """Levers of rows from their values around the reference, and the largest rank there."""
    sizes = find_levers(jacobians, lambda J, levers: 1.0)
    rank = max((rank_of(J, sizes) for J in jacobians if np.all(np.isfinite(J))), default=len(sizes) - 1)
    return find_levers(jacobians, partial(near_of, rank=rank)), rank


def in_levers(J: np.ndarray, levers: np.ndarray) -> np.ndarray:
    """Rows in units of their levers; those without (rules that are of second order in the speeds) are none."""
    size = levers[:-1, None]
    return np.nan_to_num(np.where(size > _NO_LEVER, J, 0.0) / np.maximum(size, _NO_LEVER))


def rank_of(J: np.ndarray, levers: np.ndarray) -> int:
    """How many rows are independent."""
    values = np.linalg.svd(in_levers(J, levers), compute_uv=False)
    return int(np.sum(values > _INDEPENDENT * max(float(np.max(values, initial=0.0)), 1e-300)))


def near_of(J: np.ndarray, levers: np.ndarray, *, rank: int) -> float:
    """``1 / |A+|`` of rows in units of their levers, as `row_nearness`, for a given rank."""
    values = np.linalg.svd(in_levers(J, levers), compute_uv=False)[:rank]
    if not rank:
        return 1.0
    if not np.min(values) > NOTHING * np.max(values):
        return 0.0
    return min(1.0, 1.0 / (float(np.sqrt(np.sum(values**-2.0))) * float(levers[-1])))


@lru_cache(maxsize=64)
def _joints(eom: EquationsOfMotion) -> tuple[str, ...]:
    """The joint of each speed; its own name where the speeds are not those of the joints."""
    tree = Tree.of(eom.system)
    if tuple(tree.speeds.names) != tuple(eom.speeds):
        return tuple(eom.speeds)
    names = list(eom.speeds)
    for node in tree.nodes:
        for k in range(node.v.start, node.v.stop):
            names[k] = node.part.joint_name
    return tuple(names)
