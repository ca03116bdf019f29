"""`EmbeddedKernel`: order-N dynamics of aggregates as native code, with generated stages for each kind and loops over data.

The code depends on the kinds only: a chain of two hundred equal loops compiles the code of one loop.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache, partial
from typing import Any

import numpy as np

from spacectl.codegen.bound_function import NativeFunction
from spacectl.codegen.compiler import c_source
from spacectl.codegen.emit_c import emit_step
from spacectl.codegen.library import load_tuned
from spacectl.codegen.staged import emit_stages
from spacectl.dynamics.constraints.projection import SMALL, singularity_distance
from spacectl.dynamics.constraints.row_scales import Around, are_defined, find_row_scales, jacobians_around
from spacectl.dynamics.constraints.solvers import RANK
from spacectl.dynamics.embedding.embedded_model import EmbeddedModel, Member
from spacectl.dynamics.embedding.kind import INPUTS, AggregateKind
from spacectl.dynamics.recursion.tree_data import environment_arrays

__all__ = ["EmbeddedKernel", "EmbeddedStruct"]

_STAGES = [{"ports": 1, "A": 2, "v_dot": 2}.get(name, 0) for name in INPUTS]  # when each argument becomes known
_COUNTS = ("n_members", "n_q", "n_v", "n_u", "n_joint_inputs", "scratch", "root_at")
_ARRAYS = (
    *("kind", "base", "port", "least", "states", "states_at", "record_at", "room", "row_scales_at"),
    *("records", "root", "row_scales", "joint_input", "joint_gain", "environment"),
)
_HEAD = """#include <math.h>
#include <string.h>
typedef void (*sc_step)(const double *const *a, double *const *r);
typedef void (*sc_stage)(const double *const *a, double *const *r, double *w);
typedef struct {
    int n_q, n_v, n_u, n_X, n_ports, m, m_position, is_symmetric, is_natural;
    sc_stage stage[3];
    sc_step rows;
} sc_kind;
"""


class EmbeddedStruct(ctypes.Structure):
    """``sc_embedded`` of embedded.h."""

    _fields_ = [
        *((name, ctypes.c_longlong) for name in _COUNTS),
        *((name, ctypes.c_void_p) for name in _ARRAYS),
        ("tolerance", ctypes.c_double),
        ("small", ctypes.c_double),
    ]


class EmbeddedKernel:
    """Native sweeps over the aggregates of a system.

    Parameters
    ----------
    model : EmbeddedModel
        The system with parameter values.
    around : (t, x), optional
        Time and state for row scales of equations that are not defined around the reference position.

    Raises
    ------
    SolverError
        If there is no compiler or it fails.
    """

    def __init__(self, model: EmbeddedModel, around: Around | None = None):
        self.model, self._around = model, around
        kinds = tuple(dict.fromkeys(member.kind for member in model.members))
        root = "" if model.root_step is None else emit_step(model.root_step, "sc_move_root")
        self.library, caches = _library(kinds, root)
        tree = model.frames.tree
        self.n_q, self.n_v, self.n_u = len(tree.coordinates), len(tree.speeds), len(model.inputs)
        place = {kind: k for k, kind in enumerate(kinds)}
        rooms = [_room(member.kind, caches[place[member.kind]]) for member in model.members]
        ends = self.n_v + np.cumsum(rooms)
        self._arrays = self._fill(place, ends - rooms)
        root_at = int(ends[-1]) + max(_scratch(kind) for kind in kinds)
        self.n_work = root_at + 24
        counts = (len(model.members), self.n_q, self.n_v, self.n_u, len(model.joint_inputs[0]), int(ends[-1]), root_at)
        pointers = (self._arrays[name].ctypes.data for name in _ARRAYS)
        self.struct = EmbeddedStruct(*counts, *pointers, RANK, SMALL)

    def _fill(self, place: dict[AggregateKind, int], rooms: np.ndarray) -> dict[str, np.ndarray]:
        members = self.model.members
        states = [np.concatenate([member.q, member.v, member.u]) for member in members]
        row_scales = [_member_row_scales(self.model, member, self._around) for member in members]
        arrays = {
            "kind": np.array([place[member.kind] for member in members], dtype=np.intc),
            "base": np.array([member.base for member in members], dtype=np.intc),
            "port": np.array([member.port for member in members], dtype=np.intc),
            "least": np.array(self.model.ranks, dtype=np.intc),
            "states": np.concatenate(states).astype(np.intc),
            "states_at": _starts(states),
            "records": np.concatenate([member.record for member in members]),
            "record_at": _starts([member.record for member in members]),
            "room": rooms.astype(np.int64),
            "row_scales": np.concatenate(row_scales),
            "row_scales_at": _starts(row_scales),
            "root": self.model.root(0.0),
            "environment": environment_arrays(self.model.system, self.model.frames.numbers)["environment"],
            "joint_input": self.model.joint_inputs[0],
            "joint_gain": self.model.joint_inputs[1],
        }
        return {name: np.ascontiguousarray(array) for name, array in arrays.items()}

    @property
    def plant(self) -> NativeFunction:
        """(t, x, u, p) -> x_dot for the driver."""
        n_x, n_p = self.n_q + self.n_v, self.model.p.size
        return self._function("sc_embedded_plant", [1, n_x, self.n_u, n_p], [n_x])

    @property
    def projection(self) -> NativeFunction:
        """(t, x, p) -> (x, distance): the nearest state that closes all loops, and its distance to singularity."""
        n_x = self.n_q + self.n_v
        return self._function("sc_embedded_project", [1, n_x, self.model.p.size], [n_x, 1])

    def _function(self, name: str, sizes_in: list[int], sizes_out: list[int]) -> NativeFunction:
        entry = ctypes.cast(getattr(self.library, name), ctypes.c_void_p).value or 0
        iw = np.frombuffer(memoryview(self.struct).cast("B"), dtype=np.int64)
        return NativeFunction(entry, sizes_in, sizes_out, iw, np.zeros(self.n_work), keep=[self])

    def x_dot(self, t: float, x: Any, u: Any) -> tuple[np.ndarray, int]:
        """Return the state derivative, and the member without accelerations (-1 if there is none)."""
        arrays = [np.ascontiguousarray(item, dtype=float).reshape(-1) for item in (t, x, u)]
        out, work = np.empty(self.n_q + self.n_v), np.empty(self.n_work)
        pointers = [array.ctypes.data for array in (work, *arrays, out)]
        return out, self.library.sc_embedded_x_dot(ctypes.addressof(self.struct), *pointers) - 1


def _member_row_scales(model: EmbeddedModel, member: Member, around: Around | None) -> np.ndarray:
    """Return the row scales of a member (see `constraints.row_scales`), shape (m + 1,)."""
    if not member.kind.m:
        return np.ones(1)
    rows, tree = partial(model.jacobian, member), model.frames.tree
    place = 0.0, tree.rest()[member.q], np.zeros(member.v.size)
    if around is not None and not are_defined(rows, place):
        q, v = np.split(np.asarray(around[1], dtype=float), [len(tree.coordinates)])
        place = float(around[0]), q[member.q], v[member.v]
    return find_row_scales(jacobians_around(rows, place), singularity_distance)


def _starts(arrays: list[np.ndarray]) -> np.ndarray:
    sizes = np.array([array.size for array in arrays], dtype=np.int64)
    return (np.cumsum(sizes) - sizes).astype(np.int64)


def _room(kind: AggregateKind, n_cache: int) -> int:
    """Return the length of a member's part of the work array (see sc_member_of)."""
    n, m, P = kind.n, kind.m, kind.n_ports
    states = 2 * kind.size("q") + kind.size("v") + kind.size("u")
    ports = 6 * P + (12 * P if kind.size("X") else 0) + P * (27 if kind.is_symmetric else 42) + 6 * P
    own = m * n + m + (0 if kind.is_natural else m * n) + n * n + 12 * n + n + (21 if kind.is_symmetric else 36) + 6
    return states + ports + own + 8 * n + 6 + n_cache


def _scratch(kind: AggregateKind) -> int:
    """Return the work space for solving and projecting."""
    n, m, n_q = kind.n, kind.m, kind.size("q")
    solve = 2 * m * (n + 1) + 3 * n * n + 18 * n
    sides = kind.rows.numel_out("sides")
    return max(solve, 3 * m + 2 * m * n + n_q * n + n + max(n * m + n + 2 * m, sides)) + 8


@lru_cache(maxsize=32)
def _library(kinds: tuple[AggregateKind, ...], root: str) -> tuple[ctypes.CDLL, tuple[int, ...]]:
    """Compile the kinds with the loops over them; return also the length of each kind's cache. `root` is C for a moving root."""
    texts, table, caches = [_HEAD], [], []
    for k, kind in enumerate(kinds):
        text, n_cache = emit_stages(kind.whole, f"sc_kind{k}", _STAGES)
        texts.append(text)
        caches.append(n_cache)
        rows, n_positions = "0", 0
        if kind.m:
            rows, n_positions = f"sc_rows{k}", kind.rows.numel_out("position")
            texts.append(emit_step(kind.rows, rows))
        sizes = (*(kind.size(name) for name in ("q", "v", "u", "X")), kind.n_ports, kind.m, n_positions)
        flags = (int(kind.is_symmetric), int(kind.is_natural))
        stages = ", ".join(f"sc_kind{k}_{stage}" for stage in range(3))
        table.append(f"{{{', '.join(map(str, (*sizes, *flags)))}, {{{stages}}}, {rows}}}")
    texts.append(f"static const sc_kind sc_kinds[] = {{{', '.join(table)}}};\n")
    texts += [f"{root}#define SC_MOVING_ROOT\n"] if root else []
    texts += [
        c_source("spacectl.dynamics.recursion", "factor.h"),
        c_source("spacectl.dynamics.constraints", "constrained.h"),
        c_source(__package__, "embedded_solve.h", "embedded.h"),
    ]
    library = load_tuned({"embedded.c": "\n".join(texts)}, name="embedded", flags=("-ffp-contract=fast",))
    library.sc_embedded_x_dot.argtypes = [ctypes.c_void_p] * 6
    library.sc_embedded_x_dot.restype = ctypes.c_int
    return library, tuple(caches)
