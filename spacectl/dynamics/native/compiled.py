"""`CompiledEquations`: the equations of motion as native code, for fast calls and for the driver.

Small systems run as unrolled code generated for their structure; long chains run as the data-driven sweep, for which
nothing is compiled per model.
"""

from __future__ import annotations

import ctypes
from typing import Any, Literal

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.dynamics.native.function import NativeFunction, compile_expression, tree_function
from spacectl.dynamics.native.tree_kernel import TreeKernel

__all__ = ["UNROLL_LIMIT", "CompiledEquations", "Kind"]

UNROLL_LIMIT = 24  #: speeds up to which unrolled code is worth its compilation

Kind = Literal["auto", "unrolled", "data-driven"]


class CompiledEquations:
    """Native ``x_dot`` for fixed numbers p, with fixed buffers.

    Write into `x` and `u`, call `run`, read `rate`; or call `x_dot`, which copies. Not to be shared between threads.

    Parameters
    ----------
    eom : EquationsOfMotion
        The equations.
    p : array, optional
        Their numbers; default the system's own.
    kind : {"auto", "unrolled", "data-driven"}
        Which native code.
    """

    def __init__(self, eom: Any, p: Any = None, *, kind: Kind = "auto"):
        values = eom.p if p is None else eom.parameters.check(p)
        if kind not in ("auto", "unrolled", "data-driven"):
            raise ModelError(f"compiled equations: kind is {kind!r}, expected 'auto', 'unrolled' or 'data-driven'")
        self.kind = ("unrolled" if eom.n_v <= UNROLL_LIMIT else "data-driven") if kind == "auto" else kind
        self.function: NativeFunction
        if self.kind == "unrolled":
            self.function = compile_expression(eom.functions["x_dot_scalar"], values)
        else:
            self.function = tree_function(TreeKernel(eom.system, eom.parameters, values), values.size)
        self.n_q, self.n_x, self.n_u = eom.n_q, eom.n_x, eom.n_u
        self.t, self.x, self.u, self.rate = (
            np.zeros(1),
            np.zeros(eom.n_x),
            np.zeros(max(eom.n_u, 1))[: eom.n_u],
            np.zeros(eom.n_x),
        )
        self._p = np.array(values)
        pointer = ctypes.c_void_p
        self._arg = (pointer * 4)(self.t.ctypes.data, self.x.ctypes.data, self.u.ctypes.data, self._p.ctypes.data)
        self._res = (pointer * 1)(self.rate.ctypes.data)
        prototype = ctypes.CFUNCTYPE(ctypes.c_int, pointer, pointer, pointer, pointer, ctypes.c_int)
        entry = prototype(self.function.entry)
        fixed = (
            pointer(ctypes.addressof(self._arg)),
            pointer(ctypes.addressof(self._res)),
            pointer(self.function.iw.ctypes.data),
            pointer(self.function.w.ctypes.data),
            ctypes.c_int(0),
        )
        self.run = lambda: entry(*fixed)

    def x_dot(self, x: Any, u: Any = (), t: float = 0.0) -> np.ndarray:
        """Rate of the state, shape (n_x,)."""
        self.x[:] = x
        self.u[:] = u
        self.t[0] = t
        self.run()
        return self.rate.copy()

    def v_dot(self, q: Any, v: Any, u: Any = (), t: float = 0.0) -> np.ndarray:
        """Rates of the speeds, shape (n_v,)."""
        self.x[: self.n_q] = q
        self.x[self.n_q :] = v
        self.u[:] = u
        self.t[0] = t
        self.run()
        return self.rate[self.n_q :].copy()
