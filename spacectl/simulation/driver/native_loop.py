"""Binds loop.c: builds it through the compiler cache, gives it pointers into `LoopData`, and advances a run.

`NativeLoop` and its reference implementation `PythonLoop` have the same methods, so that callers need not know which one
they have.
"""

from __future__ import annotations

import ctypes
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from spacectl.codegen.bound_function import BoundFunction, address_of
from spacectl.codegen.library import load_tuned
from spacectl.core.errors import SolverError
from spacectl.simulation.driver.loop_data import LoopData

__all__ = ["CALLBACK_ERROR", "DIVERGED", "DONE", "FAILED", "GUARD", "LIMIT", "SLICE", "NativeLoop", "load_driver"]

DONE, SLICE, GUARD, FAILED, CALLBACK_ERROR, LIMIT = range(6)  #: what `advance` returns, as in loop.h
DIVERGED = 6  #: a run of a batch that a guard ended as a failure, as in many.h

_SOURCES = (
    "loop.c",
    "loop.h",
    "many.h",
    "slopes.h",
    "table.h",
    "right_side.h",
    "rk.h",
    "leap.h",
    "adams.h",
    "lu.h",
    "implicit.h",
    "guards.h",
    "kinks.h",
    "kink_values.h",
)
_FIELD = re.compile(r"^    (sc_function|sc_int|double|int|void|const double) (\*{0,2})(\w+);", re.MULTILINE)


def _fields(struct: str) -> list[tuple[str, Any]]:
    """(name, type) of the fields of a C struct that has one field a line."""
    types = {"sc_int": ctypes.c_longlong, "double": ctypes.c_double, "int": ctypes.c_int, "sc_function": _Function}
    return [(name, ctypes.c_void_p if star else types[kind]) for kind, star, name in _FIELD.findall(struct)]


def _struct_text(name: str) -> str:
    """The body of ``typedef struct {...} name`` in loop.h."""
    text = (Path(__file__).parent / "loop.h").read_text(encoding="utf-8")
    return text[: text.index(f"}} {name};")].rsplit("typedef struct {", 1)[1]


class _Function(ctypes.Structure):
    pass


class _Loop(ctypes.Structure):
    pass


_Function._fields_ = _fields(_struct_text("sc_function"))
_LOOP_FIELDS = _fields(_struct_text("sc_loop"))
_Loop._fields_ = _LOOP_FIELDS


@cache
def load_driver() -> ctypes.CDLL:
    """The compiled driver.

    Raises
    ------
    SolverError
        If it cannot be built; the caller then uses the reference implementation.
    """
    folder = Path(__file__).parent
    texts = {name: (folder / name).read_text(encoding="utf-8") for name in _SOURCES}
    library = load_tuned(texts, name="loop", flags=("-O3",))
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
    """A run of the C driver.

    Parameters
    ----------
    data : LoopData
        The run; arrays are shared, counters are copied back after each call.
    """

    kind = "native"

    def __init__(self, data: LoopData):
        self.data = data
        self._library = load_driver()
        self._struct = _Loop()
        self._scalars: list[str] = []
        for name, kind in _LOOP_FIELDS:
            value = getattr(data, name)
            if kind is _Function:
                setattr(self._struct, name, _function(value))
            elif kind is ctypes.c_void_p:
                setattr(self._struct, name, address_of(value))
            else:
                setattr(self._struct, name, value)
                self._scalars.append(name)

    def advance(self, steps: int = 1 << 60, seconds: float = np.inf) -> int:
        """Advance until there is something to report; return one of the statuses above."""
        status = self._library.sc_advance(ctypes.byref(self._struct), steps, seconds)
        self._read()
        return status

    @property
    def address(self) -> int:
        """Address of the driver's struct."""
        return ctypes.addressof(self._struct)

    def copy_struct(self) -> ctypes.Structure:
        """A copy of the driver's struct as it is now; pointers are shared."""
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
        """Go on from another time and state."""
        state = np.array(s, dtype=float)
        self._library.sc_restart(ctypes.byref(self._struct), t, state.ctypes.data)
        self._read()

    def _read(self) -> None:
        for name in self._scalars:
            setattr(self.data, name, getattr(self._struct, name))


def _function(bound: BoundFunction) -> _Function:
    """The C form; its pointers stay valid as long as `bound` lives."""
    address = ctypes.addressof
    iw, w = address_of(bound.iw), address_of(bound.w)
    arg, res = address(bound.arg), address(bound.res)
    return _Function(bound.kind, bound.fn, bound.raw, arg, res, iw, w, bound.mem, bound.block.size)
