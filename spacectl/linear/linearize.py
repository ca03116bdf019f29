"""Exact linearisation of equations of motion about a point; `along` linearises along a motion.

Trees in the order-N formulation use the native derivative recursion; other formulations are differentiated
through their implicit CasADi form. Both give the model on the tangent of the coordinates (`tangent`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from spacectl.core.array import Array, as_array, as_scalar
from spacectl.core.errors import ModelError, ShapeError, SolverError, warn
from spacectl.core.input_checks import sequence_of
from spacectl.core.labels import Labels
from spacectl.dynamics.closing.weak_loops import singular_loop
from spacectl.dynamics.constraints.rank_condition import explain_rank
from spacectl.dynamics.formulations.switching import stage_numbers
from spacectl.dynamics.recursion.elements import serves_derivatives
from spacectl.dynamics.recursion.linear_kernel import LinearKernel, LinearTerms
from spacectl.dynamics.tree.irregular import require_defined
from spacectl.dynamics.waist.equations import EquationsOfMotion, require_equations
from spacectl.dynamics.waist.linear_terms import differentiate_v_dot, tangent_map
from spacectl.linear.analysis.stability import model_matrix, warn_if_varying
from spacectl.linear.models.linear_model import LinearModel, find_sensitivities
from spacectl.linear.models.tangent import constraint_manifold, error_labels, tangent_rate

__all__ = ["choose_inputs", "joint_speed_rows", "linear_outputs", "linear_terms", "linearize", "term_source"]


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
    stage: Any = None,
    independent: tuple[str, ...] = (),
    check: bool = True,
) -> LinearModel:
    """Linearise the equations about a point: ``x_dot = A x + B u + E d``, ``y = C x + D u`` of small deviations.

    The deviations are from the motion that starts at the point. If its speeds are constant (v_dot = 0) and A
    does not change along the motion, the model is valid for all time; otherwise only at that instant, and a warning
    states what changes.

    Parameters
    ----------
    eom : EquationsOfMotion
        The plant.
    x : array, shape (n_x,), or an operating point with fields x and u
        The point.
    u : array, shape (n_u,), optional
        Inputs at the point; default zero.
    t : float
        Time [s].
    inputs, disturbances : iterables of str
        Inputs of the plant that become inputs u and disturbances d; default: all except disturbances, and none.
    outputs : iterable of str, optional
        Outputs or error states, by name; default: the outputs of the system, or all error states if it has none.
    sensitivities : iterable of str
        Parameters by which A is differentiated: numbers or fields (``"boom.EI"``); ``sensitivity_methods`` states
        the method.
    p : array or mapping, optional
        Run-time parameters.
    stage : Stage or tuple of str, optional
        Of equations formed with ``switchable=True``: the stage, or the names of the active constraints.
    independent : tuple of str
        Error coordinates of a constrained system to be among the states (with their rates); the others are selected
        automatically.
    check : bool
        Whether to warn about a point that is not balanced (v_dot above 1e-8 of its largest term), and about a
        steady motion along which A changes (a disc that rolls, in the coordinates of a Free joint).

    Returns
    -------
    LinearModel

    Raises
    ------
    ModelError
        If a loop is in a singular position (the motions that it allows have no common tangent), or a rule is undefined.

    Examples
    --------
    >>> from spacectl import form_equations, library
    >>> eom = form_equations(library.orbiting_body())
    >>> linearize(eom, eom.state()).x.names[:4]
    ('base.rx', 'base.ry', 'base.rz', 'base.x')
    """
    require_equations(eom, "linearize")
    p = p if stage is None else stage_numbers(eom, stage, p)
    state, command = _point(eom, x, u)
    t, names = as_scalar(t, "linearize: t"), sequence_of(str, sensitivities, "linearize: sensitivities")
    q, v = state[: eom.n_q], state[eom.n_q :]
    n = eom.n_v
    require_defined(eom, t, state, p)
    loop = singular_loop(eom, t, state, p)
    if loop is not None:
        raise ModelError(
            f"linearize: {loop} of system '{eom.system.name}' is in a singular position ({loop.measure}), where branches of "
            "motion cross and no linear model describes it; linearize nearby, at a state from "
            "make_consistent(eom, x, hold=(...)) with another value of a joint"
        )
    source = term_source(eom, p)
    terms = source(t, q, v, command)
    is_balanced = getattr(getattr(x, "outcome", None), "is_success", False) and u is None
    if check and (is_balanced or not _warn_if_moving(eom, v, command, terms)):
        warn_if_varying(eom, t, state, command, p, terms, source)
    labels = error_labels(eom)
    A = model_matrix(eom, v, terms)
    if "joint_speeds" in eom.functions:  # user-defined speeds: theta_dot follows the joint speeds
        A[:n] = joint_speed_rows(eom, t, q, v, p)
    B = np.vstack([np.zeros((n, eom.n_u)), terms.v_u])
    commanded, pushing = choose_inputs(eom, inputs, disturbances)
    columns, pushes = list(eom.labels.u.indices(commanded)), list(eom.labels.u.indices(pushing))
    (C,), (D,), y = linear_outputs(eom, [t], [state], [command], p, outputs)
    found = find_sensitivities(eom, t, state, command, p, names)
    basis, every = None, None
    if eom.constraint_rows:
        on = constraint_manifold(eom, t, q, v, p, labels.indices(independent))
        keep, basis = on.independent, on.basis
        A, B, C = A[keep] @ basis, B[keep], C @ basis
        every = labels
        labels = Labels(tuple(labels.names[k] for k in keep), tuple(labels.units[k] for k in keep), labels.kind)
        if found:
            raise ModelError(
                "linearize: sensitivities of constrained systems are not supported; take the difference of two models"
            )
    return LinearModel(
        A=A,
        B=B[:, columns],
        C=C,
        D=D[:, columns],
        E=B[:, pushes],
        x=labels,
        u=commanded,
        y=y,
        d=pushing,
        point={"t": t, "x": Array(state), "u": Array(command), "v_dot": Array(terms.v_dot), "inputs": eom.inputs},
        sensitivities={name: value for name, (value, _) in found.items()},
        sensitivity_methods={name: method for name, (_, method) in found.items()},
        basis=basis,
        all_x=every,
    )


def linear_terms(eom: EquationsOfMotion, t: float, q: Any, v: Any, u: Any, p: Any = None) -> LinearTerms:
    """Return v_dot and its derivatives on the tangent: natively for order-N trees, otherwise through CasADi."""
    return term_source(eom, p)(t, q, v, u)


def term_source(eom: EquationsOfMotion, p: Any = None) -> Callable[[float, Any, Any, Any], LinearTerms]:
    """Return a function (t, q, v, u) -> LinearTerms for fixed parameters p, prepared once for many points."""
    values = eom.parameters.of(p)

    def by_casadi(t: float, q: Any, v: Any, u: Any) -> LinearTerms:
        return differentiate_v_dot(eom, t, q, v, u, values)

    if not eom.handover.recurses_over_tree or not serves_derivatives(eom.system):
        return by_casadi
    try:
        kernel = LinearKernel(eom.system, eom.parameters, values)
    except SolverError:
        if eom.handover.solves_in_calls:
            raise
        return by_casadi

    def by_recursion(t: float, q: Any, v: Any, u: Any) -> LinearTerms:
        try:
            return kernel.linearise(q, v, u)
        except SolverError as error:
            if eom.handover.solves_in_calls:
                raise SolverError(explain_rank(eom, t, q, v, values) or str(error)) from error
            return by_casadi(t, q, v, u)

    return by_recursion


def joint_speed_rows(eom: EquationsOfMotion, t: float, q: np.ndarray, v: np.ndarray, p: Any) -> np.ndarray:
    """Return the rows of A for theta_dot, (n_v, 2 n_v), where joint speeds V(q, v) depend on user-defined speeds."""
    V = eom.call("joint_speeds", t, q, v, p=p)[0].reshape(-1)
    V_q, V_v = (eom.jacobian("joint_speeds", "joint_speeds", name, t, q, v, p=p) for name in "qv")
    return np.hstack([tangent_rate(eom, V) + V_q @ tangent_map(eom, q), V_v])


def choose_inputs(
    eom: EquationsOfMotion, inputs: Iterable[str] | None, disturbances: Iterable[str]
) -> tuple[Labels, Labels]:
    """Return the labels of commanded inputs (default: all except disturbances) and of disturbances."""
    known = eom.labels.u
    pushing = tuple(disturbances)
    commanded = tuple(name for name in eom.inputs if name not in pushing) if inputs is None else tuple(inputs)
    return (
        Labels(commanded, tuple(known.unit(name) for name in commanded), "input"),
        Labels(pushing, tuple(known.unit(name) for name in pushing), "disturbance"),
    )


def _warn_if_moving(eom: EquationsOfMotion, v: np.ndarray, u: np.ndarray, terms: LinearTerms) -> bool:
    """Warn, with the largest accelerations, if v_dot is more than rounding of its terms; return whether it is."""
    made = np.sum(np.abs(terms.v_q), axis=1) + np.abs(terms.v_v) @ np.abs(v) + np.abs(terms.v_u) @ np.abs(u)
    rate, units = np.abs(terms.v_dot), np.array(eom.labels.v.units)
    for unit in set(units):  # rounding of a large entry affects small ones
        made[units == unit] = np.maximum(made[units == unit], 1e-4 * np.max(made[units == unit]))
    moving = np.flatnonzero(rate > np.maximum(1e-8 * made, 1e-300))
    if moving.size == 0:
        return False
    worst = moving[np.argsort(-rate[moving])][:3]
    summary = ", ".join(
        f"'{eom.speeds[k]}' by {terms.v_dot[k]:.3g} {_per_second(eom.labels.v.units[k])}" for k in worst
    )
    warn(
        f"linearize: the point of system '{eom.system.name}' is not balanced, its speeds change: {summary}; the model is valid "
        "at this instant only. find_operating_point(eom, ...) finds a balanced point, linearize_along(eom, ...) "
        "follows a motion; pass check=False if this is intended"
    )
    return True


def _point(eom: EquationsOfMotion, x: Any, u: Any) -> tuple[np.ndarray, np.ndarray]:
    if hasattr(x, "x") and hasattr(x, "u"):
        x, u = x.x, x.u if u is None else u
    state = np.asarray(as_array(x, None, "linearize: x"))
    command = np.zeros(eom.n_u) if u is None else np.asarray(as_array(u, None, "linearize: u"))
    if state.shape != (eom.n_x,) or command.shape != (eom.n_u,):
        raise ShapeError(
            f"linearize: x has shape {state.shape}, u {command.shape}; expected ({eom.n_x},) and ({eom.n_u},)"
        )
    for k in eom.quaternions:
        if abs(np.linalg.norm(state[k : k + 4]) - 1.0) > 1e-6:
            raise ModelError(f"linearize: quaternion '{eom.states[k]}' is not of unit norm; use eom.state(...)")
    return state, command


def linear_outputs(
    eom: EquationsOfMotion, t: Any, x: Any, u: Any, p: Any, wanted: Iterable[str] | None
) -> tuple[np.ndarray, np.ndarray, Labels]:
    """Return C (m, k, 2 n_v), D (m, k, n_u) and labels of the selected outputs (sensors, or error states) at m points."""
    states = error_labels(eom)
    names = (eom.labels.y.names or states.names) if wanted is None else tuple(wanted)
    m, n_e = len(t), len(states)
    C, D = np.zeros((m, len(names), n_e)), np.zeros((m, len(names), eom.n_u))
    units = []
    sensed = [(row, eom.labels.y.index(name)) for row, name in enumerate(names) if name in eom.labels.y]
    for row, name in enumerate(names):
        if name in eom.labels.y:
            units.append(eom.labels.y.unit(name))
        else:
            C[:, row, states.index(name)] = 1.0
            units.append(states.unit(name))
    if sensed:
        rows, sources = (list(item) for item in zip(*sensed, strict=True))
        by_x = np.zeros((m, len(rows), eom.n_x))
        for k in range(m):
            by_x[k] = eom.jacobian("outputs", "y", "x", t[k], x[k], u[k], p=p)[sources]
            D[k, rows] = eom.jacobian("outputs", "y", "u", t[k], x[k], u[k], p=p)[sources]
        C[:, rows, : eom.n_v] = by_x[:, :, : eom.n_q] @ tangent_map(eom, np.asarray(x)[:, : eom.n_q])
        C[:, rows, eom.n_v :] = by_x[:, :, eom.n_q :]
    return C, D, Labels(names, tuple(units), "output")


def _per_second(unit: str) -> str:
    """Return the unit of the rate of something in `unit`: rad/s -> rad/s^2."""
    return f"{unit}^2" if unit.endswith("/s") else f"{unit}/s"
