"""Diagnose the constraints of a system at a state: which are dependent, contradictory, or not maintained by their actuators.

Accelerations may be unique where multipliers are not; a multiplier is unique if and only if the null space of J' vanishes
on its row (001). Contradictory equations have a plausible least-squares solution, so the residual is always reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from spacectl.core.errors import ModelError, SolverError, list_names
from spacectl.dynamics.constraints.rank_condition import explain_rank, find_rank
from spacectl.dynamics.constraints.solvers import NEGLIGIBLE, RANK, SOLVERS
from spacectl.dynamics.tree.irregular import explain_undefined, require_defined

if TYPE_CHECKING:
    from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["DEPENDENT_CURE", "ConstraintReport", "diagnose_constraints", "require_sides", "solve_finite"]

#: remedy for dependent equations under formulation="multipliers", as the end of a message
DEPENDENT_CURE = (
    "; dependent constraints need formulation='kane', 'udwadia_phohomsiri', 'partitioned' or 'embedded' (at a singular "
    "position: a nearby state)"
)


@dataclass(frozen=True)
class ConstraintReport:
    """The constraints at one state.

    Parameters
    ----------
    rows : tuple of str
        Names of all constraint equations.
    rank : int
        Number of independent equations.
    dependent : tuple of str
        Equations that take part in a linear dependence: their multipliers are not unique.
    contradictory : tuple of str
        Equations that no accelerations satisfy together with the others.
    residual : float
        Largest ``|J v_dot - gamma|`` [1/s^2 in the units of the equations].
    adequacy : float
        Smallest singular value of ``J M^-1 E`` (of as many as there are independent equations) with rows and forces of unit
        norm: 0 if the forces cannot maintain the constraints.
    message : str
        Summary with a remedy.
    motion_rank : int
        Rank of ``[M J']``; the accelerations are unique if it equals the number of speeds (rank condition of Udwadia and
        Phohomsiri).
    undetermined : tuple of str
        Directions along which no body has inertia and no constraint acts, as combinations of speeds.
    """

    rows: tuple[str, ...]
    rank: int
    dependent: tuple[str, ...]
    contradictory: tuple[str, ...]
    residual: float
    adequacy: float
    message: str
    motion_rank: int
    undetermined: tuple[str, ...]


def diagnose_constraints(eom: EquationsOfMotion, t: float, x: Any, *, u: Any = None, p: Any = None) -> ConstraintReport:
    """Diagnose the constraints of equations of motion at a state.

    Parameters
    ----------
    eom : EquationsOfMotion
        Equations of a constrained system.
    t : float
        Time [s].
    x : array, shape (n_x,)
        State.
    u : array, shape (n_u,), optional
        Inputs; default zero.
    p : array, optional
        Run-time parameters.
    """
    state = np.asarray(x, dtype=float)
    q, v = state[: eom.n_q], state[eom.n_q :]
    require_defined(eom, t, state, p)
    command = np.zeros(eom.n_u) if u is None else np.asarray(u, dtype=float)
    _, M, f, J, gamma, E = eom.call("terms", t, q, v, command, p=p)
    f, gamma = f.reshape(-1), gamma.reshape(-1)
    scale = 1.0 / np.sqrt(np.maximum(np.diag(M), 1e-14 * max(float(np.max(np.diag(M))), 1e-300)))
    unit, size = _unit_rows(J * scale)
    U, singular, _ = np.linalg.svd(unit)
    rank = int(np.sum(singular > RANK * max(float(singular[0]), 1e-300))) if singular.size else 0
    null = U[:, rank:]
    names = eom.constraint_rows
    dependent = tuple(name for name, row in zip(names, null, strict=True) if np.max(np.abs(row), initial=0.0) > 1e-7)
    try:
        v_dot = SOLVERS["pseudoinverse" if np.allclose(E, J.T) else "directions"](M, f, J, gamma, E, check=False).v_dot
        gap = np.abs(J @ v_dot - gamma)
        made_of = np.abs(J) @ (np.abs(v_dot) + scale**2 * np.abs(f)) + np.abs(gamma)
    except (SolverError, np.linalg.LinAlgError):
        gap = np.abs(null @ (null.T @ (gamma / size))) * size
        made_of = np.abs(gamma)
    limit = 1e-6 * made_of + 1e-12 * np.max(made_of, initial=0.0)
    contradictory = tuple(name for name, d, most in zip(names, gap, limit, strict=True) if d > most)
    adequacy = _adequacy(M, J, E, scale, rank)
    report = (names, rank, dependent, contradictory, float(np.max(gap, initial=0.0)), adequacy)
    motion, words = find_rank(M, J), _message(eom, *report)
    loose = explain_rank(eom, t, q, v, p) if motion.rank < eom.n_v else ""
    message = f"{words}; {loose}" if loose else words
    return ConstraintReport(*report, message, motion.rank, motion.in_words(eom.speeds))


def solve_finite(eom: EquationsOfMotion, what: str, arguments: tuple[Any, ...], p: Any) -> np.ndarray:
    """Call a function that solves for accelerations; raise an error with the cause if there are none.

    Parameters
    ----------
    eom : EquationsOfMotion
        By any formulation.
    what : {"x_dot", "v_dot", "multipliers"}
        Name of the function.
    arguments : tuple
        (t, x, u) or (t, q, v, u).
    p : array or None
        Run-time parameters.

    Raises
    ------
    ModelError
        If a term of the equations is not finite there, or the mass matrix of a tree is singular.
    SolverError
        If the constraints and the inertia do not determine the accelerations, or the constraints contradict each other.
    """
    cause: SolverError | None = None
    try:
        native = eom.native_value(what, arguments, p)
        values: np.ndarray = (eom.call(what, *arguments, p=p)[0] if native is None else native).reshape(-1)
        if np.all(np.isfinite(values)):
            return values
    except SolverError as error:
        cause = error
    t, *state, u = arguments
    x = np.concatenate([np.ravel(part) for part in state]).astype(float)
    _require_finite_arguments(eom, t, x, u)
    require_defined(eom, t, x, p)
    head = f"system '{eom.system.name}' by {eom.formulation}: no accelerations at t = {float(t):g}"
    undefined = explain_undefined(eom, t, x, p)
    loose = "" if undefined else explain_rank(eom, t, x[: eom.n_q], x[eom.n_q :], p)
    if undefined or not eom.constraint_rows:
        raise ModelError(f"{head}; {undefined or loose or 'the mass matrix is singular there'}") from cause
    if cause is not None and not loose:
        raise cause
    reason = loose or diagnose_constraints(eom, t, x, u=u, p=p).message
    cure = DEPENDENT_CURE if eom.handover.needs_independent_equations and not loose else ""
    raise SolverError(f"{head}; {reason}{cure}") from cause


def _require_finite_arguments(eom: EquationsOfMotion, t: float, x: np.ndarray, u: Any) -> None:
    for names, values in ((eom.states, x), (eom.inputs, np.ravel(u))):
        bad = np.flatnonzero(~np.isfinite(np.asarray(values, dtype=float)))
        if bad.size:
            raise ModelError(
                f"no accelerations at t = {float(t):g}: '{names[bad[0]]}' is {values[bad[0]]}; give finite numbers"
            )


def require_sides(eom: EquationsOfMotion, t: float, x: np.ndarray, p: Any) -> None:
    """Raise if some loop is closed with a frame rotated by 180 degrees, which its equations cannot distinguish."""
    sides = eom.call("sides", t, x[: eom.n_q], p=p)[0].reshape(-1)
    active = {name.split(".")[0] for name in eom.constraint_rows}
    names = [item.name for item in eom.system.constraints if item.has_side and item.name in active]
    turned = [name for name, side in zip(names, sides, strict=True) if not side > 0.0]
    if turned:
        raise SolverError(
            f"system '{eom.system.name}': the nearest state satisfies {', '.join(turned)} turned by 180 degrees; start closer",
            partial=x,
        )


def _adequacy(M: np.ndarray, J: np.ndarray, E: np.ndarray, scale: np.ndarray, rank: int) -> float:
    rows, _ = _unit_rows(J * scale)
    pushes, _ = _unit_rows((E * scale[:, None]).T)
    inertia = scale[:, None] * M * scale
    try:
        reach = rows @ np.linalg.solve(inertia, pushes.T)
    except np.linalg.LinAlgError:
        reach = rows @ np.linalg.pinv(inertia) @ pushes.T
    values = np.linalg.svd(reach, compute_uv=False)
    return float(values[rank - 1]) if rank else np.inf


def _unit_rows(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    size = np.linalg.norm(A, axis=1)
    counts = size > NEGLIGIBLE * np.max(size, initial=0.0)
    size = np.where(counts, size, 1.0)
    return A * counts[:, None] / size[:, None], size


def _message(
    eom: EquationsOfMotion,
    names: tuple[str, ...],
    rank: int,
    dependent: tuple[str, ...],
    contradictory: tuple[str, ...],
    residual: float,
    adequacy: float,
) -> str:
    pieces = [f"{len(names)} constraint equations, {rank} independent"]
    if dependent:
        claim = "depend on each other" if len(dependent) > 1 else "has no effect"
        pieces.append(f"{list_names(dependent)} {claim}{_between(eom, dependent)}: their multipliers are not unique")
    if contradictory:
        pieces.append(
            f"{list_names(contradictory)} contradict the others by {residual:.3g}; remove one or change its right-hand side"
        )
    artificial = eom.constraint_inputs
    if artificial and adequacy < RANK:
        pieces.append(f"inputs {list_names(artificial)} cannot maintain their constraints here; choose other actuators")
    elif artificial and adequacy < 1e-4:
        pieces.append(
            f"inputs {list_names(artificial)} maintain their constraints with little authority ({adequacy:.1e})"
        )
    return "; ".join(pieces)


def _between(eom: EquationsOfMotion, rows: tuple[str, ...]) -> str:
    """Return the bodies that the constraints of some equations connect, for a message."""
    owners = {row.split(".")[0] for row in rows}
    found = [item for item in eom.system.constraints if item.name in owners]
    bodies = sorted({end.split(".")[0] for item in found for end in item.ends or ()})
    return f" (between {', '.join(bodies)})" if bodies else ""
