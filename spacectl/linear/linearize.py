"""Exact linearisation of equations of motion about a point or along a trajectory.

The native derivative recursion serves trees in the order-N formulation; other formulations are differentiated
through their implicit CasADi form. Both give the model on the tangent of the coordinates (`tangent`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import casadi as ca
import numpy as np

from spacectl.core.array import Array
from spacectl.core.errors import ModelError, ShapeError, SolverError
from spacectl.core.labels import Labels
from spacectl.dynamics.equations import EquationsOfMotion, require_equations
from spacectl.dynamics.native.linear_kernel import LinearKernel, LinearTerms
from spacectl.linear.linear_model import LinearModel
from spacectl.linear.tangent import error_labels, tangent_map, tangent_rate

__all__ = ["linear_terms", "linearize"]


def linearize(
    eom: EquationsOfMotion,
    x: Any,
    u: Any = None,
    *,
    t: float = 0.0,
    inputs: Iterable[str] | None = None,
    outputs: Iterable[str] | None = None,
    disturbances: Iterable[str] = (),
    sensitivities: Iterable[str] = (),
    p: Any = None,
) -> LinearModel:
    """Linear model ``x_dot = A x + B u + E d``, ``y = C x + D u`` of small deviations.

    Parameters
    ----------
    eom : EquationsOfMotion
        The plant.
    x : array, shape (n_x,), or an operating point with fields x and u
        Where.
    u : array, shape (n_u,), optional
        Inputs there; default zero.
    t : float
        Time [s].
    inputs, disturbances : iterables of str
        Which inputs of the plant become inputs u and disturbances d; default: all that are no disturbances, and none.
    outputs : iterable of str, optional
        Outputs or error states, by name; default: the outputs of the system, or all error states if it has none.
    sensitivities : iterable of str
        Parameters by which A is differentiated.
    p : array, optional
        Run-time parameters.

    Returns
    -------
    LinearModel

    Examples
    --------
    >>> from spacectl.dynamics import form_equations
    >>> from spacectl.model.library import orbiting_body
    >>> eom = form_equations(orbiting_body())
    >>> linearize(eom, eom.state()).x.names[:4]
    ('base.rx', 'base.ry', 'base.rz', 'base.x')
    """
    require_equations(eom, "linearize")
    state, command = _point(eom, x, u)
    q, v = state[: eom.n_q], state[eom.n_q :]
    n = eom.n_v
    terms = linear_terms(eom, t, q, v, command, p)
    labels = error_labels(eom)
    A = np.block([[tangent_rate(eom, v), np.eye(n)], [terms.v_q, terms.v_v]])
    B = np.vstack([np.zeros((n, eom.n_u)), terms.v_u])
    chosen_d = tuple(disturbances)
    chosen_u = tuple(name for name in eom.inputs if name not in chosen_d) if inputs is None else tuple(inputs)
    columns, pushes = list(eom.labels.u.indices(chosen_u)), list(eom.labels.u.indices(chosen_d))
    C, D, y = _outputs(eom, t, state, command, p, labels, outputs)
    return LinearModel(
        A=A,
        B=B[:, columns],
        C=C,
        D=D[:, columns],
        E=B[:, pushes],
        x=labels,
        u=Labels(chosen_u, tuple(eom.labels.u.unit(name) for name in chosen_u), "input"),
        y=y,
        d=Labels(chosen_d, tuple(eom.labels.u.unit(name) for name in chosen_d), "disturbance"),
        point={"t": t, "x": Array(state), "u": Array(command), "v_dot": Array(terms.v_dot)},
        sensitivities=_sensitivities(eom, t, state, command, p, tuple(sensitivities)),
    )


def linear_terms(eom: EquationsOfMotion, t: float, q: Any, v: Any, u: Any, p: Any = None) -> LinearTerms:
    """v_dot and its derivatives on the tangent: natively for order-N trees, else through CasADi."""
    values = eom.p if p is None else eom.parameters.check(p)
    if eom.formulation == "articulated":
        try:
            return LinearKernel(eom.system, eom.parameters, values).linearise(q, v, u)
        except SolverError:
            if "x_dot" in eom.numeric:
                raise
    W = tangent_map(eom, np.asarray(q, dtype=float))
    v_q, v_v, v_u = (eom.jacobian("v_dot", "v_dot", name, t, q, v, u, p=values) for name in "qvu")
    return LinearTerms(eom.v_dot(t, q, v, u, values), v_q @ W, v_v, v_u)


def _point(eom: EquationsOfMotion, x: Any, u: Any) -> tuple[np.ndarray, np.ndarray]:
    if hasattr(x, "x") and hasattr(x, "u"):
        x, u = x.x, x.u if u is None else u
    state = np.asarray(x, dtype=float)
    command = np.zeros(eom.n_u) if u is None else np.asarray(u, dtype=float)
    if state.shape != (eom.n_x,) or command.shape != (eom.n_u,):
        raise ShapeError(
            f"linearize: x has shape {state.shape}, u {command.shape}; expected ({eom.n_x},) and ({eom.n_u},)"
        )
    for k in eom.quaternions:
        if abs(np.linalg.norm(state[k : k + 4]) - 1.0) > 1e-6:
            raise ModelError(f"linearize: quaternion '{eom.states[k]}' is not of unit norm; use eom.state(...)")
    return state, command


def _outputs(
    eom: EquationsOfMotion, t: float, x: np.ndarray, u: np.ndarray, p: Any, labels: Labels, wanted: Iterable[str] | None
) -> tuple[np.ndarray, np.ndarray, Labels]:
    """C, D and labels of the chosen outputs: sensors, or error states."""
    names = (eom.labels.y.names or labels.names) if wanted is None else tuple(wanted)
    n_e = len(labels)
    C, D, units = np.zeros((len(names), n_e)), np.zeros((len(names), eom.n_u)), []
    sensed = [name for name in names if name in eom.labels.y]
    if sensed:
        tangent = np.zeros((eom.n_x, n_e))
        tangent[: eom.n_q, : eom.n_v] = tangent_map(eom, x[: eom.n_q])
        tangent[eom.n_q :, eom.n_v :] = np.eye(eom.n_v)
        by_x = eom.jacobian("outputs", "y", "x", t, x, u, p=p) @ tangent
        by_u = eom.jacobian("outputs", "y", "u", t, x, u, p=p)
    for row, name in enumerate(names):
        if name in eom.labels.y:
            k = eom.labels.y.index(name)
            C[row], D[row] = by_x[k], by_u[k]
            units.append(eom.labels.y.units[k])
        else:
            C[row, labels.index(name)] = 1.0
            units.append(labels.unit(name))
    return C, D, Labels(names, tuple(units), "output")


def _sensitivities(
    eom: EquationsOfMotion, t: float, x: np.ndarray, u: np.ndarray, p: Any, names: tuple[str, ...]
) -> dict[str, Array]:
    """dA/dp of named parameters, exactly, through CasADi's second derivatives."""
    if not names:
        return {}
    q, v, n = x[: eom.n_q], x[eom.n_q :], eom.n_v
    values = eom.p if p is None else eom.parameters.check(p)
    blocks = (("q", slice(0, n), tangent_map(eom, q)), ("v", slice(n, 2 * n), np.eye(n)))
    rates = {letter: _jacobian_rate(eom, letter) for letter, _, _ in blocks}
    result = {}
    for name in names:
        where = eom.parameters.where(name)
        stack = np.zeros((2 * n, 2 * n, where.stop - where.start))
        for k, direction in enumerate(np.eye(values.size)[where]):
            for letter, block, turn in blocks:
                stack[n:, block, k] = np.array(rates[letter](t, q, v, u, values, direction)) @ turn
        result[name] = Array(stack)
    return result


def _jacobian_rate(eom: EquationsOfMotion, letter: str) -> ca.Function:
    """(t, q, v, u, p, dp) -> derivative of d v_dot / d letter along dp."""
    f = eom.functions["v_dot_implicit" if "v_dot_implicit" in eom.functions else "v_dot"]
    symbols = {name: ca.MX.sym(name, *f.size_in(i)) for i, name in enumerate(f.name_in())}
    jacobian = ca.jacobian(f(*symbols.values()), symbols[letter])
    direction = ca.MX.sym("dp", len(eom.parameters))
    rate = ca.reshape(ca.jtimes(ca.vec(jacobian), symbols["p"], direction), *jacobian.shape)
    return ca.Function("rate", [*symbols.values(), direction], [ca.densify(rate)])
