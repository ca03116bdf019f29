"""`design_lqr_along`: design a time-varying optimal feedback for a linear model along a motion and weights.

The Riccati equation is integrated backward from the end by `riccati_flow`, separately in every piece between jumps;
gains, reference and feed-forward become the law's table.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from spacectl.controllers.analysis.error_state import ErrorState, read_error_state
from spacectl.controllers.regulators.feedback import law_function
from spacectl.controllers.regulators.lqr_pieces import Piece, cut_pieces, follow_pieces
from spacectl.controllers.regulators.riccati import solve_continuous
from spacectl.controllers.regulators.weights import check_joint, read_cross, read_weight, require_weighted
from spacectl.core.array import Array
from spacectl.core.control_law import ControlLaw
from spacectl.core.errors import ModelError, ShapeError
from spacectl.core.labels import Labels
from spacectl.core.trajectory import Trajectory
from spacectl.linear.analysis.controllability import require_stabilizable
from spacectl.linear.models.linear_model import LinearModel
from spacectl.linear.models.linear_trajectory import LinearTrajectory

__all__ = ["LqrTrajectoryLaw", "design_lqr_along"]


@dataclass(frozen=True, kw_only=True, eq=False)
class LqrTrajectoryLaw(ControlLaw):
    """A time-varying linear-quadratic regulator along a motion.

    Parameters
    ----------
    gains : Trajectory
        K(t) row by row, columns ``K.<input>.<error state>``; part of the law's table.
    S : Array, shape (n_t, n, n)
        Riccati solution at the knots of `gains` (with a last row and column for the drift, if the reference has one).
    breaks : tuple of float
        Times at which the linear model jumps [s]; give them to ``simulate(..., stops=law.breaks)``.
    errors : ErrorState
        Error state of the law.
    model : LinearTrajectory
        The model.
    """

    gains: Trajectory
    S: Array
    breaks: tuple[float, ...]
    errors: ErrorState
    model: LinearTrajectory

    def gain(self, t: float) -> np.ndarray:
        """Return K at a time, shape (n_u, n)."""
        return np.asarray(self.gains(t)).reshape(len(self.inputs), -1)

    def predict_cost(self, x: Any) -> float:
        """Return the cost from the state x at the first time to the end, terminal weight included, by the linear model."""
        e = self.errors.errors_of(x)
        S = np.asarray(self.S)[0]
        whole = np.concatenate([e, np.ones(len(S) - len(e))])
        return float(whole @ S @ whole)


def design_lqr_along(
    model: LinearTrajectory,
    *,
    R: Any,
    Q: Any = None,
    N: Any = None,
    output_weight: Any = None,
    terminal: Any = "steady",
    plant_inputs: Iterable[str] | None = None,
    rtol: float = 1e-7,
    name: str = "LQR along a motion",
) -> LqrTrajectoryLaw:
    """Design ``u = u_ref(t) - K(t) (x (-) x_ref(t)) - k(t)`` that minimises a quadratic cost up to the end of a motion.

    The cost is ``e.T S_f e`` at the end and the integral of ``e.T Q e + 2 e.T N u + u.T R u + y.T W y`` before it. With
    ``K = R^-1 (B.T S + N.T)`` the solution of ``-S_dot = A.T S + S A - K.T R K + Q`` is integrated backward from
    ``S = S_f``, in pieces between the jumps of the model. A reference that violates the equations (drift c) adds the
    feed-forward k.

    Parameters
    ----------
    model : LinearTrajectory
        From `linearize_along`.
    R, Q, N, output_weight : as in `design_lqr`
        Constant weights of inputs, error states, both, and outputs.
    terminal : as Q, or "steady"
        S_f, the weight of the error at the end. With zero the gains vanish there; ``"steady"`` takes the steady
        solution of the model at the end, over an infinite horizon.
    plant_inputs : iterable of str, optional
        ``eom.inputs``, if the model has some of the plant's inputs only, or in another order.
    rtol : float
        Relative tolerance of the Riccati solution and of the table of gains.
    name : str
        Shown in results and messages.

    Returns
    -------
    LqrTrajectoryLaw
        Beyond the last time its gain and reference are constant.

    Raises
    ------
    ModelError
        If weights do not fit, or ``"steady"`` has no solution (the message names the mode).
    SolverError
        If the integration of the Riccati equation fails.
    """
    what = f"LQR law '{name}'"
    if not isinstance(model, LinearTrajectory):
        raise ModelError(f"{what}: expected a LinearTrajectory, got {type(model).__name__}; use linearize_along")
    if not 1e-13 < rtol < 1e-2:
        raise ModelError(f"{what}: rtol is {rtol:g}, expected a number between 1e-13 and 1e-2")
    if Q is None and output_weight is None:
        raise ModelError(f"{what}: there is no weight; give Q (states) or output_weight (outputs)")
    if len(model.t) < 2:
        raise ModelError(f"{what}: the motion has one time only; use linearize and design_lqr")
    Qx = read_weight(0.0 if Q is None else Q, model.x, f"{what}: Q", definite=False)
    Ru = read_weight(R, model.u, f"{what}: R", definite=True)
    Nx = read_cross(N, model.x, model.u, f"{what}: N")
    check_joint(Qx, Ru, Nx, model.x, model.u, what)
    y = Labels(model.y.names, model.y.units, "output")
    W = read_weight(0.0 if output_weight is None else output_weight, y, f"{what}: output_weight", definite=False)
    u_ref = _reference_inputs(model, plant_inputs, what)
    pieces = cut_pieces(model, u_ref, Qx, Ru, Nx, W)
    end = _terminal(model, pieces[-1], terminal, what)
    table, gains, S = follow_pieces(pieces, end, model, rtol)
    errors = read_error_state(model, what)
    notes = {"kind": "LQR along a motion", "rtol": rtol, "knots": len(gains.t), "breaks": list(model.breaks)}
    return LqrTrajectoryLaw(
        name=name,
        function=_function(errors, len(model.u), table.values.shape[1]),
        states=errors.states,
        inputs=model.u,
        reference=table,
        notes=notes,
        gains=gains,
        S=Array(S),
        breaks=model.breaks,
        errors=errors,
        model=model,
    )


def _reference_inputs(model: LinearTrajectory, plant_inputs: Iterable[str] | None, what: str) -> np.ndarray:
    """Return the inputs of the reference, shape (n_t, n_u), for the inputs of the model."""
    values = np.asarray(model.u_reference)
    if plant_inputs is not None:
        names = Labels(tuple(plant_inputs), (), "input")
        if len(names) != values.shape[1]:
            raise ShapeError(
                f"{what}: {len(names)} plant_inputs, but the reference has {values.shape[1]}; use eom.inputs"
            )
        return values[:, list(names.indices(model.u.names))]
    if values.shape[1] != len(model.u):
        raise ModelError(
            f"{what}: the model has {len(model.u)} of the plant's {values.shape[1]} inputs; give plant_inputs=eom.inputs"
        )
    return values


def _terminal(model: LinearTrajectory, last: Piece, terminal: Any, what: str) -> np.ndarray:
    if not isinstance(terminal, str):
        return read_weight(terminal, model.x, f"{what}: terminal", definite=False)
    if terminal != "steady":
        raise ModelError(f"{what}: terminal is {terminal!r}, expected 'steady', or weights as for Q")
    here = model.at(float(model.t[-1]), side="right")
    cure = f"{what}: terminal='steady' (or give a matrix as terminal)"
    Q, R, N = last.weights(float(model.t[-1]))
    basis, pick = np.eye(len(here.x)), np.eye(len(here.x))
    if model.tangent is not None:  # constraints: the steady solution is that of the independent errors
        basis, pick = model.tangent.basis, pick[model.tangent.independent]
        x = Labels(tuple(here.x.names[k] for k in model.tangent.independent), (), "state")
        here = LinearModel(
            A=pick @ here.A @ basis, B=pick @ here.B, C=here.C @ basis, D=here.D, x=x, u=here.u, y=here.y
        )
        Q, N = basis.T @ Q @ basis, basis.T @ N
    require_stabilizable(here, what=cure)
    require_weighted(here, Q, R, N, cure)
    return pick.T @ solve_continuous(np.asarray(here.A), np.asarray(here.B), Q, R, N).S @ pick


def _function(errors: ErrorState, m: int, width: int) -> ca.Function:
    """Return ``u_ref - K e`` with K, u_ref (less the feed-forward) and x_ref from the table."""
    n, n_x = len(errors.errors), len(errors.states)

    def rule(t: Any, x: Any, y: Any, z: Any, r: Any, p: Any) -> tuple[Any, Any]:
        gain, u_ref, x_ref = r[: m * n], r[m * n : m * n + m], r[m * n + m :]
        return u_ref - ca.reshape(gain, n, m).T @ errors.subtract(x, x_ref), ca.SX(0, 1)

    return law_function((n_x, 0, 0, width, 0), rule, 0.0)
