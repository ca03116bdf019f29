"""What the constraints of a system do at a state: which depend on each other, contradict each other, or are not kept.

Accelerations may be unique where multipliers are not; a multiplier is unique if and only if the null space of J' vanishes
on its row (001). Contradictory rows have a least-squares answer that looks harmless, so the residual is always told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl.core.errors import ModelError, SolverError
from spacectl.dynamics.constrained import NOTHING, RANK, SOLVERS
from spacectl.model.frame_constraints import FrameConstraint

__all__ = ["DEPENDENT_CURE", "ConstraintReport", "diagnose_constraints", "require_finite", "require_sides"]

#: what to do about dependent rows under formulation="multipliers", as the end of a message
DEPENDENT_CURE = (
    "; dependent constraints need formulation='kane', 'udwadia_phohomsiri', 'partitioned' or 'embedded' (at a singular "
    "position: a state beside it)"
)


@dataclass(frozen=True)
class ConstraintReport:
    """The constraints at one state.

    Parameters
    ----------
    rows : tuple of str
        All rows.
    rank : int
        How many are independent.
    dependent : tuple of str
        Rows that take part in a dependence: their multipliers are not unique.
    contradictory : tuple of str
        Rows whose accelerations cannot be met together with the others.
    residual : float
        Largest ``|J v_dot - gamma|`` [1/s^2 in the units of the rows].
    adequacy : float
        Smallest singular value of ``J M^-1 E`` (of as many as there are independent rows) with rows and forces scaled to
        unit size: 0 if the forces cannot keep the constraints.
    message : str
        The same in words, with the cure.
    """

    rows: tuple[str, ...]
    rank: int
    dependent: tuple[str, ...]
    contradictory: tuple[str, ...]
    residual: float
    adequacy: float
    message: str


def diagnose_constraints(eom: Any, t: float, x: Any, *, u: Any = None, p: Any = None) -> ConstraintReport:
    """Examine the constraints of equations of motion at a state.

    Parameters
    ----------
    eom : EquationsOfMotion
        Of a constrained system.
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
    return ConstraintReport(*report, _message(eom, *report))


def require_finite(eom: Any, what: str, values: np.ndarray, t: float, state: Any, u: Any, p: Any) -> np.ndarray:
    """`values` if all are finite; else an error that says why there are no accelerations."""
    if np.all(np.isfinite(values)):
        return values
    x = np.concatenate([np.ravel(part) for part in state]) if isinstance(state, tuple) else np.ravel(state)
    if eom.constraint_rows and np.all(np.isfinite(x)):
        told = diagnose_constraints(eom, t, x, u=u, p=p).message
        raise SolverError(
            f"system '{eom.system.name}' by {eom.formulation}: no accelerations at t = {t:g}; {told}"
            f"{DEPENDENT_CURE if eom.formulation == 'multipliers' else ''}"
        )
    names = eom.speeds if what == "v_dot" else eom.states
    bad = names[int(np.flatnonzero(~np.isfinite(values))[0])]
    raise ModelError(
        f"{what} at t = {t:g} is not finite (first at '{bad}'): the state or input is not finite, or the mass matrix "
        "is singular there"
    )


def require_sides(eom: Any, t: float, x: np.ndarray, p: Any) -> None:
    """Raise if some loop is closed the wrong way round: its rows cannot tell a turn of 180 degrees."""
    sides = eom.call("sides", t, x[: eom.n_q], p=p)[0].reshape(-1)
    active = {name.split(".")[0] for name in eom.constraint_rows}
    names = [item.name for item in eom.system.constraints if isinstance(item, FrameConstraint) and item.name in active]
    turned = [name for name, side in zip(names, sides, strict=True) if not side > 0.0]
    if turned:
        raise SolverError(
            f"system '{eom.system.name}': the nearest state meets {', '.join(turned)} turned by 180 degrees; start closer",
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
    is_something = size > NOTHING * np.max(size, initial=0.0)
    size = np.where(is_something, size, 1.0)
    return A * is_something[:, None] / size[:, None], size


def _message(
    eom: Any,
    names: tuple[str, ...],
    rank: int,
    dependent: tuple[str, ...],
    contradictory: tuple[str, ...],
    residual: float,
    adequacy: float,
) -> str:
    pieces = [f"{len(names)} constraint rows, {rank} independent"]
    if dependent:
        claim = "depend on each other" if len(dependent) > 1 else "holds what is held anyway"
        pieces.append(f"{_some(dependent)} {claim}{_between(eom, dependent)}: their multipliers are not unique")
    if contradictory:
        pieces.append(
            f"{_some(contradictory)} contradict the others by {residual:.3g}; remove one or change its right side"
        )
    artificial = eom.constraint_inputs
    if artificial and adequacy < RANK:
        pieces.append(f"inputs {_some(artificial)} cannot keep their constraints here; choose other actuators")
    elif artificial and adequacy < 1e-4:
        pieces.append(f"inputs {_some(artificial)} keep their constraints with little leverage ({adequacy:.1e})")
    return "; ".join(pieces)


def _between(eom: Any, rows: tuple[str, ...]) -> str:
    """The bodies that the constraints of some rows tie together."""
    owners = {row.split(".")[0] for row in rows}
    found = [item for item in eom.system.constraints if item.name in owners]
    bodies = sorted({getattr(item, end).split(".")[0] for item in found for end in ("a", "b") if hasattr(item, end)})
    return f" (between {', '.join(bodies)})" if bodies else ""


def _some(names: tuple[str, ...]) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:6])
    return shown if len(names) <= 6 else f"{shown} and {len(names) - 6} more"
