"""Functions as native code calls them: addresses, fixed buffers, tables of pointers.

`NativeFunction` is a compiled function with CasADi's calling convention and its work arrays;
`compile_expression` makes one from an expression. `BoundFunction` adds buffers. Python calls it through
`NativeCall`, the simulation driver through the pointers.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import accumulate
from typing import Any

import casadi as ca
import numpy as np

from spacectl.codegen.emit_c import EmittedC, emit_function
from spacectl.codegen.library import load_tuned

__all__ = [
    "CALLBACK",
    "FUSED_FROM",
    "GENERATED",
    "NONE",
    "VM",
    "BoundFunction",
    "NativeFunction",
    "address_of",
    "compile_exactly",
    "compile_expression",
    "compiler_flags",
    "find_sizes",
    "prepare_native",
    "unused",
]

NONE, VM, GENERATED, CALLBACK = range(4)  #: kinds, as in loop.h


def address_of(array: np.ndarray) -> int:
    """Return the address of an array's data, 0 if it is empty; usually faster than ``array.ctypes.data``."""
    if not array.size:
        return 0
    if array.flags.writeable:
        buffer: Any = array
        return ctypes.addressof(ctypes.c_char.from_buffer(buffer))
    return array.ctypes.data


class BoundFunction:
    """A function with fixed argument and result buffers.

    Parameters
    ----------
    sizes_in, sizes_out : sequence of int
        Lengths of the arguments and results.

    Attributes
    ----------
    arguments, results : list of numpy arrays
        The buffers; results are consecutive in `block`.
    error : BaseException or None
        Exception raised by the last failed call.
    """

    def __init__(self, sizes_in: Sequence[int], sizes_out: Sequence[int]):
        self.kind = NONE
        self.arguments: list[Any] = [np.zeros(max(size, 1))[:size] for size in sizes_in]
        self.block = np.zeros(max(sum(sizes_out), 1))
        self.results: list[Any] = [self.block[b - n : b] for b, n in zip(accumulate(sizes_out), sizes_out, strict=True)]
        self.error: BaseException | None = None
        self.fn = 0
        self.turned = 0
        self.angles: Sequence[int] = ()
        self.prepare = 0
        self.described = "none"
        self.native: NativeFunction | None = None
        self.raw = 0
        self.mem = 0
        self.iw = np.zeros(1, dtype=np.int64)
        self.w = np.zeros(1)
        self.arg: Any = None
        self.res: Any = None
        self._run: Callable[[], Any] = lambda: None
        self._alive: list[Any] = []
        self._point(len(self.arguments), len(self.results))

    def _point(self, n_arg: int, n_res: int) -> None:
        """Set the pointer tables for C, with room for what generated code stores after the arguments."""
        inputs = [address_of(array) for array in self.arguments]
        starts = [address_of(array if array.size else self.block) for array in self.results]
        self.arg = (ctypes.c_void_p * max(n_arg, 1))(*inputs)
        self.res = (ctypes.c_void_p * max(n_res, 1))(*starts)

    def share_turns(self, turns: np.ndarray) -> None:
        """Let C call the entry that reads sines and cosines of the state from `turns`, if there is one."""
        if self.angles:
            self._point(len(self.arguments) + 1, len(self.results))
            self.arg[len(self.arguments)] = address_of(turns)
            self.fn = self.turned

    def run(self) -> Any:
        """Evaluate on the buffers; exceptions propagate. Return the status of compiled code, 0 on success."""
        return self._run()

    def call(self) -> bool:
        """Evaluate from Python; return False if an exception was raised, which is stored in `error`."""
        if self.kind != CALLBACK:
            self.block[:] = np.nan
        try:
            self._run()
        except BaseException as error:  # also Ctrl-C: it is raised again once the driver has returned
            self.error = error
            return False
        return True


@cache
def unused() -> BoundFunction:
    """Return a placeholder for a function that a run does not have."""
    return BoundFunction((), ())


FUSED_FROM = 500  #: operations from which multiply-adds are fused: 10 % faster for a 7-joint arm


@dataclass(frozen=True, eq=False)
class NativeFunction:
    """``int fn(const double **arg, double **res, long long *iw, double *w, int mem)`` with its work arrays.

    Parameters
    ----------
    entry : int
        Address of the function.
    sizes_in, sizes_out : sequence of int
        Lengths of arguments and results.
    iw, w : arrays
        Passed to every call. For a compiled expression, w contains the values prepared from p and is
        read-only.
    prepare : int
        Address of ``void prepare(const double *p, double *w)``, or 0 if new parameters need a new function.
    keep : list
        Objects that must live as long as the function.
    turned, angles : int and sequence of int
        Address of the entry that takes the sines and cosines of state entries as its last argument, or 0; and
        the indices of these entries.
    """

    entry: int
    sizes_in: Sequence[int]
    sizes_out: Sequence[int]
    iw: np.ndarray
    w: np.ndarray
    prepare: int = 0
    keep: list[Any] = field(default_factory=list)
    turned: int = 0
    angles: Sequence[int] = ()


def compile_expression(function: ca.Function, p: Any, *, hoist: str = "p", turns: str = "x") -> NativeFunction:
    """Compile a scalar (SX) CasADi function, prepared for the parameters `p`.

    Small functions round as CasADi does; from `FUSED_FROM` operations on, multiply-adds are fused. Values
    that depend on the argument `hoist` only are computed once. The driver may share the sines and cosines of
    the argument `turns` with other functions; an empty name disables this.

    Raises
    ------
    SolverError
        If there is no compiler or it fails.
    """
    library, emitted = _expression_library(function, hoist, turns)
    return prepare_native(library, emitted.n_prepared, p, *find_sizes(function), emitted.angles)


def compile_exactly(function: ca.Function) -> NativeFunction:
    """Compile a scalar (SX) CasADi function so that its results are those of the virtual machine, to the last digit.

    Raises
    ------
    SolverError
        If there is no compiler or it fails.
    """
    emitted = emit_function(function, "evaluate", hoist="", is_exact=True)
    text = "#include <math.h>\n" + emitted.text
    library = load_tuned({"exact.c": text}, name=function.name(), flags=("-fno-tree-slp-vectorize",))
    return prepare_native(library, emitted.n_prepared, (), *find_sizes(function))


@lru_cache(maxsize=64)
def find_sizes(function: ca.Function) -> tuple[list[int], list[int]]:
    """Return the lengths of arguments and results."""
    sizes_in = [function.numel_in(i) for i in range(function.n_in())]
    return sizes_in, [function.numel_out(i) for i in range(function.n_out())]


@lru_cache(maxsize=64)
def _expression_library(function: ca.Function, hoist: str, turns: str) -> tuple[ctypes.CDLL, EmittedC]:
    """Return the compiled function; compile once for each function of a process."""
    emitted = emit_function(function, "evaluate", hoist=hoist, turns=turns)
    text = "#include <math.h>\n" + emitted.text
    return load_tuned({"expression.c": text}, name=function.name(), flags=compiler_flags(function)), emitted


def compiler_flags(function: ca.Function) -> tuple[str, ...]:
    """Return the flags for straight-line code, without vectorisation: it is 17 % slower for a 7-joint arm."""
    fused = ("-ffp-contract=fast",) if function.n_instructions() >= FUSED_FROM else ()
    return ("-fno-tree-slp-vectorize", *fused)


def prepare_native(
    library: ctypes.CDLL,
    n_prepared: int,
    p: Any,
    sizes_in: list[int],
    sizes_out: list[int],
    angles: Sequence[int] = (),
    data: Any = (),
) -> NativeFunction:
    """Prepare a library that defines ``evaluate``, ``evaluate_prepare`` and, with angles, ``evaluate_turned`` for `p`.

    `data` is placed in w after the prepared values, before these are computed.
    """
    values, w = np.ascontiguousarray(p, dtype=float), np.concatenate([np.zeros(max(n_prepared, 1)), data])
    library.evaluate_prepare.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.evaluate_prepare.restype = None
    library.evaluate_prepare(values.ctypes.data, w.ctypes.data)
    names = ("evaluate", "evaluate_prepare", *(("evaluate_turned",) if angles else ()))
    entry, prepare, *turned = (ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0 for name in names)
    none = np.zeros(1, dtype=np.int64)
    return NativeFunction(entry, sizes_in, sizes_out, none, w, prepare, [library], sum(turned), angles)
