"""The native kernels of the phase plane, and generated functions at many points in one call."""

from __future__ import annotations

import ctypes
import logging
from functools import cache
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from spacectl.codegen.emit_c import can_emit
from spacectl.codegen.library import load_library
from spacectl.codegen.native_function import compile_expression
from spacectl.core.errors import SolverError

__all__ = ["ManyPoints", "phase_library"]

_log = logging.getLogger(__name__)


@cache
def phase_library() -> ctypes.CDLL | None:
    """The compiled kernels; None (said once) where there is no compiler."""
    try:
        library = load_library([Path(__file__).with_name("phase_plane.c")], name="phase_plane")
    except SolverError as error:
        _log.info("phase plane without native code: %s", error)
        return None
    pointer, integer, real = ctypes.c_void_p, ctypes.c_longlong, ctypes.c_double
    library.sc_map.argtypes = [pointer, integer, integer, pointer, pointer, integer, pointer, pointer, pointer, pointer]
    library.sc_map.restype = None
    library.sc_limit_curve.argtypes = [integer, integer] + [pointer] * 5
    library.sc_limit_curve.restype = None
    library.sc_check.argtypes = [integer, integer] + [pointer] * 8
    library.sc_check.restype = None
    ends = [integer, real, ctypes.c_int, real, pointer, pointer, pointer, pointer, pointer]
    library.sc_integrate.argtypes = [integer, integer] + [pointer] * 4 + ends
    library.sc_integrate.restype = integer
    return library


class ManyPoints:
    """``function(*columns, p)`` at many points for fixed p: generated C where there is a compiler, else CasADi's machine.

    Parameters
    ----------
    function : casadi.Function
        Its last argument is p; results are dense.
    p : array
        Run-time numbers.
    """

    def __init__(self, function: ca.Function, p: np.ndarray):
        self.function, self.p = function, np.ascontiguousarray(p, dtype=float)
        self.library = phase_library() if can_emit(function) else None
        self.native = None if self.library is None else compile_expression(function, self.p)

    def __call__(self, *columns: np.ndarray) -> list[np.ndarray]:
        """Results (n, numel), matrices by columns, of columns (n, size)."""
        function, n = self.function, len(columns[0])
        if self.library is None or self.native is None:
            found = function.call([ca.DM(np.asarray(item).T) for item in columns] + [ca.DM(self.p)])
            return [_stack(value.full(), function.size_out(i), n) for i, value in enumerate(found)]
        inputs = [np.ascontiguousarray(item, dtype=float) for item in columns] + [self.p]
        outputs = [np.empty((n, max(function.numel_out(i), 1))) for i in range(function.n_out())]
        strides = [function.numel_in(i) for i in range(len(columns))] + [0]
        self.library.sc_map(
            self.native.entry,
            n,
            len(inputs),
            _pointers(inputs),
            _integers(strides),
            len(outputs),
            _pointers(outputs),
            _integers([item.shape[1] for item in outputs]),
            self.native.iw.ctypes.data,
            self.native.w.ctypes.data,
        )
        return [item[:, : function.numel_out(i)] for i, item in enumerate(outputs)]


def _stack(value: np.ndarray, size: tuple[int, int], n: int) -> np.ndarray:
    rows, width = size
    return value.reshape(rows, n, width).transpose(1, 2, 0).reshape(n, rows * width)


def _pointers(arrays: list[np.ndarray]) -> Any:
    return (ctypes.c_void_p * len(arrays))(*[item.ctypes.data for item in arrays])


def _integers(values: list[int]) -> Any:
    return (ctypes.c_longlong * len(values))(*values)
