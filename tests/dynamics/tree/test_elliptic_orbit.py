"""The frame of an elliptic orbit against two-body motion, Yamanaka and Ankersen's transition, and Beletsky's equation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from spacectl import (
    Beam,
    Cartesian,
    CircularOrbit,
    EllipticOrbit,
    Free,
    Part,
    Revolute,
    RigidBody,
    Spherical,
    System,
    floquet,
    form_equations,
    library,
    load_system,
    save_system,
    simulate,
    write_report,
)
from spacectl.core.errors import ModelError
from spacectl.model.environment import OrbitFrame
from spacectl.reports.scene.scene import replay_of
from tests.oracles.mechanics.elliptic_orbit import beletsky_pitch, fly_pair, orbit_axes, true_anomaly, yamanaka_ankersen

MU = 3.986004418e14  # [m^3/s^2]
PERIOD = 6000.0  # [s]
N = 2.0 * np.pi / PERIOD
STATE = np.array([3.0, -5.0, 2.0, 0.002, -0.004, 0.003])  # [m, m/s]


def point(orbit: OrbitFrame) -> System:
    body = RigidBody(name="body", mass=2.0, inertia=(1e-9, 1e-9, 1e-9))
    return System(name="relative", parts=(Part(body, joint=Free(name="body")),), environment=orbit)


def relative(system: System, state: np.ndarray, t: np.ndarray, **options: str) -> np.ndarray:
    """Positions and velocities (root axes) of the body over t."""
    eom = form_equations(system, **options)
    names = [f"body.{key}" for key in ("x", "y", "z", "x_dot", "y_dot", "z_dot")]
    x0 = eom.state(**dict(zip(names, state, strict=True)))
    sim = simulate(eom, x0=x0, t_span=(t[0], t[-1]), grid=t, rtol=1e-11, atol=1e-13)
    return np.stack([sim[name] for name in names], axis=1)


@pytest.mark.parametrize("e", [0.0, 0.05, 0.4, 0.8, 0.9])
def test_the_frame_moves_as_keplers_orbit_does(e: float) -> None:
    orbit = EllipticOrbit(period=PERIOD, eccentricity=e, true_anomaly=0.7)
    n = {key: number.value[...] for key, number in orbit.numbers().items()}
    times = np.linspace(-0.3, 5.0, 57) * PERIOD
    theta = np.array([true_anomaly(t, N, e, 0.7) for t in times])
    rho, p = 1.0 + e * np.cos(theta), 1.0 - e * e
    rates, accelerations, pulls = (
        np.array([np.ravel(item(t, n))[-1] for t in times])
        for item in (orbit.root_rate, orbit.root_rate_dot, orbit.gradient)
    )
    # 2e-14 of rounding in M = n t over five turns, magnified by 1 / (1 - e)^2 at perigee
    scale = 1e-13 / (1.0 - e) ** 2
    assert np.allclose(rates, N * rho**2 / p**1.5, rtol=scale, atol=0.0)
    assert np.allclose(pulls, N**2 * rho**3 / p**3, rtol=scale, atol=0.0)
    assert np.allclose(
        accelerations, -2.0 * N**2 * e * np.sin(theta) * rho**3 / p**3, rtol=scale, atol=scale * N**2 * rho**3
    )
    by_default = np.array([np.ravel(super(OrbitFrame, orbit).root_rate_dot(t, n))[-1] for t in times if e])
    assert np.allclose(
        by_default, accelerations[: len(by_default)], rtol=10 * scale, atol=10 * scale * N**2 * max(rho) ** 3
    )


def test_without_eccentricity_it_is_the_circular_orbit() -> None:
    rng = np.random.default_rng(1)
    arm = library.chain(4)
    circular, elliptic = (
        form_equations(replace(arm, environment=orbit))
        for orbit in (CircularOrbit(rate=0.3), EllipticOrbit(period=2.0 * np.pi / 0.3, true_anomaly=0.4))
    )
    for _ in range(5):
        x = circular.state(rng.standard_normal(circular.n_x))
        u, t = rng.standard_normal(circular.n_u), 10.0 * rng.random()
        expected = circular.x_dot(t, x, u)
        assert np.allclose(elliptic.x_dot(t, x, u), expected, rtol=1e-13, atol=1e-13 * np.max(np.abs(expected)))


@pytest.mark.parametrize("e", [0.1, 0.7])
def test_small_separations_move_as_yamanaka_and_ankersen_say(e: float) -> None:
    times = np.linspace(0.0, 2.0 * PERIOD, 9)
    found = relative(point(EllipticOrbit(period=PERIOD, eccentricity=e, true_anomaly=0.3)), STATE, times)
    expected = np.array([yamanaka_ankersen(N, e, 0.3, STATE, t) for t in times])
    assert np.allclose(found, expected, rtol=0.0, atol=3e-10 * np.max(np.abs(expected)))


def test_small_separations_move_as_the_difference_of_two_bodies_does() -> None:
    """What is neglected is of second order in the separation over the radius."""
    a, e, start = (MU / N**2) ** (1.0 / 3.0), 0.4, 1.1
    times = np.linspace(0.0, PERIOD, 7)
    errors = []
    for size in (0.01, 1.0):
        p = a * (1.0 - e * e)
        r = p / (1.0 + e * np.cos(start)) * np.array([np.cos(start), np.sin(start), 0.0])
        v = np.sqrt(MU / p) * np.array([-np.sin(start), e + np.cos(start), 0.0])
        axes, omega = orbit_axes(r, v)
        d = axes.T @ (size * STATE[:3])
        y = fly_pair(a, e, MU, start, d, axes.T @ (size * STATE[3:]) + np.cross(omega, d), times).reshape(-1, 4, 3)
        expected = []
        for r, v, d, d_dot in y:
            axes, omega = orbit_axes(r, v)
            expected.append(np.concatenate([axes @ d, axes @ (d_dot - np.cross(omega, d))]))
        orbit = EllipticOrbit(semi_major_axis=a, eccentricity=e, true_anomaly=start, mu=MU)
        found = relative(point(orbit), size * STATE, times)
        errors.append(np.max(np.abs(found - np.array(expected))) / np.max(np.abs(found)))
    assert errors[0] < 1e-6
    assert errors[1] / errors[0] == pytest.approx(100.0, rel=0.02)


def test_pitch_follows_beletskys_equation() -> None:
    e, start = 0.2, 0.5
    body = RigidBody(name="body", mass=5.0, inertia=(2.0, 6.0, 7.0))
    orbit = EllipticOrbit(period=PERIOD, eccentricity=e, true_anomaly=start)
    part = Part(body, joint=Revolute(name="pitch", axis="z"))
    eom = form_equations(System(name="satellite", parts=(part,), environment=orbit))
    times = np.linspace(0.0, 3.0 * PERIOD, 40)
    theta = np.array([true_anomaly(t, N, e, start) for t in times])
    rate = N * (1.0 + e * np.cos(start)) ** 2 / (1.0 - e * e) ** 1.5
    sim = simulate(eom, x0=[0.3, 0.1 * rate], t_span=(0.0, times[-1]), grid=times, rtol=1e-11, atol=1e-12)
    expected = beletsky_pitch(e, (6.0 - 2.0) / 7.0, start, 0.3, 0.1, theta)
    assert np.max(np.abs(sim["pitch"] - expected)) < 1e-8


def tree(orbit: OrbitFrame) -> System:
    """A free body with a flexible beam and a ball joint behind it: every kind of link, far from the origin."""
    hub = RigidBody(name="hub", mass=50.0, inertia=(8.0, 9.0, 11.0))
    boom = Beam(name="boom", length=4.0, mass=3.0, EI=60.0, bending=("y", "z"), modes=1)
    tip = RigidBody(name="tip", mass=2.0, inertia=(0.2, 0.3, 0.4), com=(0.1, 0.0, 0.05))
    parts = (
        Part(hub, joint=Free(name="hub")),
        Part(boom, on="hub", at=(1.0, 0.0, 0.0), joint=Revolute(name="root", axis="z")),
        Part(tip, on="boom.tip", joint=Spherical(name="wrist")),
    )
    return System(name="craft", parts=parts, environment=orbit)


def test_all_formulations_tiers_and_derivatives_agree() -> None:
    system = tree(EllipticOrbit(period=40.0, eccentricity=0.5, true_anomaly=-1.0))
    rng, t = np.random.default_rng(4), 7.3
    kane = form_equations(system, formulation="kane")
    x = kane.state(0.3 * rng.standard_normal(kane.n_x))
    q, v = x[: kane.n_q], x[kane.n_q :]
    expected = kane.v_dot(t, q, v, [])
    for formulation in ("articulated", "embedded", "multipliers", "udwadia_phohomsiri"):
        eom = form_equations(system, formulation=formulation)
        assert np.allclose(eom.v_dot(t, q, v, []), expected, rtol=1e-9, atol=1e-10), formulation
        native = eom.compiled()
        assert np.allclose(native.x_dot(t, x, [])[kane.n_q :], expected, rtol=1e-9, atol=1e-10), formulation
    eom = form_equations(system)
    h = 1e-6
    jacobian = eom.jacobian("x_dot", "x_dot", "x", t, x, [])
    differences = np.stack(
        [(eom.x_dot(t, x + h * d, []) - eom.x_dot(t, x - h * d, [])) / (2.0 * h) for d in np.eye(eom.n_x)], axis=1
    )
    assert np.allclose(jacobian, differences, atol=1e-7)
    runs = [simulate(eom, x0=x, t_span=(0.0, 3.0), tier=tier, rtol=1e-10) for tier in ("native", "vm", "callback")]
    for run in runs[1:]:
        assert np.allclose(run.x, runs[0].x, atol=1e-9)


def test_relative_motion_neither_grows_nor_decays_over_an_orbit() -> None:
    """All multipliers of Tschauner and Hempel's equations are 1; the defective one splits by the root of the error, 1e-8."""
    body = RigidBody(name="body", mass=2.0, inertia=(1.0, 1.0, 1.0))
    part = Part(body, joint=Cartesian(name="body"))
    system = System(name="relative", parts=(part,), environment=EllipticOrbit(period=10.0, eccentricity=0.4))
    eom = form_equations(system)
    motion = simulate(eom, t_span=(0.0, 10.0), rtol=1e-11, atol=1e-12)
    assert np.allclose(floquet(eom, motion).multipliers, 1.0, atol=0.01)


def test_reports_show_the_orbit_frame(tmp_path: Path) -> None:
    eom = form_equations(tree(EllipticOrbit(period=40.0, eccentricity=0.5)))
    sim = simulate(eom, x0=eom.state(**{"hub.x_dot": 0.1}), t_span=(0.0, 5.0), grid=11)
    text = write_report(sim, tmp_path / "craft.html").read_text(encoding="utf-8")
    assert "elliptic orbit, period 0.6667 min, eccentricity 0.5" in text
    assert replay_of("run", sim, {})["axes"]["labels"] == ["radial, outward", "along track", "orbit normal"]


def test_files_and_run_time_numbers(tmp_path: Path) -> None:
    orbit = EllipticOrbit(semi_major_axis=7.2e6, eccentricity=0.02, true_anomaly=0.5)
    system = point(orbit)
    assert load_system(save_system(system, tmp_path / "relative.toml")) == system
    eom = form_equations(system)
    x = eom.state(**{"body.x": 1.0, "body.y": -2.0})
    changed = form_equations(point(replace(orbit, eccentricity=0.3, semi_major_axis=8e6)))
    p = eom.parameters.vector({"environment.eccentricity": 0.3, "environment.semi_major_axis": 8e6})
    assert np.allclose(eom.x_dot(100.0, x, [], p), changed.x_dot(100.0, x, []), rtol=1e-13, atol=1e-20)
    assert "elliptic orbit, period 101.3 min" in orbit.title


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "either period"),
        ({"period": 1.0, "semi_major_axis": 1.0}, "either period"),
        ({"period": -1.0}, "positive"),
        ({"period": 1.0, "eccentricity": 0.95}, "0 to 0.9"),
    ],
)
def test_wrong_orbits_are_refused(fields: dict[str, float], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        EllipticOrbit(**fields)
