"""Solutions of ``M X = B`` by recursion over the tree, in numpy: the reference implementation of inverse.h.

The articulated inertia I of everything that a speed carries, with the speeds outboard free, gives ``U = I s`` and
``D = s' U``; the parent feels ``I - U U' / D``. Inward the wrench of each column grows by ``U (b - s' w) / D``, outward
``x = (b - s' w - U' a) / D``. The cost of a column is of order N, against N^2 with factors of M.
"""

from __future__ import annotations

import numpy as np

from spacectl.dynamics.recursion.elements import Elements
from spacectl.dynamics.tree.nodes import ROOT
from spacectl.spatial.backend import skew
from spacectl.spatial.inertia import Placement
from tests.oracles.recursion.derivatives import joint_placement, speed_indices, unit_twists

__all__ = ["solve_by_recursion"]


def solve_by_recursion(elements: Elements, q: np.ndarray, B: np.ndarray) -> np.ndarray:
    """X with ``M(q) X = B``; with ``B = 1`` the inverse of the mass matrix.

    Featherstone, Rigid Body Dynamics Algorithms (2008), section 7.3, for many right-hand sides; the inverse by such a
    recursion is also in Carpentier, Analytical Inverse of the Joint Space Inertia Matrix (2018).

    Parameters
    ----------
    elements : Elements
        The tree.
    q : array, shape (n_q,)
        Coordinates.
    B : array, shape (n_v, m)
        Right-hand sides.
    """
    items, m = elements.items, B.shape[1]
    X: list[Placement] = []
    for element in items:
        base = element.X_PJ if element.parent == ROOT else X[element.parent] @ element.X_PJ
        X.append(base @ joint_placement(element.kind, q, element.q))
    turned = [Placement(place.R, np.zeros(3)) for place in X]  # root axes, about the element's own point
    I = [element.inertia.seen_from(place).matrix() for element, place in zip(items, turned, strict=True)]
    S = [unit_twists(element.kind, place) for element, place in zip(items, turned, strict=True)]
    U = [np.zeros_like(columns) for columns in S]
    D = [np.zeros(columns.shape[1]) for columns in S]
    w = [np.zeros((6, m)) for _ in items]
    rest = np.array(B, dtype=float)
    for i in reversed(range(len(items))):
        rows = speed_indices(items[i].kind, items[i].v)
        for c in reversed(range(len(rows))):
            s = S[i][:, c]
            U[i][:, c] = I[i] @ s
            D[i][c] = s @ U[i][:, c]
            rest[rows[c]] -= s @ w[i]
            w[i] = w[i] + np.outer(U[i][:, c], rest[rows[c]] / D[i][c])
            I[i] = I[i] - np.outer(U[i][:, c], U[i][:, c]) / D[i][c]
        above = items[i].parent
        if above != ROOT:
            T = _shift(X[i].p - X[above].p)
            I[above] = I[above] + T @ I[i] @ T.T
            w[above] = w[above] + T @ w[i]
    result = np.zeros_like(rest)
    a: list[np.ndarray] = []
    for i, element in enumerate(items):
        above = element.parent
        felt = np.zeros((6, m)) if above == ROOT else _shift(X[i].p - X[above].p).T @ a[above]
        for c, row in enumerate(speed_indices(element.kind, element.v)):
            result[row] = (rest[row] - U[i][:, c] @ felt) / D[i][c]
            felt = felt + np.outer(S[i][:, c], result[row])
        a.append(felt)
    return result


def _shift(r: np.ndarray) -> np.ndarray:
    """Moves a wrench to a point from which its own lies at r; the transpose moves accelerations the other way."""
    return np.block([[np.eye(3), skew(r)], [np.zeros((3, 3)), np.eye(3)]])
