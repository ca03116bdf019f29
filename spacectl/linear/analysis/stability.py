"""Stability of a linear model: the decisive eigenvalue, and whether the model is valid beyond an instant.

`judge_stability` accounts for rounding and multiple eigenvalues. A must not change along the motion through
its operating point: a motion with constant speeds is steady only in suitable coordinates. A disc that rolls
in a straight line is in balance at every instant, but in the axes of a Free joint its A rotates with it, and
the eigenvalues of A at one instant do not determine its stability.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eig, matrix_balance

from spacectl.core.errors import ModelError, SolverError, warn
from spacectl.dynamics.recursion.linear_kernel import LinearTerms
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.linear.models.scaling import balancing_scale
from spacectl.linear.models.tangent import (
    Manifold,
    constraint_manifold,
    displace_state,
    error_labels,
    tangent_rate,
    turning_rates,
)

__all__ = ["find_variation", "judge_stability", "model_matrix", "warn_if_varying"]

# of the entries of A, relative to its norm: those of constrained systems solve least-squares problems
_ACCURACY = 1e-10


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


_CHANGED = 1e-6  # of an entry of A: changes above this are more than rounding
_ROUNDING = 1e-11  # of the largest entry of the balanced A
_STEPS = 16  # of the kinematic equations between two positions; one step is exact for a constant body rate


def warn_if_varying(
    eom: EquationsOfMotion, t: float, x: np.ndarray, u: np.ndarray, p: Any, terms: LinearTerms, source: Any
) -> None:
    """Warn if A changes along the motion with constant speeds from a balanced point, naming the entry that changes most.

    Parameters
    ----------
    eom : EquationsOfMotion
        The plant.
    t, x, u, p
        The point.
    terms : LinearTerms
        The linear terms there.
    source : callable
        ``(t, q, v, u) -> LinearTerms``.
    """
    summary = find_variation(eom, t, x, u, p, terms, source)
    if summary:
        warn(
            f"linearize: the motion of system '{eom.system.name}' at this point is steady in its speeds only: {summary}. The "
            "model is valid at this instant only, and its poles do not determine stability. "
            "linearize_along(eom, motion) follows the motion, floquet(eom, motion) determines the stability of "
            "a periodic one; or use "
            "coordinates in which the motion is steady (a joint for the spin); pass check=False if this is intended"
        )


def find_variation(
    eom: EquationsOfMotion, t: float, x: np.ndarray, u: np.ndarray, p: Any, terms: LinearTerms, source: Any
) -> str:
    """Describe how A changes along the motion with constant speeds from a balanced point; empty if it is constant.

    Parameters are those of `warn_if_varying`.
    """
    still = 1e-9 * max(1.0, float(np.max(np.abs(x), initial=0.0)))
    if np.max(np.abs(eom.x_dot(t, x, u, p)[: eom.n_q]), initial=0.0) <= still * 1e-3:
        return ""
    here = _reduced(eom, t, x, model_matrix(eom, x[eom.n_q :], terms), p, ())
    for duration in _durations(eom, x, here[0]):
        place = _moved(eom, t, x, u, p, duration)
        summary = _change(eom, t + duration, place, u, p, here, source)
        if summary:
            return f"{summary} within {duration:.3g} s"
    return ""


def model_matrix(eom: EquationsOfMotion, v: np.ndarray, terms: LinearTerms) -> np.ndarray:
    """Return A of the error states, (2 n_v, 2 n_v), from the linear terms, for speeds that are joint speeds."""
    return np.block([[tangent_rate(eom, v), np.eye(eom.n_v)], [terms.v_q, terms.v_v]])


def _durations(eom: EquationsOfMotion, x: np.ndarray, A: np.ndarray) -> list[float]:
    """Return times after which a change would be visible: part of a turn at the fastest rate, and the fastest model time."""
    rates = [abs(rate) for rate, unit in zip(x[eom.n_q :], eom.labels.v.units, strict=True) if unit == "rad/s"]
    fastest = float(np.max(np.abs(np.linalg.eigvals(A)), initial=0.0))
    return [0.7 / rate for rate in (max(rates, default=0.0), fastest) if rate > 1e-12]


def _moved(eom: EquationsOfMotion, t: float, x: np.ndarray, u: np.ndarray, p: Any, duration: float) -> np.ndarray:
    """Return the state after a time at constant speeds: midpoint steps of ``q_dot = W v + X`` on the tangent."""
    h, none = duration / _STEPS, np.zeros(eom.n_v)

    def step(state: np.ndarray, rate_at: np.ndarray, time: float, size: float) -> np.ndarray:
        q_dot = eom.x_dot(time, rate_at, u, p)[: eom.n_q]
        turning = turning_rates(eom, rate_at[None, : eom.n_q], q_dot[None])[0]
        return displace_state(eom, state, np.concatenate([size * turning, none]))

    for k in range(_STEPS):
        middle = step(x, x, t + k * h, 0.5 * h)
        x = step(x, middle, t + (k + 0.5) * h, h)
    return x


def _reduced(
    eom: EquationsOfMotion, t: float, x: np.ndarray, A: np.ndarray, p: Any, wanted: tuple[int, ...]
) -> tuple[np.ndarray, list[int]]:
    """Return A on the deviations that constraints allow, and its error states."""
    if not eom.constraint_rows:
        return A, list(range(len(A)))
    on: Manifold = constraint_manifold(eom, t, x[: eom.n_q], x[eom.n_q :], p, wanted)
    return A[on.independent] @ on.basis, on.independent


def _change(
    eom: EquationsOfMotion,
    t: float,
    x: np.ndarray,
    u: np.ndarray,
    p: Any,
    here: tuple[np.ndarray, list[int]],
    source: Any,
) -> str:
    """Describe the change of A at another position; empty if there is none."""
    A, kept = here
    q, v = x[: eom.n_q], x[eom.n_q :]
    try:
        whole = model_matrix(eom, v, source(t, q, v, u))
        other, places = _reduced(eom, t, x, whole, p, tuple(k for k in kept if k < eom.n_v))
    except (SolverError, ModelError):
        return "with these speeds it violates its constraints"
    if places != kept:
        return "the independent error states change"
    scale = balancing_scale(np.maximum(np.abs(A), np.abs(other)))
    one, two = (item * scale[None, :] / scale[:, None] for item in (A, other))
    size, change = np.maximum(np.abs(one), np.abs(two)), np.abs(two - one)
    varies = (change > _CHANGED * size) & (change > _ROUNDING * np.max(size, initial=0.0))
    if not np.any(varies):
        return ""
    i, j = np.unravel_index(int(np.argmax(np.where(varies, change, 0.0))), change.shape)
    names = error_labels(eom).names
    return f"d('{names[kept[i]]}' rate)/d('{names[kept[j]]}') changes from {A[i, j]:.3g} to {other[i, j]:.3g}"
