"""Find which reactions are determined by the equations of motion, and which by load sharing of redundant constraints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl.dynamics.constraints.loads import natural_frames
from spacectl.dynamics.constraints.sharing import ZERO, find_redundancy
from spacectl.dynamics.constraints.solvers import speed_scales
from spacectl.dynamics.formulations.switching import active_rows, constraints_of
from spacectl.dynamics.waist.equations import EquationsOfMotion, require_equations

__all__ = ["Uniqueness", "constraints_behind", "find_uniqueness", "shared_directions", "shared_groups"]


@dataclass(frozen=True, kw_only=True)
class Uniqueness:
    """Uniqueness of reactions at a state; the others depend on the compliance of the constraint equations.

    Parameters
    ----------
    equations : mapping of str to bool
        For each constraint equation, whether its multiplier (``eom.multipliers``) is unique.
    joints : mapping of str to bool
        For each joint of the tree, whether its wrench (``eom.reactions``) is unique.
    wrenches : mapping of str to bool
        For each natural constraint between frames, whether its wrench (`find_constraint_wrenches`) is unique.
    groups : tuple of tuple of str
        Constraint equations that share a load; a single equation shares it with joints of the tree.
    """

    equations: Mapping[str, bool]
    joints: Mapping[str, bool]
    wrenches: Mapping[str, bool]
    groups: tuple[tuple[str, ...], ...]


def find_uniqueness(eom: EquationsOfMotion, t: float, x: Any, *, p: Any = None) -> Uniqueness:
    """Find which reactions at a state are unique.

    A reaction is unique if and only if no change of the multipliers without effect on the accelerations changes it.

    Parameters
    ----------
    eom : EquationsOfMotion
        Equations by any formulation.
    t : float
        Time [s].
    x : array, shape (n_x,)
        State that satisfies the constraints.
    p : array, optional
        Run-time parameters; constraints that they switch off count as unique (their reactions are zero).

    Returns
    -------
    Uniqueness

    Examples
    --------
    ``find_uniqueness(eom, 0.0, x).groups``
    """
    require_equations(eom, "find_uniqueness")
    state, numbers = np.asarray(x, dtype=float), eom.parameters.of(p)
    N = shared_directions(eom, t, state, numbers)
    joints, wrenches = _effects(eom, t, state, numbers, N)
    return Uniqueness(
        equations=dict(zip(eom.constraint_rows, np.all(N == 0.0, axis=1).tolist(), strict=True)),
        joints=dict(zip([part.joint_name for part in eom.system.tree], joints, strict=True)),
        wrenches=dict(zip(natural_frames(eom), wrenches, strict=True)),
        groups=tuple(tuple(eom.constraint_rows[k] for k in group) for group in shared_groups(N)),
    )


def shared_directions(eom: EquationsOfMotion, t: float, x: np.ndarray, p: Any = None) -> np.ndarray:
    """Return changes of the multipliers without effect on accelerations, as columns (m, k); exactly zero where lam is unique."""
    if not eom.constraint_rows:
        return np.zeros((0, 0))
    q, v = x[: eom.n_q], x[eom.n_q :]
    if eom.constraint_inputs:
        _, M, _, _, _, E = eom.call("terms", t, q, v, np.zeros(eom.n_u), p=p)
    else:
        M, E = eom.mass_matrix(t, q, p), eom.call("constraints", t, q, v, p=p)[2].T
    N, acts = find_redundancy(E, speed_scales(M)).directions, active_rows(eom, p)
    N[~acts] = 0.0
    return N[:, np.any(N != 0.0, axis=0)]


def shared_groups(N: np.ndarray) -> list[list[int]]:
    """Return the indices of multipliers that share a load, in groups coupled by null vectors."""
    groups: list[set[int]] = []
    for column in N.T:
        joined = set(np.flatnonzero(column).tolist())
        apart = [group for group in groups if not group & joined]
        groups = [*apart, joined.union(*(group for group in groups if group & joined))]
    return [sorted(group) for group in sorted(groups, key=min)]


def constraints_behind(eom: EquationsOfMotion, rows: Any) -> list[str]:
    """Return the names of the constraints of some equations, in order."""
    owners = [item for item in constraints_of(eom) for _ in range(item.n_rows)]
    return list(dict.fromkeys(owners[k].name for k in rows))


def _effects(
    eom: EquationsOfMotion, t: float, x: np.ndarray, p: np.ndarray, N: np.ndarray
) -> tuple[list[bool], list[bool]]:
    """Return whether the wrenches of joints, and of constraints between frames, are constant along all null vectors."""
    joints, wrenches = np.ones(len(eom.system.tree), dtype=bool), np.ones(len(natural_frames(eom)), dtype=bool)
    q, v, u, v_dot = x[: eom.n_q], x[eom.n_q :], np.zeros(eom.n_u), np.zeros(eom.n_v)
    for column in N.T:
        through, own = (
            np.asarray(found.full())
            for found in (
                eom.functions["reactions"](t, q, v, u, v_dot, p, column)
                - eom.functions["reactions"](t, q, v, u, v_dot, p, 0.0),
                eom.functions["constraint_wrenches"](t, q, v, u, column, p)
                - eom.functions["constraint_wrenches"](t, q, v, u, 0.0, p),
            )
        )
        joints &= np.max(np.abs(through), axis=1, initial=0.0) <= ZERO * np.max(np.abs(through), initial=1.0)
        wrenches &= np.max(np.abs(own), axis=1, initial=0.0) <= ZERO * np.max(np.abs(own), initial=1.0)
    return joints.tolist(), wrenches.tolist()
