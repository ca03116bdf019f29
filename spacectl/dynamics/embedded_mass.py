"""The factorised mass matrix of embedded equations and its inverse as operators of order N.

In the independent speeds y of all aggregates, ``v = N y``, the mass matrix ``N' M N = L D L'`` has a block diagonal D, one block
for each aggregate, and a factor L that the tree of aggregates makes sparse [1]_: applying the matrix, its factor or its inverse
to a vector costs as much as one or two sweeps.

References
----------
.. [1] A. Jain, G. Rodriguez, "Recursive flexible multibody system dynamics using spatial operators", Journal of Guidance,
   Control, and Dynamics 15 (1992) 1453-1466 (trees); for aggregates as in `formulations.embedded`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from spacectl.core.errors import ModelError, ShapeError, warn
from spacectl.dynamics.closing.weak_loops import singular_loop
from spacectl.dynamics.constraints.solvers import speed_scales
from spacectl.dynamics.embedding.reference import AggregateSweeps, full_inertia, pack
from spacectl.dynamics.embedding.solve import Partition, partition
from spacectl.dynamics.tree.nodes import ROOT
from spacectl.dynamics.waist.equations import EquationsOfMotion, require_equations

__all__ = ["EmbeddedMass", "factor_mass"]


@dataclass(frozen=True)
class _Block:
    """One aggregate: own inertias, inertias with outboard bodies, motion of its ports, and its factor."""

    base: int
    port: int
    place: slice
    v: np.ndarray
    split: Partition
    M: np.ndarray
    Z: np.ndarray
    I: np.ndarray
    D: np.ndarray
    Z_carried: np.ndarray
    carry: np.ndarray
    turn: np.ndarray

    def port_of(self, whole: np.ndarray) -> np.ndarray:
        """Return its entries of an array of ports."""
        return whole[6 * self.port : 6 * self.port + 6]


@dataclass(frozen=True, eq=False)
class EmbeddedMass:
    """``M_y = N' M N`` in independent speeds, as operators; returned by `factor_mass`.

    Parameters
    ----------
    independent : tuple of str
        Names of the independent speeds y, in order; chosen by pivoting at this configuration.
    n_v : int
        Number of all speeds v.
    blocks : tuple
        One entry for each aggregate, bases first.
    """

    independent: tuple[str, ...]
    n_v: int
    blocks: tuple[_Block, ...]

    def expand(self, y: Any) -> np.ndarray:
        """Return all speeds ``v = N y`` (n_v,) from independent ones."""
        y, v = self._checked(y, len(self.independent)), np.zeros(self.n_v)
        for block in self.blocks:
            v[block.v] = block.split.N @ y[block.place]
        return v

    def reduce(self, f: Any) -> np.ndarray:
        """Return the forces ``N' f`` on the independent speeds from forces on all speeds."""
        f = self._checked(f, self.n_v)
        return np.concatenate([np.zeros(0), *(block.split.N.T @ f[block.v] for block in self.blocks)])

    def apply(self, y: Any) -> np.ndarray:
        """Return ``M_y y``, by an outward sweep for accelerations and an inward sweep for forces."""
        y = self._checked(y, len(self.independent))
        moving: list[tuple[np.ndarray, np.ndarray]] = []
        accelerations: list[np.ndarray] = []
        for block in self.blocks:
            A = np.zeros(6) if block.base == ROOT else block.port_of(accelerations[block.base])
            v = block.split.N @ y[block.place]
            moving.append((A, v))
            accelerations.append(block.carry @ A + block.turn @ v)
        found, wrenches = np.zeros(len(y)), [np.zeros(len(block.carry)) for block in self.blocks]
        for k in reversed(range(len(self.blocks))):
            block, (A, v) = self.blocks[k], moving[k]
            found[block.place] = block.split.N.T @ (block.M @ v + block.Z.T @ A + block.turn.T @ wrenches[k])
            if block.base != ROOT:
                block.port_of(wrenches[block.base])[:] += block.I @ A + block.Z @ v + block.carry.T @ wrenches[k]
        return found

    def residual(self, f: Any) -> np.ndarray:
        """Return ``L^-1 f``: the forces on each aggregate after outboard aggregates are eliminated; an inward sweep."""
        return self._inward(self._checked(f, len(self.independent)))

    def solve(self, f: Any) -> np.ndarray:
        """Return ``M_y^-1 f = L'^-1 D^-1 L^-1 f``, by an inward and an outward sweep."""
        rest = self._inward(self._checked(f, len(self.independent)))
        found = np.zeros(len(rest))
        accelerations: list[np.ndarray] = []
        for block in self.blocks:
            A = np.zeros(6) if block.base == ROOT else block.port_of(accelerations[block.base])
            own = np.linalg.solve(block.D, rest[block.place] - block.split.N.T @ (block.Z_carried.T @ A))
            found[block.place] = own
            accelerations.append(block.carry @ A + block.turn @ (block.split.N @ own))
        return found

    @cached_property
    def log_determinant(self) -> float:
        """``log det M_y``, the sum over the blocks of D."""
        return float(sum(np.linalg.slogdet(block.D)[1] for block in self.blocks if block.D.size))

    def _inward(self, f: np.ndarray) -> np.ndarray:
        rest, wrenches = np.zeros(len(f)), [np.zeros(len(block.carry)) for block in self.blocks]
        for k in reversed(range(len(self.blocks))):
            block, N = self.blocks[k], self.blocks[k].split.N
            rest[block.place] = f[block.place] - N.T @ (block.turn.T @ wrenches[k])
            if block.base != ROOT:
                own = block.Z_carried @ (N @ np.linalg.solve(block.D, rest[block.place]))
                block.port_of(wrenches[block.base])[:] += own + block.carry.T @ wrenches[k]
        return rest

    def _checked(self, vector: Any, size: int) -> np.ndarray:
        found = np.asarray(vector, dtype=float)
        if found.shape != (size,):
            raise ShapeError(f"mass operator: the vector has shape {found.shape}, expected ({size},)")
        return found


def factor_mass(eom: EquationsOfMotion, t: float, q: Any, *, p: Any = None) -> EmbeddedMass:
    """Factorise the mass matrix of embedded equations at a configuration, in order N.

    Parameters
    ----------
    eom : EquationsOfMotion
        Equations by ``formulation="embedded"``, with natural constraints or none.
    t : float
        Time [s].
    q : array, shape (n_q,)
        Coordinates that close the loops.
    p : array, optional
        Run-time parameters.

    Returns
    -------
    EmbeddedMass
        With `apply`, `solve`, `residual`, `log_determinant`; `expand` and `reduce` convert between independent and all speeds.

    Raises
    ------
    ModelError
        For other formulations, for constraints maintained by actuators (the mass matrix is then not symmetric), and for
        coordinates that are not finite.
    ShapeError
        If q has another shape.

    Warns
    -----
    UserWarning
        In a singular position of a loop, where there are more independent speeds than near it.

    Examples
    --------
    >>> from spacectl import form_equations, library
    >>> eom = form_equations(library.geared_chain(2), formulation="embedded")
    >>> mass = factor_mass(eom, 0.0, eom.state()[: eom.n_q])
    >>> bool(np.allclose(mass.apply(mass.solve([1.0, 2.0])), [1.0, 2.0]))
    True
    """
    require_equations(eom, "factor_mass")
    if eom.handover.aggregates is None:
        raise ModelError(f"factor_mass: equations by {eom.formulation}; form them with formulation='embedded'")
    sweeps = eom.handover.aggregates(eom.parameters.of(p))
    if eom.constraint_inputs:
        raise ModelError(
            f"factor_mass: system '{eom.system.name}' has constraints maintained by actuators ({eom.constraint_inputs[0]}), so "
            "that its reduced mass matrix is not symmetric; use natural constraints"
        )
    place, still = _checked_place(eom, q), np.zeros(sweeps.n_v)
    loop = singular_loop(eom, float(t), np.concatenate([place, still]), sweeps.model.p)
    if loop is not None:
        warn(
            f"factor_mass: {loop} of system '{eom.system.name}' is in a singular position ({loop.measure}); the independent "
            "speeds are valid at this instant only, and more than at nearby states. Use a nearby state"
        )
    states = sweeps.outward(float(t), place, still, np.zeros(sweeps.n_u))
    blocks: list[Any] = [None] * len(states)
    for k in reversed(range(len(states))):
        blocks[k] = _block(sweeps, k, states)
    found, start = [], 0
    names: list[str] = []
    for block in blocks:
        size = len(block.split.independent)
        found.append(_Block(**{**block.__dict__, "place": slice(start, start + size)}))
        names += [eom.speeds[block.v[i]] for i in block.split.independent]
        start += size
    return EmbeddedMass(tuple(names), sweeps.n_v, tuple(found))


def _checked_place(eom: EquationsOfMotion, q: Any) -> np.ndarray:
    place = np.asarray(q, dtype=float)
    if place.shape != (eom.n_q,):
        cure = "; give x[: eom.n_q], the state without its speeds" if place.shape == (eom.n_x,) else ""
        raise ShapeError(f"factor_mass: q has shape {place.shape}, expected ({eom.n_q},){cure}")
    if not np.all(np.isfinite(place)):
        bad = eom.states[int(np.flatnonzero(~np.isfinite(place))[0])]
        raise ModelError(
            f"factor_mass: the coordinate '{bad}' is not finite; give finite coordinates that close the loops"
        )
    return place


def _block(sweeps: AggregateSweeps, k: int, states: list[Any]) -> _Block:
    """Return one aggregate's operators; its inertia at the base is added to the port of the base."""
    member, state = sweeps.members[k], states[k]
    inward = sweeps.model.evaluator(member.kind, "inward")
    M0, Z0, _, _, I0, _ = inward(*state.given, np.zeros(state.ports.size))
    M, Z, _, _, inertia, _ = inward(*state.given, state.ports)
    split = partition(state.J, np.zeros(len(state.J)), speed_scales(M))
    D = split.N.T @ M @ split.N
    if member.base != ROOT:
        ZN = Z @ split.N
        at_base = full_inertia(inertia, True) - (ZN @ np.linalg.solve(D, ZN.T) if D.size else 0.0)
        share = np.concatenate([pack(at_base), np.zeros(6)])
        states[member.base].ports[27 * member.port : 27 * member.port + 27] += share
    follow = sweeps.model.evaluator(member.kind, "port_map")(state.given[0], state.given[1], member.record)[0]
    own = (member.base, member.port, slice(0), member.v, split, M0, Z0, full_inertia(I0, True), D, Z)
    return _Block(*own, follow[:, :6], follow[:, 6:])
