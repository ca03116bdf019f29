"""Linearise any control law about a point and close its loop with a linear plant, by names.

A `ControlLaw` and a `LinearModel` (which may have more states than the law) give the closed loop's matrix and the
loop gain at the plant's inputs. `spillover` and `lqg` use both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from spacectl.controllers.analysis.discretise import sample_plant
from spacectl.controllers.analysis.error_state import ErrorState, read_error_state
from spacectl.controllers.analysis.loop_margins import LoopGain
from spacectl.core.control_law import ControlLaw
from spacectl.core.errors import ModelError, unknown_name
from spacectl.linear.models.linear_model import LinearModel

__all__ = ["LawSlopes", "close_loop", "linearise_law", "loop_gain"]


@dataclass(frozen=True, kw_only=True)
class LawSlopes:
    """``u = u_e e + u_y y + u_z z`` and the change of z (rate, or next value if sampled) ``z_e e + z_y y + z_z z``.

    Parameters
    ----------
    u_e, u_y, u_z, z_e, z_y, z_z : arrays
        Derivatives with respect to the plant's error state e, the law's measurements y and its memory z.
    A, B, C : arrays
        The plant for the law's inputs and measurements; of its samples, for a sampled law.
    period : float
        Of the law [s].
    """

    u_e: np.ndarray
    u_y: np.ndarray
    u_z: np.ndarray
    z_e: np.ndarray
    z_y: np.ndarray
    z_z: np.ndarray
    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    period: float


def linearise_law(law: ControlLaw, model: LinearModel, *, what: str, y_point: Any = None, t: float = 0.0) -> LawSlopes:
    """Differentiate a law at the model's point, with its states found by name among those of the model.

    Raises
    ------
    ModelError
        If the model lacks a state, input or measurement of the law.
    """
    errors = read_error_state(model, what)
    for name in law.states.names:
        if name not in errors.states:
            raise ModelError(
                f"{what}: law '{law.name}' has gains for the wrong states: {unknown_name('state', name, errors.states)}"
            )
    for labels, known in ((law.inputs, model.u), (law.measurements, model.y)):
        for name in labels.names:
            if name not in known:
                raise ModelError(
                    f"{what}: law '{law.name}': {unknown_name(known.kind, name, known)}; linearize with it"
                )
    rows = list(model.y.indices(law.measurements.names))
    if np.any(np.asarray(model.D)[rows]):
        raise ModelError(f"{what}: a measurement of law '{law.name}' depends on the inputs; delay it")
    seen = list(errors.states.indices(law.states.names))
    r = np.zeros(0) if law.reference is None else law.reference(t)
    if law.reference is not None and law.reference_rates:
        r = np.concatenate([r, law.reference.rate(t)])
    y = np.zeros(len(rows)) if y_point is None else np.asarray(y_point, dtype=float)
    slopes = _slopes(law)(t, errors.point[seen], y, np.asarray(law.z0), r, np.asarray(law.p))
    u_x, u_y, u_z, z_x, z_y, z_z = (np.array(item) for item in slopes)
    W = _tangent(errors)[seen]
    A, B, C = np.asarray(model.A), np.asarray(model.B)[:, list(model.u.indices(law.inputs.names))], np.asarray(model.C)
    if law.period > 0.0:
        A, B = sample_plant(A, B, law.period)
    return LawSlopes(
        u_e=u_x @ W, u_y=u_y, u_z=u_z, z_e=z_x @ W, z_y=z_y, z_z=z_z, A=A, B=B, C=C[rows], period=law.period
    )


def close_loop(s: LawSlopes, factor: float = 1.0) -> np.ndarray:
    """Return the matrix of the closed loop's state (e, z), with the law's commands multiplied by `factor`."""
    by_e, by_z = s.u_e + s.u_y @ s.C, s.u_z
    return np.block([[s.A + factor * s.B @ by_e, factor * s.B @ by_z], [s.z_e + s.z_y @ s.C, s.z_z]])


def loop_gain(s: LawSlopes, law: ControlLaw) -> LoopGain:
    """Return the loop broken at the plant's inputs."""
    n, k, m = len(s.A), len(s.z_z), s.B.shape[1]
    A = np.block([[s.A, np.zeros((n, k))], [s.z_e + s.z_y @ s.C, s.z_z]])
    B = np.vstack([s.B, np.zeros((k, m))])
    return LoopGain(A, B, -np.hstack([s.u_e + s.u_y @ s.C, s.u_z]), law.inputs, s.period)


def _slopes(law: ControlLaw) -> ca.Function:
    """Return a function (t, x, y, z, r, p) -> du/d(x, y, z), then d(change of z)/d(x, y, z)."""
    f = law.function
    symbols = [ca.MX.sym(f.name_in(i), *f.size_in(i)) for i in range(f.n_in())]
    u, z_dot, z_next = f(*symbols)
    change = z_next if law.period > 0.0 else z_dot
    jacobians = [ca.densify(ca.jacobian(item, symbols[k])) for item in (u, change) for k in (1, 2, 3)]
    return ca.Function("slopes", symbols, jacobians)


def _tangent(errors: ErrorState) -> np.ndarray:
    """Return the derivative of the states with respect to the error state at the point, shape (n_x, n)."""
    W = np.zeros((len(errors.states), len(errors.errors) if errors.basis is None else len(errors.basis)))
    column = 0
    for at, turns in errors.blocks:
        if not turns:
            W[at, column] = 1.0
            column += 1
            continue
        w, x, y, z = errors.point[at : at + 4]
        W[at : at + 4, column : column + 3] = 0.5 * np.array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]])
        column += 3
    return W if errors.basis is None else W @ errors.basis
