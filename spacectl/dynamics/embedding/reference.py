"""`AggregateSweeps`: the sweeps over aggregates in numpy, to verify native code and for machines without a compiler.

An outward sweep computes motion, an inward sweep the inertia and wrench at each aggregate's base, an outward sweep
accelerations. Multipliers follow from the equations of each aggregate alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl.core.errors import SolverError
from spacectl.dynamics.constraints.sharing import share_load
from spacectl.dynamics.constraints.solvers import RANK, speed_scales
from spacectl.dynamics.constraints.terms import rigid_compliances
from spacectl.dynamics.embedding.embedded_model import EmbeddedModel, Member
from spacectl.dynamics.embedding.solve import AggregateSolution, solve_aggregate
from spacectl.dynamics.tree.nodes import ROOT

__all__ = ["AggregateSweeps", "MemberState", "full_inertia", "pack"]

_UPPER = [(i, j) for i in range(3) for j in range(i, 3)]


@dataclass
class MemberState:
    """Results of the sweeps for one aggregate."""

    given: list[Any]
    q_dot: np.ndarray
    twists: np.ndarray
    placements: np.ndarray
    J: np.ndarray
    gamma: np.ndarray
    E: np.ndarray
    ports: np.ndarray
    M: np.ndarray | None = None
    Z: np.ndarray | None = None
    Y: np.ndarray | None = None
    h: np.ndarray | None = None
    solution: AggregateSolution | None = None
    v_dot: np.ndarray | None = None
    base_acceleration: np.ndarray | None = None
    accelerations: np.ndarray | None = None


class AggregateSweeps:
    """Order-N dynamics of aggregates in numpy.

    Parameters
    ----------
    model : EmbeddedModel
        The system with its parameters.
    """

    def __init__(self, model: EmbeddedModel):
        self.model = model
        self.members = model.members
        tree = model.frames.tree
        self.n_q, self.n_v, self.n_u = len(tree.coordinates), len(tree.speeds), len(model.inputs)
        self.n_rows = sum(item.n_rows for item in model.active)

    def sweep(self, t: float, q: Any, v: Any, u: Any) -> list[MemberState]:
        """Run all three sweeps.

        Raises
        ------
        SolverError
            If an aggregate has no accelerations; the message names its loops and joints.
        """
        q, v, u = (np.asarray(item, dtype=float).reshape(-1) for item in (q, v, u))
        time = float(np.asarray(t).reshape(-1)[0])
        states, root = self.outward(time, q, v, u), self.model.root(time)
        tau = np.zeros(self.n_v)
        pairs, gains = self.model.joint_inputs
        np.add.at(tau, pairs[:, 1], gains * u[pairs[:, 0]])
        for k in reversed(range(len(states))):
            self._inward(k, states, tau)
        for member, state in zip(self.members, states, strict=True):
            above = root[6:12] if member.base == ROOT else _at(states[member.base].accelerations, member.port, 6)
            solution: Any = state.solution
            state.base_acceleration, state.v_dot = above, solution.v_dot + solution.G @ above
            onward = self.model.evaluator(member.kind, "onward")
            state.accelerations = onward(*state.given, above, state.v_dot)[0].reshape(-1)
        return states

    def outward(self, t: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> list[MemberState]:
        """Return the motion of all aggregates, with empty ports."""
        states: list[MemberState] = []
        padded, root = np.append(u, 0.0), self.model.root(t)
        for member in self.members:
            kind, base = member.kind, None if member.base == ROOT else states[member.base]
            twist = root[:6] if base is None else _at(base.twists, member.port, 6)
            placement = root[12:] if base is None else _at(base.placements, member.port, 12)
            placement = placement[: kind.size("X")]
            given = [t, q[member.q], v[member.v], twist, placement, padded[member.u], member.record]
            results = self.model.evaluator(kind, "outward")(*given)
            q_dot, twists, placements, gamma = (results[i].reshape(-1) for i in (0, 1, 2, 4))
            ports = np.zeros(kind.size("ports"))
            states.append(MemberState(given, q_dot, twists, placements, results[3], gamma, results[5], ports))
        return states

    def _inward(self, k: int, states: list[MemberState], tau: np.ndarray) -> None:
        member, state = self.members[k], states[k]
        M, Z, Y, h, inertia, wrench = self.model.evaluator(member.kind, "inward")(*state.given, state.ports)
        state.M, state.Z, state.Y, state.h = M, Z, Y, h.reshape(-1) - tau[member.v]
        E = None if member.kind.is_natural else state.E
        try:
            state.solution = solve_aggregate(M, Y, state.h, state.J, state.gamma, E, self.model.ranks[k])
        except SolverError as error:
            raise SolverError(
                f"{self.model.describe(member)}: {error}{self._least_constrained(member, state.J)}"
            ) from error
        if member.base == ROOT:
            return
        at_base = full_inertia(inertia, member.kind.is_symmetric) + Z @ state.solution.G
        base = self.members[member.base].kind
        packed = pack(at_base) if base.is_symmetric else at_base.reshape(-1)
        size = packed.size + 6
        share = np.concatenate([packed, wrench.reshape(-1) + Z @ state.solution.v_dot])
        states[member.base].ports[member.port * size : (member.port + 1) * size] += share

    def _least_constrained(self, member: Member, J: np.ndarray) -> str:
        """Name the speed that the equations constrain least, as a clause of a message."""
        if not len(J) or not np.all(np.isfinite(J)):
            return ""
        _, singular, V = np.linalg.svd(J)
        rank = int(np.sum(singular > RANK * max(float(singular[0]), 1e-300)))
        share = np.linalg.norm(V[rank:], axis=0)
        name = self.model.frames.tree.speeds.names[member.v[int(np.argmax(share))]]
        return f"; '{name}' is constrained least. Move away from this position, or give the loop other proportions"

    def v_dot(self, t: float, q: Any, v: Any, u: Any) -> np.ndarray:
        """Return the accelerations, (n_v,)."""
        found = np.zeros(self.n_v)
        for member, state in zip(self.members, self.sweep(t, q, v, u), strict=True):
            found[member.v] = state.v_dot
        return found

    def x_dot(self, t: float, x: Any, u: Any) -> np.ndarray:
        """Return the state derivative, (n_x,)."""
        x = np.asarray(x, dtype=float).reshape(-1)
        found = np.zeros(self.n_q + self.n_v)
        states = self.sweep(t, x[: self.n_q], x[self.n_q :], u)
        for member, state in zip(self.members, states, strict=True):
            found[member.q], found[self.n_q + member.v] = state.q_dot, state.v_dot
        return found

    def multipliers(self, t: float, q: Any, v: Any, u: Any) -> np.ndarray:
        """Return all multipliers: ``E lam = M v_dot + Y A + h`` in each aggregate, of least work where not unique."""
        lam, compliance = np.zeros(self.n_rows), np.array(rigid_compliances(self.model.active))
        for member, state in zip(self.members, self.sweep(t, q, v, u), strict=True):
            if member.rows.size:
                force: Any = state.M @ state.v_dot + state.Y @ state.base_acceleration + state.h  # type: ignore[operator]
                scale = speed_scales(np.asarray(state.M))
                E = state.J.T if member.kind.is_natural else state.E
                found = np.linalg.lstsq(scale[:, None] * E, scale * force, rcond=RANK)[0]
                lam[member.rows] = share_load(np.asarray(state.M), np.asarray(E), found, compliance[member.rows])
        return lam


def _at(whole: Any, place: int, size: int) -> Any:
    return whole[place * size : (place + 1) * size]


def full_inertia(packed: np.ndarray, is_symmetric: bool) -> np.ndarray:
    """Return the 6 x 6 matrix of an inertia in the format of the kinds."""
    if not is_symmetric:
        return np.asarray(packed)
    flat = np.asarray(packed).reshape(-1)
    I = np.zeros((6, 6))
    for k, (i, j) in enumerate(_UPPER):
        I[i, j] = I[j, i] = flat[k]
        I[3 + i, 3 + j] = I[3 + j, 3 + i] = flat[15 + k]
    I[:3, 3:] = flat[6:15].reshape(3, 3)
    I[3:, :3] = I[:3, 3:].T
    return I


def pack(I: np.ndarray) -> np.ndarray:
    """Return a symmetric 6 x 6 matrix in the format of the kinds: 21 entries."""
    upper, lower = ([block[i, j] for i, j in _UPPER] for block in (I[:3, :3], I[3:, 3:]))
    return np.array([*upper, *I[:3, 3:].reshape(-1), *lower])
