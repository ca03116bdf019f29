"""`BatchFunction`: a CasADi function at many points in one native call."""

from __future__ import annotations

import ctypes
import logging
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

from spacectl.codegen.emit_c import can_emit, emit_function
from spacectl.codegen.library import load_tuned
from spacectl.core.errors import SolverError

__all__ = ["BatchFunction"]

_log = logging.getLogger(__name__)


class BatchFunction:
    """``function(*columns, p)`` at many points for fixed run-time parameters p.

    Native code where there is a compiler (compiled once for each structure; what depends on p only is computed
    beforehand), else CasADi's virtual machine.

    Parameters
    ----------
    function : casadi.Function
        Its last argument is p; results are dense.
    p : array
        Run-time parameters.
    """

    def __init__(self, function: ca.Function, p: np.ndarray):
        self.function, self.p = function, np.ascontiguousarray(p, dtype=float)
        self._prepared = np.zeros(1)
        self._library: ctypes.CDLL | None = None
        if can_emit(function):
            try:
                self._library, n_prepared = _library(function)
            except SolverError as error:
                _log.info("'%s' is evaluated by CasADi's virtual machine, slower: %s", function.name(), error)
            else:
                self._prepared = np.zeros(max(n_prepared, 1))
                self._library.evaluate_prepare(self.p.ctypes.data, self._prepared.ctypes.data)

    @property
    def n_out(self) -> int:
        """Length of the first result."""
        return int(self.function.numel_out(0))

    def __call__(self, *columns: np.ndarray) -> list[np.ndarray]:
        """Return the results, each of shape (n, length), matrices by columns.

        Parameters
        ----------
        *columns : arrays, shape (n, length)
            Arguments before p; those of length zero may be left out at the end.
        """
        f, n = self.function, len(columns[0])
        inputs = [np.ascontiguousarray(item, dtype=float) for item in columns]
        inputs += [np.zeros((n, 0))] * (f.n_in() - 1 - len(columns))
        sizes = [f.numel_out(i) for i in range(f.n_out())]
        if self._library is None:
            found = f.call([ca.DM(item.T) for item in inputs] + [ca.DM(self.p)])
            return [_by_points(value.full(), f.size_out(i), n) for i, value in enumerate(found)]
        outputs = [np.empty((n, size)) for size in sizes]
        pointers = (ctypes.c_void_p * len(inputs))(*[item.ctypes.data for item in inputs])
        results = (ctypes.c_void_p * len(outputs))(*[item.ctypes.data for item in outputs])
        self._library.evaluate_batch(n, pointers, results, self._prepared.ctypes.data)
        return outputs


def _by_points(value: np.ndarray, size: tuple[int, int], n: int) -> np.ndarray:
    """Results of a mapped CasADi call, (rows, n columns), as one row a point."""
    rows, width = size
    return value.reshape(rows, n, width).transpose(1, 2, 0).reshape(n, rows * width)


@lru_cache(maxsize=64)
def _library(function: ca.Function) -> tuple[ctypes.CDLL, int]:
    """The compiled function with its loop over points; once for each function of a process."""
    emitted = emit_function(function, "evaluate", hoist=function.name_in(function.n_in() - 1))
    arguments = [f"in[{i}] + k * {function.numel_in(i)}" for i in range(function.n_in() - 1)]
    results = [f"out[{i}] + k * {function.numel_out(i)}" for i in range(function.n_out())]
    loop = f"""
void evaluate_batch(long long n, const double *const *in, double *const *out, double *prepared) {{
    for (long long k = 0; k < n; k++) {{
        const double *arg[] = {{{", ".join([*arguments, "0"])}}};
        double *res[] = {{{", ".join(results)}}};
        evaluate(arg, res, 0, prepared, 0);
    }}
}}
"""
    library: Any = load_tuned({"points.c": "#include <math.h>\n" + emitted.text + loop}, name=function.name())
    library.evaluate_prepare.argtypes = [ctypes.c_void_p] * 2
    library.evaluate_prepare.restype = None
    library.evaluate_batch.argtypes = [ctypes.c_longlong, *[ctypes.c_void_p] * 3]
    library.evaluate_batch.restype = None
    return library, emitted.n_prepared
