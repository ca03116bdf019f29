"""The tangent of the coordinates and of the constraints: one error coordinate for each speed, in body axes for attitudes.

``q_dot = W v`` gives ``dq = W theta`` for a small displacement theta. A quaternion joint has a rotation
vector, with ``R = R_ref exp(theta~)`` (right-multiplicative, body axes); every other error is a difference.
If the reference rotates by ``R_ref_dot = R_ref Omega~``, the exact rate is
``theta_dot = J(theta) v - J(-theta) Omega`` with ``J(theta) = 1 + theta~ / 2 + ...``, so with
``v = v_ref + dv`` to first order

    theta_dot = (v_ref - Omega) + dv - 1/2 (v_ref + Omega) x theta

and ``theta_dot = dv - v_ref x theta`` where the reference obeys its own kinematics (Omega = v_ref).

With constraints, ``J_g theta = 0`` (equations at position level) and ``J dv + G theta = 0`` (all equations at
speed level), a pivoted choice retains some error states z and expresses all of them as ``basis z``, so that
the reduced model keeps its names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from scipy.linalg import qr

from spacectl.core.errors import ModelError, ShapeError, SolverError
from spacectl.core.labels import Labels
from spacectl.dynamics.constraints.solvers import NEGLIGIBLE, RANK
from spacectl.dynamics.waist.equations import EquationsOfMotion, require_equations
from spacectl.dynamics.waist.linear_terms import coordinate_blocks, tangent_map
from spacectl.spatial.backend import is_symbolic
from spacectl.spatial.rotation import quaternion_conjugate, quaternion_product

__all__ = [
    "Manifold",
    "constraint_manifold",
    "displace_state",
    "error_labels",
    "subtract_states",
    "tangent_rate",
    "turning_rates",
]


def error_labels(eom: EquationsOfMotion) -> Labels:
    """Return the names of the error state (theta, dv): coordinates, ``.rx .ry .rz`` for a quaternion, then speeds."""
    names: list[str] = []
    units: list[str] = []
    labels = eom.labels
    for at_q, _, turns in coordinate_blocks(eom):
        names += [labels.q.names[at_q]] if turns is None else [f"{turns}.r{axis}" for axis in "xyz"]
        units += [labels.q.units[at_q]] if turns is None else ["rad"] * 3
    return Labels(tuple(names) + labels.v.names, tuple(units) + labels.v.units, "state")


def tangent_rate(eom: EquationsOfMotion, v: np.ndarray) -> np.ndarray:
    """Return T in ``theta_dot = T theta + dv``, shape (..., n_v, n_v), for v of shape (..., n_v): ``-omega~`` for attitudes."""
    T = np.zeros((*v.shape, eom.n_v))
    for _, at, turns in coordinate_blocks(eom):
        if turns is not None:
            T[..., at : at + 3, at : at + 3] = np.cross(v[..., None, at : at + 3], np.eye(3))  # rows
    return T


def turning_rates(eom: EquationsOfMotion, q: np.ndarray, q_dot: np.ndarray) -> np.ndarray:
    """Return speeds (..., n_v) with which coordinates (..., n_q) move at rates q_dot: ``Omega = 2 q* q_dot`` for attitudes."""
    v = np.zeros((*q.shape[:-1], eom.n_v))
    for at_q, at_v, turns in coordinate_blocks(eom):
        if turns is None:
            v[..., at_v] = q_dot[..., at_q]
            continue
        a, a_dot = (np.moveaxis(item[..., at_q : at_q + 4], -1, 0) for item in (q, q_dot))
        whole = quaternion_product(quaternion_conjugate(a), a_dot)[1:4] / np.sum(a * a, axis=0)
        v[..., at_v : at_v + 3] = 2.0 * np.moveaxis(whole, 0, -1)
    return v


def subtract_states(eom: EquationsOfMotion, x: Any, reference: Any) -> Any:
    """Return the error state of `x` relative to a reference: the deviation on which `linearize` and its gains act.

    Rotation vectors in body axes of the reference, ``theta = log(R_ref' R)`` (angle at most pi), for quaternions;
    differences for all other coordinates and the speeds. ``u = u_ref - K @ subtract_states(eom, x, x_ref)`` is thus a
    valid state feedback for attitudes.

    Parameters
    ----------
    eom : EquationsOfMotion
        Equations of the states.
    x, reference : arrays, shape (n_x,) or (n, n_x), or casadi columns
        States; one reference may apply to many states. Symbols give an expression, smooth at zero error.

    Returns
    -------
    array, shape (2 n_v,) or (n, 2 n_v), or casadi column

    Examples
    --------
    >>> from spacectl import form_equations, library
    >>> eom = form_equations(library.orbiting_body())
    >>> turned = eom.state(**{"base.qz": np.tan(0.05)})  # a turn by 0.1 rad about z
    >>> subtract_states(eom, turned, eom.state())[:3].round(12)
    array([0. , 0. , 0.1])
    """
    require_equations(eom, "subtract_states")
    if is_symbolic(x, reference):
        return ca.vertcat(*_errors(eom, x, reference))
    a, b = np.asarray(x, dtype=float), np.asarray(reference, dtype=float)
    for name, array in (("x", a), ("reference", b)):
        if array.shape[-1:] != (eom.n_x,):
            raise ShapeError(f"subtract_states: {name} has shape {array.shape}, expected (..., {eom.n_x})")
    a, b = np.broadcast_arrays(a, b)
    return (
        np.concatenate([np.atleast_2d(item) for item in _errors(eom, a.T, b.T)]).reshape(2 * eom.n_v, *a.shape[:-1]).T
    )


def displace_state(eom: EquationsOfMotion, reference: Any, error: Any) -> np.ndarray:
    """Return the state that deviates from `reference` by an error state: the inverse of `subtract_states`.

    Parameters
    ----------
    eom : EquationsOfMotion
        Equations of the states.
    reference : array, shape (n_x,)
        State with unit quaternions.
    error : array, shape (2 n_v,)
        Error state; rotation vectors turn by ``R = R_ref exp(theta~)``.

    Returns
    -------
    array, shape (n_x,)
    """
    require_equations(eom, "displace_state")
    base, e = np.array(reference, dtype=float), np.asarray(error, dtype=float)
    if base.shape != (eom.n_x,) or e.shape != (2 * eom.n_v,):
        raise ShapeError(
            f"displace_state: reference has shape {base.shape}, error {e.shape}; "
            f"expected ({eom.n_x},) and ({2 * eom.n_v},)"
        )
    for at_q, at_v, turns in coordinate_blocks(eom):
        if turns is None:
            base[at_q] += e[at_v]
            continue
        theta = e[at_v : at_v + 3]
        half = 0.5 * np.linalg.norm(theta)
        turn = np.concatenate([[np.cos(half)], 0.5 * np.sinc(half / np.pi) * theta])
        base[at_q : at_q + 4] = quaternion_product(base[at_q : at_q + 4], turn)
    base[eom.n_q :] += e[eom.n_v :]
    return eom.state(base)


def _errors(eom: EquationsOfMotion, x: Any, reference: Any) -> list[Any]:
    """Return error coordinates and speeds; entries may be numbers, rows of numbers or symbols."""
    errors: list[Any] = []
    for at_q, _, turns in coordinate_blocks(eom):
        if turns is None:
            errors.append(x[at_q] - reference[at_q])
            continue
        (a, b, c, d), (w, i, j, k) = ([y[at_q + n] for n in range(4)] for y in (reference, x))
        scalar = a * w + b * i + c * j + d * k
        parts = (a * i - b * w - c * k + d * j, a * j + b * k - c * w - d * i, a * k - b * j + c * i - d * w)
        square = parts[0] ** 2 + parts[1] ** 2 + parts[2] ** 2
        errors += [part * _angle_by_sine(square, scalar) for part in parts]
    return errors + [x[eom.n_q + n] - reference[eom.n_q + n] for n in range(eom.n_v)]


def _angle_by_sine(square: Any, scalar: Any) -> Any:
    """Return ``angle / sin(angle / 2)`` with the sign of the shorter turn, from sin^2 and cos of the half angle."""
    if is_symbolic(square, scalar):
        small = square < 1e-12
        sine = ca.sqrt(ca.if_else(small, 1.0, square))
        # 2 asin(s) / s = 2 + s^2 / 3 + ..., whose next term is below rounding here
        by_sine = ca.if_else(small, 2.0 + square / 3.0, 2.0 * ca.atan2(sine, ca.fabs(scalar)) / sine)
        return ca.if_else(scalar < 0.0, -1.0, 1.0) * by_sine
    sine = np.sqrt(np.maximum(square, np.finfo(float).tiny))
    return np.where(scalar < 0.0, -1.0, 1.0) * 2.0 * np.arctan2(sine, np.abs(scalar)) / sine


@dataclass(frozen=True)
class Manifold:
    """Positions of the independent error states, and the matrix that gives all of them, (2 n_v, k)."""

    independent: list[int]
    basis: np.ndarray


def constraint_manifold(
    eom: EquationsOfMotion, t: float, q: np.ndarray, v: np.ndarray, p: Any = None, wanted: tuple[int, ...] = ()
) -> Manifold:
    """Return the tangent of the constraints at a state that satisfies them; retain the `wanted` error coordinates and rates.

    Raises
    ------
    SolverError
        If the state violates the constraints; use `make_consistent` first.
    ModelError
        If the constraints make the wanted coordinates dependent.
    """
    rows = eom.call("constraints", t, q, v, p=p)
    left = max(float(np.max(np.abs(rows[k]), initial=0.0)) for k in (0, 1))
    size = max(1.0, float(np.max(np.abs(q), initial=0.0)), float(np.max(np.abs(v), initial=0.0)))
    if left > 1e-6 * size:
        raise SolverError(
            f"the state leaves a constraint residual of {left:.3g}; pass it through make_consistent first"
        )
    n = eom.n_v
    weight = 1.0 / np.sqrt(np.maximum(np.diag(eom.mass_matrix(t, q, p)), 1e-12))
    held, J = rows[3], rows[2]
    G = eom.jacobian("constraints", "speed", "q", t, q, v, p=p) @ tangent_map(eom, q)
    turn_free, turn_basis, _ = _split(held, weight, wanted)
    rate_free, rate_basis, solve = _split(J, weight, wanted)
    basis = np.zeros((2 * n, len(turn_free) + len(rate_free)))
    basis[:n, : len(turn_free)] = turn_basis
    basis[n:, len(turn_free) :] = rate_basis
    basis[n:, : len(turn_free)] = -solve(G @ turn_basis)
    return Manifold([*turn_free, *(n + k for k in rate_free)], basis)


def _pivots(A: np.ndarray) -> tuple[np.ndarray, int]:
    """Return columns in the order of pivoting, and the rank."""
    _, R, order = qr(A, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(R))
    return order, int(np.sum(diagonal > RANK * max(float(np.max(diagonal, initial=0.0)), 1e-300)))


def _split(J: np.ndarray, weight: np.ndarray, wanted: tuple[int, ...]) -> tuple[list[int], np.ndarray, Any]:
    """Return independent positions, the basis of J's null space on them, and a solver of ``J z = b`` by the dependent ones."""
    n = weight.size
    if J.shape[0] == 0:
        return list(range(n)), np.eye(n), lambda b: np.zeros((n, b.shape[1]))
    scaled = J * weight
    size = np.linalg.norm(scaled, axis=1)
    scaled = scaled / np.where(size > NEGLIGIBLE * np.max(size), size, np.inf)[:, None]
    order, rank = _pivots(scaled)
    if wanted:
        others = np.array([k for k in range(n) if k not in wanted], dtype=int)
        chosen, found = _pivots(scaled[:, others]) if others.size else (others, 0)
        if found < rank:
            raise ModelError(
                f"linearize: independent names {len(wanted)} coordinates, which the constraints make dependent; name fewer"
            )
        order = np.concatenate([others[chosen[:rank]], np.setdiff1d(np.arange(n), others[chosen[:rank]])])
    dependent, free = sorted(order[:rank]), sorted(order[rank:])
    basis = np.zeros((n, n - rank))
    basis[free] = np.eye(n - rank)
    basis[dependent] = -np.linalg.lstsq(J[:, dependent], J[:, free], rcond=RANK)[0]

    def solve(b: np.ndarray) -> np.ndarray:
        found = np.zeros((n, b.shape[1]))
        found[dependent] = np.linalg.lstsq(J[:, dependent], b, rcond=RANK)[0]
        return found

    return [int(k) for k in free], basis, solve
