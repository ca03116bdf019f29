"""`h_infinity_norm`, `h2_norm`: the largest gain over frequency and the response to white noise of a linear model.

Both are computed to a tolerance from the matrices. A model that does not decay has infinite norms, and the result
names the mode. Frequencies at which singular values cross a level are eigenvalues of a Hamiltonian matrix; `structured`
uses these crossings too, to prove bounds over whole intervals of frequency.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_continuous_lyapunov

from spacectl.core.errors import ModelError
from spacectl.linear.analysis.modes import modes
from spacectl.linear.models.linear_model import LinearModel
from spacectl.linear.models.scaling import balancing_scale, is_decaying

__all__ = [
    "Realisation",
    "SystemNorm",
    "crossing_frequencies",
    "explain_growth",
    "find_peak",
    "h2_norm",
    "h_infinity_norm",
    "realisation",
]

Realisation = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def balanced(system: Realisation) -> Realisation:
    """Balance the entries of A by a diagonal scaling; the transfer matrix is unchanged."""
    A, B, C, D = system
    scale = balancing_scale(A)
    return A * scale / scale[:, None], B / scale[:, None], C * scale, D


def response(system: Realisation, w: float) -> np.ndarray:
    """Return ``C (j w - A)^-1 B + D``; D at infinite frequency."""
    A, B, C, D = system
    if not np.isfinite(w):
        return D.astype(complex)
    return C @ np.linalg.solve(1j * w * np.eye(len(A)) - A, B.astype(complex)) + D


def largest(system: Realisation, w: float) -> float:
    """Return the largest singular value at a frequency."""
    return float(np.linalg.norm(response(system, w), 2)) if system[3].size else 0.0


def crossing_frequencies(system: Realisation, level: float) -> np.ndarray:
    """Return the frequencies [rad/s], ascending, at which a singular value may equal `level`.

    The Hamiltonian matrix ``[[F, B R^-1 B.T], [-C.T (I + D R^-1 D.T) C, -F.T]]`` with ``R = level^2 - D.T D`` and ``F =
    A + B R^-1 D.T
    C`` has the eigenvalue j w exactly if `level`, no singular value of D, is one at w [1]_. They are accepted up to
    1e-5 of the largest off the axis, so rounding causes no missed crossing; some of them may be spurious.

    References
    ----------
    .. [1] S. Boyd, V. Balakrishnan, P. Kabamba, A bisection method for computing the H-infinity norm of a transfer
       matrix and related problems, 1989.
    """
    A, B, C, D = system
    R = level**2 * np.eye(D.shape[1]) - D.T @ D
    gain = np.linalg.solve(R, np.hstack([D.T @ C, B.T]))
    n = len(A)
    F = A + B @ gain[:, :n]
    upper = level * (B @ gain[:, n:])
    lower = -(C.T @ C + C.T @ D @ gain[:, :n]) / level
    values = np.linalg.eigvals(np.block([[F, upper], [lower, -F.T]]))
    size = np.abs(values)
    near = (values.imag >= 0.0) & (np.abs(values.real) <= 1e-5 * size + 1e-12 * np.max(size, initial=0.0))
    return np.sort(values.imag[near])


def find_peak(system: Realisation, tolerance: float) -> tuple[float, float]:
    """Return the peak of the largest singular value over frequency, and its frequency [rad/s].

    The two-step method of Bruinsma and Steinbuch [1]_: from the best value known, find the crossings slightly above
    it and evaluate the midpoints of the intervals between them; no higher value there proves the bound. A must have
    no eigenvalue on the imaginary axis.

    References
    ----------
    .. [1] N. A. Bruinsma, M. Steinbuch, A fast algorithm to compute the H-infinity norm of a transfer function matrix,
       Systems & Control Letters 14, 1990.
    """
    system = balanced(system)
    poles = np.linalg.eigvals(system[0]) if len(system[0]) else np.zeros(0)
    undamped = np.sqrt(np.maximum(poles.imag**2 - poles.real**2, 0.0))  # where a second-order response peaks
    starts = {0.0, np.inf, *np.abs(poles.imag).tolist(), *np.abs(poles).tolist(), *undamped.tolist()}
    best, where = max((largest(system, w), -w) for w in starts)
    where = abs(where)
    for _ in range(100):
        if best == 0.0 or not len(poles):
            break
        crossings = crossing_frequencies(system, best * (1.0 + 2.0 * tolerance))
        middles = [*crossings, *(0.5 * (crossings[:-1] + crossings[1:])), *np.sqrt(crossings[:-1] * crossings[1:])]
        value, place = max(((largest(system, w), w) for w in middles), default=(0.0, 0.0))
        if value <= best * (1.0 + 2.0 * tolerance):
            if value > best:
                best, where = value, place
            break
        best, where = value, place
    return best, float(where)


@dataclass(frozen=True, kw_only=True)
class SystemNorm:
    """A norm of a linear model.

    Parameters
    ----------
    value : float
        The norm; infinite if the model does not decay (or, for the H2 norm, if D is not zero).
    frequency : float
        Frequency of the largest gain [rad/s]; NaN for the H2 norm.
    input_direction, output_direction : mappings of str to complex
        The worst inputs at that frequency, of unit norm, and the resulting outputs over the gain; empty for the H2 norm
        and where the norm is infinite.
    tolerance : float
        Relative: the norm lies between ``value`` and ``value * (1 + 2 * tolerance)``.
    message : str
        The meaning of the value, in words.
    """

    value: float
    frequency: float
    input_direction: dict[str, complex]
    output_direction: dict[str, complex]
    tolerance: float
    message: str


def h_infinity_norm(model: LinearModel, *, tolerance: float = 1e-8) -> SystemNorm:
    """Compute the largest gain over all frequencies, ``max_w sigma_max(C (j w - A)^-1 B + D)``.

    Inputs and outputs count in SI units; scale B and C otherwise. Poles on or right of the imaginary axis
    make the norm infinite even if they are uncontrollable or unobservable (remove such modes with `reduce_modal`).

    Parameters
    ----------
    model : LinearModel
        The model; its disturbances are not used.
    tolerance : float
        Relative accuracy.

    Returns
    -------
    SystemNorm

    References
    ----------
    N. A. Bruinsma, M. Steinbuch, Systems & Control Letters 14, 1990 (in `hamiltonian.find_peak`).
    """
    if not 0.0 < tolerance < 0.1:
        raise ModelError(f"h_infinity_norm: tolerance is {tolerance:g}, expected a number between 0 and 0.1")
    if growth := explain_growth(model):
        return _infinite(growth[1], growth[0], tolerance)
    system = realisation(model)
    value, where = find_peak(system, tolerance)
    left, _, right = np.linalg.svd(response(system, where), full_matrices=False)
    directions = (
        {name: complex(entry) for name, entry in zip(labels, vector, strict=True)} if len(left) and len(right.T) else {}
        for labels, vector in (
            (model.u, right[0].conj() if len(right) else ()),
            (model.y, left[:, 0] if left.size else ()),
        )
    )
    summary = f"largest gain {value:.6g} at {where:.6g} rad/s"
    return SystemNorm(
        value=value,
        frequency=where,
        input_direction=next(directions),
        output_direction=next(directions),
        tolerance=tolerance,
        message=summary,
    )


def h2_norm(model: LinearModel) -> SystemNorm:
    """Compute the root mean square of the outputs under white noise of unit intensity at the inputs.

    ``sqrt(trace(C P C.T))`` with ``A P + P A.T + B B.T = 0``: also the energy of the impulse responses.

    Parameters
    ----------
    model : LinearModel
        The model; its disturbances are not used.

    Returns
    -------
    SystemNorm
    """
    tolerance = 1e-10
    if growth := explain_growth(model):
        return _infinite(growth[1], np.nan, tolerance)
    A, B, C, D = realisation(model)
    if np.any(D != 0.0):
        row, column = np.unravel_index(np.argmax(np.abs(D)), D.shape)
        summary = f"infinite: output '{model.y.names[row]}' depends on input '{model.u.names[column]}' directly (D is not zero)"
        return _infinite(summary, np.nan, tolerance)
    P = solve_continuous_lyapunov(A, -B @ B.T) if len(A) else np.zeros((0, 0))
    value = float(np.sqrt(max(np.trace(C @ P @ C.T), 0.0)))
    return SystemNorm(
        value=value,
        frequency=np.nan,
        input_direction={},
        output_direction={},
        tolerance=tolerance,
        message=f"root mean square {value:.6g} under white noise of unit intensity",
    )


def realisation(model: LinearModel) -> Realisation:
    """Return the matrices A, B, C, D as plain arrays."""
    A, B, C, D = (np.asarray(item) for item in (model.A, model.B, model.C, model.D))
    return A, B, C, D


def explain_growth(model: LinearModel) -> tuple[float, str] | None:
    """Return frequency and description of the slowest mode if it does not decay; otherwise None."""
    poles = np.linalg.eigvals(np.asarray(model.A)) if len(model.x) else np.zeros(0)
    if np.all(is_decaying(poles)):
        return None
    found = modes(model)
    k = int(np.argmax(found.poles.real))
    kind = "grows" if found.poles[k].real > 1e-9 * np.max(np.abs(found.poles)) else "does not decay"
    summary = f"pole {found.poles[k]:.4g} 1/s, mostly {', '.join(found.dominant(k))}"
    return abs(float(found.poles[k].imag)), f"infinite: the mode at {found.frequency[k]:.4g} rad/s {kind} ({summary})"


def _infinite(message: str, frequency: float, tolerance: float) -> SystemNorm:
    return SystemNorm(
        value=np.inf,
        frequency=frequency,
        input_direction={},
        output_direction={},
        tolerance=tolerance,
        message=message,
    )
