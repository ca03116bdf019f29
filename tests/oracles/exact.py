"""Expressions in exact rational numbers: a way to prove an identity between formulas without rounding.

An angle stands for the rational point ``((1 - s^2) / (1 + s^2), 2 s / (1 + s^2))`` of the unit circle. Two rational functions
of sines, cosines and numbers that agree at more random points than their degree are the same function.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import casadi as ca

__all__ = ["Angle", "evaluate", "solve"]


@dataclass(frozen=True)
class Angle:
    """An angle by its exact cosine and sine."""

    cos: Fraction
    sin: Fraction

    @staticmethod
    def of(s: Fraction) -> Angle:
        """The angle ``2 atan(s)``."""
        return Angle((1 - s * s) / (1 + s * s), 2 * s / (1 + s * s))

    def __neg__(self) -> Angle:
        return Angle(self.cos, -self.sin)

    def __add__(self, other: Angle) -> Angle:
        return Angle(self.cos * other.cos - self.sin * other.sin, self.sin * other.cos + self.cos * other.sin)


def evaluate(function: ca.Function, *arguments: list[Any]) -> list[list[list[Fraction]]]:
    """Results of an SX function as matrices of fractions, by walking through its operations."""
    work: dict[int, Any] = {}
    results = [[Fraction(0)] * function.nnz_out(i) for i in range(function.n_out())]
    two = {
        ca.OP_ADD: lambda a, b: a + b,
        ca.OP_SUB: lambda a, b: a - b,
        ca.OP_MUL: lambda a, b: a * b,
        ca.OP_DIV: lambda a, b: a / b,
    }
    one = {
        ca.OP_ASSIGN: lambda a: a,
        ca.OP_NEG: lambda a: -a,
        ca.OP_SQ: lambda a: a * a,
        ca.OP_TWICE: lambda a: a + a,
        ca.OP_INV: lambda a: 1 / a,
        ca.OP_SIN: lambda a: a.sin,
        ca.OP_COS: lambda a: a.cos,
    }
    for k in range(function.n_instructions()):
        kind, sources, targets = (
            function.instruction_id(k),
            function.instruction_input(k),
            function.instruction_output(k),
        )
        if kind == ca.OP_CONST:
            work[targets[0]] = Fraction(float(function.instruction_constant(k)))
        elif kind == ca.OP_INPUT:
            work[targets[0]] = arguments[sources[0]][sources[1]]
        elif kind == ca.OP_OUTPUT:
            results[targets[0]][targets[1]] = work[sources[0]]
        elif kind in two:
            work[targets[0]] = two[kind](work[sources[0]], work[sources[1]])
        elif kind in one:
            work[targets[0]] = one[kind](work[sources[0]])
        else:
            raise NotImplementedError(f"operation {kind} of '{function.name()}' is not rational")
    shapes = [function.size_out(i) for i in range(function.n_out())]
    return [
        [[values[j * rows + i] for j in range(columns)] for i in range(rows)]
        for values, (rows, columns) in zip(results, shapes, strict=True)
    ]


def solve(A: list[list[Fraction]], b: list[Fraction]) -> list[Fraction]:
    """Exact solution of a regular system."""
    n = len(b)
    rows = [[*row, value] for row, value in zip(A, b, strict=True)]
    for k in range(n):
        best = next(i for i in range(k, n) if rows[i][k] != 0)
        rows[k], rows[best] = rows[best], rows[k]
        rows[k] = [a / rows[k][k] for a in rows[k]]
        for i in range(n):
            if i != k and rows[i][k] != 0:
                rows[i] = [a - rows[i][k] * c for a, c in zip(rows[i], rows[k], strict=True)]
    return [row[n] for row in rows]
