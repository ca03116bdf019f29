"""Coefficients of the long step across a singular position of the constraints.

In a singular position constraint equations become dependent. Close to it, accelerations are rounding errors divided by the
third power of the distance, while the motion itself is smooth. The step therefore uses points on both sides and none close by:
collocation at the zeros of a Legendre polynomial of even degree, with the singular position in the middle between the inner
two. Two degrees estimate the error. ``s(t + f H) = s + H sum_j B_j(f) K_j`` with ``B_j`` the integral of the Lagrange
polynomial of node j.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.polynomial import Polynomial
from numpy.polynomial.legendre import leggauss

__all__ = ["LEAP_NODES", "LeapTableau", "leap_tableau"]

LEAP_NODES = (6, 8)  #: of the two solutions: orders 12 and 16, nodes at least 0.12 and 0.09 of the step from its middle


@dataclass(frozen=True, eq=False)
class LeapTableau:
    """Both solutions, one behind the other.

    Parameters
    ----------
    C : array, shape (14,)
        Nodes as fractions of the step.
    A : array, shape (100,)
        ``B_j(C_i)``, row by row.
    B : array, shape (14,)
        ``B_j(1)``.
    start : array, shape (8, 6)
        ``B_j`` of the first solution at the nodes of the second, which begins there.
    F : array, shape (8, 8)
        Coefficients of f, f^2, ... of each ``B_j`` of the second: dense output.
    """

    C: np.ndarray
    A: np.ndarray
    B: np.ndarray
    start: np.ndarray
    F: np.ndarray


@cache
def leap_tableau() -> LeapTableau:
    """The coefficients."""
    nodes = [0.5 * (leggauss(count)[0] + 1.0) for count in LEAP_NODES]
    integrals = [[_integral(own, j) for j in range(own.size)] for own in nodes]
    values = [np.array([item(own) for item in row]).T for own, row in zip(nodes, integrals, strict=True)]
    return LeapTableau(
        C=np.concatenate(nodes),
        A=np.concatenate([item.reshape(-1) for item in values]),
        B=np.concatenate([0.5 * leggauss(count)[1] for count in LEAP_NODES]),
        start=np.array([item(nodes[1]) for item in integrals[0]]).T.copy(),
        F=np.array([item.coef[1:] for item in integrals[1]]),
    )


def _integral(nodes: np.ndarray, j: int) -> Polynomial:
    """From 0, of the polynomial that is 1 at node j and 0 at the others."""
    others = np.delete(nodes, j)
    return (Polynomial.fromroots(others) / np.prod(nodes[j] - others)).integ()
