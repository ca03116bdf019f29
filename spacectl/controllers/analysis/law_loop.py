"""Any control law about a point, its loop with a linear plant, and the margins of that loop.

A `ControlLaw` and a `LinearModel` (which may have more states than the law knows) give the closed loop's matrix and the loop
gain at the plant's inputs, by derivatives of the law's own function. A sampled loop is evaluated through
``z = (1 + s T/2) / (1 - s T/2)``: the same response at other frequencies, which are mapped back afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from spacectl.controllers.analysis.discretise import sample_plant
from spacectl.controllers.analysis.error_state import ErrorState, read_error_state
from spacectl.core.control_law import ControlLaw
from spacectl.core.errors import ModelError, unknown_name
from spacectl.core.labels import Labels
from spacectl.linear.margins.classical import ClassicalMargins, classical_margins
from spacectl.linear.margins.disk import DiskMargin, DiskMargins, disk_margins
from spacectl.linear.models.linear_model import LinearModel

__all__ = ["LawSlopes", "LoopGain", "close_loop", "linearise_law", "loop_gain"]


class LoopGain:
    """Loop gain ``C (s - A)^-1 B`` (or in z) from the plant's inputs to the feedback that the law subtracts.

    Parameters
    ----------
    A, B, C : arrays
        Realisation without direct gain.
    D : array, optional
        Direct gain; zero by default.
    inputs : Labels
        Channels.
    period : float
        Sampling period [s]; 0 means continuous.
    """

    def __init__(
        self, A: np.ndarray, B: np.ndarray, C: np.ndarray, inputs: Labels, period: float, D: np.ndarray | None = None
    ):
        self.A, self.B, self.C, self.inputs, self.period = A, B, C, inputs, period
        self.D = np.zeros((len(inputs), len(inputs))) if D is None else D

    def disk(self) -> DiskMargins:
        """Return disk margins, each input alone and all at once; frequencies are those of the sampled loop."""
        found = disk_margins(self._model(self.A, self.B, self.C, self.D, self.inputs))
        if self.period == 0.0:
            return found
        channels = {name: self._true(item) for name, item in found.channels.items()}
        return replace(found, channels=channels, simultaneous=self._true(found.simultaneous))

    def classical(self) -> dict[str, ClassicalMargins]:
        """Return gain, phase and delay margin of each input, the other loops closed."""
        result = {}
        for k, name in enumerate(self.inputs.names):
            rest = [j for j in range(len(self.inputs)) if j != k]
            back = np.linalg.inv(np.eye(len(rest)) + self.D[np.ix_(rest, rest)])
            A = self.A - self.B[:, rest] @ back @ self.C[rest]
            B = self.B[:, [k]] - self.B[:, rest] @ back @ self.D[np.ix_(rest, [k])]
            C = self.C[[k]] - self.D[np.ix_([k], rest)] @ back @ self.C[rest]
            D = self.D[[k]][:, [k]] - self.D[np.ix_([k], rest)] @ back @ self.D[np.ix_(rest, [k])]
            loop = self._model(A, B, C, D, Labels((name,), (), "input"))
            found = classical_margins(loop)
            result[name] = found if self.period == 0.0 else self._true_classical(loop, found)
        return result

    def _model(self, A: np.ndarray, B: np.ndarray, C: np.ndarray, D: np.ndarray, u: Labels) -> LinearModel:
        x = Labels(tuple(f"loop{k + 1}" for k in range(len(A))), (), "state")
        if self.period > 0.0:
            rate = 2.0 / self.period
            inverse = np.linalg.inv(A + np.eye(len(A)))
            D = D - C @ inverse @ B
            A, B, C = rate * inverse @ (A - np.eye(len(A))), 2.0 * inverse @ B, rate * C @ inverse
        return LinearModel(A=A, B=B, C=C, D=D, x=x, u=u, y=u)

    def _frequency(self, w: float) -> float:
        """Convert a frequency of the transformed loop to the true one: ``2/T atan(w T/2)``."""
        return float(2.0 / self.period * np.arctan(0.5 * w * self.period))

    def _true(self, margin: DiskMargin) -> DiskMargin:
        return replace(margin, frequency=self._frequency(margin.frequency))

    def _true_classical(self, loop: LinearModel, found: ClassicalMargins) -> ClassicalMargins:
        lags = np.angle(-loop.frequency_response(found.gain_crossings)[:, 0, 0]) % (2.0 * np.pi)
        where = np.array([self._frequency(w) for w in found.gain_crossings])
        # a period of delay turns the gain at half the sampling rate, L(z = -1), by 180 degrees
        longest = self.period if abs(float(np.asarray(loop.D)[0, 0])) >= 1.0 else np.inf
        moves = where > 0.0
        delay = float(np.min(lags[moves] / where[moves], initial=longest)) if found.is_stable else 0.0
        turned = np.array([self._frequency(w) for w in found.phase_crossings])
        summary = found.message
        if found.is_stable:
            low, high = found.gain
            summary = (
                f"gain from {low:.3g} to {high:.3g}, phase {np.degrees(found.phase):.3g} degrees, delay {delay:.3g} s"
            )
        return replace(found, gain_crossings=where, phase_crossings=turned, delay=delay, message=summary)


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
