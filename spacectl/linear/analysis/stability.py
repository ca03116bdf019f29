"""Stability of a linear system and the decisive eigenvalue, with allowance for rounding and multiple eigenvalues."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eig, matrix_balance

__all__ = ["judge_stability"]

_ACCURACY = (
    1e-10  # of the entries of A, relative to its norm: those of constrained systems solve least-squares problems
)


def judge_stability(A: Any) -> tuple[str, complex]:
    """Determine the stability of ``x_dot = A x`` from the real parts of the eigenvalues of A.

    A real part counts as zero if it is within the error of its eigenvalue. With entries of A known to ``e = 1e-10`` of
    its norm that is ``e |A| / |y^H x|``, with left and right eigenvectors of unit length in balanced coordinates,
    and at most ``sqrt(e) |A|``: that of a double eigenvalue with one eigenvector (drift of a free body).

    Parameters
    ----------
    A : array, shape (n, n)
        State matrix [1/s].

    Returns
    -------
    word : {"stable", "marginal", "unstable"}
        All real parts negative; some zero and none positive; some positive. Marginal includes drift at constant speed.
    pole : complex
        The eigenvalue with the largest real part; 0 for a system without states.

    Examples
    --------
    >>> judge_stability([[-1.0, 0.0], [0.0, 0.5]])
    ('unstable', (0.5+0j))
    """
    A = np.asarray(A, dtype=float)
    if A.size == 0:
        return "stable", 0j
    balanced = matrix_balance(A, permute=False)[0]
    poles, left, right = eig(balanced, left=True, right=True)
    overlap = np.maximum(np.abs(np.sum(left.conj() * right, axis=0)), np.finfo(float).tiny)
    slack = np.minimum(_ACCURACY / overlap, np.sqrt(_ACCURACY)) * np.linalg.norm(balanced, 2)
    grows, rests = poles.real > slack, np.abs(poles.real) <= slack
    word, chosen = (
        ("unstable", grows) if np.any(grows) else ("marginal", rests) if np.any(rests) else ("stable", ~grows)
    )
    return word, complex(poles[np.argmax(np.where(chosen, poles.real, -np.inf))])
