"""Native functions with CasADi's calling convention, ready for the driver, and expressions compiled to such functions."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

from spacectl.codegen.emit_c import EmittedC, emit_function
from spacectl.codegen.library import load_tuned

__all__ = ["FUSED_FROM", "NativeFunction", "compile_expression", "compiler_flags", "find_sizes", "prepare_native"]

FUSED_FROM = 500  #: operations from which a product and a sum become one: a tenth faster for a 7-joint arm


@dataclass(frozen=True, eq=False)
class NativeFunction:
    """``int fn(const double **arg, double **res, long long *iw, double *w, int mem)`` and what it works with.

    Parameters
    ----------
    entry : int
        Address of the function.
    sizes_in, sizes_out : sequence of int
        Lengths of arguments and results.
    iw, w : arrays
        Passed to every call. For a compiled expression w holds what was prepared from p and is only read.
    prepare : int
        Address of ``void prepare(const double *p, double *w)``, or 0 if new numbers need a new function.
    keep : list
        What must live as long as the function.
    turned, angles : int and sequence of int
        Address of the entry that gets the sines and cosines of its state behind its arguments, or 0, and which
        entries of the state it reads them of.
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

    Small functions round as CasADi does; from `FUSED_FROM` operations on, a product and a sum are one operation. What
    depends on the argument `hoist` only is computed once. The driver may share the sines and cosines of the argument
    `turns` with other functions; an empty name leaves that out.

    Raises
    ------
    SolverError
        If there is no compiler or it fails.
    """
    library, emitted = _expression_library(function, hoist, turns)
    return prepare_native(library, emitted.n_prepared, p, *find_sizes(function), emitted.angles)


@lru_cache(maxsize=64)
def find_sizes(function: ca.Function) -> tuple[list[int], list[int]]:
    """Return the lengths of arguments and results."""
    sizes_in = [function.numel_in(i) for i in range(function.n_in())]
    return sizes_in, [function.numel_out(i) for i in range(function.n_out())]


@lru_cache(maxsize=64)
def _expression_library(function: ca.Function, hoist: str, turns: str) -> tuple[ctypes.CDLL, EmittedC]:
    """Return the compiled function; once for each function of a process."""
    emitted = emit_function(function, "evaluate", hoist=hoist, turns=turns)
    text = "#include <math.h>\n" + emitted.text
    return load_tuned({"expression.c": text}, name=function.name(), flags=compiler_flags(function)), emitted


def compiler_flags(function: ca.Function) -> tuple[str, ...]:
    """Return the flags for straight-line code: packing its scalars into vectors costs a sixth for a 7-joint arm."""
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

    `data` stands behind the prepared numbers in w before they are prepared.
    """
    values, w = np.ascontiguousarray(p, dtype=float), np.concatenate([np.zeros(max(n_prepared, 1)), data])
    library.evaluate_prepare.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.evaluate_prepare.restype = None
    library.evaluate_prepare(values.ctypes.data, w.ctypes.data)
    names = ("evaluate", "evaluate_prepare", *(("evaluate_turned",) if angles else ()))
    entry, prepare, *turned = (ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0 for name in names)
    none = np.zeros(1, dtype=np.int64)
    return NativeFunction(entry, sizes_in, sizes_out, none, w, prepare, [library], sum(turned), angles)
