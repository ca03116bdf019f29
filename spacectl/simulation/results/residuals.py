"""How well recorded states meet the constraints: every result of a constrained system carries it."""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["constraint_residuals"]


def constraint_residuals(eom: EquationsOfMotion, t: np.ndarray, x: np.ndarray, p: Any) -> dict[str, float]:
    """Largest residuals over the records, at position and at speed level,; empty for a tree.

    Parameters
    ----------
    eom : EquationsOfMotion
        The plant.
    t : array, shape (n,)
        Times [s].
    x : array, shape (n, n_x)
        States; rows that are not finite are passed over.
    p : array, shape (n_p,)
        Run-time parameters.

    Returns
    -------
    dict
        ``position_residual`` and ``speed_residual`` in the units of the rows.
    """
    kept = np.all(np.isfinite(x), axis=1)
    if not eom.constraint_rows or not np.any(kept):
        return {}
    g = np.abs(eom.along("residual", np.asarray(t)[kept], np.asarray(x)[kept], None, p)).reshape(np.sum(kept), -1)
    held, rates = g[:, : len(eom.position_rows)], g[:, len(eom.position_rows) :]
    return {
        "position_residual": float(np.max(held, initial=0.0)),
        "speed_residual": float(np.max(rates, initial=0.0)),
    }
