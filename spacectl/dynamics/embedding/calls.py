"""`EmbeddedCalls`: the numeric calls of embedded equations, through native code for large systems and numpy for small ones.

Small systems would spend more time on compiling than on what is asked of them; `eom.compiled()` and `simulate` run natively
in any case.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from spacectl.codegen.native_function import NativeFunction
from spacectl.core.errors import ShapeError, SolverError
from spacectl.core.parameters import Parameters
from spacectl.dynamics.constraints.row_scales import Around
from spacectl.dynamics.embedding.embedded_model import EmbeddedModel
from spacectl.dynamics.embedding.kernel import EmbeddedKernel
from spacectl.dynamics.embedding.reference import EmbeddedTwin
from spacectl.dynamics.recursion.large import LargeTree
from spacectl.dynamics.recursion.tree_data import serves_tree
from spacectl.dynamics.waist.compiled import UNROLL_LIMIT
from spacectl.dynamics.waist.handover import Handover
from spacectl.dynamics.waist.options import Baumgarte
from spacectl.model.constraints import AnyConstraint
from spacectl.model.system import System

__all__ = ["EmbeddedCalls"]

_log = logging.getLogger(__name__)
_KEPT = 4  # parameter vectors whose models are kept


class EmbeddedCalls:
    """Calls by function name, for any numbers p.

    Parameters
    ----------
    system : System
        The description.
    parameters : Parameters
        Its run-time numbers.
    active : tuple of AnyConstraint
        The constraints that act.
    stabilization : Baumgarte, optional
        Lets constraint errors decay.
    """

    def __init__(
        self,
        system: System,
        parameters: Parameters,
        active: tuple[AnyConstraint, ...],
        stabilization: Baumgarte | None,
    ):
        self.system, self.parameters, self.active, self.stabilization = system, parameters, active, stabilization
        self._twins: OrderedDict[bytes, EmbeddedTwin] = OrderedDict()
        self._kernels: OrderedDict[bytes, EmbeddedKernel | None] = OrderedDict()

    def twin(self, p: np.ndarray) -> EmbeddedTwin:
        """The sweeps in numpy for the numbers p."""
        key = p.tobytes()
        if key not in self._twins:
            model = EmbeddedModel(self.system, self.parameters, np.array(p), self.active, self.stabilization)
            self._twins[key] = EmbeddedTwin(model)
            while len(self._twins) > _KEPT:
                self._twins.popitem(last=False)
        self._twins.move_to_end(key)
        return self._twins[key]

    def kernel(self, p: np.ndarray) -> EmbeddedKernel | None:
        """The sweeps in native code for the numbers p; None without a compiler."""
        key = p.tobytes()
        if key not in self._kernels:
            try:
                self._kernels[key] = EmbeddedKernel(self.twin(p).model)
            except SolverError as error:
                _log.warning("aggregates in numpy, which is slower: %s", str(error).splitlines()[0])
                self._kernels[key] = None
            while len(self._kernels) > _KEPT:
                self._kernels.popitem(last=False)
        self._kernels.move_to_end(key)
        return self._kernels[key]

    @cached_property
    def _own(self) -> EmbeddedTwin:
        return self.twin(np.array(self.parameters.values))

    @property
    def is_large(self) -> bool:
        """Whether calls go through native code."""
        return self._own.n_v > UNROLL_LIMIT

    @property
    def position_rows(self) -> np.ndarray:
        """Which of all rows hold positions."""
        found = np.zeros(self._own.n_rows, dtype=bool)
        for member in self._own.members:
            found[member.rows] = member.kind.holds
        return found

    def stats(self) -> dict[str, Any]:
        """Sizes: aggregates, the largest of them, and kinds of code."""
        members = self._own.members
        loops = [member for member in members if member.rows.size]
        return {
            "n_aggregates": len(members),
            "n_loops": len(loops),
            "largest_aggregate": max((member.v.size for member in members), default=0),
            "n_kinds": len({id(member.kind) for member in members}),
        }

    def x_dot(self, t: Any, x: Any, u: Any, p: np.ndarray) -> list[np.ndarray]:
        """Rate of the state."""
        x, u = self._sized(x, self._own.n_q + self._own.n_v, "x"), self._sized(u, self._own.n_u, "u")
        kernel = self.kernel(p) if self.is_large else None
        if kernel is not None:
            rate, failed = kernel.x_dot(t, x, u)
            if failed < 0:
                return [rate[:, None]]
        try:
            return [self.twin(p).x_dot(t, x, u)[:, None]]  # if native code found none, this says why
        except SolverError as error:
            raise self._named(error) from error

    def v_dot(self, t: Any, q: Any, v: Any, u: Any, p: np.ndarray) -> list[np.ndarray]:
        """Rates of the speeds."""
        self._sized(q, self._own.n_q, "q")
        x = np.concatenate([np.ravel(q), np.ravel(v)])
        return [self.x_dot(t, x, u, p)[0][np.size(q) :]]

    def multipliers(self, t: Any, q: Any, v: Any, u: Any, p: np.ndarray) -> list[np.ndarray]:
        """Multipliers of the constraint rows."""
        sizes = (self._own.n_q, self._own.n_v, self._own.n_u)
        given = [self._sized(item, size, name) for item, size, name in zip((q, v, u), sizes, "qvu", strict=True)]
        try:
            return [self.twin(p).multipliers(t, *given)[:, None]]
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
        """Rows of all loops, put together from those of the aggregates: position, speed, J, J_position, gamma."""
        position, speed, J, held, _, gamma, _ = self._rows(t, q, v, p)
        return [position, speed, J, held, gamma]

    def projection(self, t: Any, q: Any, v: Any, p: np.ndarray) -> list[np.ndarray]:
        """The same for projecting: position, speed, J, J_position, W."""
        return self._rows(t, q, v, p)[:5]

    def residual(self, t: Any, q: Any, v: Any, p: np.ndarray) -> list[np.ndarray]:
        """What is open: rows that hold positions, then all rows at speed level."""
        return [np.concatenate(self._rows(t, q, v, p)[:2])]

    def sides(self, t: Any, q: Any, p: np.ndarray) -> list[np.ndarray]:
        """One number for each constraint between frames: negative if closed the wrong way round."""
        return [self._rows(t, q, np.zeros(self._own.n_v), p)[6]]

    def _rows(self, t: Any, q: Any, v: Any, p: np.ndarray) -> list[np.ndarray]:
        twin = self.twin(p)
        q, v, time = np.ravel(q), np.ravel(v), float(np.ravel(t)[0])
        m, n_v, n_q = twin.n_rows, twin.n_v, twin.n_q
        speed, J, gamma, W = np.zeros((m, 1)), np.zeros((m, n_v)), np.zeros((m, 1)), np.zeros((n_q, n_v))
        position, held = np.full((m, 1), np.nan), np.zeros((m, n_v))
        sides: dict[str, float] = {}
        for member in twin.members:
            g, rate, J_own, held_own, W_own, gamma_own, sides_own = twin.rows(member, time, q[member.q], v[member.v])
            at = member.rows[member.kind.holds]
            speed[member.rows], gamma[member.rows], position[at] = rate, gamma_own, g
            J[np.ix_(member.rows, member.v)], W[np.ix_(member.q, member.v)] = J_own, W_own
            held[np.ix_(at, member.v)] = held_own
            sides |= dict(zip(member.sided, sides_own.reshape(-1), strict=True))
        holds = ~np.isnan(position[:, 0])
        ordered = np.array([sides[item.name] for item in self.active if item.name in sides])
        return [position[holds], speed, J, held[holds], W, gamma, ordered[:, None]]

    def plant(self, p: np.ndarray) -> NativeFunction:
        """(t, x, u, p) -> x_dot as native code."""
        return EmbeddedKernel(self.twin(p).model).plant

    def project(self, p: np.ndarray, around: Around | None = None) -> NativeFunction:
        """(t, x, p) -> x on the constraints as native code; `around` as for `compile_projection`."""
        return EmbeddedKernel(self.twin(p).model, around).projection

    def handover(self, vary: tuple[str, ...]) -> Handover:
        """What the formulation hands down: the calls by function name, native code, the aggregates."""
        names = ["x_dot", "v_dot", "multipliers"]
        if self.is_large and self.active:
            names += ["constraints", "projection", "residual", "sides"]
        calls = {name: getattr(self, name) for name in names} | (self._tree_calls() if self.is_large else {})
        return Handover(vary=vary, calls=calls, plant=self.plant, projection=self.project, aggregates=self.twin)

    def _tree_calls(self) -> dict[str, Any]:
        """Mass matrix, bias and input map of a large rigid tree by its own sweep; others, and springs for h, need expressions."""
        names = {item.name for item in self.active}
        if any(effort.joint in names for actuator in self.system.actuators for effort in actuator.joint_efforts):
            return {}
        springs = self.system.point_elements
        kept = tuple(item for item in self.system.elements if item not in springs)
        tree = replace(self.system, constraints=(), elements=kept)
        if not serves_tree(tree):
            return {}
        parameters = tree.parameters()
        large, n_p = LargeTree(tree, parameters), len(parameters)  # springs and constraints have the last numbers
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
