"""Check whether inertia and constraints together determine the accelerations: the rank condition of Udwadia and Phohomsiri.

``M v_dot = f + J' lam`` and ``J v_dot = gamma`` have one solution v_dot if and only if ``[M J']`` has as many independent
columns as there are speeds (001 Eq 20), whatever the formulation. A direction of speeds in the null space of both M and J
has no inertia, and no constraint acts along it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import qr

from spacectl.core.errors import list_names
from spacectl.dynamics.constraints.solvers import RANK, row_norms, speed_scales
from spacectl.dynamics.tree.nodes import Tree

if TYPE_CHECKING:
    from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["RankCondition", "explain_rank", "find_rank"]

_SHOWN = 4  # directions listed in a message; twice as many terms of each
_STEP = 1e-5  # [rad or m] along a direction, to find the bodies that it moves: truncation about 1e-15


@dataclass(frozen=True)
class RankCondition:
    """The rank of ``[M J']`` and its null space.

    Parameters
    ----------
    rank : int
        The rank; the accelerations are unique if it equals the number of speeds.
    null : array, shape (k, n_v)
        Directions of speeds with neither inertia nor a constraint, as a sparse basis.
    """

    rank: int
    null: np.ndarray

    def in_words(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return each direction as a combination of speeds, such as ``"base.qw_dot + 0.75 base.qx_dot"``."""
        return tuple(_combination(names, direction) for direction in self.null)


def find_rank(M: np.ndarray, J: np.ndarray) -> RankCondition:
    """Find the rank of ``[M J']`` with speeds scaled by their inertia and rows of J of unit norm.

    Parameters
    ----------
    M, J : array, shapes (n_v, n_v) and (m, n_v)
        Mass matrix and constraint Jacobian.
    """
    scale = speed_scales(M)
    rows = J * scale / row_norms(J * scale)[:, None]
    _, singular, V = np.linalg.svd(np.vstack([scale[:, None] * M * scale, rows]))
    rank = int(np.sum(singular > RANK * np.max(singular, initial=0.0)))
    return RankCondition(rank, _sparse_basis(V[rank:]) * scale)


def explain_rank(eom: EquationsOfMotion, t: float, q: Any, v: Any, p: Any = None) -> str:
    """Explain why the accelerations are not determined at a state, and the remedy; empty if they are.

    Parameters
    ----------
    eom : EquationsOfMotion
        By any formulation.
    t : float
        Time [s].
    q, v : array, shapes (n_q,) and (n_v,)
        Coordinates and speeds; J depends on the speeds if a rule is nonlinear in them.
    p : array, optional
        Run-time parameters.
    """
    n, q = eom.n_v, np.ravel(q)
    if not n:
        return ""
    M = eom.mass_matrix(t, q, p)
    J = eom.call("constraints", t, q, v, p=p)[2] if eom.constraint_rows else np.zeros((0, n))
    if not (np.all(np.isfinite(M)) and np.all(np.isfinite(J))):
        return ""
    found = find_rank(M, J)
    if found.rank == n:
        return ""
    listed = list_names(found.in_words(eom.speeds), _SHOWN)
    if not len(J):
        claim = f"the mass matrix is singular (rank {found.rank} of {n}): no body has inertia along {listed}"
    else:
        claim = (
            f"the accelerations are not determined: the rank of [M J'] is {found.rank}, and {n} is needed (rank condition of "
            f"Udwadia and Phohomsiri); no body has inertia and no constraint acts along {listed}"
        )
    return f"{claim}; {'; '.join(_cures(eom, t, q, found.null, p))}"


def _cures(eom: EquationsOfMotion, t: float, q: np.ndarray, null: np.ndarray, p: Any) -> list[str]:
    """List what is missing: constraint equations of redundant coordinates, inertia along the other directions."""
    tree, cures, rest = Tree.of(eom.system), [], null
    if tuple(tree.speeds.names) != tuple(eom.speeds):  # speeds of the user's choice
        return ["give the bodies that move along it an inertia, or add a constraint"]
    for node in tree.nodes:
        for own, missing in node.part.joint.redundancies(q[node.q], node.part.joint_name):
            direction = np.zeros(eom.n_v)
            direction[node.v] = own
            if _is_within(direction, rest):
                cures.append(f"{missing} is missing")
                rest = _without(direction, rest)
    if len(rest):
        bodies = ", ".join(f"'{name}'" for name in _moved_bodies(eom, tree, t, q, rest, p)[:_SHOWN])
        cures.append(
            f"give body {bodies} an inertia or an offset centre of mass, or add a constraint along that direction"
        )
    return cures


def _moved_bodies(eom: EquationsOfMotion, tree: Tree, t: float, q: np.ndarray, null: np.ndarray, p: Any) -> list[str]:
    """Return the bodies that rotate, translate or deform along some direction of speeds."""
    moved, still = np.zeros(len(tree.nodes)), eom.call("q_dot", t, q, np.zeros(eom.n_v), p=p)[0]
    for direction in null / np.max(np.abs(null), axis=1, keepdims=True):
        step = _STEP * (eom.call("q_dot", t, q, direction, p=p)[0] - still).reshape(-1)
        change = eom.placements(t, q + step, p) - eom.placements(t, q - step, p)
        moved = np.maximum(moved, np.max(np.abs(change), axis=1))
        moved += [np.max(np.abs(direction[node.eta_dot]), initial=0.0) for node in tree.nodes]
    return [node.part.name for node, size in zip(tree.nodes, moved, strict=True) if size > 1e-3 * _STEP]


def _is_within(direction: np.ndarray, space: np.ndarray) -> bool:
    return bool(len(space)) and float(np.linalg.norm(_rest(direction, space))) < 1e-6 * float(np.linalg.norm(direction))


def _without(direction: np.ndarray, space: np.ndarray) -> np.ndarray:
    """Return the part of a space of directions that is normal to one of them."""
    unit = direction / np.linalg.norm(direction)
    _, singular, V = np.linalg.svd(space - np.outer(space @ unit, unit), full_matrices=False)
    return V[singular > RANK * np.max(np.abs(space))]


def _rest(direction: np.ndarray, space: np.ndarray) -> np.ndarray:
    """Return a direction without its part in a space."""
    Q = qr(space.T, mode="economic")[0]
    left: np.ndarray = direction - Q @ (Q.T @ direction)
    return left


def _sparse_basis(null: np.ndarray) -> np.ndarray:
    """Return a basis of the same space that contains a unit matrix, so that each direction has few nonzeros."""
    if not len(null):
        return null
    order = qr(null, pivoting=True, mode="r")[1]
    basis: np.ndarray = np.linalg.solve(null[:, order[: len(null)]], null)
    return basis


def _combination(names: tuple[str, ...], direction: np.ndarray) -> str:
    """Format a direction as ``"a_dot - 0.5 b_dot"``, with largest coefficient 1."""
    parts = direction / np.max(np.abs(direction))
    order = [k for k in range(len(parts)) if abs(parts[k]) > 1e-6]
    parts *= np.sign(parts[order[0]])
    text = ""
    for k in order[: 2 * _SHOWN]:
        size = f"{abs(parts[k]):.4g} "
        sign = (" - " if parts[k] < 0.0 else " + ") if text else ""
        text += f"{sign}{'' if size == '1 ' else size}{names[k]}"
    return text if len(order) <= 2 * _SHOWN else f"{text} + ..."
