"""The linkage's equations derived in symbols from three position vectors, and as published (Sadigh 1995, Eqs 5.41-5.45).

Equations are ``M u_dot - f``. Sets that are polynomials are compared exactly: a polynomial of degree d or less in each
variable is zero if it vanishes at d + 1 values of each, and at small integers floating point makes no error.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import casadi as ca
import numpy as np

NAMES = ("q1", "u1", "u2", "u1_dot", "u2_dot", "L1", "L2", "m1", "m2", "K", "T")
SYMBOLS = {name: ca.SX.sym(name) for name in NAMES}
ALL = ca.vertcat(*SYMBOLS.values())
q1, u1, u2, u1_dot, u2_dot, L1, L2, m1, m2, K, T = (SYMBOLS[name] for name in NAMES)

POSITIONS = {
    "exact": (ca.sin(q1), ca.cos(q1)),
    "second_order": (q1, 1.0 - 0.5 * q1**2),
    "first_order": (q1, ca.SX(1.0)),
}


def derive(position: str) -> Any:
    """Derive Lagrange's equations of q1 and q2 from the position of the second mass in the first bar's axes."""
    across, along = POSITIONS[position]
    r1, r2 = ca.vertcat(L1, 0.0), ca.vertcat(L1 - L2 * across, L2 * along)  # along n1, t1

    def speed(r: Any) -> Any:
        return ca.jtimes(r, q1, u1) + u2 * ca.vertcat(-r[1], r[0])

    kinetic = 0.5 * m1 * ca.sumsqr(speed(r1)) + 0.5 * m2 * ca.sumsqr(speed(r2))

    def rate(expression: Any) -> Any:
        along_q1 = ca.jtimes(expression, q1, u1)  # q2 does not appear
        return along_q1 + ca.jtimes(expression, u1, u1_dot) + ca.jtimes(expression, u2, u2_dot)

    first = rate(ca.gradient(kinetic, u1)) - ca.gradient(kinetic, q1) + K * q1
    return ca.vertcat(first, rate(ca.gradient(kinetic, u2)) - T)


def linearise(rows: Any) -> Any:
    """Linearise to first order in (q1, u1, u1_dot)."""
    scale = ca.SX.sym("scale")
    small = ca.vertcat(q1, u1, u1_dot)
    (scaled,) = ca.substitute([rows], [small], [scale * small])
    derivative = ca.jacobian(scaled, scale)
    zero, first = ca.substitute([scaled, derivative], [scale], [ca.SX(0.0)])
    return zero + first


def published() -> dict[str, Any]:
    """Return Eqs 5.41 (nonlinear), 5.42 (premature), 5.43 (proper), and the correction 5.45 of Sadigh (1995)."""
    s, c = ca.sin(q1), ca.cos(q1)
    M = ca.vertcat(
        ca.horzcat(m2 * L2**2, m2 * L2 * (L2 - L1 * s)),
        ca.horzcat(m2 * L2 * (L2 - L1 * s), L1**2 * (m1 + m2) + m2 * L2 * (L2 - 2.0 * L1 * s)),
    )
    f = ca.vertcat(-K * q1 - m2 * L1 * L2 * u2**2 * c, T + m2 * L1 * L2 * u1 * (2.0 * u2 + u1) * c)
    driven = L1**2 * (m1 + m2) + m2 * L2 * (L2 - 2.0 * L1 * q1)
    M_early = ca.vertcat(ca.horzcat(m2 * L2**2, m2 * L2**2), ca.horzcat(m2 * L2**2, driven))
    M_proper = ca.vertcat(ca.horzcat(m2 * L2**2, m2 * L2 * (L2 - L1 * q1)), ca.horzcat(m2 * L2**2, driven))
    f_proper = ca.vertcat(-K * q1 - m2 * L1 * L2 * u2**2, T + 2.0 * m2 * L1 * L2 * u1 * u2)
    f_early = f_proper + ca.vertcat(m2 * L2**2 * u2**2 * q1, 0.0)
    rate = ca.vertcat(u1_dot, u2_dot)
    return {
        "nonlinear": M @ rate - f,
        "premature": M_early @ rate - f_early,
        "proper": M_proper @ rate - f_proper,
        "correction": m2 * L1 * L2 * u2_dot * q1 - m2 * L2**2 * u2**2 * q1,
    }


def is_zero_polynomial(rows: Any, degree: int = 2) -> bool:
    """Return whether polynomials with at most `degree` in each symbol vanish everywhere; exact."""
    return all(_vanishes(row, degree) for row in ca.vertsplit(rows))


def _vanishes(row: Any, degree: int) -> bool:
    used = [name for name in NAMES if ca.depends_on(row, SYMBOLS[name])]
    grid = (
        np.array(list(product(range(degree + 1), repeat=len(used))), dtype=float)
        .reshape(-1 if used else 1, len(used))
        .T
    )
    points = np.ones((len(NAMES), grid.shape[1]))
    points[[NAMES.index(name) for name in used]] = grid
    return not np.any(np.array(ca.Function("row", [ALL], [row])(points)))


def worst(expression: Any, *, seed: int = 0) -> float:
    """Return the largest value at 200 random points."""
    points = np.random.default_rng(seed).uniform(-1.5, 1.5, size=(len(NAMES), 200))
    return float(np.max(np.abs(np.array(ca.Function("check", [ALL], [expression])(points)))))


def compare() -> dict[str, Any]:
    """Compare all three sets with the published ones, and with each other."""
    paper = published()
    exact, second, first = (derive(name) for name in ("exact", "second_order", "first_order"))
    proper, premature = linearise(second), linearise(first)
    return {
        "nonlinear_is_printed": worst(exact - paper["nonlinear"]) < 1e-13,  # rounding of about 20 terms of size one
        "premature_is_printed": is_zero_polynomial(premature - paper["premature"]),
        "proper_is_printed": is_zero_polynomial(proper - paper["proper"]),
        "proper_is_linearised_nonlinear": is_zero_polynomial(linearise(exact) - proper),
        "premature_plus_correction_is_proper": is_zero_polynomial(
            premature - ca.vertcat(paper["correction"], 0.0) - proper
        ),
        "premature_is_proper": is_zero_polynomial(premature - proper),
    }
