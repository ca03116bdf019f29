"""One measure of authority: how well inputs reach the accelerations of chosen outputs.

With outputs ``C v_dot`` and forces ``E u``, the decoupling matrix is ``C M^-1 E``. Its size depends on units and on how
outputs and inputs are combined; the angles between the rows of C and the columns of E in the metric of M^-1 do not. The
leverage is the smallest cosine of these angles, which is the smallest singular value of
``(C M^-1 C')^-1/2 C M^-1 E (E' M^-1 E)^-1/2``. It is 1 if the inputs push straight along the outputs (full actuation) and 0 if
some combination of outputs is out of reach. For given accelerations the inputs need at most 1 / leverage times the force (in
the metric of M^-1) that well-placed actuators would need. `adequacy` follows it along a motion; laws are refused and
stopped by it, and where outputs or inputs come to depend on each other or on constraints (a crank at its dead centre).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spacectl.dynamics.constraints.solvers import NOTHING, RANK

__all__ = ["LOST", "WEAK", "Leverage", "measure_leverage"]

LOST = 1e-3  #: leverage below which a law is refused, or stopped: a thousand times the force of a well-placed actuator
WEAK = 0.02  #: leverage below which a warning is due: fifty times the force of a well-placed actuator


@dataclass(frozen=True)
class Leverage:
    """The leverage of inputs over outputs at one state.

    Parameters
    ----------
    value : float
        The leverage, between 0 and 1.
    independence : float
        How far outputs, and inputs, are from combinations of each other and of constraints: the smallest singular value of their
        rows (columns), each of unit size in the metric of the diagonal of M, less what constraints hold; between 0 and 1. It
        is small for light parts of a mechanism too: only its zeros and its changes have a meaning.
    shares : array, shape (m,)
        Share of each output in the combination that is reached worst; the largest is 1.
    output_sizes, input_sizes : array, shapes (m,) and (k,)
        Sizes of the rows and of the columns in the metric of the diagonal of M, by which a lever arm that vanishes is seen.
    """

    value: float
    independence: float
    shares: np.ndarray
    output_sizes: np.ndarray
    input_sizes: np.ndarray


def measure_leverage(
    M: np.ndarray, C: np.ndarray, E: np.ndarray, J: np.ndarray | None = None, J_E: np.ndarray | None = None
) -> Leverage:
    """Leverage of the forces ``E u`` over the outputs ``C v_dot``.

    Parameters
    ----------
    M : array, shape (n, n)
        Mass matrix.
    C : array, shape (m, n)
        Rows of the outputs.
    E : array, shape (n, k)
        Columns of the inputs.
    J, J_E : array, shape (r, n) and (n, r), optional
        Constraint equations that act besides, and the forces that maintain them (``J'`` if they are natural). The angle that
        both share is zero, so that they only take away what they hold.
    """
    J = np.zeros((0, M.shape[0])) if J is None else J
    J_E = J.T if J_E is None else J_E
    scale = np.sqrt(np.maximum(np.diag(M), 1e-14 * max(float(np.max(np.diag(M), initial=0.0)), 1e-300)))
    inertia = M / np.outer(scale, scale)
    values, vectors = np.linalg.eigh(0.5 * (inertia + inertia.T))
    root = vectors * np.sqrt(
        np.maximum(values, 1e-15 * values[-1])
    )  # R with R R' = M; the metric of a truncated M is symmetric
    rows = _unit(np.linalg.solve(root, (np.vstack([C, J]) / scale).T))
    pushes = _unit(root.T @ np.linalg.solve(inertia, np.hstack([E, J_E]) / scale[:, None]))
    outputs = _apart((C / scale).T, (J / scale).T)
    inputs = _apart(E / scale[:, None], J_E / scale[:, None])
    independence = min(_smallest(outputs), _smallest(inputs))
    sizes = (np.linalg.norm(C / scale, axis=1), np.linalg.norm(E / scale[:, None], axis=0))
    if _smallest(outputs) <= RANK:  # constraints or others determine some
        return Leverage(0.0, independence, _shares(np.linalg.svd(outputs)[2][-1]), *sizes)
    along, reached = _basis(rows), _basis(pushes)
    left, cosines, _ = np.linalg.svd(along.T @ reached)
    value = min(float(cosines[-1]), 1.0) if cosines.size == along.shape[1] else 0.0
    worst = np.linalg.lstsq(rows, along @ left[:, -1], rcond=None)[0]
    return Leverage(value, independence, _shares(worst[: len(C)]), *sizes)


def _apart(columns: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Unit columns less their part in the span of others."""
    basis, unit = _basis(_unit(held)), _unit(columns)
    return np.asarray(unit - basis @ (basis.T @ unit))


def _smallest(columns: np.ndarray) -> float:
    values = np.linalg.svd(columns, compute_uv=False)
    return float(values[-1]) if columns.shape[1] <= columns.shape[0] and values.size else 0.0


def _unit(columns: np.ndarray) -> np.ndarray:
    size = np.linalg.norm(columns, axis=0)
    is_something = size > NOTHING * np.max(size, initial=0.0)
    return np.asarray(columns * is_something / np.where(is_something, size, 1.0))


def _basis(columns: np.ndarray) -> np.ndarray:
    """Orthonormal basis of what unit columns span."""
    U, values, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(U[:, values > RANK * np.max(values, initial=0.0)])


def _shares(weights: np.ndarray) -> np.ndarray:
    return np.abs(weights) / max(float(np.max(np.abs(weights), initial=0.0)), 1e-300)
