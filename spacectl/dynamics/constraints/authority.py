"""Control authority: how well inputs reach the accelerations of chosen outputs.

With outputs ``C v_dot`` and forces ``E u``, the decoupling matrix is ``C M^-1 E``. Its norm depends on units
and on how outputs and inputs are combined; the angles between the rows of C and the columns of E in the
metric of M^-1 do not. The authority (`leverage` in reports) is the smallest cosine of these angles, which is
the smallest singular value of ``(C M^-1 C')^-1/2 C M^-1 E (E' M^-1 E)^-1/2``. It is 1 if the inputs act
directly along the outputs (full actuation) and 0 if some combination of outputs cannot be reached. For given
accelerations the inputs need at most 1 / authority times the force (in the metric of M^-1) that well-placed
actuators would need. `adequacy` evaluates it along a motion. A control law is rejected at design, and a run
is stopped, if it is too small, or if outputs or inputs become dependent on each other or on constraints (a
crank at its dead centre).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spacectl.dynamics.constraints.solvers import NEGLIGIBLE, RANK

__all__ = ["LOST", "WEAK", "Authority", "measure_authority"]

LOST = 1e-3  #: authority below which a law is rejected: 1000 times the force of a well-placed actuator
WEAK = 0.02  #: authority below which a warning is issued: 50 times that force


@dataclass(frozen=True)
class Authority:
    """The authority of inputs over outputs at one state.

    Parameters
    ----------
    value : float
        The authority, between 0 and 1.
    independence : float
        Linear independence of the outputs, and of the inputs, from each other and from the constraints: the smallest singular
        value of their rows (columns), of unit norm in the metric of the diagonal of M and without their part in the span of
        the constraints; between 0 and 1. It is small for light bodies too: only its zeros and its changes are significant.
    shares : array, shape (m,)
        Share of each output in the least controllable combination; the largest is 1.
    output_sizes, input_sizes : array, shapes (m,) and (k,)
        Norms of the rows and columns in the metric of the diagonal of M; they reveal a vanishing lever arm.
    """

    value: float
    independence: float
    shares: np.ndarray
    output_sizes: np.ndarray
    input_sizes: np.ndarray


def measure_authority(
    M: np.ndarray, C: np.ndarray, E: np.ndarray, J: np.ndarray | None = None, J_E: np.ndarray | None = None
) -> Authority:
    """Return the authority of the forces ``E u`` over the outputs ``C v_dot``.

    Parameters
    ----------
    M : array, shape (n, n)
        Mass matrix.
    C : array, shape (m, n)
        Rows of the outputs.
    E : array, shape (n, k)
        Columns of the inputs.
    J, J_E : array, shape (r, n) and (n, r), optional
        Further constraint equations, and the forces that maintain them (``J'`` if they are natural). Their directions are in
        both spans, at angle zero, so that they only restrict the motion.
    """
    J = np.zeros((0, M.shape[0])) if J is None else J
    J_E = J.T if J_E is None else J_E
    scale = np.sqrt(np.maximum(np.diag(M), 1e-14 * max(float(np.max(np.diag(M), initial=0.0)), 1e-300)))
    inertia = M / np.outer(scale, scale)
    values, vectors = np.linalg.eigh(0.5 * (inertia + inertia.T))
    # R with R R' = M; the metric of a truncated M is symmetric
    root = vectors * np.sqrt(np.maximum(values, 1e-15 * values[-1]))
    rows = _unit(np.linalg.solve(root, (np.vstack([C, J]) / scale).T))
    pushes = _unit(root.T @ np.linalg.solve(inertia, np.hstack([E, J_E]) / scale[:, None]))
    outputs = _without_span((C / scale).T, (J / scale).T)
    inputs = _without_span(E / scale[:, None], J_E / scale[:, None])
    independence = min(_smallest(outputs), _smallest(inputs))
    sizes = (np.linalg.norm(C / scale, axis=1), np.linalg.norm(E / scale[:, None], axis=0))
    if _smallest(outputs) <= RANK:  # constraints or other outputs determine some output
        return Authority(0.0, independence, _shares(np.linalg.svd(outputs)[2][-1]), *sizes)
    along, reached = _basis(rows), _basis(pushes)
    left, cosines, _ = np.linalg.svd(along.T @ reached)
    value = min(float(cosines[-1]), 1.0) if cosines.size == along.shape[1] else 0.0
    worst = np.linalg.lstsq(rows, along @ left[:, -1], rcond=None)[0]
    return Authority(value, independence, _shares(worst[: len(C)]), *sizes)


def _without_span(columns: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return columns scaled to unit norm, without their component in the span of others."""
    basis, unit = _basis(_unit(others)), _unit(columns)
    return np.asarray(unit - basis @ (basis.T @ unit))


def _smallest(columns: np.ndarray) -> float:
    values = np.linalg.svd(columns, compute_uv=False)
    return float(values[-1]) if columns.shape[1] <= columns.shape[0] and values.size else 0.0


def _unit(columns: np.ndarray) -> np.ndarray:
    size = np.linalg.norm(columns, axis=0)
    counts = size > NEGLIGIBLE * np.max(size, initial=0.0)
    return np.asarray(columns * counts / np.where(counts, size, 1.0))


def _basis(columns: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of the span of unit columns."""
    U, values, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(U[:, values > RANK * np.max(values, initial=0.0)])


def _shares(weights: np.ndarray) -> np.ndarray:
    return np.abs(weights) / max(float(np.max(np.abs(weights), initial=0.0)), 1e-300)
