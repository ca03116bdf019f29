"""Native calls of a plain tree for given parameters, by function name: nothing is built or compiled for the model."""

from __future__ import annotations

import numpy as np

from spacectl.codegen.binding import bind_native
from spacectl.codegen.bound_function import NativeFunction
from spacectl.codegen.extension import NativeCall
from spacectl.core.parameters import Parameters
from spacectl.dynamics.recursion.elements import serves_derivatives
from spacectl.dynamics.recursion.linear_kernel import LinearKernel
from spacectl.dynamics.recursion.tree_kernel import TreeKernel
from spacectl.model.system import System

__all__ = ["tree_calls"]


def tree_calls(system: System, parameters: Parameters, p: np.ndarray) -> dict[str, NativeCall]:
    """Return the native calls of a tree for the parameters p, without p among their arguments.

    Parameters
    ----------
    system : System
        A plain tree of known joints, actuators and environment (`serves_tree`).
    parameters : Parameters
        Its run-time parameters.
    p : array, shape (n_p,)
        Their values.

    Returns
    -------
    dict of str to NativeCall
        ``x_dot`` (t, x, u), ``v_dot`` (t, q, v, u), ``bias`` (t, q, v), ``inverse_dynamics`` (t, q, v, v_dot); where the
        joints consist of elementary ones also ``mass_matrix`` (t, q), ``input_map`` (t, q) and ``linear_terms`` (q, v, u).

    Raises
    ------
    SolverError
        If the kernels can be neither loaded nor built.
    """
    kernel = TreeKernel(system, parameters, p)
    n_q, n_v, n_u = kernel.n_q, kernel.n_v, kernel.n_u
    sizes = {"t": 1, "x": n_q + n_v, "q": n_q, "v": n_v, "v_dot": n_v, "u": n_u}
    found = {
        name: _bound_call(name, kernel.function(entry, [sizes[key] for key in names], [n]), names, (n,))
        for name, entry, names, n in (
            ("x_dot", "sc_tree_plant", ("t", "x", "u"), n_q + n_v),
            ("v_dot", "sc_tree_v_dot_function", ("t", "q", "v", "u"), n_v),
            ("bias", "sc_tree_bias_function", ("t", "q", "v"), n_v),
            ("inverse_dynamics", "sc_tree_tau_function", ("t", "q", "v", "v_dot"), n_v),
        )
    }
    if serves_derivatives(system):
        linear = LinearKernel(system, parameters, p)
        for name, width in (("mass_matrix", n_v), ("input_map", n_u)):
            function = linear.data.function(f"sc_{name}", [1, n_q], [n_v * width])
            found[name] = _bound_call(name, function, ("t", "q"), (n_v, width))
        found["linear_terms"] = linear.call
    return found


def _bound_call(name: str, function: NativeFunction, names: tuple[str, ...], shape: tuple[int, ...]) -> NativeCall:
    bound = bind_native(function)
    inputs = dict(zip(names, bound.arguments, strict=True))
    inputs["t"] = inputs["t"].reshape(())
    return NativeCall(name, bound, inputs, [bound.results[0].reshape(shape)], finite=True)
