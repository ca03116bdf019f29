"""Bind exact Jacobians of plant and law, from which the implicit method forms that of the closed loop.

With s = (x, z): ``d s_dot / d s = [[A, 0], [0, 0]] + [[B, 0], [0, 1]] [[du/ds], [dz_dot/ds]]``, where rows of du/ds
that belong to saturated inputs are zero. The driver forms this sum; this module binds the two factors.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

from spacectl.codegen.binding import Tier, bind_casadi, bind_native, calls_python
from spacectl.codegen.bound_function import BoundFunction, NativeFunction, address_of
from spacectl.core.control_law import CallableLaw, ControlLaw
from spacectl.core.errors import SolverError
from spacectl.dynamics.recursion.elements import serves_derivatives
from spacectl.dynamics.recursion.linear_kernel import LinearKernel
from spacectl.dynamics.waist.compiled import UNROLL_LIMIT
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.simulation.driver.native_loop import load_driver
from spacectl.simulation.run.laws import feedback_function

__all__ = ["bind_derivatives"]

Derivatives = tuple[BoundFunction | None, BoundFunction | None]


def bind_derivatives(eom: EquationsOfMotion, law: Any, p: np.ndarray, tier: Tier) -> Derivatives:
    """Bind exact Jacobians of the plant, (t, x, u, p) -> (A, B), and of the law, (t, s, r, p, p_law) -> (du/ds, dz_dot/ds).

    Trees use the native linearisation. Other equations, and machines without a compiler, use CasADi's derivatives of the
    implicit form, which solves for the accelerations, so that no unrolled recursion is differentiated. None means that the
    driver uses finite differences: for a continuous law in Python, for large trees without a compiler, and for constraints
    in native code, whose derivatives would have to be evaluated through Python (a hundred times slower).

    Parameters
    ----------
    eom : EquationsOfMotion
        The plant.
    law : as in `simulate`
        The law; a sampled law is constant between samples and has no Jacobian.
    p : array, shape (n_p,)
        Run-time parameters of the plant.
    tier : str
        How functions are evaluated.
    """
    is_function = law is not None and not isinstance(law, ControlLaw)
    period = law.period if isinstance(law, (ControlLaw, CallableLaw)) else 0.0
    if law is None or period > 0.0:
        return _bind_plant_derivatives(eom, p, tier), None
    if is_function or calls_python(law.function):
        return None, None
    law_derivatives = bind_casadi(_law_derivatives(eom, law), tier, p=p)
    law_derivatives.arguments[4][:] = law.p
    return _bind_plant_derivatives(eom, p, tier), law_derivatives


def _bind_plant_derivatives(eom: EquationsOfMotion, p: np.ndarray, tier: Tier) -> BoundFunction | None:
    if eom.handover.recurses_over_tree and serves_derivatives(eom.system) and tier != "callback":
        try:
            return bind_native(_tree_derivatives(eom, p))
        except SolverError:  # no compiler
            pass
    if eom.handover.solves_in_calls and eom.n_v > UNROLL_LIMIT:
        return None
    if eom.constraint_rows and tier in ("native", "data-driven"):
        return None
    x_dot = eom.functions["x_dot_implicit" if "x_dot_implicit" in eom.functions else "x_dot"]
    return bind_casadi(_plant_derivatives(x_dot), tier, p=p)


@lru_cache(maxsize=64)
def _plant_derivatives(x_dot: ca.Function) -> ca.Function:
    """Form (t, x, u, p) -> Jacobians of x_dot with respect to x and u, once per function and process."""
    t, x, u, p = (ca.MX.sym(name, *x_dot.size_in(i)) for i, name in enumerate(("t", "x", "u", "p")))
    rate = x_dot(t, x, u, p)
    results = [ca.densify(ca.jacobian(rate, x)), ca.densify(ca.jacobian(rate, u))]
    return ca.Function("plant_derivatives", [t, x, u, p], results, ["t", "x", "u", "p"], ["A", "B"])


def _tree_derivatives(eom: EquationsOfMotion, p: np.ndarray) -> NativeFunction:
    """Wrap the native linearisation of a tree as a generated function (see ``sc_tree_derivatives`` in derivatives.h).

    Raises
    ------
    SolverError
        If there is no compiler.
    """
    kernel = LinearKernel(eom.system, eom.parameters, p)
    entry = ctypes.cast(load_driver().sc_tree_derivatives, ctypes.c_void_p).value or 0
    sizes, function = [eom.n_q, eom.n_v, eom.n_u], kernel.function
    places = [address_of(item) for item in (function.iw, function.w, *kernel.terms)]
    iw = np.array([function.entry, *sizes, *places, len(eom.quaternions), *sorted(eom.quaternions)], dtype=np.int64)
    sizes_in, sizes_out = [1, eom.n_x, eom.n_u, p.size], [eom.n_x**2, eom.n_x * eom.n_u]
    return NativeFunction(entry, sizes_in, sizes_out, iw, np.zeros(1), keep=[kernel])


@lru_cache(maxsize=64)
def _law_derivatives(eom: EquationsOfMotion, law: ControlLaw) -> ca.Function:
    """Form (t, s, r, p, p_law) -> Jacobians of u and z_dot with respect to s = (x, z), including measurements."""
    n_x, n_z = eom.n_x, len(law.memory)
    sizes = {"t": 1, "s": n_x + n_z, "r": law.function.numel_in(4), "p": len(eom.parameters), "p_law": len(law.p)}
    symbols = {name: ca.MX.sym(name, size) for name, size in sizes.items()}
    t, s, r, p, p_law = symbols.values()
    x, z = s[:n_x], s[n_x:]
    y = feedback_function(eom, law)(t, x, p) if len(law.measurements) else ca.MX(0, 1)
    u, z_dot, _ = law.function(t, x, y, z, r, p_law)
    results = [ca.densify(ca.jacobian(item, s)) for item in (u, z_dot)]
    return ca.Function("law_derivatives", list(symbols.values()), results, list(symbols), ["u_s", "z_dot_s"])
