"""`CompiledEquations`: the equations of motion as native code, for fast calls and for the driver.

Small systems use unrolled code generated for their structure. Long chains use the data-driven sweep, which is
not compiled per model.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from spacectl.codegen.batch_function import evaluate_points
from spacectl.codegen.binding import bind_native
from spacectl.codegen.bound_function import NativeFunction, compile_expression
from spacectl.codegen.emit_c import can_emit
from spacectl.codegen.extension import NativeCall
from spacectl.core.errors import ModelError, ShapeError
from spacectl.dynamics.constraints.solver_function import compile_solved
from spacectl.dynamics.recursion.tree_data import serves_tree
from spacectl.dynamics.recursion.tree_kernel import TreeKernel, tree_function

if TYPE_CHECKING:
    from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["UNROLL_LIMIT", "CompiledEquations", "Kind", "is_native", "native_plant"]

UNROLL_LIMIT = 24  #: speeds up to which code is unrolled

Kind = Literal["auto", "unrolled", "data-driven"]


def native_plant(eom: EquationsOfMotion, p: np.ndarray, kind: Kind = "auto") -> tuple[str, NativeFunction]:
    """Return the kind of native code, and (t, x, u, p) -> x_dot for the parameters p.

    Raises
    ------
    SolverError
        If there is no compiler or it fails.
    """
    if kind not in ("auto", "unrolled", "data-driven"):
        raise ModelError(f"native equations: kind is {kind!r}, expected 'auto', 'unrolled' or 'data-driven'")
    if eom.handover.plant is not None and kind != "unrolled":
        return "data-driven", eom.handover.plant(p)
    is_large = eom.n_v > UNROLL_LIMIT and serves_tree(eom.system)
    chosen = ("data-driven" if is_large else "unrolled") if kind == "auto" else kind
    if chosen == "data-driven" and not (is_large or serves_tree(eom.system)):
        raise ModelError(
            f"system '{eom.system.name}': the data-driven sweep supports rigid trees of known joints, "
            "actuators and environments; use 'auto' or 'unrolled'"
        )
    if chosen == "data-driven":
        return chosen, tree_function(TreeKernel(eom.system, eom.parameters, p), p.size)
    x_dot = eom.functions["x_dot"]
    if can_emit(x_dot):
        return chosen, compile_expression(x_dot, p)
    terms, reduction = eom.functions["terms"], eom.reduction
    return chosen, compile_solved(terms, p) if reduction is None else reduction.compile_plant(terms, p)


def is_native(eom: EquationsOfMotion) -> bool:
    """Return whether native code is available: for a tree, scalar expressions, or terms to be solved."""
    return eom.handover.solves_in_calls or "terms" in eom.functions or can_emit(eom.functions["x_dot"])


class CompiledEquations:
    """Native ``x_dot`` for fixed parameters p, with fixed buffers.

    Write into `x`, `u` (and `t`), call `run`, read `rate`, in one thread. `x_dot` and `v_dot` copy; their
    calls from several threads are serialised.

    Parameters
    ----------
    eom : EquationsOfMotion
        The equations.
    p : array, optional
        Parameters p; by default the system's own.
    kind : {"auto", "unrolled", "data-driven"}
        Kind of native code.
    """

    def __init__(self, eom: EquationsOfMotion, p: Any = None, *, kind: Kind = "auto"):
        values = eom.parameters.of(p)
        self.kind, self.function = native_plant(eom, values, kind)
        self.n_q, self.n_x, self.n_u = eom.n_q, eom.n_x, eom.n_u
        bound = bind_native(self.function)
        (self.t, self.x, self.u, self._p), (self.rate,) = bound.arguments, bound.results
        self._p[:] = values
        q, v, v_dot = self.x[: eom.n_q], self.x[eom.n_q :], self.rate[eom.n_q :]  # views
        t = self.t.reshape(())
        self._x_dot = NativeCall("x_dot", bound, {"t": t, "x": self.x, "u": self.u}, [self.rate])
        self._v_dot = NativeCall("v_dot", bound, {"t": t, "q": q, "v": v, "u": self.u}, [v_dot])

    @property
    def run(self) -> Callable[[], Any]:
        """Evaluate `rate` at the contents of `t`, `x` and `u`, without copies."""
        return self._x_dot.run

    def batch(self, x: Any, u: Any, *, t: float = 0.0, threads: int = 1) -> np.ndarray:
        """Return the rates of many states in one native call: x (n, n_x), u (n, n_u) -> (n, n_x)."""
        states, inputs = np.asarray(x, dtype=float), np.asarray(u, dtype=float)
        if states.shape[1:] != (self.n_x,) or inputs.shape != (len(states), self.n_u):
            raise ShapeError(
                f"batch: x has shape {states.shape}, u {inputs.shape}; expected (n, {self.n_x}) and (n, {self.n_u})"
            )
        return evaluate_points(self.function, [np.array([t]), states, inputs, self._p], len(states), threads=threads)[0]

    def x_dot(self, t: Any, x: Any = None, u: Any = ()) -> np.ndarray:
        """Return the rate of the state, shape (n_x,).

        Parameters
        ----------
        t : float
            Time [s].
        x : array, shape (n_x,)
            State. Contiguous arrays of floats are fastest.
        u : array, shape (n_u,)
            Inputs.

        Raises
        ------
        ShapeError
            If t, x or u has another shape.
        """
        rate = self._x_dot.fast(t, x, u)
        return self._x_dot.checked(*self._with_time("x_dot", t, x, u)) if rate is None else rate

    def v_dot(self, t: Any, q: Any, v: Any = None, u: Any = ()) -> np.ndarray:
        """Return the rates of the speeds, shape (n_v,).

        Parameters
        ----------
        t : float
            Time [s].
        q, v, u : arrays, shapes (n_q,), (n_v,), (n_u,)
            Coordinates, speeds, inputs. Contiguous arrays of floats are fastest.

        Raises
        ------
        ShapeError
            If t, q, v or u has another shape.
        """
        rates = self._v_dot.fast(t, q, v, u)
        return self._v_dot.checked(*self._with_time("v_dot", t, q, v, u)) if rates is None else rates

    def _with_time(self, name: str, *given: Any) -> tuple[Any, ...]:
        """Return the arguments of a call; without time, insert the time in `t`, with a warning."""
        if np.ndim(given[0]) == 0:
            return given
        warnings.warn(
            f"compiled().{name} takes the time first, as the equations do: {name}(t, ...)",
            DeprecationWarning,
            stacklevel=3,
        )
        arrays = given[:-1]
        return (float(self.t[0]), *arrays[:-1], () if arrays[-1] is None else arrays[-1])
