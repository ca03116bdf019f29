"""`design_attitude_filter`: replace true attitudes in a law by estimates from a gyro and an attitude sensor.

A multiplicative extended Kalman filter runs in the law's memory: a unit quaternion and a gyro bias as the estimate,
three angles and three biases as its error, whose correction is multiplied onto the quaternion. It is valid for any
attitude.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from spacectl.controllers.regulators.feedback import law_function
from spacectl.core.array import as_scalar
from spacectl.core.control_law import ControlLaw
from spacectl.core.errors import ModelError, unknown_name
from spacectl.core.labels import Labels
from spacectl.spatial.rotation import quaternion_conjugate, quaternion_from_mrp, quaternion_product

__all__ = ["design_attitude_filter"]

_UPPER = tuple((i, j) for i in range(6) for j in range(i, 6))  # entries of P that are kept
_MEMORY = (
    *(f"filter.q{axis}" for axis in "wxyz"),
    *(f"filter.bias_{axis}" for axis in "xyz"),
    *(f"filter.gyro_{axis}" for axis in "xyz"),
    "filter.started",
    *(f"filter.P{i + 1}{j + 1}" for i, j in _UPPER),
)


def design_attitude_filter(
    law: ControlLaw,
    *,
    joint: str,
    gyro: Sequence[str],
    attitude: Sequence[str],
    gyro_noise: float,
    bias_noise: float,
    attitude_noise: float,
    attitude_deviation: float,
    bias_deviation: float = 0.0,
    quaternion: Any = (1.0, 0.0, 0.0, 0.0),
    period: float | None = None,
    name: str = "",
) -> ControlLaw:
    """Wrap a law so that it reads attitude and rates of a joint only through a gyro and an attitude sensor.

    Truth ``R = R_hat exp(theta~)``; the gyro reads ``omega + b + n``, ``b_dot = n_b``, so
    ``theta_dot = -omega_hat x theta - (b - b_hat) - n``. At every sample: predict with the mean of the last two gyro
    readings and the covariance P (6 x 6) with the exact noise of one period; correct by the measured rotation vector
    ``log(R_hat' R_measured)``; multiply the corrected angles onto the quaternion, so that the error is zero again
    (reset), and turn P with it. The law gets the estimated quaternion and ``omega_hat = gyro - b_hat`` in place of
    the joint's states, and all other states as they are.

    Parameters
    ----------
    law : ControlLaw
        Sampled, or continuous without memory; its states hold ``<joint>.qw`` to ``.qz`` and ``.wx`` to ``.wz``.
    joint : str
        A `Free` or `Spherical` joint.
    gyro : three names of measurements
        `AngularVelocity` of the joint's body in body axes, relative to the joint's parent.
    attitude : three names of measurements
        `Attitude` (modified Rodrigues parameters) of the joint's body relative to its parent.
    gyro_noise : float
        Angle random walk: root of the spectral density of n [rad / s^0.5].
    bias_noise : float
        Rate random walk: root of the spectral density of n_b [rad / s^1.5].
    attitude_noise : float
        Standard deviation of the measured attitude about each axis at a sample [rad]; a modified Rodrigues parameter
        is a quarter of a small angle.
    attitude_deviation, bias_deviation : float
        Standard deviations of the estimate at the start [rad], [rad/s].
    quaternion : array, shape (4,)
        Attitude estimated at the start, scalar first.
    period : float, optional
        Sampling period [s]; default: that of the law.
    name : str
        Shown in results; default: the law's name with "attitude filter".

    Returns
    -------
    ControlLaw
        Its memory holds the estimate as ``filter.qw`` ..., ``filter.bias_x`` ... and the covariance as
        ``filter.P11`` ...

    References
    ----------
    E. J. Lefferts, F. L. Markley, M. D. Shuster, Kalman filtering for spacecraft attitude estimation, J. Guidance
    5(5), 1982; F. L. Markley, Attitude error representations for Kalman filtering, J. Guidance 26(2), 2003 (reset).
    """
    title = name or f"{law.name} with attitude filter"
    what = f"attitude filter '{title}'"
    step = law.period if period is None else as_scalar(period, f"{what}: period")
    _check_law(law, step, joint, gyro, attitude, what)
    levels = {"gyro_noise": gyro_noise, "bias_noise": bias_noise, "attitude_noise": attitude_noise}
    spreads = {"attitude_deviation": attitude_deviation, "bias_deviation": bias_deviation}
    numbers = {key: as_scalar(value, f"{what}: {key}") for key, value in (levels | spreads).items()}
    for key, value in numbers.items():
        if value < 0.0 or (key == "attitude_noise" and value == 0.0):
            raise ModelError(f"{what}: {key} is {value:g}, expected a positive number")
    q0 = np.asarray(quaternion, dtype=float)
    if q0.shape != (4,) or abs(np.linalg.norm(q0) - 1.0) > 1e-6:
        raise ModelError(f"{what}: quaternion is {q0.tolist()}, expected four numbers of unit norm, scalar first")
    own = len(_MEMORY)
    others = tuple(item for item in law.measurements.names if item not in (*gyro, *attitude))
    places = {item: k for k, item in enumerate((*gyro, *attitude, *others))}
    at_q, at_w = law.states.index(f"{joint}.qw"), law.states.index(f"{joint}.wx")
    inner = law.function if law.function.is_a("SXFunction") else law.function.expand()
    n_law = len(law.parameters)
    n_r = law.function.numel_in(4)

    def rule(t: Any, x: Any, y: Any, z: Any, r: Any, p: Any) -> tuple[Any, Any]:
        q_hat, omega, memory = _filter_step(z[:own], y[0:3], y[3:6], p[n_law : n_law + 3], step)
        seen = ca.SX(x)
        seen[at_q : at_q + 4], seen[at_w : at_w + 3] = q_hat, omega
        measured = ca.vertcat(*(y[places[item]] for item in law.measurements.names))
        u, _, z_next = inner(t, seen, measured, z[own:], r, p[:n_law])
        return u, ca.vertcat(memory, z_next)

    deviations = [numbers["attitude_deviation"]] * 3 + [numbers["bias_deviation"]] * 3
    start = np.concatenate([q0, np.zeros(7), np.diag(np.square(deviations))[np.triu_indices(6)]])
    sizes = (len(law.states), len(places), own + len(law.memory), n_r, n_law + 3)
    return ControlLaw(
        name=title,
        function=law_function(sizes, rule, step),
        states=law.states,
        inputs=law.inputs,
        measurements=Labels(tuple(places), (), "measurement"),
        memory=Labels((*_MEMORY, *law.memory.names), (), "memory"),
        parameters=Labels((*law.parameters.names, *(f"filter.{key}" for key in levels)), (), "law parameter"),
        z0=np.concatenate([start, np.asarray(law.z0)]),
        p=np.concatenate([np.asarray(law.p), [numbers[key] for key in levels]]),
        period=step,
        reference=law.reference,
        reference_rates=law.reference_rates,
        notes={**law.notes, "attitude filter": {key: float(value) for key, value in numbers.items()}},
    )


def _check_law(
    law: ControlLaw, step: float, joint: str, gyro: Sequence[str], attitude: Sequence[str], what: str
) -> None:
    if not isinstance(law, ControlLaw):
        raise ModelError(f"{what}: expected a ControlLaw, got {type(law).__name__}")
    if not step > 0.0:
        raise ModelError(f"{what}: the filter is sampled; give period, for example period=0.1")
    if law.period not in (0.0, step) or (law.period == 0.0 and len(law.memory)):
        raise ModelError(
            f"{what}: law '{law.name}' has period {law.period:g} s and memory; design it with period={step:g}"
        )
    for item in (*(f"{joint}.q{axis}" for axis in "wxyz"), *(f"{joint}.w{axis}" for axis in "xyz")):
        if item not in law.states:
            raise ModelError(f"{what}: joint '{joint}': {unknown_name('state', item, law.states.names)}")
    for kind, given in (("gyro", gyro), ("attitude", attitude)):
        if isinstance(given, str) or len(given) != 3:
            raise ModelError(f"{what}: {kind} is {given!r}, expected the names of three measurements")


def _filter_step(z: Any, gyro: Any, sigma: Any, levels: Any, T: float) -> tuple[Any, Any, Any]:
    """Predict from the last sample, correct; (estimated quaternion, rates, next memory)."""
    q, bias, last, started = z[0:4], z[4:7], z[7:10], z[10]
    P = ca.SX(6, 6)
    for at, (i, j) in enumerate(_UPPER):
        P[i, j] = z[11 + at]
        P[j, i] = z[11 + at]
    h = T * started  # nothing to predict at the first sample
    # after the turn by the mean rate, its change over the period turns no further to this order
    turn = (0.5 * (last + gyro) - bias) * h
    q = quaternion_product(q, _exponential(turn))
    back = _rotation(-turn)
    Phi = ca.SX.eye(6)
    Phi[0:3, 0:3], Phi[0:3, 3:6] = back, -h * (ca.SX.eye(3) - 0.5 * ca.skew(turn))
    walk, drift, one = levels[0] ** 2, levels[1] ** 2, ca.SX.eye(3)
    noise = ca.blockcat(
        [
            [(walk * h + drift * h**3 / 3.0) * one, -0.5 * drift * h**2 * one],
            [-0.5 * drift * h**2 * one, drift * h * one],
        ]
    )
    P = Phi @ P @ Phi.T + noise
    measured = quaternion_from_mrp(sigma)
    innovation = _logarithm(quaternion_product(quaternion_conjugate(q), measured))
    R = levels[2] ** 2 * one
    K = P[:, 0:3] @ ca.inv(P[0:3, 0:3] + R)
    change = K @ innovation
    keep = ca.SX.eye(6)
    keep[:, 0:3] = keep[:, 0:3] - K
    P = keep @ P @ keep.T + K @ R @ K.T
    reset = ca.SX.eye(6)
    reset[0:3, 0:3] = one - 0.5 * ca.skew(change[0:3])
    P = reset @ P @ reset.T
    q = quaternion_product(q, _exponential(change[0:3]))
    q, bias = q / ca.norm_2(q), bias + change[3:6]
    upper = ca.vertcat(*(0.5 * (P[i, j] + P[j, i]) for i, j in _UPPER))
    return q, gyro - bias, ca.vertcat(q, bias, gyro, 1.0, upper)


def _exponential(theta: Any) -> Any:
    """Return the quaternion of a rotation vector."""
    square = ca.dot(theta, theta)
    small = square < 1e-8
    angle = ca.sqrt(ca.if_else(small, 1.0, square))
    cosine = ca.if_else(small, 1.0 - square / 8.0 + square**2 / 384.0, ca.cos(0.5 * angle))
    factor = ca.if_else(small, 0.5 - square / 48.0 + square**2 / 3840.0, ca.sin(0.5 * angle) / angle)
    return ca.vertcat(cosine, factor * theta)


def _logarithm(q: Any) -> Any:
    """Return the rotation vector of a unit quaternion, the shorter turn."""
    square = ca.dot(q[1:4], q[1:4])
    small = square < 1e-12
    sine = ca.sqrt(ca.if_else(small, 1.0, square))
    factor = ca.if_else(small, 2.0 + square / 3.0, 2.0 * ca.atan2(sine, ca.fabs(q[0])) / sine)
    return ca.if_else(q[0] < 0.0, -1.0, 1.0) * factor * q[1:4]


def _rotation(theta: Any) -> Any:
    """Return the rotation matrix of a rotation vector, through its quaternion."""
    q = _exponential(theta)
    e = ca.skew(q[1:4])
    return ca.SX.eye(3) + 2.0 * (q[0] * e + e @ e)
