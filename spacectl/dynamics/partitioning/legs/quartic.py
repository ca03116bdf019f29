"""Ferrari's formula: the real root of a quartic next to zero, as an expression without loops or branches."""

from __future__ import annotations

from typing import Any

import casadi as ca

__all__ = ["root_next_to_zero"]

_POLISH = 2  # Newton steps to correct for cancellation in Ferrari's formula


def root_next_to_zero(coefficients: list[Any]) -> Any:
    """Return the real root of ``k0 + k1 x + k2 x^2 + k3 x^3 + k4 x^4`` nearest to zero; NaN if there is none."""
    k0, k1, k2, k3, k4 = coefficients
    a, b, c, d = k3 / k4, k2 / k4, k1 / k4, k0 / k4
    x = _nearest(_depressed_roots(*_depress(a, b, c, d)), -0.25 * a)
    for _ in range(_POLISH):
        value = (((k4 * x + k3) * x + k2) * x + k1) * x + k0
        x -= value / (((4.0 * k4 * x + 3.0 * k3) * x + 2.0 * k2) * x + k1)
    return x


def _depress(a: Any, b: Any, c: Any, d: Any) -> tuple[Any, Any, Any]:
    """Return p, q, r of ``y^4 + p y^2 + q y + r`` with y = x + a / 4."""
    s = 0.25 * a
    return b - 6.0 * s**2, c - 2.0 * b * s + 8.0 * s**3, d - c * s + b * s**2 - 3.0 * s**4


def _depressed_roots(p: Any, q: Any, r: Any) -> list[tuple[Any, Any]]:
    """Return four pairs (radicand, root); a root is real where its radicand is not negative."""
    m = ca.fmax(_largest_root(p, q, r), 1e-300)
    s = ca.sqrt(2.0 * m)
    found = []
    for sign in (1.0, -1.0):
        radicand = -2.0 * (p + m) - sign * 2.0 * q / s
        half = ca.sqrt(ca.fmax(radicand, 0.0))
        found += [(radicand, 0.5 * (sign * s + half)), (radicand, 0.5 * (sign * s - half))]
    return found


def _largest_root(p: Any, q: Any, r: Any) -> Any:
    """Return the largest real root of Ferrari's resolvent ``m^3 + p m^2 + (p^2 / 4 - r) m - q^2 / 8`` (Cardano, Viete)."""
    P, Q = -(p**2 / 12.0 + r), -(p**3) / 108.0 + p * r / 3.0 - q**2 / 8.0
    inside = 0.25 * Q**2 + P**3 / 27.0
    u = ca.power(ca.fmax(0.5 * ca.fabs(Q) + ca.sqrt(ca.fmax(inside, 0.0)), 1e-300), 1.0 / 3.0)
    one = ca.copysign(1.0, -Q) * (u - P / (3.0 * u))
    size = ca.sqrt(ca.fmax(-P / 3.0, 1e-300))
    cosine = ca.fmin(ca.fmax(-0.5 * Q / size**3, -1.0), 1.0)
    three = 2.0 * size * ca.cos(ca.acos(cosine) / 3.0)
    return ca.if_else(inside >= 0.0, one, three) - p / 3.0


def _nearest(roots: list[tuple[Any, Any]], shift: Any) -> Any:
    """Return the real root plus `shift` that is nearest to zero."""
    best, found = ca.SX(1e300), ca.SX(1e150)  # powers of the latter overflow, so that the result becomes NaN
    for radicand, root in roots:
        x = root + shift
        is_better = ca.logic_and(radicand >= 0.0, ca.fabs(x) < best)
        best, found = ca.if_else(is_better, ca.fabs(x), best), ca.if_else(is_better, x, found)
    return found
