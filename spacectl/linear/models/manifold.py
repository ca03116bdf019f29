"""The tangent of the constraints: independent error states, and the dependence of the others on them.

With ``J_g theta = 0`` (position-level equations) and ``J dv + G theta = 0`` (all equations at speed level) a pivoted
selection retains some error states z and gives all of them as ``basis z``, so the reduced model retains their names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import qr

from spacectl.core.errors import ModelError, SolverError
from spacectl.dynamics.constraints.solvers import NEGLIGIBLE, RANK
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.linear.models.tangent import tangent_map

__all__ = ["Manifold", "constraint_manifold"]


@dataclass(frozen=True)
class Manifold:
    """Positions of the independent error states, and the matrix that gives all of them, (2 n_v, k)."""

    independent: list[int]
    basis: np.ndarray


def constraint_manifold(
    eom: EquationsOfMotion, t: float, q: np.ndarray, v: np.ndarray, p: Any = None, wanted: tuple[int, ...] = ()
) -> Manifold:
    """Return the tangent of the constraints at a state that satisfies them; retain the `wanted` error coordinates and rates.

    Raises
    ------
    SolverError
        If the state violates the constraints; use `make_consistent` first.
    ModelError
        If the constraints make the wanted coordinates dependent.
    """
    rows = eom.call("constraints", t, q, v, p=p)
    left = max(float(np.max(np.abs(rows[k]), initial=0.0)) for k in (0, 1))
    size = max(1.0, float(np.max(np.abs(q), initial=0.0)), float(np.max(np.abs(v), initial=0.0)))
    if left > 1e-6 * size:
        raise SolverError(
            f"the state leaves a constraint residual of {left:.3g}; pass it through make_consistent first"
        )
    n = eom.n_v
    weight = 1.0 / np.sqrt(np.maximum(np.diag(eom.mass_matrix(t, q, p)), 1e-12))
    held, J = rows[3], rows[2]
    G = eom.jacobian("constraints", "speed", "q", t, q, v, p=p) @ tangent_map(eom, q)
    turn_free, turn_basis, _ = _split(held, weight, wanted)
    rate_free, rate_basis, solve = _split(J, weight, wanted)
    basis = np.zeros((2 * n, len(turn_free) + len(rate_free)))
    basis[:n, : len(turn_free)] = turn_basis
    basis[n:, len(turn_free) :] = rate_basis
    basis[n:, : len(turn_free)] = -solve(G @ turn_basis)
    return Manifold([*turn_free, *(n + k for k in rate_free)], basis)


def _pivots(A: np.ndarray) -> tuple[np.ndarray, int]:
    """Return columns in the order of pivoting, and the rank."""
    _, R, order = qr(A, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(R))
    return order, int(np.sum(diagonal > RANK * max(float(np.max(diagonal, initial=0.0)), 1e-300)))


def _split(J: np.ndarray, weight: np.ndarray, wanted: tuple[int, ...]) -> tuple[list[int], np.ndarray, Any]:
    """Return independent positions, the basis of J's null space on them, and a solver of ``J z = b`` by the dependent ones."""
    n = weight.size
    if J.shape[0] == 0:
        return list(range(n)), np.eye(n), lambda b: np.zeros((n, b.shape[1]))
    scaled = J * weight
    size = np.linalg.norm(scaled, axis=1)
    scaled = scaled / np.where(size > NEGLIGIBLE * np.max(size), size, np.inf)[:, None]
    order, rank = _pivots(scaled)
    if wanted:
        others = np.array([k for k in range(n) if k not in wanted], dtype=int)
        chosen, found = _pivots(scaled[:, others]) if others.size else (others, 0)
        if found < rank:
            raise ModelError(
                f"linearize: independent names {len(wanted)} coordinates, which the constraints make dependent; name fewer"
            )
        order = np.concatenate([others[chosen[:rank]], np.setdiff1d(np.arange(n), others[chosen[:rank]])])
    dependent, free = sorted(order[:rank]), sorted(order[rank:])
    basis = np.zeros((n, n - rank))
    basis[free] = np.eye(n - rank)
    basis[dependent] = -np.linalg.lstsq(J[:, dependent], J[:, free], rcond=RANK)[0]

    def solve(b: np.ndarray) -> np.ndarray:
        found = np.zeros((n, b.shape[1]))
        found[dependent] = np.linalg.lstsq(J[:, dependent], b, rcond=RANK)[0]
        return found

    return [int(k) for k in free], basis, solve
