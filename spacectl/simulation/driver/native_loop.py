"""Compile loop.c through the compiler cache, bind the functions that it calls, and advance a run.

The equations of motion and their projection are bound in the tier that a run requests. `NativeLoop` and its reference
implementation `PythonLoop` have the same methods.
"""

from __future__ import annotations

import ctypes
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from spacectl.codegen.binding import Tier, bind_casadi, bind_native, bind_python
from spacectl.codegen.bound_function import BoundFunction, address_of
from spacectl.codegen.compiler import find_compiler
from spacectl.codegen.extension import addresses_of
from spacectl.codegen.kernels import load_kernel
from spacectl.core.errors import SolverError
from spacectl.dynamics.constraints.projection import compile_projection, project_with_distance
from spacectl.dynamics.constraints.row_scales import Around
from spacectl.dynamics.waist.compiled import Kind, is_native, native_plant
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.simulation.driver.loop_data import LoopData

__all__ = [
    "CALLBACK_ERROR",
    "DIVERGED",
    "DONE",
    "FAILED",
    "GUARD",
    "LIMIT",
    "SLICE",
    "NativeLoop",
    "bind_plant",
    "bind_projection",
    "choose_tier",
    "load_driver",
]

DONE, SLICE, GUARD, FAILED, CALLBACK_ERROR, LIMIT = range(6)  #: status codes of `advance`, as in loop.h
DIVERGED = 6  #: status of a run of a batch that a guard ended as a failure, as in many.h

_FIELD = re.compile(r"^    (sc_function|sc_int|double|int|void|const double) (\*{0,2})(\w+);", re.MULTILINE)


def _fields(struct: str) -> list[tuple[str, Any]]:
    """Return name and type of each field of a C struct that has one field per line."""
    types = {"sc_int": ctypes.c_longlong, "double": ctypes.c_double, "int": ctypes.c_int, "sc_function": _Function}
    return [(name, ctypes.c_void_p if star else types[kind]) for kind, star, name in _FIELD.findall(struct)]


def _struct_text(name: str) -> str:
    """Return the body of ``typedef struct {...} name`` in loop.h."""
    text = (Path(__file__).parent / "loop.h").read_text(encoding="utf-8")
    return text[: text.index(f"}} {name};")].rsplit("typedef struct {", 1)[1]


class _Function(ctypes.Structure):
    pass


class _Loop(ctypes.Structure):
    pass


_Function._fields_ = _fields(_struct_text("sc_function"))
_LOOP_FIELDS = _fields(_struct_text("sc_loop"))
_Loop._fields_ = _LOOP_FIELDS


def _scalar_places() -> list[tuple[Any, tuple[str, ...], np.ndarray]]:
    """Return the scalar fields of `_Loop` by kind: names, and places in an array of that kind over the whole struct."""
    found: list[tuple[Any, tuple[str, ...], np.ndarray]] = []
    for kind, dtype in ((ctypes.c_longlong, np.int64), (ctypes.c_double, np.float64), (ctypes.c_int, np.int32)):
        names = tuple(name for name, own in _LOOP_FIELDS if own is kind)
        places = [getattr(_Loop, name).offset // np.dtype(dtype).itemsize for name in names]
        found.append((dtype, names, np.array(places, dtype=np.int64)))
    return found


_SCALARS = _scalar_places()
_POINTERS = [name for name, kind in _LOOP_FIELDS if kind is ctypes.c_void_p]
_FUNCTIONS = [name for name, kind in _LOOP_FIELDS if kind is _Function]


@cache
def load_driver() -> ctypes.CDLL:
    """Compile and load the driver.

    Raises
    ------
    SolverError
        If it cannot be built; the caller then uses the reference implementation.
    """
    library: ctypes.CDLL = load_kernel("loop")
    library.sc_size.restype = ctypes.c_longlong
    if library.sc_size() != ctypes.sizeof(_Loop):
        raise SolverError("the compiled driver and Python disagree about the layout of loop.h on this machine")
    library.sc_advance.argtypes = [ctypes.POINTER(_Loop), ctypes.c_longlong, ctypes.c_double]
    library.sc_record.argtypes = [ctypes.POINTER(_Loop), ctypes.c_longlong, ctypes.c_double, ctypes.c_void_p]
    library.sc_restart.argtypes = [ctypes.POINTER(_Loop), ctypes.c_double, ctypes.c_void_p]
    library.sc_restart.restype = None
    library.sc_run_many.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_longlong] * 2
    library.sc_run_many.restype = ctypes.c_longlong
    return library


class NativeLoop:
    """Advance a run by the C driver.

    Parameters
    ----------
    data : LoopData
        The run. Arrays are shared with C; scalars are copied back after each call.
    """

    kind = "native"

    def __init__(self, data: LoopData):
        self.data = data
        self._library = load_driver()
        values = data.__dict__
        pointers = zip(_POINTERS, addresses_of([values[name] for name in _POINTERS]), strict=True)
        functions = ((name, _function(values[name])) for name in _FUNCTIONS)
        given = {**values, **dict(pointers), **dict(functions)}
        self._struct = _Loop(*[given[name] for name, _ in _LOOP_FIELDS])
        whole = memoryview(self._struct).cast("B")
        self._scalars: list[tuple[tuple[str, ...], np.ndarray, np.ndarray]] = [
            (names, np.frombuffer(whole, dtype=kind), places) for kind, names, places in _SCALARS
        ]

    def advance(self, steps: int = 1 << 60, seconds: float = np.inf) -> int:
        """Advance until there is something to report; return one of the status codes above."""
        status = self._library.sc_advance(ctypes.byref(self._struct), steps, seconds)
        self._read()
        return status

    @property
    def address(self) -> int:
        """Address of the struct sc_loop."""
        return ctypes.addressof(self._struct)

    def copy_struct(self) -> ctypes.Structure:
        """Return a copy of the struct sc_loop in its current state; pointers are shared."""
        copy = _Loop()
        ctypes.memmove(ctypes.addressof(copy), self.address, ctypes.sizeof(copy))
        return copy

    def record(self, row: int, t: float, s: np.ndarray) -> int:
        """Write one row of the records from (t, s)."""
        state = np.array(s, dtype=float)
        status = self._library.sc_record(ctypes.byref(self._struct), row, t, state.ctypes.data)
        self._read()
        return status

    def restart(self, t: float, s: np.ndarray) -> None:
        """Restart from another time and state."""
        state = np.array(s, dtype=float)
        self._library.sc_restart(ctypes.byref(self._struct), t, state.ctypes.data)
        self._read()

    def _read(self) -> None:
        for names, values, places in self._scalars:
            self.data.__dict__.update(zip(names, values[places].tolist(), strict=True))


def _function(bound: BoundFunction) -> _Function:
    """Return the C struct of a bound function; its pointers are valid as long as `bound` exists."""
    address = ctypes.addressof
    iw, w = address_of(bound.iw), address_of(bound.w)
    arg, res = address(bound.arg), address(bound.res)
    return _Function(bound.kind, bound.fn, bound.raw, arg, res, iw, w, bound.mem, bound.block.size)


def choose_tier(eom: EquationsOfMotion, tier: Tier, driver: str) -> Tier:
    """Resolve ``"auto"``: native if there is a compiler and the compiled driver is used, else CasADi's virtual machine."""
    if tier != "auto":
        return tier
    return "native" if driver != "python" and find_compiler() is not None else "vm"


def bind_plant(eom: EquationsOfMotion, tier: Tier, p: np.ndarray) -> BoundFunction:
    """Bind the right-hand side (t, x, u, p) -> x_dot of the equations, for the parameters p."""
    if (tier in ("native", "data-driven") and is_native(eom)) or (tier == "vm" and eom.handover.solves_in_calls):
        try:
            kind: Kind = "data-driven" if tier == "data-driven" else "auto"
            made, native = native_plant(eom, p, kind)
            bound = bind_native(native)
            bound.described = made
        except SolverError:
            if tier != "vm":
                raise
            bound = _bind_calls(eom, p)
    elif eom.handover.solves_in_calls:
        bound = _bind_calls(eom, p)
    else:
        bound = bind_casadi(eom.functions["x_dot"], tier, p=p)
        bound.described = tier
    bound.arguments[3][:] = p
    return bound


def bind_projection(
    eom: EquationsOfMotion, tier: Tier, p: np.ndarray, *, careful: bool, around: Around | None = None
) -> BoundFunction | None:
    """Bind (t, x, p) -> (x, distance), the projection onto the constraints and the distance to singularity.

    Return None without constraints. `careful` is for constraints whose rank changes off the constraint manifold
    (`rank_jumps`); `around` is the initial time and state.
    """
    if not eom.constraint_rows:
        return None
    if tier in ("native", "data-driven") and eom.handover.projection is not None and not careful:
        bound = bind_native(eom.handover.projection(p, around))
    elif tier in ("native", "data-driven"):
        bound = bind_native(compile_projection(eom, p, careful=careful, around=around))
    else:
        n_x = eom.n_x

        def rule(arguments: list[Any], results: list[Any]) -> None:
            t, x = float(arguments[0][0]), arguments[1]
            results[0][:], results[1][0] = project_with_distance(eom, t, x, p, careful=careful, around=around)

        bound = bind_python(rule, [1, n_x, p.size], [n_x, 1])
    bound.arguments[2][:] = p
    return bound


def _bind_calls(eom: EquationsOfMotion, p: np.ndarray) -> BoundFunction:
    """Bind the numeric evaluation of large equations, through Python."""

    def rule(arguments: list[Any], results: list[Any]) -> None:
        results[0][:] = eom.call("x_dot", *arguments[:3], p=p)[0].reshape(-1)

    bound = bind_python(rule, (1, eom.n_x, eom.n_u, p.size), (eom.n_x,))
    bound.described = "callback"
    return bound
