"""Polynomials modulo a prime (coefficients from the constant upwards), as far as Dedekind's theorem needs them; integers only."""

from __future__ import annotations

__all__ = ["factor_degrees", "reconstruct"]

Poly = list[int]


def _trim(a: Poly) -> Poly:
    while a and a[-1] == 0:
        a.pop()
    return a


def _add(a: Poly, b: Poly, factor: int, p: int) -> Poly:
    longer = max(len(a), len(b))
    a, b = a + [0] * (longer - len(a)), b + [0] * (longer - len(b))
    return _trim([(x + factor * y) % p for x, y in zip(a, b, strict=True)])


def _times(a: Poly, b: Poly, p: int) -> Poly:
    out = [0] * max(len(a) + len(b) - 1, 0)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            out[i + j] = (out[i + j] + x * y) % p
    return _trim(out)


def _divide(a: Poly, b: Poly, p: int) -> tuple[Poly, Poly]:
    a, quotient, over = a[:], [0] * max(len(a) - len(b) + 1, 0), pow(b[-1], -1, p)
    while len(a) >= len(b):
        k, value = len(a) - len(b), a[-1] * over % p
        quotient[k] = value
        for i, x in enumerate(b):
            a[i + k] = (a[i + k] - value * x) % p
        _trim(a)
    return _trim(quotient), a


def _common(a: Poly, b: Poly, p: int) -> Poly:
    while b:
        a, b = b, _divide(a, b, p)[1]
    return a


def _power(a: Poly, exponent: int, modulus: Poly, p: int) -> Poly:
    out = [1]
    while exponent:
        if exponent & 1:
            out = _divide(_times(out, a, p), modulus, p)[1]
        a = _divide(_times(a, a, p), modulus, p)[1]
        exponent >>= 1
    return out


def factor_degrees(f: Poly, p: int) -> list[int]:
    """Degrees of the irreducible factors of a polynomial without multiple roots, by splitting off ``x^(p^k) - x``."""
    if len(_common(f, _trim([i * c % p for i, c in enumerate(f)][1:]), p)) != 1:
        raise ValueError("the polynomial has multiple roots")
    found: list[int] = []
    x: Poly = [0, 1]
    for k in range(1, len(f)):
        if len(f) == 1:
            break
        x = _power(x, p, f, p)
        part = _common(f, _add(x, [0, 1], -1, p), p)
        found += [k] * ((len(part) - 1) // k)
        f = _divide(f, part, p)[0]
        x = _divide(x, f, p)[1] if len(f) > 1 else []
    return found


def reconstruct(points: list[int], values: list[int], degree: int, p: int) -> tuple[Poly, Poly]:
    """Numerator (of at most this degree) and denominator of the rational function with these values (Euclid's algorithm)."""
    whole, f = [1], []
    for x, y in zip(points, values, strict=True):
        step = (y - _at(f, x, p)) * pow(_at(whole, x, p), -1, p) % p
        f, whole = _add(f, whole, step, p), _times(whole, [-x % p, 1], p)
    before, now, s, t = whole, f, [], [1]
    while len(now) - 1 > degree:
        quotient, rest = _divide(before, now, p)
        before, now, s, t = now, rest, t, _add(s, _times(quotient, t, p), -1, p)
    return now, t


def _at(f: Poly, x: int, p: int) -> int:
    value = 0
    for c in reversed(f):
        value = (value * x + c) % p
    return value
