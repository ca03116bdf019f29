"""`design_lqg`: combine a regulator and a Kalman filter in one law on measurements; its memory is the estimate.

The law predicts the covariance of the closed loop, for comparison with simulations with noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from scipy.linalg import solve_continuous_lyapunov

from spacectl.controllers.analysis.discretise import sample_noise, sample_plant
from spacectl.controllers.analysis.law_loop import LawSlopes, LoopGain, close_loop, linearise_law, loop_gain
from spacectl.controllers.regulators.estimators import KalmanFilter
from spacectl.controllers.regulators.feedback import law_function
from spacectl.controllers.regulators.lqr import LqrLaw
from spacectl.controllers.regulators.lqr_problem import read_y_point
from spacectl.controllers.regulators.riccati import sort_poles
from spacectl.controllers.regulators.riccati_forms import solve_stein
from spacectl.core.control_law import ControlLaw
from spacectl.core.errors import ModelError, ShapeError
from spacectl.core.labels import Labels
from spacectl.linear.margins.classical import ClassicalMargins
from spacectl.linear.margins.disk import DiskMargins

__all__ = ["Covariance", "LqgLaw", "design_lqg"]


class Covariance(NamedTuple):
    """Steady covariance of the closed loop: error states (n, n), memory (n_z, n_z), inputs (n_u, n_u).

    For a sampled law, at the samples, just before the measurement changes the memory.
    """

    x: np.ndarray
    z: np.ndarray
    u: np.ndarray


@dataclass(frozen=True, kw_only=True, eq=False)
class LqgLaw(ControlLaw):
    """A regulator on estimates: a `ControlLaw` on measurements whose memory is the estimate (and integrals).

    Parameters
    ----------
    regulator : LqrLaw
        Its gains act on the estimate.
    estimator : KalmanFilter
        The estimator.
    """

    regulator: LqrLaw
    estimator: KalmanFilter

    @cached_property
    def slopes(self) -> LawSlopes:
        """The law about the point, with the full plant."""
        return linearise_law(self, self.estimator.full_model, what=f"LQG law '{self.name}'")

    @cached_property
    def poles(self) -> np.ndarray:
        """Poles of the closed loop with the full model, slowest first: [1/s], or in z for a sampled law."""
        return sort_poles(np.linalg.eigvals(close_loop(self.slopes)), discrete=self.period > 0.0)

    @cached_property
    def loop(self) -> LoopGain:
        """The loop broken at the plant's inputs."""
        return loop_gain(self.slopes, self)

    @cached_property
    def margins(self) -> DiskMargins:
        """Disk margins at the plant's inputs, computed on first access; an estimator can make them small."""
        return self.loop.disk()

    @cached_property
    def classical(self) -> dict[str, ClassicalMargins]:
        """Gain, phase and delay margins of each input with the other loops closed."""
        return self.loop.classical()

    @cached_property
    def covariance(self) -> Covariance:
        """Steady covariance with the process and measurement noise of the estimator, by the linear model.

        Raises
        ------
        ModelError
            If the closed loop is not stable.
        """
        s, V = self.slopes, np.asarray(self.estimator.V)
        n, k, W = len(s.A), len(s.z_z), np.asarray(self.estimator.W)
        closed = close_loop(s)
        largest = np.max(np.abs(self.poles)) - 1.0 if self.period > 0.0 else np.max(self.poles.real)
        if largest >= 0.0:
            raise ModelError(f"LQG law '{self.name}': the closed loop is not stable, so its covariance grows")
        noise = np.vstack([s.B @ s.u_y, s.z_y])
        total = noise @ V @ noise.T
        if self.period > 0.0:
            total[:n, :n] += sample_noise(np.asarray(self.estimator.full_model.A), W, self.period)
            P = solve_stein(closed.T, total)
        else:
            total[:n, :n] += W
            P = solve_continuous_lyapunov(closed, -total)
        gain = np.hstack([s.u_e + s.u_y @ s.C, s.u_z])
        u = gain @ P @ gain.T + (s.u_y @ V @ s.u_y.T if self.period > 0.0 else 0.0)
        return Covariance(x=P[:n, :n], z=P[n : n + k, n : n + k], u=u)


def design_lqg(
    regulator: LqrLaw,
    estimator: KalmanFilter,
    *,
    y_point: Any = None,
    limits: Any = None,
    z0: Any = None,
    name: str = "LQG",
) -> LqgLaw:
    """Design a regulator on the estimate of a Kalman filter: ``u = u_0 - K z - K_i z_i`` from measurements y alone.

    Continuous: ``z_dot = A z + B (u - u_0) + L (y - y_0 - C z)``. Sampled: ``z+ = z + L (y - y_0 - C z)`` gives u, and
    ``z <- A z+ + B (u - u_0)`` predicts to the next sample. The estimate is that of the error state about the model's
    point, of the reduced one if the filter has a reduction.

    Parameters
    ----------
    regulator : LqrLaw
        From `design_lqr`, with the same model, inputs and period; no reference.
    estimator : KalmanFilter
        From `design_kalman`.
    y_point : array (n_y,) or mapping of str to float, optional
        Measurements at the point: ``dict(zip(eom.labels.y.names, eom.outputs(t, x, u)))``; needed if the model has a
        point.
    limits : (array, array), optional
        Limits of the law's inputs, ``eom.limits()``: the filter then uses the clipped input of the plant, not the
        command.
    z0 : array, optional
        Estimate at the start; default zero (the point).
    name : str
        Shown in results and messages.

    Returns
    -------
    LqgLaw
    """
    what = f"LQG law '{name}'"
    _check_match(regulator, estimator, what)
    model, period = estimator.model, estimator.period
    n_z = len(model.x) + len(regulator.memory)
    y = Labels(model.y.names, model.y.units, "measurement")
    bounds = _read_limits(limits, len(model.u), what)
    trim = np.asarray(regulator.p)[[regulator.parameters.index(f"trim.{item}") for item in regulator.inputs.names]]
    matrices = _matrices(regulator, estimator)
    matrices |= {"trim": trim[:, None], "y_point": read_y_point(y_point, y, bool(model.point), what)[:, None]}

    def rule(t: Any, x: Any, measured: Any, z: Any, table: Any, p: Any) -> tuple[Any, Any]:
        M = _unpack(p, matrices)
        deviation = measured - M["y_point"]
        change = M["z_z"] @ z + M["z_y"] @ deviation
        u = M["trim"] + M["u_z"] @ z
        if period > 0.0:
            u = u + M["u_y"] @ deviation
        if bounds is not None:
            change = change + M["z_u"] @ (ca.fmin(ca.fmax(u, bounds[0]), bounds[1]) - u)
        return u, change

    names = tuple(f"{key}.{i + 1}.{j + 1}" for key, item in matrices.items() for i, j in np.ndindex(item.shape))
    numbers = np.concatenate([item.ravel() for item in matrices.values()])
    memory = Labels((*(f"estimate.{item}" for item in model.x.names), *regulator.memory.names), (), "memory")
    return LqgLaw(
        name=name,
        function=law_function((len(regulator.states), len(y), n_z, 0, numbers.size), rule, period),
        states=regulator.states,
        inputs=regulator.inputs,
        measurements=y,
        memory=memory,
        parameters=Labels(names, (), "law parameter"),
        z0=np.zeros(n_z) if z0 is None else np.concatenate([np.ravel(z0), np.zeros(len(regulator.memory))]),
        p=numbers,
        period=period,
        notes={"kind": "LQG", "K": regulator.K.tolist(), "L": estimator.L.tolist()},
        regulator=regulator,
        estimator=estimator,
    )


def _check_match(regulator: LqrLaw, estimator: KalmanFilter, what: str) -> None:
    if not isinstance(regulator, LqrLaw) or not isinstance(estimator, KalmanFilter):
        given = f"{type(regulator).__name__} and {type(estimator).__name__}"
        raise ModelError(f"{what}: got {given}, expected an LqrLaw (design_lqr) and a KalmanFilter (design_kalman)")
    pairs = (("states", regulator.model.x, estimator.full_model.x), ("inputs", regulator.model.u, estimator.model.u))
    for kind, ours, theirs in pairs:
        if ours.names != theirs.names:
            k = next((i for i, (a, b) in enumerate(zip(ours.names, theirs.names, strict=False)) if a != b), -1)
            summary = (
                f"'{ours.names[k]}' against '{theirs.names[k]}'" if k >= 0 else f"{len(ours)} against {len(theirs)}"
            )
            raise ModelError(
                f"{what}: regulator and estimator have different {kind}: {summary}; design both on one model"
            )
    if regulator.period != estimator.period:
        raise ModelError(
            f"{what}: the regulator's period is {regulator.period:g} s, the estimator's {estimator.period:g} s; make them equal"
        )
    if regulator.reference is not None:
        raise ModelError(f"{what}: the regulator follows a reference; design it about the point")
    if np.any(np.asarray(estimator.model.D)):
        row = int(np.flatnonzero(np.any(np.asarray(estimator.model.D), axis=1))[0])
        raise ModelError(
            f"{what}: output '{estimator.model.y.names[row]}' depends on the inputs; leave it out (select)"
        )
    for item in regulator.measurements.names:
        if item not in estimator.model.y:
            raise ModelError(f"{what}: the regulator integrates '{item}', which the estimator does not measure")


def _matrices(regulator: LqrLaw, estimator: KalmanFilter) -> dict[str, np.ndarray]:
    """Return the law as ``u = u_z z + u_y dy``, change of z ``= z_z z + z_y dy``; z_u is the effect of inputs on it."""
    model, T, k = estimator.model, estimator.period, len(regulator.memory)
    r, m = len(model.x), len(model.u)
    lift = np.eye(r) if estimator.reduction is None else estimator.reduction.right
    K, K_i, L = np.asarray(regulator.K) @ lift, np.asarray(regulator.K_integral), np.asarray(estimator.L)
    A, B, C = np.asarray(model.A), np.asarray(model.B), np.asarray(model.C)
    rows = _integrands(regulator, model.y, lift)
    by_z, by_y = rows[:, :r], rows[:, r:]
    if T > 0.0:
        A, B = sample_plant(A, B, T)
        stays = np.eye(r) - L @ C
        u_z, u_y = np.hstack([-K @ stays, -K_i]), -K @ L
        z_z = np.block([[A @ stays, np.zeros((r, k))], [T * by_z @ stays, np.eye(k)]])
        z_y = np.vstack([A @ L, T * (by_z @ L + by_y)])
    else:
        u_z, u_y = np.hstack([-K, -K_i]), np.zeros((m, len(model.y)))
        z_z = np.block([[A - L @ C, np.zeros((r, k))], [by_z, np.zeros((k, k))]])
        z_y = np.vstack([L, by_y])
    z_u = np.vstack([B, np.zeros((k, m))])
    return {"u_z": u_z, "u_y": u_y, "z_z": z_z + z_u @ u_z, "z_y": z_y + z_u @ u_y, "z_u": z_u}


def _integrands(regulator: LqrLaw, y: Labels, lift: np.ndarray) -> np.ndarray:
    """Return rows that map (estimate, deviation of y) to the integrated quantities."""
    rows = np.zeros((len(regulator.memory), lift.shape[1] + len(y)))
    for k, item in enumerate(regulator.memory.names):
        name = item.removeprefix("integral.")
        if name in regulator.measurements:
            rows[k, lift.shape[1] + y.index(name)] = 1.0
        else:
            rows[k, : lift.shape[1]] = lift[regulator.model.x.index(name)]
    return rows


def _read_limits(limits: Any, m: int, what: str) -> tuple[np.ndarray, np.ndarray] | None:
    if limits is None:
        return None
    low, high = (np.asarray(item, dtype=float) for item in limits)
    if low.shape != (m,) or high.shape != (m,):
        raise ShapeError(f"{what}: limits have shapes {low.shape} and {high.shape}, expected ({m},) each")
    return low, high


def _unpack(p: Any, matrices: dict[str, np.ndarray]) -> dict[str, Any]:
    """Return slices of p as matrices again."""
    found, at = {}, 0
    for key, item in matrices.items():
        rows, columns = item.shape
        found[key] = ca.reshape(p[at : at + item.size], columns, rows).T
        at += item.size
    return found
