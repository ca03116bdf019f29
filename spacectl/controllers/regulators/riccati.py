"""Algebraic Riccati equations, continuous and discrete, to rounding on badly scaled models.

Turns (A, B, Q, R, N) into the stabilising solution S, the gain K, closed-loop poles and the relative residual. Units
of time, states and inputs are removed first; Newton's method (Kleinman) refines what the Schur form or doubling gave.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from spacectl.controllers.regulators.riccati_forms import ContinuousForm, DiscreteForm, inverse, norm, refine
from spacectl.core.errors import SolverError
from spacectl.linear.models.scaling import balancing_scale
from spacectl.linear.reduction.decompose import modal_blocks, split_spectrum

__all__ = ["RiccatiSolution", "solve_continuous", "solve_discrete", "sort_poles"]

_GOOD = 1e-13  # a residual that needs no second try
_WIDE_STATES = 300  # beyond it, extended precision takes too long


@dataclass(frozen=True, kw_only=True)
class RiccatiSolution:
    """Stabilising solution of a Riccati equation.

    Parameters
    ----------
    S : array, shape (n, n)
        Solution: ``x.T S x`` is the cost from x.
    K : array, shape (m, n)
        Gain of ``u = -K x``.
    poles : array, shape (n,), complex
        Of A - B K, slowest first.
    residual : float
        Frobenius norm of the equation's residual, relative. The larger of two: of the solution in the scaled
        coordinates in which it was found and from which K comes, over the sum of the norms of the equation's terms;
        and of S as it is, rounded, over ``2 |A| |S| + |K.T R K| + |Q|`` (discrete: ``|A|^2 |S| + |S| + ...``).
    steps : int
        Newton steps that were taken.
    """

    S: np.ndarray
    K: np.ndarray
    poles: np.ndarray
    residual: float
    steps: int


def solve_continuous(A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray, N: np.ndarray) -> RiccatiSolution:
    """Solve ``A.T S + S A - (S B + N) R^-1 (B.T S + N.T) + Q = 0`` with A - B K stable, ``K = R^-1 (B.T S + N.T)``.

    With ``R = L L.T`` the cross weight and R go into ``A - B R^-1 N.T``, ``B L^-T``, ``Q - N R^-1 N.T``. The
    Hamiltonian ``[[A, -B B.T], [-Q, -A.T]]`` is balanced by diag(T^-1, T), which removes units of states and of cost
    (time is a common factor); its ordered Schur form gives the start, and Newton's method goes on until the residual
    falls no more. Where that does not reach rounding, the same is done in modal coordinates, in which a weakly
    controlled mode is an axis.

    Raises
    ------
    SolverError
        If no stabilising solution is found: poles of the Hamiltonian lie on the imaginary axis.
    """
    return _solve(A, B, Q, R, N, ContinuousForm)


def solve_discrete(A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray, N: np.ndarray) -> RiccatiSolution:
    """Solve ``S = A.T S A - (A.T S B + N)(R + B.T S B)^-1 (B.T S A + N.T) + Q`` with A - B K inside the unit circle.

    Structure-preserving doubling gives the start: each step squares the closed loop, so it converges quadratically
    and S stays symmetric. Scaling, modal coordinates and Newton's method are as for the continuous equation.

    Raises
    ------
    SolverError
        If no stabilising solution is found: poles lie on the unit circle.
    """
    return _solve(A, B, Q, R, N, DiscreteForm)


class _Found(NamedTuple):
    """A solution; residuals in its own coordinates, of S in the units given, and of S in balanced units."""

    inside: float
    outside: float
    rounded: float
    S: np.ndarray
    K: np.ndarray
    poles: np.ndarray
    steps: int


def _solve(
    A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray, N: np.ndarray, kind: type[ContinuousForm]
) -> RiccatiSolution:
    """Return the balanced coordinates first, modal ones if these do not reach rounding; the better solution."""
    L = np.linalg.cholesky(R)
    Bh, Nh = solve_triangular(L, B.T, lower=True).T, solve_triangular(L, N.T, lower=True).T
    wide = np.longdouble if len(A) <= _WIDE_STATES else np.float64
    plant = [item.astype(wide) for item in (A - Bh @ Nh.T, Bh, Q - Nh @ Nh.T)]
    plain = kind.scale(plant[0].astype(float), Bh @ Bh.T, plant[2].astype(float))
    best: _Found | None = None
    trouble: Exception | None = None
    for right, left in _coordinates(plant, plain, kind):
        try:
            found = _solve_in(plant, right.astype(wide), left.astype(wide), plain, kind)
        except (SolverError, np.linalg.LinAlgError) as error:
            trouble = error
            continue
        best = found if best is None or found.inside < best.inside else best
        if found.rounded < _GOOD:
            break
    if best is None or best.inside > 1e-3:
        raise SolverError(
            "the Riccati equation has no stabilising solution to working accuracy: a mode at the limit of stability is "
            "nearly without weight or nearly uncontrollable; weight the states of every undamped mode, and see "
            "check_controllability"
        ) from trouble
    gain = np.linalg.solve(L.T, best.K + Nh.T)
    poles = sort_poles(best.poles, discrete=kind is DiscreteForm)
    return RiccatiSolution(S=best.S, K=gain, poles=poles, residual=max(best.inside, best.outside), steps=best.steps)


def _coordinates(
    plant: list[np.ndarray], plain: np.ndarray, kind: type[ContinuousForm]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Return ``x = right z``, ``z = left x``: balanced states, then balanced modes."""
    yield np.diag(plain), np.diag(1.0 / plain)
    A = plant[0].astype(float)
    units = balancing_scale(A)
    A1 = A * units / units[:, None]
    limit = 1e-9 * float(np.max(np.abs(np.linalg.eigvals(A)), initial=0.0))
    # growing modes apart from the others: the solution is large where they are hardly moved
    parts = split_spectrum(A1, lambda pole: kind.decay(np.array([pole])) > limit)
    V = np.hstack([side @ modal_blocks(dual.T @ A1 @ side).right for side, dual in parts if side.shape[1]])
    if np.linalg.cond(V) < 1e12:
        right = units[:, None] * V
        left = inverse(right.astype(plant[0].dtype))
        G = (left @ plant[1]).astype(float)
        scale = kind.scale((left @ plant[0] @ right).astype(float), G @ G.T, (right.T @ plant[2] @ right).astype(float))
        yield right * scale, left / scale[:, None]


def _solve_in(
    plant: list[np.ndarray], right: np.ndarray, left: np.ndarray, plain: np.ndarray, kind: type[ContinuousForm]
) -> _Found:
    """Solve by way of the coordinates z."""
    A, B, Q = plant
    problem = kind(left @ A @ right, left @ B, right.T @ Q @ right)
    Z, steps = refine(problem.start().astype(A.dtype), problem.miss, problem.step)
    poles = np.linalg.eigvals(problem.closed(Z))
    if not problem.decay(poles) < 0.0:
        raise SolverError("the closed loop is not stable")
    S = (left.T @ Z @ left).astype(float)
    whole, wide = kind(A, B, Q), S.astype(A.dtype)
    return _Found(
        inside=_relative(problem, Z, 1.0),
        outside=norm(whole.miss(wide)) / max(whole.size(wide), 1e-300),
        rounded=_relative(whole, wide, np.outer(plain, plain)),
        S=S,
        K=(problem.gain(Z) @ left).astype(float),
        poles=poles,
        steps=steps,
    )


def _relative(problem: ContinuousForm, S: np.ndarray, units: Any) -> float:
    size = sum(norm(term * units) for term in problem.terms(S))
    return norm(problem.miss(S) * units) / max(size, 1e-300)


def sort_poles(poles: np.ndarray, *, discrete: bool = False) -> np.ndarray:
    """Return poles in a fixed order: slowest first, conjugate pairs together."""
    size = -np.abs(poles) if discrete else np.abs(poles)
    return poles[np.lexsort((poles.imag, poles.real, np.round(size, 12 - _digits(size))))].astype(complex)


def _digits(size: np.ndarray) -> int:
    largest = float(np.max(np.abs(size), initial=0.0))
    return int(np.floor(np.log10(largest))) if largest > 0.0 else 0
