"""The eliminant of a leg of three universal joints modulo a prime: one polynomial in the tangent of half the middle joint's
first angle.

With that tangent given, the other angle of the middle joint and the second angle of the first one each bring a square root,
so that the row of the closing joint is a number of an algebra of dimension four over the field: a matrix. Its determinant
(the norm) is a rational function of the tangent whose zeros are the solutions. Nothing here uses the package.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tests.oracles.flexible.modular import reconstruct

__all__ = ["eliminant"]

ROOTS = 16  # of the general leg with six turning joints; the test holds that neither numerator nor denominator has more


class Number:
    """A matrix modulo p, of an algebra whose members commute."""

    p = 0

    def __init__(self, rows: list[list[int]]):
        self.rows = rows

    @staticmethod
    def of(value: Any) -> Number:
        """A member of the field (or already a number)."""
        if isinstance(value, Number):
            return value
        value = Fraction(value)
        scalar = value.numerator * pow(value.denominator, -1, Number.p) % Number.p
        return Number([[scalar if i == j else 0 for j in range(4)] for i in range(4)])

    def __add__(self, other: Any) -> Number:
        b = Number.of(other).rows
        return Number(
            [[(x + y) % self.p for x, y in zip(r, s, strict=True)] for r, s in zip(self.rows, b, strict=True)]
        )

    def __mul__(self, other: Any) -> Number:
        columns = list(zip(*Number.of(other).rows, strict=True))
        return Number([[sum(x * y for x, y in zip(r, c, strict=True)) % self.p for c in columns] for r in self.rows])

    def __sub__(self, other: Any) -> Number:
        return self + Number.of(other) * -1

    def __rsub__(self, other: Any) -> Number:
        return Number.of(other) - self

    __radd__, __rmul__ = __add__, __mul__

    def solve(self) -> tuple[int, Number]:
        """Determinant and inverse, by Gauss and Jordan."""
        p, n, value = self.p, 4, 1
        M = [row[:] + [int(i == j) for j in range(n)] for i, row in enumerate(self.rows)]
        for i in range(n):
            k = next((j for j in range(i, n) if M[j][i]), None)
            if k is None:
                return 0, self
            if k != i:
                M[i], M[k], value = M[k], M[i], -value
            value = value * M[i][i] % p
            over = pow(M[i][i], -1, p)
            M[i] = [x * over % p for x in M[i]]
            for j in range(n):
                if j != i and M[j][i]:
                    M[j] = [(x - M[j][i] * y) % p for x, y in zip(M[j], M[i], strict=True)]
        return value % p, Number([row[n:] for row in M])


def _dot(a: Any, b: Any) -> Any:
    return sum((x * y for x, y in zip(a, b, strict=True)), Number.of(0))


def _cross(a: Any, b: Any) -> list[Any]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def _turned(axis: Any, c: Any, s: Any, u: Any) -> list[Any]:
    across, along = _cross(axis, u), (1 - c) * _dot(axis, u)
    return [c * x + s * y + along * z for x, y, z in zip(u, across, axis, strict=True)]


def _pair(A: Any, B: Any, C: Any, is_inner: bool) -> tuple[Any, Any]:
    """Cosine and sine of the angle with ``A cos q + B sin q = C``, its root a new member of the algebra."""
    square = A * A + B * B
    radicand, over = (square - C * C).rows, square.solve()[1]
    root = [[0] * 4 for _ in range(4)]
    for i in range(2):
        for j in range(2):
            if is_inner:  # r1 maps the basis (1, r1, r2, r1 r2) to (r1, r1^2, r1 r2, r1^2 r2)
                root[2 * i + 1][2 * i], root[2 * i][2 * i + 1] = 1, radicand[0][0]
            else:
                root[2 + i][j], root[i][2 + j] = int(i == j), radicand[i][j]
    r = Number(root)
    return (A * C - B * r) * over, (B * C + A * r) * over


def _norm(tangent: int, leg: dict[str, Any]) -> int:
    """Norm of the closing joint's row."""
    g = {key: [Number.of(x) for x in value] for key, value in leg.items() if key != "C"}
    o, w, l, s1, s2, t1, t2 = (g[key] for key in ("o", "w", "l", "s1", "s2", "t1", "t2"))
    C = [[Number.of(x) for x in row] for row in leg["C"]]
    over = Number.of(1 + tangent**2).solve()[1]
    c, s = (1 - tangent**2) * over, 2 * tangent * over
    seen = _turned(t1, c, -1 * s, [_dot(column, o) for column in zip(*C, strict=True)])
    part = _dot(seen, t2) * _dot(t2, w)
    reach = Fraction(1, 2) * (_dot(l, l) - _dot(o, o) - _dot(w, w))
    bend = _pair(_dot(seen, w) - part, _dot(seen, _cross(t2, w)), reach - part, is_inner=True)
    U, N = ([_dot(row, _turned(t1, c, s, _turned(t2, *bend, g[key]))) for row in C] for key in ("w", "n"))
    U = [x + y for x, y in zip(U, o, strict=True)]
    part = _dot(s1, s2) * _dot(s2, U)
    tilt = _pair(_dot(s1, U) - part, _dot(s1, _cross(s2, U)), _dot(s1, l) - part, is_inner=False)
    U, N = _turned(s2, *tilt, U), _turned(s2, *tilt, N)
    off = _dot(s1, l)
    over = (_dot(l, l) - off * off).solve()[1]
    c1, s_1 = (_dot(U, l) - _dot(s1, U) * off) * over, _dot(s1, _cross(U, l)) * over
    return int(_dot(g["m"], _turned(s1, c1, s_1, N)).solve()[0])


def eliminant(leg: dict[str, Any], p: int) -> tuple[list[int], int]:
    """Coefficients modulo p of the polynomial whose roots are the solutions, and the degree of the denominator.

    `leg` has rational numbers: links o and w, target l, axes s1, s2 (first joint), t1, t2 (middle), n, m (closing:
    on the leg, on what it reaches) and the rotation C of the middle joint behind the first.
    """
    Number.p = p
    points = list(range(3, 3 + 2 * ROOTS + 6))
    numerator, denominator = reconstruct(points, [_norm(x, leg) for x in points], ROOTS + 1, p)
    return numerator, len(denominator) - 1
