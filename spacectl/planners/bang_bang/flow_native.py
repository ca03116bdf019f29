"""The flow of a problem in native code: Dormand-Prince steps of order 8 with their exact derivatives.

The variational equations pass through every stage, so the derivatives are those of the discrete step itself,
and a linear programme built from them agrees with the motion to rounding.
"""

from __future__ import annotations

import ctypes
import logging
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np
from scipy.integrate import DOP853

from spacectl.codegen.emit_c import emit_function
from spacectl.codegen.library import load_tuned
from spacectl.core.errors import SolverError

__all__ = ["FlowCode"]

_log = logging.getLogger(__name__)

A, B = np.asarray(DOP853.A)[: DOP853.n_stages, : DOP853.n_stages], np.asarray(DOP853.B)
STAGES = len(B)

_LOOPS = """
static void rate_at(const double *x, const double *w, double *f, double *prepared) {
    const double *arg[] = {x, w, 0};
    double *res[] = {f};
    rate(arg, res, 0, prepared, 0);
}
static void jacobians_at(const double *x, const double *w, double *f, double *prepared) {
    const double *arg[] = {x, w, 0};
    double *res[] = {f};
    jacobians(arg, res, 0, prepared, 0);
}
void flow_integrate(long long n, const double *w, const double *h, double *x, double *prepared) {
    double k[STAGES][NX], y[NX];
    for (long long cell = 0; cell < n; cell++, w += NW, x += NX) {
        for (int i = 0; i <= STAGES; i++) {
            const double *a = i < STAGES ? tableau[i] : weights;
            double *to = i < STAGES ? y : x + NX;
            for (int r = 0; r < NX; r++) {
                double sum = 0.0;
                for (int j = 0; j < i; j++) sum += a[j] * k[j][r];
                to[r] = x[r] + h[cell] * sum;
            }
            if (i < STAGES) rate_at(y, w, k[i], prepared);
        }
    }
}
void flow_jacobians(long long n, const double *x, const double *w, const double *h, double *out, double *rates,
                 double *prepared, double *more) {
    static const int NZ = NX + NW;
    double k[STAGES][NX + NX * (NX + NW)], d[STAGES][NX * (NX + NW)], y[NX], dy[NX * (NX + NW)];
    for (long long cell = 0; cell < n; cell++, x += NX, w += NW, out += NX * NZ, rates += NX) {
        for (int i = 0; i <= STAGES; i++) {
            const double *a = i < STAGES ? tableau[i] : weights;
            double *to = i < STAGES ? dy : out;
            for (int r = 0; r < NX; r++) {
                double sum = 0.0;
                for (int j = 0; j < i; j++) sum += a[j] * k[j][r];
                y[r] = x[r] + h[cell] * sum;
            }
            for (int r = 0; r < NX * NZ; r++) to[r] = 0.0;
            for (int j = 0; j < i; j++) {
                if (a[j] == 0.0) continue;
                const double ha = h[cell] * a[j];
                for (int r = 0; r < NX * NZ; r++) to[r] += ha * d[j][r];
            }
            for (int r = 0; r < NX; r++) to[r * NZ + r] += 1.0;
            if (i == STAGES) break;
            jacobians_at(y, w, k[i], more);
            for (int r = 0; r < NX; r++) {
                double *row = d[i] + r * NZ;
                for (int c = 0; c < NZ; c++) row[c] = c < NX ? 0.0 : k[i][NX + r * NZ + c];
                for (int m = 0; m < NX; m++) {
                    const double g = k[i][NX + r * NZ + m];
                    if (g == 0.0) continue;
                    for (int c = 0; c < NZ; c++) row[c] += g * dy[m * NZ + c];
                }
            }
        }
        rate_at(y, w, rates, prepared);
    }
}
"""


class FlowCode:
    """Integrate over cells of constant controls in generated C or, without a compiler, in CasADi's virtual machine.

    Parameters
    ----------
    rate : casadi.Function
        State rate, a scalar (SX) function of (x, w, p).
    jacobians : casadi.Function
        The rate followed by the rows of its Jacobian with respect to (x, w), in one column.
    p : array (n_p,)
        Run-time parameters.
    """

    def __init__(self, rate: ca.Function, jacobians: ca.Function, p: np.ndarray):
        self.n_x, self.n_w = int(rate.numel_in(0)), int(rate.numel_in(1))
        self.p = np.ascontiguousarray(p, dtype=float)
        self.rate, self.jacobian_function = rate, jacobians
        self._library: Any = None
        try:
            self._load()
        except SolverError as error:
            _log.warning("the planner runs in CasADi's virtual machine, slower: %s", error)

    def _load(self) -> None:
        library, sizes = _library(self.rate, self.jacobian_function)
        self._prepared = [np.zeros(max(size, 1)) for size in sizes]
        for name, store in zip(("rate", "jacobians"), self._prepared, strict=True):
            getattr(library, f"{name}_prepare")(self.p.ctypes.data, store.ctypes.data)
        self._library = library

    def jacobian(self, x: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return the Jacobian of the rate with respect to the state, (n_x, n_x)."""
        found = np.asarray(self.jacobian_function(x, w, self.p))[self.n_x :, 0]
        return found.reshape(self.n_x, self.n_x + self.n_w)[:, : self.n_x]

    def integrate(self, x0: np.ndarray, w: np.ndarray, h: np.ndarray) -> np.ndarray:
        """Integrate from x0 with controls w (n, n_w) over cells h (n,); return node states (n + 1, n_x)."""
        x = np.empty((len(h) + 1, self.n_x))
        x[0] = x0
        w, h = (np.ascontiguousarray(item, dtype=float) for item in (w, h))
        if self._library is not None:
            self._library.flow_integrate(len(h), *(item.ctypes.data for item in (w, h, x, self._prepared[0])))
            return x
        for k in range(len(h)):
            K = np.zeros((STAGES, self.n_x))
            for i in range(STAGES):
                K[i] = np.asarray(self.rate(x[k] + h[k] * (A[i, :i] @ K[:i]), w[k], self.p))[:, 0]
            x[k + 1] = x[k] + h[k] * (B @ K)
        return x

    def jacobians(self, x: np.ndarray, w: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the Jacobian of each cell's final state and the state rate there.

        The Jacobian is with respect to the cell's initial state and controls, shape (n, n_x, n_x + n_w).
        """
        n, n_z = len(h), self.n_x + self.n_w
        x, w, h = (np.ascontiguousarray(item, dtype=float) for item in (x[:n], w, h))
        if self._library is not None:
            out, rates = np.empty((n, self.n_x, n_z)), np.empty((n, self.n_x))
            stores = (x, w, h, out, rates, *self._prepared)
            self._library.flow_jacobians(n, *(item.ctypes.data for item in stores))
            return out, rates
        one, rate = self.jacobian_function.map(n), self.rate.map(n)
        p = np.tile(self.p[:, None], (1, n))
        K, jacobians = np.zeros((STAGES, n, self.n_x)), np.zeros((STAGES, n, self.n_x, n_z))
        start = np.broadcast_to(np.eye(self.n_x, n_z), (n, self.n_x, n_z))
        step = h[:, None]
        for i in range(STAGES):
            y = x + step * np.tensordot(A[i, :i], K[:i], 1)
            dy = start + step[..., None] * np.tensordot(A[i, :i], jacobians[:i], 1)
            found = np.asarray(one(y.T, w.T, p)).T
            K[i], J = found[:, : self.n_x], found[:, self.n_x :].reshape(n, self.n_x, n_z)
            jacobians[i] = J[:, :, : self.n_x] @ dy
            jacobians[i, :, :, self.n_x :] += J[:, :, self.n_x :]
        end = x + step * np.tensordot(B, K, 1)
        out = start + step[..., None] * np.tensordot(B, jacobians, 1)
        return out, np.asarray(rate(end.T, w.T, p)).T


@lru_cache(maxsize=16)
def _library(rate: ca.Function, jacobians: ca.Function) -> tuple[Any, tuple[int, int]]:
    """Compile and load the integration loops; one library per pair of functions and process."""
    parts = [emit_function(rate, "rate"), emit_function(jacobians, "jacobians")]
    n_x, n_w = rate.numel_in(0), rate.numel_in(1)
    table = ",\n".join("{" + ", ".join(float(a).hex() for a in row) + "}" for row in A)
    head = (
        f"#include <math.h>\n#define NX {n_x}\n#define NW {n_w}\n#define STAGES {STAGES}\n"
        f"static const double tableau[STAGES][STAGES] = {{{table}}};\n"
        f"static const double weights[STAGES] = {{{', '.join(float(b).hex() for b in B)}}};\n"
    )
    text = head + "".join(part.text for part in parts) + _LOOPS
    library: Any = load_tuned({"flow.c": text}, name="flow")
    pointer, integer = ctypes.c_void_p, ctypes.c_longlong
    for name in ("rate", "jacobians"):
        getattr(library, f"{name}_prepare").argtypes = [pointer] * 2
        getattr(library, f"{name}_prepare").restype = None
    library.flow_integrate.argtypes = [integer, *[pointer] * 4]
    library.flow_jacobians.argtypes = [integer, *[pointer] * 7]
    library.flow_integrate.restype = library.flow_jacobians.restype = None
    return library, (parts[0].n_prepared, parts[1].n_prepared)
