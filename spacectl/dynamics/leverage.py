"""One measure of authority: how well inputs reach the accelerations of chosen outputs.

With outputs ``C v_dot`` and forces ``E u``, the decoupling matrix is ``C M^-1 E``. Its size depends on units and on how
outputs and inputs are combined; the angles between the rows of C and the columns of E in the metric of M^-1 do not. The
leverage is the smallest cosine of these angles, which is the smallest singular value of
``(C M^-1 C')^-1/2 C M^-1 E (E' M^-1 E)^-1/2``. It is 1 if the inputs push straight along the outputs (full actuation) and 0 if
some combination of outputs is out of reach. For given accelerations the inputs need at most 1 / leverage times the force (in
the metric of M^-1) that well-placed actuators would need. `adequacy` follows it along a motion; laws are refused and
stopped by it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spacectl.dynamics.constrained import NOTHING, RANK

__all__ = ["LOST", "WEAK", "Leverage", "measure_leverage"]

LOST = 1e-3  #: leverage below which a law is refused, or stopped: a thousand times the force of a well-placed actuator
WEAK = 0.02  #: leverage below which a warning is due: fifty times the force of a well-placed actuator


@dataclass(frozen=True)
class Leverage:
    """The leverage of inputs over outputs at one state.

    Parameters
    ----------
    value : float
        Between 0 and 1.
    shares : array, shape (m,)
        Share of each output in the combination that is reached worst; the largest is 1.
    """

    value: float
    shares: np.ndarray


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
    along, reached, held = _basis(rows), _basis(pushes), _basis(rows[:, len(C) :])
    if along.shape[1] < len(C) + held.shape[1]:  # outputs that constraints or others determine
        free = rows[:, : len(C)] - held @ (held.T @ rows[:, : len(C)])
        return Leverage(0.0, _shares(np.linalg.svd(free)[2][-1]))
    left, cosines, _ = np.linalg.svd(along.T @ reached)
    value = float(cosines[-1]) if cosines.size == along.shape[1] else 0.0
    worst = np.linalg.lstsq(rows, along @ left[:, -1], rcond=None)[0]
    return Leverage(min(value, 1.0), _shares(worst[: len(C)]))


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
