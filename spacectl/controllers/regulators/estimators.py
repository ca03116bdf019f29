"""`design_kalman`: design a steady Kalman filter for a linear model and noise levels, continuous or sampled.

`lqg` combines it with a regulator into a law that needs measurements only; `attitude_filter` is for attitudes far
from a point.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from spacectl.controllers.analysis.discretise import sample_noise, sample_plant
from spacectl.controllers.regulators.lqr_problem import check_period, read_reduction
from spacectl.controllers.regulators.riccati import solve_continuous, solve_discrete
from spacectl.controllers.regulators.weights import read_weight
from spacectl.core.array import Array
from spacectl.core.errors import ModelError, SolverError
from spacectl.core.labels import Labels
from spacectl.linear.analysis.controllability import check_controllability, require_detectable
from spacectl.linear.models.linear_model import LinearModel
from spacectl.linear.reduction.reduce import Reduction

__all__ = ["KalmanFilter", "design_kalman"]

Through = Literal["disturbances", "inputs", "states"]


@dataclass(frozen=True, kw_only=True)
class KalmanFilter:
    """A steady Kalman filter for the error state.

    Parameters
    ----------
    L : Array, shape (n, n_y)
        Gain: ``z_dot = A z + B u + L (y - C z)``, or ``z <- z + L (y - C z)`` at each sample before the next
        prediction.
    P : Array, shape (n, n)
        Covariance of the error; for a sampled filter just before a measurement.
    P_after : Array, shape (n, n)
        The same just after a measurement (equal to P for a continuous filter).
    poles : array, complex
        Of the error's dynamics, slowest first: [1/s], or in z for a sampled filter.
    residual : float
        Relative residual of the Riccati equation.
    model : LinearModel
        Model of the filter (possibly reduced).
    full_model : LinearModel
        The model it was designed for.
    reduction : Reduction or None
        From the full model to the filter's.
    W : Array, shape (n_full, n_full)
        Intensity of the process noise in the full state [unit^2 / s].
    V : Array, shape (n_y, n_y)
        Intensity of the measurement noise [unit^2 s], or its covariance at a sample [unit^2].
    period : float
        Sampling period [s]; 0 means continuous.
    """

    L: Array
    P: Array
    P_after: Array
    poles: np.ndarray
    residual: float
    model: LinearModel
    full_model: LinearModel
    reduction: Reduction | None
    W: Array
    V: Array
    period: float

    def deviations(self) -> dict[str, float]:
        """Return the standard deviation of the estimate's error by state, after a measurement."""
        sizes = np.sqrt(np.maximum(np.diag(np.asarray(self.P_after)), 0.0))
        return dict(zip(self.model.x.names, sizes.tolist(), strict=True))


def design_kalman(
    model: LinearModel,
    *,
    process: Any,
    measurement: Any,
    through: Through | None = None,
    reduction: Reduction | Iterable[str] | None = None,
    period: float = 0.0,
    name: str = "Kalman filter",
) -> KalmanFilter:
    """Design a steady Kalman filter of ``x_dot = A x + B u + G w``, ``y = C x + v`` with white noise w and v.

    P solves ``A P + P A.T - P C.T V^-1 C P + G W G.T = 0`` and ``L = P C.T V^-1``; the sampled filter has the exact
    covariance of the noise accumulated in a period, and the covariance of v at a sample.

    Parameters
    ----------
    model : LinearModel
        Its outputs are the measurements; `LinearModel.select` chooses among them.
    process : float, array (k,) or (k, k), or mapping of str to float
        W: intensity of the process noise [unit^2 / s], positive semidefinite; a mapping goes by name.
    measurement : float, array (n_y,) or (n_y, n_y), or mapping of output to float
        V: intensity of the measurement noise [unit^2 s], or for a sampled filter its covariance [unit^2]; positive
        definite.
    through : {"disturbances", "inputs", "states"}, optional
        Where process noise enters; default: the model's disturbances if it has any, else its inputs.
    reduction : Reduction, or states by name, optional
        Predict with this reduced form of the model.
    period : float
        Sampling period [s]; 0 means continuous.
    name : str
        Name of the filter, for messages.

    Returns
    -------
    KalmanFilter

    Raises
    ------
    ModelError
        If a mode that does not decay is unobservable, or undamped and not excited by noise; the message names it.

    Examples
    --------
    >>> x, y = Labels(("position", "speed")), Labels(("at",))
    >>> cart = LinearModel(A=[[0, 1], [0, 0]], B=[[0], [1]], C=[[1, 0]], D=[[0]], x=x, u=Labels(("force",)), y=y)
    >>> np.round(design_kalman(cart, process=1.0, measurement=1.0).L, 6).tolist()  # sqrt(2), 1
    [[1.414214], [1.0]]
    """
    what = f"Kalman filter '{name}'"
    if not isinstance(model, LinearModel):
        raise ModelError(f"{what}: expected a LinearModel, got {type(model).__name__}; use linearize(eom, point)")
    step = check_period(period, what)
    small, used = read_reduction(model, reduction, what)
    G, labels = _entrance(model, through, what)
    y = Labels(model.y.names, model.y.units, "output")
    if len(y) == 0:
        raise ModelError(f"{what}: the model has no outputs; linearize with outputs=...")
    W = G @ read_weight(process, labels, f"{what}: process", definite=False) @ G.T
    V = read_weight(measurement, y, f"{what}: measurement", definite=True)
    left = np.eye(len(model.x)) if used is None else used.left
    W_small = left @ W @ left.T
    require_detectable(small, what=what)
    _require_moved(small, W_small, what)
    A, C = np.asarray(small.A), np.asarray(small.C)
    none = np.zeros((len(A), len(V)))
    try:
        if step > 0.0:
            Ad, _ = sample_plant(A, np.zeros((len(A), 0)), step)
            solution = solve_discrete(Ad.T, C.T, sample_noise(A, W_small, step), V, none)
            L = np.linalg.solve(V + C @ solution.S @ C.T, C @ solution.S).T
            stays = np.eye(len(A)) - L @ C
            after = stays @ solution.S @ stays.T + L @ V @ L.T
        else:
            solution = solve_continuous(A.T, C.T, W_small, V, none)
            L, after = solution.K.T, solution.S
    except SolverError as error:
        raise SolverError(f"{what}: {error}") from error
    return KalmanFilter(
        L=Array(L),
        P=Array(solution.S),
        P_after=Array(after),
        poles=solution.poles,
        residual=solution.residual,
        model=small,
        full_model=model,
        reduction=used,
        W=Array(W),
        V=Array(V),
        period=step,
    )


def _entrance(model: LinearModel, through: Through | None, what: str) -> tuple[np.ndarray, Labels]:
    """Return where noise enters: its map to the states, and its names."""
    chosen = through or ("disturbances" if len(model.d) else "inputs")
    if chosen == "states":
        return np.eye(len(model.x)), model.x
    if chosen == "disturbances":
        if not len(model.d):
            raise ModelError(
                f"{what}: the model has no disturbances; linearize with disturbances=..., or through='inputs'"
            )
        return np.asarray(model.E), model.d
    if chosen == "inputs":
        return np.asarray(model.B), model.u
    raise ModelError(f"{what}: through is {through!r}, expected 'disturbances', 'inputs' or 'states'")


def _require_moved(model: LinearModel, W: np.ndarray, what: str) -> None:
    """Raise if noise does not excite an undamped mode: the steady filter would not correct it."""
    size = np.sqrt(np.maximum(np.diag(W), 0.0))
    scale = np.where(size > 0.0, size, 1.0)
    values, vectors = np.linalg.eigh(W / np.outer(scale, scale))
    moved = values > 1e-13 * np.max(values, initial=0.0)
    G = scale[:, None] * vectors[:, moved] * np.sqrt(values[moved])
    u = Labels(tuple(f"noise{k + 1}" for k in range(G.shape[1])), (), "input")
    none, y = np.zeros((0, len(W))), Labels(kind="output")
    pair = LinearModel(A=model.A, B=G, C=none, D=np.zeros((0, len(u))), x=model.x, u=u, y=y)
    found = check_controllability(pair)
    for mode in found.weak_modes:
        if mode.count > 0 and abs(mode.pole.real) < 1e-9 * found.rate:
            raise ModelError(
                f"{what}: no process noise excites {mode.describe()}; it does not decay, so the steady filter would not "
                f"correct it: give '{mode.states[0]}' some noise (through='states')"
            )
