"""`h_infinity_norm`, `h2_norm`: the largest gain over frequency and the response to white noise of a linear model.

Both are computed to a tolerance from the matrices. A model that does not decay has infinite norms, and the result
names the mode.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_continuous_lyapunov

from spacectl.core.errors import ModelError
from spacectl.linear.analysis.modes import modes
from spacectl.linear.margins.hamiltonian import Realisation, find_peak, response
from spacectl.linear.models.linear_model import LinearModel
from spacectl.linear.models.scaling import is_decaying

__all__ = ["SystemNorm", "explain_growth", "h2_norm", "h_infinity_norm", "realisation"]


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
        The model, disturbances left out.
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
        The model, disturbances left out.

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
