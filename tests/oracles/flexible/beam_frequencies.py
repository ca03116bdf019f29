"""Natural frequencies of uniform and tapered beams, bars and strings from the literature. numpy only.

Textbook equations (Blevins), Huang's equation for the Timoshenko cantilever (J. Appl. Mech. 28, 1961), and, for all
that has no short equation, the exact solution of the beam's ordinary differential equations with constant
coefficients: boundary conditions select a determinant that must vanish.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.polynomial import Chebyshev

__all__ = ["EULER", "huang", "pinned_timoshenko", "roots", "rotating_flap", "tip_body", "transfer", "warping"]

_TAN = lambda b: np.sin(b) - np.cos(b) * np.tanh(b)  # noqa: E731
_PLUS = lambda b: np.sin(b) + np.cos(b) * np.tanh(b)  # noqa: E731

#: Equations whose roots b = (m omega^2 L^4 / EI)^(1/4) are those of a uniform beam, divided by cosh b where it is large
EULER: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("clamped", "free"): lambda b: np.cos(b) + 1.0 / np.cosh(b),
    ("clamped", "clamped"): lambda b: np.cos(b) - 1.0 / np.cosh(b),
    ("free", "free"): lambda b: np.cos(b) - 1.0 / np.cosh(b),
    ("clamped", "pinned"): _TAN,
    ("pinned", "free"): _TAN,
    ("pinned", "pinned"): np.sin,
    ("clamped", "sliding"): _PLUS,
    ("sliding", "free"): _PLUS,
    ("pinned", "sliding"): np.cos,
    ("sliding", "sliding"): np.sin,
}


def roots(f: Callable[[float], float], n: int, low: float, high: float, grid: int = 2000) -> np.ndarray:
    """The first n sign changes of f between low and high, halved until rounding ends it."""
    x = np.linspace(low, high, grid)
    y = np.array([f(value) for value in x])
    found = []
    for k in np.flatnonzero(np.sign(y[:-1]) * np.sign(y[1:]) < 0)[:n]:
        a, b, sign = x[k], x[k + 1], np.sign(y[k])
        while True:
            middle = 0.5 * (a + b)
            if middle in (a, b):
                break
            a, b = (middle, b) if np.sign(f(middle)) == sign else (a, middle)
        found.append(0.5 * (a + b))
    return np.array(found)


def tip_body(b: float, mass: float, inertia: float) -> float:
    """Cantilever with a tip body: mass / (m L) and inertia / (m L^3); zero at the roots b, divided by cosh b."""
    C, S, c, s = np.cosh(b), np.sinh(b), np.cos(b), np.sin(b)
    w, slope = np.array([c - C, s - S]), b * np.array([-s - S, c - C])
    bend, shear = b**2 * np.array([-c - C, -s - S]), b**3 * np.array([s - S, -c - C])
    return float(np.linalg.det([bend - inertia * b**4 * slope, shear + mass * b**4 * w]) / C)


def huang(b: float, r: float, s: float) -> float:
    """Timoshenko cantilever below cut-off: b^2 = m omega^2 L^4 / EI, r^2 = rotary / (m L^2), s^2 = EI / (GA L^2)."""
    half = np.sqrt((r**2 - s**2) ** 2 + 4.0 / b**2)
    alpha, beta = (np.sqrt((sign * (r**2 + s**2) + half) / 2.0) for sign in (-1.0, 1.0))
    first = (b**2 * (r**2 - s**2) ** 2 + 2.0) * np.cosh(b * alpha) * np.cos(b * beta)
    last = b * (r**2 + s**2) / np.sqrt(1.0 - b**2 * r**2 * s**2) * np.sinh(b * alpha) * np.sin(b * beta)
    return float(2.0 + first - last)


def pinned_timoshenko(n: int, *, length: float, mass: float, EI: float, GA: float, rotary: float) -> np.ndarray:
    """Both frequencies of half waves n of a pinned beam: ``(GA k^2 - m w^2)(EI k^2 + GA - J w^2) = GA^2 k^2``."""
    k = n * np.pi / length
    squares = np.roots([mass * rotary, -(mass * (EI * k**2 + GA) + rotary * GA * k**2), GA * EI * k**4])
    return np.sort(np.sqrt(squares))


def transfer(
    omega: float, ends: Sequence[str], *, length: float, mass: float, EI: float, GA: float = np.inf,
    rotary: float = 0.0, tension: float = 0.0,
) -> float:  # fmt: skip
    """Determinant of the boundary conditions of any uniform beam, with shear, rotary inertia and tension.

    State (w, turn, moment, transverse force Q): ``turn' = moment / EI``, ``w' = slope``, ``Q' = -m omega^2 w``,
    ``moment' = -GA (slope - turn) - J omega^2 turn`` with ``Q = GA (slope - turn) + T slope``.
    """
    A = np.zeros((4, 4))
    A[1, 2], A[3, 0] = 1.0 / EI, -mass * omega**2
    if np.isinf(GA):
        A[0, 1] = 1.0
        A[2] = [0.0, tension - rotary * omega**2, 0.0, -1.0]  # the shear force is Q - T slope
    else:
        A[0] = [0.0, GA / (GA + tension), 0.0, 1.0 / (GA + tension)]
        A[2] = -GA * A[0]
        A[2, 1] += GA - rotary * omega**2
    values, vectors = np.linalg.eig(A)
    X = ((vectors * np.exp(values * length)) @ np.linalg.inv(vectors)).real
    held = {"clamped": (0, 1), "pinned": (0, 2), "sliding": (1, 3), "free": (2, 3)}
    open_ends = [k for k in range(4) if k not in held[ends[0]]]
    block = X[np.ix_(held[ends[1]], open_ends)]
    return float(np.linalg.det(block) / (np.linalg.norm(block[0]) * np.linalg.norm(block[1])))


def warping(omega: float, *, length: float, GJ: float, E_Gamma: float, polar: float) -> float:
    """Torsion with warping, clamped (a = a' = 0) and free (a'' = 0): ``E Gamma a'''' - GJ a'' = polar omega^2 a``."""
    half = GJ / (2.0 * E_Gamma)
    rest = np.sqrt(half**2 + polar * omega**2 / E_Gamma)
    p, q = np.sqrt(rest + half), np.sqrt(rest - half)  # a = A cosh px + B sinh px + C cos qx + D sin qx
    C, S, c, s = np.cosh(p * length), np.sinh(p * length), np.cos(q * length), np.sin(q * length)
    second = [p * p * C + q * q * c, p * p * S + p * q * s]  # of cosh - cos and sinh - (p/q) sin
    first, third = [p * S + q * s, p * C - p * c], [p**3 * S - q**3 * s, p**3 * C + p * q * q * c]
    torque = [GJ * f - E_Gamma * t for f, t in zip(first, third, strict=True)]
    return float((second[0] * torque[1] - second[1] * torque[0]) / C**2)


def rotating_flap(rate: float, n: int, *, terms: int = 24) -> np.ndarray:
    """Flap frequencies of a rotating cantilever without hub, units of sqrt(EI / m L^4): w'''' - (T w')' = omega^2 w.

    ``T = rate^2 (1 - x^2) / 2``. Collocation of the differential equation itself at Chebyshev points, with the boundary
    conditions w(0) = w'(0) = w''(1) = w'''(1) = 0 as rows: no energy, no integrals.
    """
    basis = [Chebyshev.basis(k, domain=[0.0, 1.0]) for k in range(terms)]

    def rows(x: np.ndarray, order: int) -> np.ndarray:
        return np.stack([(T.deriv(order) if order else T)(x) for T in basis], axis=1)

    x = 0.5 * (1.0 - np.cos(np.pi * (np.arange(terms - 4) + 0.5) / (terms - 4)))
    w = {order: rows(x, order) for order in (0, 1, 2, 4)}
    L = w[4] - rate**2 * (0.5 * (1.0 - x**2)[:, None] * w[2] - x[:, None] * w[1])
    zero, one = np.zeros(1), np.ones(1)
    conditions = np.vstack([rows(zero, 0), rows(zero, 1), rows(one, 2), rows(one, 3)])
    null = np.linalg.svd(conditions)[2][4:].T
    squares = np.linalg.eigvals(np.linalg.solve(w[0] @ null, L @ null))
    real = np.sort(squares[np.abs(squares.imag) < 1e-6 * np.abs(squares)].real)
    return np.sqrt(real[:n])
