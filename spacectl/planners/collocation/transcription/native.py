"""One expression at many points in one native call: what collocation evaluates, independent of the size of the mesh."""

from __future__ import annotations

import ctypes
import logging
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

from spacectl.codegen.emit_c import emit_function
from spacectl.codegen.library import load_tuned
from spacectl.core.errors import SolverError

__all__ = ["BatchFunction"]

_log = logging.getLogger(__name__)


class BatchFunction:
    """A function (z, w, p) -> value, evaluated at many rows of z and w for fixed p.

    Native code where a compiler is found (compiled once for each structure, p is prepared beforehand), else CasADi's
    virtual machine.

    Parameters
    ----------
    function : casadi.Function
        Scalar expressions (SX) with inputs z, w, p and one dense column as result.
    p : array
        Run-time parameters.
    """

    def __init__(self, function: ca.Function, p: np.ndarray):
        self.function, self._p = function, np.ascontiguousarray(p, dtype=float)
        self.n_out = int(function.numel_out(0))
        self._sizes = (int(function.numel_in(0)), int(function.numel_in(1)))
        self._prepared = np.zeros(1)
        try:
            self._library: ctypes.CDLL | None = self._prepare()
        except SolverError as error:
            _log.warning("collocation runs in CasADi's virtual machine, slower: %s", error)
            self._library = None

    def _prepare(self) -> ctypes.CDLL:
        library, n_prepared = _batch_library(self.function)
        self._prepared = np.zeros(max(n_prepared, 1))
        library.evaluate_prepare(self._p.ctypes.data, self._prepared.ctypes.data)
        return library

    def __call__(self, z: np.ndarray, w: np.ndarray | None = None) -> np.ndarray:
        """Values, shape (n, n_out), at z (n, n_z) and w (n, n_w)."""
        n = len(z)
        rows = np.ascontiguousarray(z, dtype=float)
        more = np.zeros((n, 0)) if w is None else np.ascontiguousarray(w, dtype=float)
        out = np.empty((n, self.n_out))
        if self._library is None:
            p = np.tile(self._p[:, None], (1, n))
            return np.asarray(self.function.map(n)(rows.T, more.T, p)).T if self.n_out else out
        self._library.evaluate_batch(n, rows.ctypes.data, more.ctypes.data, out.ctypes.data, self._prepared.ctypes.data)
        return out


@lru_cache(maxsize=64)
def _batch_library(function: ca.Function) -> tuple[ctypes.CDLL, int]:
    """The compiled function with its loop over points; once for each function of a process."""
    emitted = emit_function(function, "evaluate", hoist="p")
    n_z, n_w, n_out = function.numel_in(0), function.numel_in(1), function.numel_out(0)
    loop = f"""
void evaluate_batch(long long n, const double *z, const double *w, double *out, double *prepared) {{
    for (long long k = 0; k < n; k++) {{
        const double *arg[] = {{z + k * {n_z}, w + k * {n_w}, 0}};
        double *res[] = {{out + k * {n_out}}};
        evaluate(arg, res, 0, prepared, 0);
    }}
}}
"""
    library: Any = load_tuned({"points.c": "#include <math.h>\n" + emitted.text + loop}, name=function.name())
    library.evaluate_prepare.argtypes = [ctypes.c_void_p] * 2
    library.evaluate_prepare.restype = None
    library.evaluate_batch.argtypes = [ctypes.c_longlong, *[ctypes.c_void_p] * 4]
    library.evaluate_batch.restype = None
    return library, emitted.n_prepared
