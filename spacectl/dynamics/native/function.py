"""Native functions with CasADi's calling convention, ready for the driver: compiled expressions and tree sweeps."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from spacectl.core.errors import ModelError
from spacectl.dynamics.compile import load_library
from spacectl.dynamics.emit import emit_function
from spacectl.dynamics.native.tree_kernel import TreeKernel

__all__ = ["NativeFunction", "compile_expression", "tree_function"]


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
    keep : list
        What must live as long as the function.
    """

    entry: int
    sizes_in: Sequence[int]
    sizes_out: Sequence[int]
    iw: np.ndarray
    w: np.ndarray
    keep: list[Any] = field(default_factory=list)


def compile_expression(function: ca.Function, p: Any, *, hoist: str = "p") -> NativeFunction:
    """A scalar (SX) CasADi function as native code, prepared for the parameters `p`.

    Raises
    ------
    SolverError
        If there is no compiler or it fails.
    """
    emitted = emit_function(function, "evaluate", hoist=hoist)
    library = load_library({"expression.c": "#include <math.h>\n" + emitted.text}, name=function.name())
    values = np.ascontiguousarray(p, dtype=float)
    w = np.zeros(max(emitted.n_prepared, 1))
    library.evaluate_prepare.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.evaluate_prepare.restype = None
    library.evaluate_prepare(values.ctypes.data, w.ctypes.data)
    return NativeFunction(
        ctypes.cast(library.evaluate, ctypes.c_void_p).value or 0,
        [function.numel_in(i) for i in range(function.n_in())],
        [function.numel_out(i) for i in range(function.n_out())],
        np.zeros(1, dtype=np.int64),
        w,
        [library],
    )


def tree_function(kernel: TreeKernel, n_p: int) -> NativeFunction:
    """(t, x, u, p) -> x_dot of a tree by the data-driven sweep; one for each thread."""
    n_x = kernel.n_q + kernel.n_v
    if n_x == 0:
        raise ModelError("a system without speeds has nothing to integrate")
    return NativeFunction(
        ctypes.cast(kernel.library.sc_tree_plant, ctypes.c_void_p).value or 0,
        [1, n_x, kernel.n_u, n_p],
        [n_x],
        np.frombuffer(kernel.data.struct, dtype=np.int64),
        np.zeros(kernel.data.n_work),
        [kernel],
    )
