"""Sets of constraint equations that share joints, with their row scales (typical norms) and rank around the reference."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from spacectl.dynamics.closing.open_loops import coupled_equations
from spacectl.dynamics.constraints.row_scales import Samples, are_defined, find_row_scales, jacobians_around
from spacectl.dynamics.constraints.solvers import NEGLIGIBLE
from spacectl.dynamics.tree.nodes import Tree
from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["Closure", "distance_of", "loop_closures", "rank_of", "scaled_rows"]

_INDEPENDENT = 1e-7  # relative singular value from which a row counts as independent
_NO_SCALE = 1e-200

Rows = Callable[[float, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False)
class Closure:
    """Constraint equations that share joints and must be closed together.

    Parameters
    ----------
    rows : callable
        (t, q) -> g, J, J_position, W of these equations and their speeds.
    q : array
        Present coordinates.
    row_scales : array, shape (m + 1,)
        Norms of the rows around the reference, and the largest distance to singularity there.
    rank : int
        The largest rank there.
    constraints : tuple of str
        The constraint of each equation.
    joints : tuple of str
        The joint of each speed.
    """

    rows: Rows
    q: np.ndarray
    row_scales: np.ndarray
    rank: int
    constraints: tuple[str, ...]
    joints: tuple[str, ...]


def loop_closures(eom: EquationsOfMotion, t: float, x: Any, p: Any = None) -> Iterator[Closure]:
    """Yield all sets of constraint equations that share joints, at a state."""
    numbers = eom.parameters.of(p)
    state = np.asarray(x, dtype=float)
    if eom.handover.aggregates is not None:
        yield from _embedded_closures(eom.handover.aggregates(numbers).model, t, state)
        return
    v, of_positions = state[eom.n_q :], [eom.constraint_rows.index(name) for name in eom.position_rows]
    owners = np.array([name.split(".")[0] for name in eom.constraint_rows])
    joints = np.array(_joints(eom))
    for rows, speeds, row_scales, rank in _blocks(Samples(eom, numbers, (t, state))):
        places = np.flatnonzero(np.isin(of_positions, rows))

        def terms(t: float, q: np.ndarray, rows: Any = rows, speeds: Any = speeds, places: Any = places) -> Any:
            g, _, J, J_position, W = eom.call("projection", t, q, v, p=numbers)
            return g.reshape(-1)[places], J[np.ix_(rows, speeds)], J_position[np.ix_(places, speeds)], W[:, speeds]

        yield Closure(
            terms, state[: eom.n_q], row_scales, rank, tuple(owners[rows].tolist()), tuple(joints[speeds].tolist())
        )


def _embedded_closures(model: Any, t: float, state: np.ndarray) -> Iterator[Closure]:
    """Yield the same from the aggregates of embedded equations, without forming matrices of the whole system."""
    n_q = len(model.frames.tree.coordinates)
    for member in model.members:
        if not member.rows.size:
            continue
        q, v = state[:n_q][member.q], state[n_q:][member.v]

        def terms(t: float, q: np.ndarray, member: Any = member, v: Any = v) -> Any:
            g, _, J, J_position, W, *_ = model.rows(member, t, q, v)
            return g.reshape(-1), J, J_position, W

        row_scales, rank = _member_row_scales(
            model, member, *(_reference(model, member) or (t, q.tobytes(), v.tobytes()))
        )
        owners = tuple(item.name for item in member.aggregate.constraints for _ in range(item.n_rows))
        yield Closure(terms, q, row_scales, rank, owners, _aggregate_joints(model, member))


def _aggregate_joints(model: Any, member: Any) -> tuple[str, ...]:
    """Return the joint of each speed of an aggregate; for modes that of their body."""
    links = [model.frames.links.items[i] for i in member.aggregate.links]
    return tuple(link.node.part.joint_name for link in links for _ in range(link.speeds.stop - link.speeds.start))


@lru_cache(maxsize=2048)
def _member_row_scales(model: Any, member: Any, t: float, q: bytes, v: bytes) -> tuple[np.ndarray, int]:
    return _measure(jacobians_around(partial(model.jacobian, member), (t, np.frombuffer(q), np.frombuffer(v))))


@lru_cache(maxsize=2048)
def _reference(model: Any, member: Any) -> tuple[float, bytes, bytes] | None:
    """Return the reference position as the place for row scales; None if some row is not defined around it."""
    q, v = _rest(model)[member.q], np.zeros(member.v.size)
    is_good = are_defined(partial(model.jacobian, member), (0.0, q, v))
    return (0.0, q.tobytes(), v.tobytes()) if is_good else None


@lru_cache(maxsize=8)
def _rest(model: Any) -> np.ndarray:
    return np.asarray(model.frames.tree.rest())


@lru_cache(maxsize=64)
def _blocks(samples: Samples) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray, int], ...]:
    """Return the equations and speeds of each set, with row scales and rank."""
    whole = samples.jacobians()
    touched = np.any(np.array(whole) != 0.0, axis=0)  # NaN counts as nonzero
    found = []
    for rows in coupled_equations(touched):
        place = rows, np.flatnonzero(touched[rows].any(axis=0))
        if place[1].size:
            found.append((*place, *_measure([J[np.ix_(*place)] for J in whole])))
    return tuple(found)


def _measure(jacobians: list[np.ndarray]) -> tuple[np.ndarray, int]:
    """Return row scales from Jacobians around the reference, and the largest rank there."""
    sizes = find_row_scales(jacobians, lambda J, row_scales: 1.0)
    rank = max((rank_of(J, sizes) for J in jacobians if np.all(np.isfinite(J))), default=len(sizes) - 1)
    return find_row_scales(jacobians, partial(distance_of, rank=rank)), rank


def scaled_rows(J: np.ndarray, row_scales: np.ndarray) -> np.ndarray:
    """Divide rows by their scales; rows without one (equations of second order in the speeds) become zero."""
    size = row_scales[:-1, None]
    return np.nan_to_num(np.where(size > _NO_SCALE, J, 0.0) / np.maximum(size, _NO_SCALE))


def rank_of(J: np.ndarray, row_scales: np.ndarray) -> int:
    """Return the number of independent rows."""
    values = np.linalg.svd(scaled_rows(J, row_scales), compute_uv=False)
    return int(np.sum(values > _INDEPENDENT * max(float(np.max(values, initial=0.0)), 1e-300)))


def distance_of(J: np.ndarray, row_scales: np.ndarray, *, rank: int) -> float:
    """Return the distance to singularity ``1 / |A+|`` of the scaled rows, as `singularity_distance`, for a given rank."""
    values = np.linalg.svd(scaled_rows(J, row_scales), compute_uv=False)[:rank]
    if not rank:
        return 1.0
    if not np.min(values) > NEGLIGIBLE * np.max(values):
        return 0.0
    return min(1.0, 1.0 / (float(np.sqrt(np.sum(values**-2.0))) * float(row_scales[-1])))


@lru_cache(maxsize=64)
def _joints(eom: EquationsOfMotion) -> tuple[str, ...]:
    """Return the joint of each speed; the speed's name where the speeds are not those of the joints."""
    tree = Tree.of(eom.system)
    if tuple(tree.speeds.names) != tuple(eom.speeds):
        return tuple(eom.speeds)
    names = list(eom.speeds)
    for node in tree.nodes:
        for k in range(node.v.start, node.v.stop):
            names[k] = node.part.joint_name
    return tuple(names)
