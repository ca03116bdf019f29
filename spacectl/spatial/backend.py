"""Operations in which numpy and CasADi differ, so that each formula is written once.

Vectors are numpy arrays of shape (3,) or CasADi columns (3, 1); matrices are two-dimensional in both. One operation on
two CasADi objects costs 20 us in Python, whatever their size, so products of vectors use CasADi's own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any

import casadi as ca
import numpy as np

__all__ = [
    "arctan2",
    "columns",
    "constant",
    "copysign",
    "cos",
    "cross",
    "dot",
    "eye",
    "fused",
    "is_symbolic",
    "matrix",
    "outer",
    "sin",
    "skew",
    "sqrt",
    "stack",
    "vector",
    "zeros",
]

_SYMBOLIC = (ca.SX, ca.MX, ca.DM)


def is_symbolic(*items: Any) -> bool:
    """Return True if any item is a CasADi object."""
    return any(isinstance(item, _SYMBOLIC) for item in items)


def fused(formula: Callable[..., Any]) -> Callable[..., Any]:
    """Make a formula of vectors and matrices one operation in Python, if all of them are CasADi expressions.

    The formula is expanded once for each combination of shapes; numbers and mixed arguments evaluate it
    directly.

    Examples
    --------
    >>> twice = fused(lambda a: a + a)
    >>> twice(np.array([1.0, 2.0])), twice(ca.SX.sym("a"))
    (array([2., 4.]), SX((2.*a)))
    """

    @cache
    def written_out(*shapes: tuple[int, int]) -> ca.Function:
        arguments = [ca.SX.sym(f"a{k}", *shape) for k, shape in enumerate(shapes)]
        return ca.Function("formula", arguments, [formula(*arguments)])

    @wraps(formula)
    def call(*arguments: Any) -> Any:
        if all(type(item) is ca.SX for item in arguments):
            return written_out(*[item.shape for item in arguments])(*arguments)
        return formula(*arguments)

    return call


def vector(*entries: Any) -> Any:
    """Return a vector from scalars."""
    return ca.vertcat(*entries) if is_symbolic(*entries) else np.array(entries, dtype=np.result_type(float, *entries))


def matrix(rows: Any) -> Any:
    """Return a matrix from rows of scalars."""
    if is_symbolic(*(entry for row in rows for entry in row)):
        return ca.vertcat(*[ca.horzcat(*row) for row in rows])
    return np.array(rows, dtype=np.result_type(float, *(entry for row in rows for entry in row)))


def columns(vectors: Any) -> Any:
    """Return a matrix from its columns."""
    items = list(vectors)
    return ca.horzcat(*items) if is_symbolic(*items) else np.stack(items, axis=1)


def constant(values: Any, like: Any) -> Any:
    """Return numbers as a vector or matrix of the type of `like`."""
    return ca.SX(ca.DM(values)) if is_symbolic(like) else np.asarray(values, dtype=float)


def stack(*vectors: Any) -> Any:
    """Stack vectors."""
    return ca.vertcat(*vectors) if is_symbolic(*vectors) else np.concatenate(vectors)


def zeros(n: int, like: Any) -> Any:
    """Return a zero vector of the type of `like`."""
    return ca.SX.zeros(n) if is_symbolic(like) else np.zeros(n)


def eye(n: int, like: Any) -> Any:
    """Return the identity matrix of the type of `like`."""
    return ca.SX(ca.DM.eye(n)) if is_symbolic(like) else np.eye(n)


def sin(a: Any) -> Any:
    """Return the sine."""
    return ca.sin(a) if is_symbolic(a) else np.sin(a)


def cos(a: Any) -> Any:
    """Return the cosine."""
    return ca.cos(a) if is_symbolic(a) else np.cos(a)


def arctan2(a: Any, b: Any) -> Any:
    """Return the angle of the point (b, a)."""
    return ca.atan2(a, b) if is_symbolic(a, b) else np.arctan2(a, b)


def copysign(a: float, b: Any) -> Any:
    """Return the number `a` with the sign of `b`."""
    return ca.copysign(a, b) if is_symbolic(b) else np.copysign(a, b)


def sqrt(a: Any) -> Any:
    """Return the square root."""
    return ca.sqrt(a) if is_symbolic(a) else np.sqrt(a)


def dot(a: Any, b: Any) -> Any:
    """Return the scalar product of two vectors of any length."""
    if is_symbolic(a, b):
        return ca.dot(a, b)
    total = a[0] * b[0]
    for i in range(1, a.shape[0]):
        total = total + a[i] * b[i]
    return total


def cross(a: Any, b: Any) -> Any:
    """Return the vector product a x b.

    Examples
    --------
    >>> cross(np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))
    array([0., 0., 1.])
    """
    if is_symbolic(a, b):
        return ca.cross(a, b)
    return vector(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def skew(a: Any) -> Any:
    """Return the matrix a~ with a~ b = a x b."""
    if is_symbolic(a):
        return ca.skew(a)
    zero = a[0] * 0.0
    return matrix([[zero, -a[2], a[1]], [a[2], zero, -a[0]], [-a[1], a[0], zero]])


def outer(a: Any, b: Any) -> Any:
    """Return the matrix a b'."""
    if is_symbolic(a, b):
        return ca.mtimes(a, b.T)
    return matrix([[a[i] * b[j] for j in range(3)] for i in range(3)])
