"""Reference implementation of implicit.h in Python: implicit steps by Radau IIA with a simplified Newton method.

Sums are formed in the same order as in C, so that both give the same numbers. Change both files together.
"""

from __future__ import annotations

import math

import numpy as np

from spacectl.codegen.bound_function import NONE
from spacectl.simulation.driver.loop_data import LoopData
from spacectl.simulation.driver.reference.steps import (
    CALLBACK_ERROR,
    EPSILON,
    GO,
    NOT_FINITE,
    call,
    command,
    is_continuous,
    right_hand_side,
    scale,
    total_square,
)

__all__ = ["NO_CONVERGENCE", "factorise", "implicit_attempt", "implicit_factor", "jacobian", "lu", "lu_solve"]

NO_CONVERGENCE = -3  #: as in loop.h
MAX_NEWTON = 7  # largest number of iterations
REUSE = 1e-2  # rate of convergence up to which a Jacobian is reused


def _divide(a: np.ndarray, b: complex) -> np.ndarray:
    """Return a / b, rounded as in C."""
    if not np.iscomplexobj(a):
        return a / b
    square = b.real * b.real + b.imag * b.imag
    return (a.real * b.real + a.imag * b.imag) / square + 1j * ((a.imag * b.real - a.real * b.imag) / square)


def _times(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a b, rounded as in C."""
    if not np.iscomplexobj(a):
        return a * b
    return (a.real * b.real - a.imag * b.imag) + 1j * (a.real * b.imag + a.imag * b.real)


def lu(a: np.ndarray, pivot: np.ndarray) -> bool:
    """Factorise a real or complex matrix in place with partial pivoting; return False if it is singular."""
    for k in range(len(a)):
        column = a[k:, k]
        sizes = np.abs(column.real) + np.abs(column.imag)
        p = k + int(np.argmax(np.where(np.isnan(sizes), -1.0, sizes)))
        if not 0.0 < sizes[p - k] < math.inf:
            return False
        pivot[k] = p
        a[[k, p]] = a[[p, k]]
        a[k + 1 :, k] = _divide(a[k + 1 :, k], a[k, k])
        a[k + 1 :, k + 1 :] -= _times(a[k + 1 :, k : k + 1], a[k : k + 1, k + 1 :])
    return True


def lu_solve(a: np.ndarray, pivot: np.ndarray, b: np.ndarray) -> None:
    """Replace b by a^-1 b, with a factorised by `lu`."""
    n = len(a)
    for i in range(n):
        b[[i, pivot[i]]] = b[[pivot[i], i]]
    for j in range(n - 1):
        b[j + 1 :] -= _times(a[j + 1 :, j], b[j])
    for j in range(n - 1, -1, -1):
        b[j : j + 1] = _divide(b[j : j + 1], a[j, j])
        b[:j] -= _times(a[:j, j], b[j])


def exact_jacobian(L: LoopData, t: float) -> int:
    """Evaluate J = d s_dot / d s from the exact Jacobians of plant and law."""
    with_law, n_x = is_continuous(L), L.n_x
    if L.plant_derivatives.kind == NONE or (with_law and L.law_derivatives.kind == NONE):
        return NOT_FINITE
    status = command(L, t, L.s) if with_law else GO
    if status != GO:
        return status
    for place, values in enumerate((t, L.s[:n_x], L.u)):
        L.plant_derivatives.arguments[place][:] = values
    status = call(L.plant_derivatives)
    if status != GO:
        return status
    A, B = L.plant_derivatives.results
    L.J[:n_x] = 0.0
    L.J[:n_x, :n_x] = A.reshape(n_x, n_x).T
    if with_law:
        L.law_derivatives.arguments[0][0] = t
        L.law_derivatives.arguments[1][:] = L.s
        if L.n_r > 0:
            L.law_derivatives.arguments[2][:] = L.law.arguments[4]
        status = call(L.law_derivatives)
        if status != GO:
            return status
        U, Z = L.law_derivatives.results
        for k, place in enumerate(L.u_map):
            if L.u_low[place] <= L.u_commanded[place] <= L.u_high[place]:
                L.J[:n_x] += np.outer(B.reshape(L.n_u, n_x)[place], U.reshape(L.n_s, L.n_commands)[:, k])
        L.J[n_x:] = Z.reshape(L.n_s, L.n_z).T
    return GO if np.isfinite(L.J).all() else NOT_FINITE


def difference_jacobian(L: LoopData, t: float) -> int:
    """Evaluate J by one-sided finite differences, with one evaluation per column."""
    L.stage[:] = L.s
    for j in range(L.n_s):
        size = max(abs(L.s[j]), L.atol[j] / L.rtol, 1e-3)
        L.stage[j] = L.s[j] + (-1.5e-8 if L.K[0, j] < 0.0 else 1.5e-8) * size
        status = right_hand_side(L, t, L.stage, L.K[1])
        if status != GO:
            return status
        L.J[:, j] = (L.K[1] - L.K[0]) / (L.stage[j] - L.s[j])
        L.stage[j] = L.s[j]
    return GO


def jacobian(L: LoopData) -> int:
    """Evaluate J for the step that begins at (t, s)."""
    t = min(L.t, L.t_limit)
    status = exact_jacobian(L, t)
    if status == NOT_FINITE:
        status = difference_jacobian(L, t)
    if status != GO:
        return status
    L.n_jacobians += 1
    L.is_jacobian_current, L.wants_jacobian, L.lu_h = 1, 0, 0.0
    return GO


def factorise(L: LoopData, h: float) -> bool:
    """Factorise gamma/h - J and (alpha + i beta)/h - J; return False if one of them is singular."""
    gamma, alpha, beta = L.eigenvalues / h
    diagonal = np.arange(L.n_s)
    L.lu_real[:] = -L.J
    L.lu_real[diagonal, diagonal] += gamma
    both = -L.J + 0j
    both[diagonal, diagonal] += complex(alpha, beta)
    L.n_factorisations += 1
    L.lu_h = h
    is_regular = lu(L.lu_real, L.pivots[0]) and lu(both, L.pivots[1])
    L.lu_re[:], L.lu_im[:] = both.real, both.imag
    return is_regular


def transform(matrix: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the product of a 3 x 3 matrix and three rows."""
    return np.stack([a * rows[0] + b * rows[1] + c * rows[2] for a, b, c in matrix])


def newton(L: LoopData, h: float) -> int:
    """Solve the stage equations; return GO, NO_CONVERGENCE, or the status of the right-hand side."""
    f = (1.0 + L.C * h / L.h if L.has_history else np.ones(3))[:, None]
    L.Z[:] = (L.h if L.has_history else 0.0) * (f - 1.0) * (L.Q[0] - f * (L.Q[1] + f * L.Q[2]))
    L.W[:] = transform(L.T_inverse, L.Z)
    gamma, alpha, beta = L.eigenvalues / h
    factors, units = L.lu_re + 1j * L.lu_im, scale(L, L.s, L.s)
    size = size_old = rate_old = 0.0
    L.eta, L.theta = max(L.eta, EPSILON) ** 0.8, 0.0
    for k in range(MAX_NEWTON):
        L.n_newton = k + 1
        for i in range(3):
            L.stage[:] = L.s + L.Z[i]
            status = right_hand_side(L, L.t + L.C[i] * h, L.stage, L.Z[i])
            if status != GO:
                return status
        L.dW[:] = transform(L.T_inverse, L.Z)
        L.dW[0] -= gamma * L.W[0]
        L.dW[1] -= alpha * L.W[1] - beta * L.W[2]
        L.dW[2] -= beta * L.W[1] + alpha * L.W[2]
        lu_solve(L.lu_real, L.pivots[0], L.dW[0])
        pair = L.dW[1] + 1j * L.dW[2]
        lu_solve(factors, L.pivots[1], pair)
        L.dW[1], L.dW[2] = pair.real, pair.imag
        size = math.sqrt(total_square((L.dW / units).reshape(-1)) / (3.0 * L.n_s))
        L.sum[:] = np.abs(L.dW[0]) + np.abs(L.dW[1]) + np.abs(L.dW[2])
        L.W += L.dW
        L.Z[:] = transform(L.T, L.W)
        if k > 0:
            rate = size / size_old
            L.theta = rate if k == 1 else math.sqrt(rate * rate_old)
            rate_old = rate
            if not L.theta < 0.99:
                break
            L.eta = L.theta / (1.0 - L.theta)
            if L.eta * size <= L.newton_tol:
                return GO
            if L.eta * size * L.theta ** (MAX_NEWTON - 1 - k) > L.newton_tol:
                break
        elif L.eta * size <= L.newton_tol:
            return GO
        size_old = size
    L.eta = 1.0
    return GO if L.is_jacobian_current and size <= min(0.01, 1e3 * L.newton_tol) else NO_CONVERGENCE


def filtered_error(L: LoopData, h: float, rate: np.ndarray) -> float:
    """Set L.sum to the error estimate (gamma/h - J)^-1 (rate + gamma/h E Z); return its norm relative to the tolerance."""
    a, b, c, _ = L.E[0]
    L.sum[:] = rate + L.eigenvalues[0] / h * (a * L.Z[0] + b * L.Z[1] + c * L.Z[2])
    lu_solve(L.lu_real, L.pivots[0], L.sum)
    return math.sqrt(total_square(L.sum / scale(L, L.s, L.s_new)) / L.n_s)


def inside_error(L: LoopData, h: float) -> float:
    """Return the error of the collocation polynomial inside the step, relative to the tolerance."""
    a, b, c, d = L.E[1]
    rate = L.end_rate if L.has_history else L.K[0]
    L.sum_second[:] = a * L.Z[0] + b * L.Z[1] + c * L.Z[2] + d * h * rate
    if not L.has_history:
        lu_solve(L.lu_real, L.pivots[0], L.sum_second)
        L.sum_second *= L.eigenvalues[0] / h
    return math.sqrt(total_square(L.sum_second / scale(L, L.s, L.s_new)) / L.n_s)


def implicit_attempt(L: LoopData, h: float) -> tuple[int, float]:
    """Attempt a step of length h; return status and error."""
    status = jacobian(L) if L.wants_jacobian and not L.is_jacobian_current else GO
    while True:
        if status != GO:
            return status, 0.0
        if abs(h - L.lu_h) > 1e-6 * h and not factorise(L, h):
            L.lu_h, status = 0.0, NO_CONVERGENCE
        else:
            status = newton(L, h)
        if status == GO:
            break
        if status == CALLBACK_ERROR or L.is_jacobian_current:
            return status, 0.0
        status = jacobian(L)
    L.s_new[:] = L.s + L.Z[2]
    error = filtered_error(L, h, L.K[0])
    if error > 1.0:
        L.stage[:] = L.s + L.sum
        status = right_hand_side(L, L.t, L.stage, L.K[1])
        if status == CALLBACK_ERROR:
            return status, error
        if status == GO:
            error = filtered_error(L, h, L.K[1])
    inside = inside_error(L, h)
    if inside > 1.0 and not inside < 0.5 * L.error_inside:
        inside = 1.0
    else:
        L.error_inside = inside
    error = inside if inside > error else error
    if not error <= 1.0:
        return GO, error
    status = right_hand_side(L, L.t_new, L.s_new, L.K[3])
    if status != GO:
        return status, error
    L.error_inside, L.wants_jacobian, L.is_jacobian_current = math.inf, int(L.theta > REUSE), 0
    L.Q[:] = transform(L.F, L.Z) / h
    L.end_rate[:] = (L.R[0] * L.Z[0] + L.R[1] * L.Z[1] + L.R[2] * L.Z[2]) / h
    return GO, error


def implicit_factor(L: LoopData, h: float, error: float, accepted: bool) -> float:
    """Return the factor for the next step length."""
    safety = 0.9 * (2.0 * MAX_NEWTON + 1.0) / (2.0 * MAX_NEWTON + L.n_newton)
    if not error < 1e300:
        return 0.2
    error = max(error, 1e-10)
    factor = safety * error**-0.25
    if accepted and L.has_history:
        factor = min(factor, safety * h / L.h * (max(L.error_old, 1e-2) / (error * error)) ** 0.25)
    if accepted and not L.wants_jacobian and 1.0 <= factor < 1.2:
        return 1.0
    return 0.2 if factor < 0.2 else min(factor, 8.0)
