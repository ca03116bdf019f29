"""`EmbeddedCalls`: numeric calls of embedded equations, through native code for large systems and numpy for small ones.

For small systems, compiling would take longer than the calls; `eom.compiled()` and `simulate` use native code in any case.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from spacectl.codegen.bound_function import NativeFunction
from spacectl.core.errors import ShapeError, SolverError
from spacectl.core.parameters import Parameters
from spacectl.dynamics.constraints.row_scales import Around
from spacectl.dynamics.embedding.embedded_model import EmbeddedModel
from spacectl.dynamics.embedding.kernel import EmbeddedKernel
from spacectl.dynamics.embedding.reference import AggregateSweeps
from spacectl.dynamics.recursion.large import LargeTree
from spacectl.dynamics.recursion.tree_data import serves_tree
from spacectl.dynamics.waist.compiled import UNROLL_LIMIT
from spacectl.dynamics.waist.handover import Baumgarte, Handover
from spacectl.model.constraints import AnyConstraint
from spacectl.model.system import System

__all__ = ["EmbeddedCalls"]

_log = logging.getLogger(__name__)
_CACHED = 4  # parameter vectors whose models are cached


def _cached(store: OrderedDict[bytes, Any], p: np.ndarray, make: Callable[[np.ndarray], Any]) -> Any:
    """Return the object for parameters p, from a store of the last few."""
    key = p.tobytes()
    if key not in store:
        store[key] = make(p)
        while len(store) > _CACHED:
            store.popitem(last=False)
    store.move_to_end(key)
    return store[key]


class EmbeddedCalls:
    """Calls by function name, for any parameters p.

    Parameters
    ----------
    system : System
        The description.
    parameters : Parameters
        Its run-time parameters.
    active : tuple of AnyConstraint
        The active constraints.
    stabilization : Baumgarte, optional
        Makes constraint errors decay.
    """

    def __init__(
        self,
        system: System,
        parameters: Parameters,
        active: tuple[AnyConstraint, ...],
        stabilization: Baumgarte | None,
    ):
        self.system, self.parameters, self.active, self.stabilization = system, parameters, active, stabilization
        self._sweeps: OrderedDict[bytes, AggregateSweeps] = OrderedDict()
        self._kernels: OrderedDict[bytes, EmbeddedKernel | None] = OrderedDict()

    def sweeps(self, p: np.ndarray) -> AggregateSweeps:
        """Return the sweeps in numpy for the parameters p."""
        return _cached(self._sweeps, p, self._make_sweeps)

    def kernel(self, p: np.ndarray) -> EmbeddedKernel | None:
        """Return the sweeps in native code for the parameters p; None without a compiler."""
        return _cached(self._kernels, p, self._make_kernel)

    def _make_sweeps(self, p: np.ndarray) -> AggregateSweeps:
        return AggregateSweeps(
            EmbeddedModel(self.system, self.parameters, np.array(p), self.active, self.stabilization)
        )

    def _make_kernel(self, p: np.ndarray) -> EmbeddedKernel | None:
        try:
            return EmbeddedKernel(self.sweeps(p).model)
        except SolverError as error:
            _log.warning("aggregates in numpy, which is slower: %s", str(error).splitlines()[0])
            return None

    @cached_property
    def _own(self) -> AggregateSweeps:
        return self.sweeps(np.array(self.parameters.values))

    @property
    def is_large(self) -> bool:
        """Whether calls go through native code."""
        return self._own.n_v > UNROLL_LIMIT

    @property
    def position_rows(self) -> np.ndarray:
        """Whether each constraint equation is at position level."""
        found = np.zeros(self._own.n_rows, dtype=bool)
        for member in self._own.members:
            found[member.rows] = member.kind.is_position
        return found

    def stats(self) -> dict[str, Any]:
        """Return the numbers of aggregates, loops and kinds, and the size of the largest aggregate."""
        members = self._own.members
        loops = [member for member in members if member.rows.size]
        return {
            "n_aggregates": len(members),
            "n_loops": len(loops),
            "largest_aggregate": max((member.v.size for member in members), default=0),
            "n_kinds": len({id(member.kind) for member in members}),
        }

    def x_dot(self, t: Any, x: Any, u: Any, p: np.ndarray) -> list[np.ndarray]:
        """Return the state derivative."""
        x, u = self._sized(x, self._own.n_q + self._own.n_v, "x"), self._sized(u, self._own.n_u, "u")
        kernel = self.kernel(p) if self.is_large else None
        if kernel is not None:
            rate, failed = kernel.x_dot(t, x, u)
            if failed < 0:
                return [rate[:, None]]
        try:
            return [
                self.sweeps(p).x_dot(t, x, u)[:, None]
            ]  # where native code failed, this raises the error with the cause
        except SolverError as error:
            raise self._named(error) from error

    def v_dot(self, t: Any, q: Any, v: Any, u: Any, p: np.ndarray) -> list[np.ndarray]:
        """Return the accelerations."""
        self._sized(q, self._own.n_q, "q")
        x = np.concatenate([np.ravel(q), np.ravel(v)])
        return [self.x_dot(t, x, u, p)[0][np.size(q) :]]

    def multipliers(self, t: Any, q: Any, v: Any, u: Any, p: np.ndarray) -> list[np.ndarray]:
        """Return the multipliers."""
        sizes = (self._own.n_q, self._own.n_v, self._own.n_u)
        given = [self._sized(item, size, name) for item, size, name in zip((q, v, u), sizes, "qvu", strict=True)]
        try:
            return [self.sweeps(p).multipliers(t, *given)[:, None]]
        except SolverError as error:
            raise self._named(error) from error

    def _sized(self, given: Any, size: int, name: str) -> np.ndarray:
        flat = np.asarray(given, dtype=float).reshape(-1)
        if flat.size != size:
            raise ShapeError(f"system '{self.system.name}': '{name}' has {flat.size} entries, expected {size}")
        return flat

    def _named(self, error: SolverError) -> SolverError:
        return SolverError(f"system '{self.system.name}' by embedded: no accelerations; {error}")

    def constraints(self, t: Any, q: Any, v: Any, p: np.ndarray) -> list[np.ndarray]:
        """Return the equations of all loops, assembled from the aggregates: position, speed, J, J_position, gamma."""
        position, speed, J, J_position, _, gamma, _ = self._rows(t, q, v, p)
        return [position, speed, J, J_position, gamma]

    def projection(self, t: Any, q: Any, v: Any, p: np.ndarray) -> list[np.ndarray]:
        """Return position, speed, J, J_position, W, for projecting."""
        return self._rows(t, q, v, p)[:5]

    def residual(self, t: Any, q: Any, v: Any, p: np.ndarray) -> list[np.ndarray]:
        """Return the residuals: position-level equations, then all equations at speed level."""
        return [np.concatenate(self._rows(t, q, v, p)[:2])]

    def sides(self, t: Any, q: Any, p: np.ndarray) -> list[np.ndarray]:
        """Return one number for each constraint between frames: negative if closed with a frame turned by 180 degrees."""
        return [self._rows(t, q, np.zeros(self._own.n_v), p)[6]]

    def _rows(self, t: Any, q: Any, v: Any, p: np.ndarray) -> list[np.ndarray]:
        sweeps = self.sweeps(p)
        q, v, time = np.ravel(q), np.ravel(v), float(np.ravel(t)[0])
        m, n_v, n_q = sweeps.n_rows, sweeps.n_v, sweeps.n_q
        speed, J, gamma, W = np.zeros((m, 1)), np.zeros((m, n_v)), np.zeros((m, 1)), np.zeros((n_q, n_v))
        position, J_position = np.full((m, 1), np.nan), np.zeros((m, n_v))
        sides: dict[str, float] = {}
        for member in sweeps.members:
            g, rate, J_own, J_position_own, W_own, gamma_own, sides_own = sweeps.model.rows(
                member, time, q[member.q], v[member.v]
            )
            at = member.rows[member.kind.is_position]
            speed[member.rows], gamma[member.rows], position[at] = rate, gamma_own, g
            J[np.ix_(member.rows, member.v)], W[np.ix_(member.q, member.v)] = J_own, W_own
            J_position[np.ix_(at, member.v)] = J_position_own
            sides |= dict(zip(member.sided, sides_own.reshape(-1), strict=True))
        is_position = ~np.isnan(position[:, 0])
        ordered = np.array([sides[item.name] for item in self.active if item.name in sides])
        return [position[is_position], speed, J, J_position[is_position], W, gamma, ordered[:, None]]

    def plant(self, p: np.ndarray) -> NativeFunction:
        """Compile (t, x, u, p) -> x_dot."""
        return EmbeddedKernel(self.sweeps(p).model).plant

    def project(self, p: np.ndarray, around: Around | None = None) -> NativeFunction:
        """Compile (t, x, p) -> x on the constraints; `around` as for `compile_projection`."""
        return EmbeddedKernel(self.sweeps(p).model, around).projection

    def handover(self, vary: tuple[str, ...]) -> Handover:
        """Return the functions of the formulation: the calls by name, native code, the aggregates."""
        names = ["x_dot", "v_dot", "multipliers"]
        if self.is_large and self.active:
            names += ["constraints", "projection", "residual", "sides"]
        calls = {name: getattr(self, name) for name in names} | (self._tree_calls() if self.is_large else {})
        return Handover(vary=vary, calls=calls, plant=self.plant, projection=self.project, aggregates=self.sweeps)

    def _tree_calls(self) -> dict[str, Any]:
        """Return mass matrix, bias and input map of a large rigid tree by its own sweep; other systems need expressions."""
        names = {item.name for item in self.active}
        if any(effort.joint in names for actuator in self.system.actuators for effort in actuator.joint_efforts):
            return {}
        springs = self.system.point_elements
        others = tuple(item for item in self.system.elements if item not in springs)
        tree = replace(self.system, constraints=(), elements=others)
        if not serves_tree(tree):
            return {}
        parameters = tree.parameters()
        large, n_p = LargeTree(tree, parameters), len(parameters)  # those of springs and constraints are last
        inputs = [a.input_name for a in tree.actuators]
        free = [inputs.index(name) for name in self._own.model.inputs]
        found: dict[str, Any] = {
            "mass_matrix": lambda t, q, p: large.mass_matrix(t, q, p[:n_p]),
            "input_map": lambda t, q, p: [large.input_map(t, q, p[:n_p])[0][:, free]],
        }
        if not springs:
            found["bias"] = lambda t, q, v, p: large.bias(t, q, v, p[:n_p])
            found["inverse_dynamics"] = lambda t, q, v, v_dot, p: large.inverse_dynamics(t, q, v, v_dot, p[:n_p])
        return found
