"""Matrix decompositions behind reduction: invariant parts of A, real modal blocks, factors of Gramians.

A linear model's matrix A is split into parts that do not act on each other, and a stable pair (A, B) gives a factor
of its Gramian that is accurate even where the Gramian itself is nearly singular. `reduce` uses both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import schur, solve_sylvester, solve_triangular

from spacectl.linear.models.scaling import group_poles

__all__ = ["ModalBlocks", "factor_gramian", "modal_blocks", "split_spectrum"]


@dataclass(frozen=True, kw_only=True)
class ModalBlocks:
    """A real basis in which A is block diagonal: ``left A right = diag(blocks)``, ``left right = 1``.

    Parameters
    ----------
    poles : tuple of arrays
        Eigenvalues of each block.
    columns : tuple of slices
        Place of each block in the basis, slowest first.
    right, left : arrays, shape (n, n)
        The basis and its inverse.
    """

    poles: tuple[np.ndarray, ...]
    columns: tuple[slice, ...]
    right: np.ndarray
    left: np.ndarray


def split_spectrum(
    A: np.ndarray, chosen: Callable[[complex], bool]
) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Return right and left bases (V, W) of the invariant subspace of selected eigenvalues, and of that of the others.

    Ordered real Schur form ``Q.T A Q = [[A1, A12], [0, A2]]`` and the Sylvester equation ``A1 X - X A2 = -A12`` give
    ``V1 = Q1, W1 = Q1 - Q2 X.T, V2 = Q1 X + Q2, W2 = Q2``, with ``W1.T V1 = W2.T V2 = 1`` and ``W1.T V2 = 0``.
    """
    T, Q, k = schur(A, output="real", sort=lambda re, im=0.0: bool(chosen(complex(re, im))))
    X = solve_sylvester(T[:k, :k], -T[k:, k:], -T[:k, k:]) if 0 < k < len(A) else np.zeros((k, len(A) - k))
    Q1, Q2 = Q[:, :k], Q[:, k:]
    return (Q1, Q1 - Q2 @ X.T), (Q1 @ X + Q2, Q2)


def modal_blocks(A: np.ndarray) -> ModalBlocks:
    """Return the real block-diagonal form of A.

    A simple real pole becomes a block of size one, a simple pair s +- j w the block ``[[s, w], [-w, s]]``. Poles
    that are equal up to rounding share a block (their eigenvectors may be incomplete); so do poles whose
    eigenvectors are so nearly parallel that separation would lose more than half of the digits.
    """
    n = len(A)
    poles, vectors = np.linalg.eig(A) if n else (np.zeros(0, dtype=complex), np.zeros((0, 0)))
    for nearness in 10.0 ** np.arange(-6.0, 2.0):
        groups = _pair_up(poles, group_poles(poles, nearness=nearness))
        bases = [_basis(A, poles, vectors, group) for group in groups]
        right = np.hstack(bases) if bases else np.zeros((0, 0))
        if not n or np.linalg.cond(right) < 1e8:
            break
    ends = np.cumsum([0, *(len(group) for group in groups)])
    columns = tuple(slice(int(a), int(b)) for a, b in zip(ends[:-1], ends[1:], strict=True))
    return ModalBlocks(
        poles=tuple(poles[group] for group in groups), columns=columns, right=right, left=np.linalg.inv(right)
    )


def _pair_up(poles: np.ndarray, groups: list[list[int]]) -> list[list[int]]:
    """Return groups joined with those of their conjugates, slowest first."""
    where = {index: k for k, group in enumerate(groups) for index in group}
    joined: list[list[int]] = []
    done: set[int] = set()
    for k, group in enumerate(groups):
        if k in done:
            continue
        partners = {k}
        for index in group:
            if poles[index].imag != 0.0:
                partners.add(where[int(np.argmin(np.abs(poles - poles[index].conj())))])
        done |= partners
        joined.append(sorted(index for partner in partners for index in groups[partner]))
    return joined


def _basis(A: np.ndarray, poles: np.ndarray, vectors: np.ndarray, group: list[int]) -> np.ndarray:
    """Return a real basis of the invariant subspace of a group of poles."""
    first = group[int(np.argmax(poles[group].imag))]
    if len(group) == 1:
        return vectors[:, first].real[:, None]
    if len(group) == 2 and poles[first].imag > 0.0:
        vector = vectors[:, first] / vectors[np.argmax(np.abs(vectors[:, first])), first]
        # the phase that makes real and imaginary part orthogonal: better conditioned than any other
        angle = 0.5 * np.arctan2(2.0 * vector.real @ vector.imag, vector.imag @ vector.imag - vector.real @ vector.real)
        vector = vector * np.exp(1j * angle)
        return np.stack([vector.real, vector.imag], axis=1) / np.linalg.norm(vector)
    wanted = set(group)
    (V, _), _ = split_spectrum(A, lambda s: int(np.argmin(np.abs(poles - s))) in wanted)
    return V


def factor_gramian(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return a real L with ``P = L L.T`` and ``A P + P A.T + B B.T = 0``, for A with all eigenvalues in the left half-plane.

    Hammarling's method [1]_ in complex Schur form, one column at a time, without ever forming P: small singular values
    of L are accurate, unlike those of the square root of a computed P. With ``A = [[A1, a], [0, s]]`` and B turned
    so that its last row is (0, ..., 0, rho), the last column (u, tau) of the factor follows from ``tau = rho / alpha``,
    ``alpha = sqrt(-2 Re s)``, ``(A1 + conj(s)) u = -alpha r - tau a``, and the rest is the same problem with r replaced
    by ``r - alpha u``.

    References
    ----------
    .. [1] S. J. Hammarling, Numerical solution of the stable, non-negative definite Lyapunov equation, IMA J. Numerical
       Analysis 2, 1982.
    """
    n = len(A)
    if not n or not B.shape[1]:
        return np.zeros((n, n))
    T, Q = schur(A.astype(complex), output="complex")
    G = Q.conj().T @ B
    U = np.zeros((n, n), dtype=complex)
    for k in range(n - 1, -1, -1):
        row = G[k].conj()
        rho = float(np.linalg.norm(row))
        if rho > 0.0:  # reflect columns so that the row becomes (0, ..., 0, rho)
            phase = row[-1] / abs(row[-1]) if row[-1] != 0.0 else 1.0
            mirror = row.copy()
            mirror[-1] += phase * rho
            mirror /= np.linalg.norm(mirror)
            G = G - 2.0 * np.outer(G @ mirror, mirror.conj())
            G[:, -1] *= -phase
        alpha = np.sqrt(-2.0 * T[k, k].real)
        U[k, k] = rho / alpha
        if k:
            shifted = T[:k, :k] + T[k, k].conj() * np.eye(k)
            U[:k, k] = solve_triangular(shifted, -alpha * G[:k, -1] - U[k, k] * T[:k, k])
            G[:k, -1] -= alpha * U[:k, k]
        G = G[:k]
    L = Q @ U  # P = L L^H is real, so P = Re L Re L.T + Im L Im L.T
    return np.linalg.qr(np.hstack([L.real, L.imag]).T).R.T
