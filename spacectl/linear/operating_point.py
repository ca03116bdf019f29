"""`find_operating_point`: positions and inputs at which the accelerations vanish.

Solve ``v_dot(q, v, u) = 0`` for the free coordinates and inputs, from a guess, by Gauss-Newton steps of least norm
on the tangent of the coordinates. Speeds are given (default zero), so steady motions such as spins are points too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl.core.array import Array, as_array, as_scalar
from spacectl.core.errors import ModelError, SolverError, unknown_name
from spacectl.core.input_checks import sequence_of
from spacectl.core.outcome import Outcome, Status
from spacectl.dynamics.consistent import make_consistent
from spacectl.dynamics.formulations.switching import stage_numbers
from spacectl.dynamics.waist.equations import EquationsOfMotion, require_equations
from spacectl.dynamics.waist.linear_terms import tangent_map
from spacectl.linear.analysis.stability import find_variation, judge_stability
from spacectl.linear.linearize import linear_terms, linearize, term_source
from spacectl.linear.models.tangent import error_labels

__all__ = ["OperatingPoint", "find_operating_point"]


@dataclass(frozen=True, kw_only=True)
class OperatingPoint:
    """A state and inputs at which the accelerations vanish.

    Parameters
    ----------
    x, u : arrays
        State and inputs.
    residual : array, shape (n_v,)
        v_dot there.
    outcome : Outcome
        Outcome of the search.
    stability : {"stable", "marginal", "unstable", "unknown"}
        Of the point with constant inputs, by the eigenvalues of the linear model there. Unknown without balance,
        in a singular position, and for a motion along which the linear model changes (use `floquet` for a periodic
        one).
    pole : complex or None
        The eigenvalue with the largest real part [1/s].
    """

    x: Any
    u: Any
    residual: Any
    outcome: Outcome
    stability: str = "unknown"
    pole: complex | None = None

    def __post_init__(self) -> None:
        for name in ("x", "u", "residual"):
            object.__setattr__(self, name, Array(getattr(self, name)))

    @property
    def is_stable(self) -> bool:
        """Whether small deviations decay with constant inputs; False also if this is marginal or unknown."""
        return self.stability == "stable"


def find_operating_point(
    eom: EquationsOfMotion,
    *,
    q: Mapping[str, float] | None = None,
    v: Mapping[str, float] | None = None,
    u: Mapping[str, float] | None = None,
    free: tuple[str, ...] = (),
    guess: Any = None,
    t: float = 0.0,
    tolerance: float = 1e-10,
    p: Any = None,
    stage: Any = None,
    check: bool = True,
) -> OperatingPoint:
    """Find a point with v_dot = 0.

    Parameters
    ----------
    eom : EquationsOfMotion
        The plant.
    q, v, u : mappings of str to float
        Coordinates, speeds and inputs that are fixed. Coordinates that are not named remain at the guess
        unless listed in `free`; modal coordinates of flexible bodies are found; speeds that are not named are
        zero; inputs that are not named are found.
    free : tuple of str
        Error coordinates to be found (``"elbow"``, ``"base.rx"``), or ``("all",)``.
    guess : array, shape (n_x,), optional
        Start; default: at rest in the reference position.
    t : float
        Time [s].
    tolerance : float
        Allowed v_dot relative to the largest acceleration due to a single term of the equations.
    p : array, optional
        Run-time parameters.
    stage : Stage or tuple of str, optional
        Of equations formed with ``switchable=True``: the stage, or the names of the active constraints.
    check : bool
        Whether an infeasible problem raises; otherwise the best point is returned with its status.

    Returns
    -------
    OperatingPoint

    Raises
    ------
    SolverError
        If there is no balance; the message names the speeds and the remaining forces.
    """
    require_equations(eom, "find_operating_point")
    p = p if stage is None else stage_numbers(eom, stage, p)
    labels = error_labels(eom)
    n = eom.n_v
    names = labels.names[:n]
    t, tolerance = as_scalar(t, "find_operating_point: t"), as_scalar(tolerance, "find_operating_point: tolerance")
    if not 0.0 < tolerance < 1.0:
        raise ModelError(f"find_operating_point: tolerance is {tolerance:g}, expected a number between 0 and 1")
    free = sequence_of(str, free, "find_operating_point: free")
    q, v, fixed_u = (_by_name(item, name) for name, item in (("q", q), ("v", v), ("u", u)))
    start = as_array(eom.x_rest if guess is None else guess, (eom.n_x,), "find_operating_point: guess")
    x = eom.state(np.array(start))
    x = eom.state(x, **q)
    x[eom.n_q :] = eom.labels.v.vector(v)
    command = eom.labels.u.vector(fixed_u)
    loose_q = list(range(n)) if free == ("all",) else [_place(names, name) for name in (*free, *_modal(eom, free))]
    for name in q:
        if name in names and _place(names, name) in loose_q:
            loose_q.remove(_place(names, name))
    if eom.constraint_rows:  # satisfy the constraints first; dependent coordinates must be free to move together
        x = np.array(make_consistent(eom, x, t=t, hold=tuple(q), p=p).x)
        if loose_q:
            loose_q = [k for k, name in enumerate(names) if name not in q]
    loose_u = [k for k, name in enumerate(eom.inputs) if name not in fixed_u]
    iterations, moved = 0, np.zeros(n)
    while (iterations := iterations + 1) <= 60:
        terms = linear_terms(eom, t, x[: eom.n_q], x[eom.n_q :], command, p)
        residual = terms.v_dot
        # springs that have been stretched balance each other within the bias: their efforts count too; and a force that
        # vanishes at an angle such as pi is only as accurate as the angle
        stretched = float(np.max(np.abs(terms.v_q) @ np.abs(moved), initial=0.0))
        rounding = 1e-2 * float(np.max(np.abs(terms.v_q), initial=0.0))
        scale = max(_scale(eom, t, x, command, p), stretched, rounding)
        if np.max(np.abs(residual), initial=0.0) <= tolerance * scale:
            break
        J = np.hstack([terms.v_q[:, loose_q], terms.v_u[:, loose_u]])
        if eom.position_rows:
            rows = eom.call("constraints", t, x[: eom.n_q], x[eom.n_q :], p=p)
            stiff = max(
                float(np.max(np.abs(J), initial=0.0)), 1.0
            )  # constraint equations have the same weight as the others
            held = np.hstack([rows[3][:, loose_q], np.zeros((rows[3].shape[0], len(loose_u)))])
            J = np.vstack([J, stiff * held])
            residual = np.concatenate([residual, stiff * rows[0].reshape(-1)])
        if J.shape[1] == 0:
            break
        step = -np.linalg.lstsq(J, residual, rcond=1e-12)[0]
        step *= min(1.0, 0.5 / max(np.max(np.abs(step[: len(loose_q)]), initial=0.0), 1e-300))
        if np.max(np.abs(step), initial=0.0) < 1e-15 * (1.0 + np.max(np.abs(command), initial=0.0)):
            break
        move = np.zeros(n)
        move[loose_q] = step[: len(loose_q)]
        moved += move
        x[: eom.n_q] += tangent_map(eom, x[: eom.n_q]) @ move
        x = eom.state(x)
        command[loose_u] += step[len(loose_q) :]
        if eom.constraint_rows and loose_q:
            x = np.array(make_consistent(eom, x, t=t, hold=tuple(q), p=p).x)
    residual = eom.v_dot(t, x[: eom.n_q], x[eom.n_q :], command, p)
    found = np.max(np.abs(residual), initial=0.0) <= tolerance * scale
    message = f"balanced in {iterations} steps" if found else _explain(eom, t, x, command, p, residual)
    outcome = Outcome(status=Status.OK if found else Status.FAILED, message=message, stats={"iterations": iterations})
    stability, pole = _judge(eom, t, x, command, p) if found else ("unknown", None)
    point = OperatingPoint(x=x, u=command, residual=residual, outcome=outcome, stability=stability, pole=pole)
    if check and not found:
        raise SolverError(message, partial=point)
    return point


def _judge(
    eom: EquationsOfMotion, t: float, x: np.ndarray, u: np.ndarray, p: Any
) -> tuple[str, complex] | tuple[str, None]:
    """Return the stability of a balanced point, and the decisive eigenvalue."""
    source = term_source(eom, p)
    try:
        if find_variation(eom, t, x, u, p, source(t, x[: eom.n_q], x[eom.n_q :], u), source):
            return "unknown", None
        return judge_stability(linearize(eom, x, u, t=t, p=p, check=False).A)
    except (ModelError, SolverError):  # a singular position has no linear model
        return "unknown", None


def _by_name(values: Any, what: str) -> dict[str, Any]:
    """Return given values by name."""
    if values is not None and not isinstance(values, Mapping):
        raise ModelError(f"find_operating_point: {what} is {values!r}, expected values by name: {{'elbow': 0.5}}")
    return dict(values or {})


def _modal(eom: EquationsOfMotion, free: tuple[str, ...]) -> list[str]:
    """Return modal coordinates that are not listed already."""
    bodies = eom.system.flexible_bodies
    return [name for body in bodies for key in body.modal_names if (name := f"{body.name}.{key}") not in free]


def _place(names: tuple[str, ...], name: str) -> int:
    if name not in names:
        raise ModelError(f"find_operating_point: {unknown_name('error coordinate', name, names)}")
    return names.index(name)


def _scale(eom: EquationsOfMotion, t: float, x: np.ndarray, u: np.ndarray, p: Any) -> float:
    """Return the largest acceleration due to bias or inputs alone, at least of order rounding."""
    q, v = x[: eom.n_q], x[eom.n_q :]
    bias = np.max(np.abs(eom.v_dot(t, q, v, np.zeros(eom.n_u), p)), initial=0.0)
    pushed = np.max(np.abs(eom.v_dot(t, q, v, u, p)), initial=0.0)
    return max(bias, pushed, 1e-6)


def _explain(eom: EquationsOfMotion, t: float, x: np.ndarray, u: np.ndarray, p: Any, v_dot: np.ndarray) -> str:
    """Describe the remaining generalised forces, largest first."""
    force = eom.mass_matrix(t, x[: eom.n_q], p) @ v_dot
    order = np.argsort(-np.abs(force))
    worst = [k for k in order[:3] if abs(force[k]) > 1e-3 * abs(force[order[0]])]
    summary = ", ".join(f"'{eom.speeds[k]}' (generalised force {force[k]:.3g} left)" for k in worst)
    return (
        f"system '{eom.system.name}' has no equilibrium: no input balances {summary}; free a coordinate (free=...), add an "
        "actuator there, or give the speeds of a steady motion"
    )
