"""Evaluate a function at many points: `evaluate_points` for native code, `BatchFunction` for CasADi."""

from __future__ import annotations

import ctypes
import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import casadi as ca
import numpy as np

from spacectl.codegen.bound_function import NativeFunction, compile_expression
from spacectl.codegen.emit_c import can_emit
from spacectl.codegen.kernels import load_kernel
from spacectl.core.errors import SolverError

__all__ = ["BatchFunction", "evaluate_points"]

_log = logging.getLogger(__name__)


class BatchFunction:
    """``function(*columns, p)`` at many points for fixed run-time parameters p.

    The function is native code, compiled once for each structure, with all that depends on p only computed
    beforehand. Without a compiler, CasADi's virtual machine evaluates it.

    Parameters
    ----------
    function : casadi.Function
        Its last argument is p; results are dense.
    p : array
        Run-time parameters.
    """

    def __init__(self, function: ca.Function, p: np.ndarray):
        self.function, self.p = function, np.ascontiguousarray(p, dtype=float)
        self._native: NativeFunction | None = None
        if can_emit(function):
            try:
                self._native = compile_expression(
                    function, self.p, hoist=function.name_in(function.n_in() - 1), turns=""
                )
            except SolverError as error:
                _log.info("'%s' is evaluated by CasADi's virtual machine, slower: %s", function.name(), error)

    @property
    def n_out(self) -> int:
        """Length of the first result."""
        return int(self.function.numel_out(0))

    def __call__(self, *columns: np.ndarray) -> list[np.ndarray]:
        """Return the results, each of shape (n, length), matrices by columns.

        Parameters
        ----------
        *columns : arrays, shape (n, length)
            Arguments before p; trailing ones of length zero may be omitted.
        """
        f, n = self.function, len(columns[0])
        inputs = [np.asarray(item, dtype=float) for item in columns]
        inputs += [np.zeros((n, 0))] * (f.n_in() - 1 - len(columns))
        if self._native is not None:
            return evaluate_points(self._native, [*inputs, self.p], n)
        found = f.call([ca.DM(item.T) for item in inputs] + [ca.DM(self.p)])
        return [_by_points(value.full(), f.size_out(i), n) for i, value in enumerate(found)]


def evaluate_points(native: NativeFunction, arguments: Sequence[Any], n: int, *, threads: int = 1) -> list[np.ndarray]:
    """Evaluate a native function at n points; return its results, each of shape (n, length).

    Parameters
    ----------
    native : NativeFunction
        The function.
    arguments : sequence of arrays, shape (n, length) or (length,)
        One-dimensional arguments are the same for all points.
    n : int
        Number of points.
    threads : int
        Number of threads among which the points are divided.
    """
    given = [np.ascontiguousarray(item, dtype=float) for item in arguments]
    results = [np.empty((n, size)) for size in native.sizes_out]
    steps_in = np.array([item.shape[1] if item.ndim == 2 else 0 for item in given], dtype=np.int64)
    steps_out = np.array([item.shape[1] for item in results], dtype=np.int64)
    places_in = (ctypes.c_void_p * len(given))(*[item.ctypes.data for item in given])
    places_out = (ctypes.c_void_p * len(results))(*[item.ctypes.data for item in results])
    sides = (len(given), places_in, steps_in.ctypes.data, len(results), places_out, steps_out.ctypes.data)

    def evaluate(begin: int, end: int, w: np.ndarray) -> None:
        _library().sc_map(native.entry, begin, end, *sides, native.iw.ctypes.data, w.ctypes.data)

    if threads <= 1:
        evaluate(0, n, native.w)
        return results
    bounds = np.linspace(0, n, threads + 1).astype(int)
    with ThreadPoolExecutor(threads) as pool:  # one work array for each thread
        list(pool.map(evaluate, bounds[:-1], bounds[1:], [native.w.copy() for _ in range(threads)]))
    return results


@cache
def _library() -> Any:
    library: Any = load_kernel("points")
    count, pointer = ctypes.c_longlong, ctypes.c_void_p
    library.sc_map.argtypes = [pointer, count, count, *[count, pointer, pointer] * 2, pointer, pointer]
    library.sc_map.restype = None
    return library


def _by_points(value: np.ndarray, size: tuple[int, int], n: int) -> np.ndarray:
    """Return results of a mapped CasADi call, (rows, n columns), as one row a point."""
    rows, width = size
    return value.reshape(rows, n, width).transpose(1, 2, 0).reshape(n, rows * width)
