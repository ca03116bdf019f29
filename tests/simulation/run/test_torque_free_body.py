"""A thousand seconds of torque-free rotation against Jacobi's elliptic functions and the conserved momentum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from spacectl.dynamics.form import form_equations
from spacectl.model.bodies.rigid import RigidBody
from spacectl.model.joints import Free, Joint, Spherical
from spacectl.model.part import Part
from spacectl.model.system import System
from spacectl.simulation.results.simulation import Simulation
from spacectl.simulation.run.simulate import simulate
from tests.oracles.mechanics.rigid_body import axisymmetric_rates, rotation_history, torque_free_rates

END = 1000.0  # [s]
GRID = np.linspace(0.0, END, 201)
# About 1000 steps with local errors of 1e-13 of the rates; the phase drifts with the square of their number at worst.
LOCAL_ERROR = 1e-13
RATE_TOLERANCE = 1e-9  # [rad/s], with rates of order 0.1: what the package promises over 1000 s
R_BP = Rotation.from_rotvec([0.5, -0.2, 0.9]).as_matrix()  # principal axes in the body's frame
QUATERNION = np.array([0.5, -0.1, 0.7, 0.5])
QUATERNION = QUATERNION / np.linalg.norm(QUATERNION)

SPINS = [
    ((1.0, 2.0, 2.7), (0.10, 0.05, -0.20)),  # about the axis of largest inertia, L^2 > 2 T I2
    ((1.0, 2.0, 2.7), (-0.25, 0.06, 0.05)),  # about the axis of smallest inertia, L^2 < 2 T I2
    ((2.7, 1.0, 2.0), (0.04, 0.20, 0.08)),  # the axes in another order
    ((2.0, 2.7, 1.0), (0.10, -0.21, 0.02)),
]


def fly(moments: Any, omega_P: Any, joint: Joint, com: Any) -> tuple[Simulation, np.ndarray, np.ndarray]:
    """Simulate; returns the run, the rates in principal axes (n, 3) and the attitudes R_NB (n, 3, 3)."""
    inertia = R_BP @ np.diag(moments) @ R_BP.T
    body = RigidBody(name="body", mass=4.0, inertia=inertia, com=com)
    eom = form_equations(System(name="free body", parts=(Part(body, joint=joint),)))
    q = dict(zip(("j.qw", "j.qx", "j.qy", "j.qz"), QUATERNION, strict=True))
    w = dict(zip(("j.wx", "j.wy", "j.wz"), R_BP @ np.asarray(omega_P), strict=True))
    sim = simulate(eom, x0=eom.state(**q, **w), t_span=(0.0, END), grid=GRID, rtol=LOCAL_ERROR, atol=LOCAL_ERROR)
    rates = np.column_stack([sim["j.wx"], sim["j.wy"], sim["j.wz"]])
    quaternions = np.column_stack([sim["j.qw"], sim["j.qx"], sim["j.qy"], sim["j.qz"]])
    np.testing.assert_allclose(np.linalg.norm(quaternions, axis=1), 1.0, rtol=0.0, atol=1e-12)  # kept by the driver
    R_NB = Rotation.from_quat(np.roll(quaternions, -1, axis=1)).as_matrix()
    return sim, rates @ R_BP, R_NB


@pytest.mark.parametrize(("moments", "omega"), SPINS)
@pytest.mark.parametrize(
    ("joint", "com"), [(Spherical(name="j"), (0.0, 0.0, 0.0)), (Free(name="j"), (0.3, -0.2, 0.5))], ids=["ball", "free"]
)
def test_asymmetric_body_follows_elliptic_functions(moments: Any, omega: Any, joint: Joint, com: Any) -> None:
    """A free body rotates about its centre of mass as if that were fixed, wherever its origin lies."""
    _, rates, R_NB = fly(moments, omega, joint, com)
    expected = torque_free_rates(moments, omega, GRID)
    assert np.max(np.abs(rates - expected)) < RATE_TOLERANCE
    momentum = np.einsum("tij,jk,tk->ti", R_NB, R_BP, rates * moments)  # root axes
    assert np.max(np.abs(momentum - momentum[0])) < RATE_TOLERANCE * np.max(moments)


@pytest.mark.parametrize(("moments", "omega"), SPINS[:2])
def test_attitude_follows_the_precession_about_the_momentum(moments: Any, omega: Any) -> None:
    _, _, R_NB = fly(moments, omega, Spherical(name="j"), (0.0, 0.0, 0.0))
    expected = rotation_history(moments, omega, R_NB[0] @ R_BP, GRID, panels=4)  # attitude of the principal axes
    # rates off by 1e-12 rad/s (as measured, far within their tolerance) turn the body by 1e-9 rad in 1000 s
    assert np.max(np.abs(R_NB @ R_BP - expected)) < 1e-9


def test_axisymmetric_body_follows_the_closed_form() -> None:
    omega = (0.05, -0.08, 0.15)
    _, rates, _ = fly((1.5, 1.5, 2.2), omega, Free(name="j"), (0.1, 0.4, 0.0))
    assert np.max(np.abs(rates - axisymmetric_rates(1.5, 2.2, omega, GRID))) < RATE_TOLERANCE


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
def test_elliptic_functions_solve_eulers_equations(order: tuple[int, ...]) -> None:
    """The closed form itself, for every order of the axes, all signs and both kinds of motion."""
    rng = np.random.default_rng(sum(10**k * axis for k, axis in enumerate(order)))
    moments = np.array([1.0, 2.0, 2.7])[list(order)]
    t = np.linspace(0.0, 20.0, 21)
    for omega in [*rng.normal(size=(6, 3)), np.array([0.0, 0.3, -0.4]), np.array([0.0, 0.0, -1.3])]:
        flow = solve_ivp(
            lambda _, w: np.cross(moments * w, w) / moments, (0.0, 20.0), omega, "DOP853", t, rtol=1e-12, atol=1e-13
        )
        # the integrator's own error over 20 s, amplified near the unstable middle axis
        np.testing.assert_allclose(torque_free_rates(moments, omega, t), flow.y.T, atol=1e-8)


def test_elliptic_functions_become_the_axisymmetric_closed_form() -> None:
    omega, t = (0.3, -0.4, 0.5), np.linspace(0.0, 20.0, 21)
    nearly = torque_free_rates((1.5, 1.5 * (1.0 + 1e-9), 2.2), omega, t)
    # moments that differ by 1e-9 turn the rates by 1e-9 times the angle, about 10 rad
    np.testing.assert_allclose(nearly, axisymmetric_rates(1.5, 2.2, omega, t), atol=1e-7)
