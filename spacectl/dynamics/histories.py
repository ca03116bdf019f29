"""Functions of the equations over a whole history at once."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from spacectl.core.errors import ShapeError

__all__ = ["evaluate_along"]

#: Arguments (before p) of the numeric calls that large systems replace
_NUMERIC = {
    "x_dot": ("t", "x", "u"),
    "v_dot": ("t", "q", "v", "u"),
    "bias": ("t", "q", "v"),
    "mass_matrix": ("t", "q"),
    "input_map": ("t", "q"),
    "multipliers": ("t", "q", "v", "u"),
    "constraints": ("t", "q", "v"),
    "projection": ("t", "q", "v"),
    "residual": ("t", "q", "v"),
    "sides": ("t", "q"),
}


def evaluate_along(eom: Any, function: str, t: Any, x: Any, u: Any, p: np.ndarray) -> np.ndarray:
    """Values of a named function at times t (n,), states x (n, n_x) and inputs u (n, n_u): time first.

    The first output is taken; for ``"energy"`` the sum of both. A column vector loses its second axis.
    """
    times, states = np.asarray(t, dtype=float).reshape(-1), np.asarray(x, dtype=float)
    if states.shape != (times.size, eom.n_x):
        raise ShapeError(f"along: x has shape {states.shape}, expected ({times.size}, {eom.n_x}): time comes first")
    inputs = np.zeros((times.size, eom.n_u)) if u is None else np.asarray(u, dtype=float)
    if inputs.shape != (times.size, eom.n_u):
        raise ShapeError(f"along: u has shape {inputs.shape}, expected ({times.size}, {eom.n_u}): time comes first")
    known = {"t": times[:, None], "x": states, "q": states[:, : eom.n_q], "v": states[:, eom.n_q :], "u": inputs}
    if function in eom.numeric:
        rows = [known[name] for name in _NUMERIC[function]]
        stacked = np.array([eom.numeric[function](*(row[i] for row in rows), p)[0] for i in range(times.size)])
    else:
        f = eom.functions[function]
        columns = f.call([ca.DM(known[name].T) for name in f.name_in()[:-1]] + [ca.DM(p)])
        total = columns[0] + columns[1] if function == "energy" else columns[0]
        height, width = f.size_out(0)
        stacked = np.array(total).reshape(height, times.size, width).transpose(1, 0, 2)
    return stacked[:, :, 0] if stacked.shape[2] == 1 else stacked
