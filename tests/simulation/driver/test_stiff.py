"""The implicit method: order, stiff problems, what it saves against the explicit ones, and everything around a step."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from spacectl.controllers.regulators.pd import design_pd
from spacectl.core.control_law import make_law
from spacectl.dynamics.form import form_equations
from spacectl.model import library
from spacectl.model.actuators import BodyTorque
from spacectl.model.bodies.rigid import RigidBody
from spacectl.model.joints import Free
from spacectl.model.part import Part
from spacectl.model.system import System
from spacectl.simulation.driver.methods.radau import make_radau
from spacectl.simulation.events import Guard
from spacectl.simulation.run.simulate import simulate
from tests.simulation.stand_in import make_plant, oscillator, pendulum


def test_coefficients_meet_the_conditions_of_collocation():
    radau = make_radau()
    for power in range(5):  # quadrature of order 5 at the end; 1e-14 is a few roundings of coefficients near 1
        assert radau.A[-1] @ radau.C**power == pytest.approx(1.0 / (power + 1.0), abs=1e-14)
    for power in range(3):  # and of order 3 at each stage
        np.testing.assert_allclose(radau.A @ radau.C**power, radau.C ** (power + 1) / (power + 1.0), atol=1e-14)
    gamma, alpha, beta = radau.eigenvalues
    blocks = np.array([[gamma, 0.0, 0.0], [0.0, alpha, -beta], [0.0, beta, alpha]])
    np.testing.assert_allclose(radau.T_inverse @ np.linalg.inv(radau.A) @ radau.T, blocks, atol=1e-13)
    assert gamma == pytest.approx(3.0 + 3.0 ** (2.0 / 3.0) - 3.0 ** (1.0 / 3.0), abs=1e-13)  # its closed form
    # The error estimate vanishes for rates 1, t, t^2 and not for t^3; the step damps infinitely stiff modes fully.
    for power, size in ((0, 0.0), (1, 0.0), (2, 0.0), (3, 1e-2)):
        estimate = 0.0**power + gamma * radau.E[0, :3] @ radau.C ** (power + 1) / (power + 1.0)
        assert abs(estimate) == pytest.approx(0.0, abs=1e-13) if size == 0.0 else abs(estimate) > size
    assert 1.0 - radau.A[-1] @ np.linalg.solve(radau.A, np.ones(3)) == pytest.approx(0.0, abs=1e-14)


def test_error_at_the_end_falls_with_order_5_and_the_dense_output_with_order_4():
    ends, insides = [], []
    for n in (20, 40, 80):
        # tolerances that never bind: max_step makes equal steps; on a linear problem one iteration is exact
        sim = simulate(
            oscillator(), x0=[1.0, 0.0], t_span=(0.0, 8.0), grid=641, method="radau", max_step=8.0 / n, rtol=0.9, atol=1e3
        )  # fmt: skip
        ends.append(np.hypot(sim.x[-1, 0] - np.cos(8.0), sim.x[-1, 1] + np.sin(8.0)))
        insides.append(np.max(np.abs(sim["angle"] - np.cos(sim.t))))
    assert np.polyfit(np.log([20, 40, 80]), np.log(ends), 1)[0] == pytest.approx(-5.0, abs=0.15)
    assert np.polyfit(np.log([20, 40, 80]), np.log(insides), 1)[0] < -3.7


def test_error_of_a_nonlinear_problem_falls_with_order_5_in_the_number_of_steps():
    options = {"x0": {"angle": 2.5}, "t_span": (0.0, 3.0), "grid": [3.0]}
    truth = simulate(pendulum(), **options, rtol=1e-13, atol=1e-13).x[-1]
    steps, errors = [], []
    for tol in (1e-4, 1e-6, 1e-8):
        sim = simulate(pendulum(), **options, method="radau", rtol=tol, atol=tol)
        steps.append(sim.outcome.stats["n_steps"])
        errors.append(np.linalg.norm(sim.x[-1] - truth))
    slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert -5.7 < slope < -4.5  # steps are not equal, so the slope is not exactly 5


def van_der_pol(mu):
    eom = make_plant(
        lambda s: [s["b"], ((1.0 - s["a"] ** 2) * s["b"] - s["a"]) * s["mu"]], ("a", "b"), parameters={"mu": mu}
    )
    rule = lambda t, y: [y[1], ((1.0 - y[0] ** 2) * y[1] - y[0]) * mu]  # noqa: E731
    slope = lambda t, y: [[0.0, 1.0], [(-2.0 * y[0] * y[1] - 1.0) * mu, (1.0 - y[0] ** 2) * mu]]  # noqa: E731
    return eom, rule, slope


def against_scipy(mu, t_end):
    eom, rule, slope = van_der_pol(mu)
    theirs = solve_ivp(rule, (0.0, t_end), [2.0, -0.66], method="Radau", rtol=1e-10, atol=1e-10, jac=slope)
    sim = simulate(eom, x0=[2.0, -0.66], t_span=(0.0, t_end), grid=[t_end], method="radau", rtol=1e-10, atol=1e-10)
    # Local errors of 1e-10 are damped on the slow branch; a jump in between shifts the time by some of them.
    np.testing.assert_allclose(sim.x[-1], theirs.y[:, -1], atol=1e-10)
    assert sim.outcome.stats["n_steps"] < 1.5 * theirs.t.size


def test_slow_branch_of_van_der_pol_agrees_with_scipy():
    against_scipy(1e3, 0.5)


@pytest.mark.slow
def test_jumps_of_van_der_pol_agree_with_scipy():
    against_scipy(1e3, 2.0)


def test_robertson_kinetics_agrees_with_scipy_and_keeps_the_mass():
    eom = make_plant(
        lambda s: [
            -0.04 * s["a"] + 1e4 * s["b"] * s["c"],
            0.04 * s["a"] - 1e4 * s["b"] * s["c"] - 3e7 * s["b"] ** 2,
            3e7 * s["b"] ** 2,
        ],
        ("a", "b", "c"),
    )

    def rule(t, y):
        fast, pairs = 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
        return [fast - 0.04 * y[0], 0.04 * y[0] - fast - pairs, pairs]

    def slope(t, y):
        b, c = 1e4 * y[1], 1e4 * y[2]
        return [[-0.04, c, b], [0.04, -c - 6e7 * y[1], -b], [0.0, 6e7 * y[1], 0.0]]

    atol = [1e-12, 1e-16, 1e-12]
    theirs = solve_ivp(rule, (0.0, 40.0), [1.0, 0.0, 0.0], method="Radau", rtol=1e-10, atol=atol, jac=slope)
    sim = simulate(eom, x0=[1.0, 0.0, 0.0], t_span=(0.0, 40.0), grid=81, method="radau", rtol=1e-10, atol=atol)
    np.testing.assert_allclose(sim.x[-1], theirs.y[:, -1], rtol=1e-10)
    np.testing.assert_allclose(sim.x.sum(axis=1), 1.0, atol=1e-13)  # a linear invariant: rounding only


def stiff_arm(t_end, methods=("dop853", "radau"), tols=(1e-6, 1e-8)):
    """A two-link arm whose drives have a mode near 1e5 rad/s (kd over inertia) and one near 10 rad/s (kp over kd)."""
    eom = form_equations(library.planar_arm())
    law = design_pd(eom, kp=1e6, kd=1e5, reference=lambda s: [0.3 * ca.sin(s.t), 0.2 * ca.cos(s.t)])
    options = {"x0": {"joint1": 0.1}, "t_span": (0.0, t_end), "grid": 11, "tier": "vm"}
    truth = simulate(eom, law, **options, rtol=1e-12, atol=1e-13)
    runs = [
        simulate(eom, law, **options, method=method, rtol=tol, atol=1e-2 * tol)
        for method, tol in zip(methods, tols, strict=True)
    ]
    errors = [np.max(np.abs(run.x[1:] - truth.x[1:])) for run in runs]
    return runs, errors


def test_stiff_drives_need_far_fewer_evaluations_than_the_explicit_method():
    (explicit, implicit), errors = stiff_arm(0.05)
    assert errors[1] < errors[0]  # at least as accurate
    assert errors[1] < 1e-7
    assert explicit.outcome.stats["n_right_sides"] > 20 * implicit.outcome.stats["n_right_sides"]


@pytest.mark.slow
def test_saving_on_stiff_drives_grows_with_the_length_of_the_run():
    (explicit, implicit), errors = stiff_arm(1.0)
    assert errors[1] < errors[0]
    assert explicit.outcome.stats["n_right_sides"] > 500 * implicit.outcome.stats["n_right_sides"]


def test_fast_undamped_mode_that_is_not_excited_costs_nothing():
    """A spring of 1e5 rad/s driven slowly: place and speed follow the drive."""
    eom = make_plant(lambda s: [s["v"], 1e10 * (1e-3 * ca.sin(s.t) - s["x"])], ("x", "v"))
    sim = simulate(eom, x0=[0.0, 1e-3], t_span=(0.0, 10.0), method="radau", rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(sim["x"], 1e-3 * np.sin(sim.t), atol=1e-6)
    np.testing.assert_allclose(sim["v"], 1e-3 * np.cos(sim.t), atol=1e-5)  # a stiff spring's speed is one order worse
    assert sim.outcome.stats["n_right_sides"] < 1000


def contact(stiffness, damping, **options):
    """A mass of 1 kg falls on a smooth unilateral spring and damper; `lost` is the work of the damper.

    The spring pushes with ``k r(-x)``, ``r(d) = (d + sqrt(d^2 + e^2)) / 2``, a smooth max(d, 0).
    """
    e, gravity = 1e-5, 9.81  # [m, m/s^2]

    def rule(s):
        d = -s["x"]
        near = 0.5 * (1.0 + d / ca.sqrt(d * d + e * e))  # the share of the damper that acts: r'(d)
        power = damping * near * s["v"] ** 2
        return [s["v"], stiffness * 0.5 * (d + ca.sqrt(d * d + e * e)) - damping * near * s["v"] - gravity, power]

    sim = simulate(
        make_plant(rule, ("x", "v", "lost")), x0=[0.05, 0.0, 0.0], grid=201, method=options.pop("method", "radau"), **options
    )  # fmt: skip
    d, root = -sim["x"], np.sqrt(sim["x"] ** 2 + e * e)
    spring = 0.25 * stiffness * (d * d + d * root + e * e * np.arcsinh(d / e))
    return sim, 0.5 * sim["v"] ** 2 + gravity * sim["x"] + spring + sim["lost"]


def test_energy_is_conserved_through_bounces_on_a_stiff_spring():
    sim, energy = contact(1e6, 0.0, t_span=(0.0, 0.7), rtol=1e-9, atol=1e-11)
    v = sim["v"]
    assert np.sum((v[:-1] < 0.0) & (v[1:] > 0.0)) >= 3  # it bounced
    # 0.5 J; some hundred steps with local errors up to 1e-9 of v = 1 m/s, most of them far smaller
    np.testing.assert_allclose(energy, energy[0], atol=1e-8)


def test_energy_balance_holds_on_a_stiff_damped_contact_and_rest_costs_nothing():
    options = {"t_span": (0.0, 2.0), "rtol": 1e-7, "atol": 1e-10}
    sim, energy = contact(1e5, 2e4, **options)  # rates of 2e4 and 5 1/s while in contact
    np.testing.assert_allclose(energy, energy[0], atol=1e-8)  # the impact's local errors, 1e-7 of what is left of v
    assert sim["lost"][-1] > 0.9 * energy[0]
    sunk = 9.81 / 1e5  # k r(d) = m g
    assert sim["x"][-1] == pytest.approx(-(sunk - 1e-10 / (4.0 * sunk)), rel=1e-3)  # 10 time constants
    explicit, _ = contact(1e5, 2e4, method="dop853", **options)
    np.testing.assert_allclose(sim.x[-1], explicit.x[-1], atol=1e-6)
    assert explicit.outcome.stats["n_right_sides"] > 20 * sim.outcome.stats["n_right_sides"]


def prothero_robinson(rate=1e6):
    """``x' = -rate (x - cos t) - sin t``: x = cos t, with one very stiff mode."""
    return make_plant(lambda s: -s["rate"] * (s["x"] - ca.cos(s.t)) - ca.sin(s.t), ("x",), parameters={"rate": rate})


def test_dense_output_on_a_stiff_problem_is_as_accurate_as_asked():
    sim = simulate(prothero_robinson(), x0=[1.0], t_span=(0.0, 6.0), grid=601, method="radau", rtol=1e-8, atol=1e-8)
    # the polynomial of a step has the error that its estimate bounds, times a constant near one
    np.testing.assert_allclose(sim["x"], np.cos(sim.t), atol=1.5e-8)
    assert sim.outcome.stats["n_steps"] < 200


@pytest.mark.parametrize("driver", ["native", "python"])
def test_guards_are_located_on_stiff_steps(driver):
    guards = [
        Guard(name="half", expression=lambda s: s["x"] - 0.5, direction=-1, is_terminal=False),
        Guard(name="low", expression=lambda s: s["x"] + 0.9, direction=-1),
    ]
    sim = simulate(
        prothero_robinson(), x0=[1.0], t_span=(0.0, 6.0), guards=guards, method="radau", rtol=1e-8, atol=1e-8, driver=driver
    )  # fmt: skip
    half, low = sim.events
    # errors of x over its slope there
    assert half.time == pytest.approx(np.pi / 3.0, abs=1e-7)
    assert low.time == pytest.approx(np.arccos(-0.9), abs=1e-7)
    assert half.state[0] <= 0.5 and half.state[0] == pytest.approx(0.5, abs=1e-14)
    assert sim.t[-1] == low.time


def test_sampled_law_with_memory_and_limits_on_a_stiff_plant():
    """A motor with a current loop of 1e5 1/s behind a sampled controller that saturates at first."""
    eom = make_plant(
        lambda s: [s["speed"], s["current"], 1e5 * (s["command"] - s["current"])],
        ("angle", "speed", "current"),
        ("command",),
        limits={"command": (-0.5, 0.5)},
    )
    law = make_law(
        lambda s: (-4.0 * s["angle"] - 3.0 * s["speed"] - s["sum"], s["sum"] + 0.05 * s["angle"]),
        name="sampled",
        states=eom.labels.x,
        inputs=eom.labels.u,
        memory={"sum": 0.0},
        period=0.05,
    )
    options = {"x0": {"angle": 1.0}, "t_span": (0.0, 2.0), "grid": 81, "rtol": 1e-8, "atol": 1e-8}
    stiff, explicit = simulate(eom, law, method="radau", **options), simulate(eom, law, **options)
    assert np.min(stiff.u) == -0.5 > np.min(stiff.u_commanded)
    np.testing.assert_allclose(stiff.z, explicit.z, atol=1e-7)
    # at a sample the current jumps within 1e-5 s: the record there is the state before
    np.testing.assert_allclose(stiff.x, explicit.x, atol=1e-6)
    assert explicit.outcome.stats["n_right_sides"] > 20 * stiff.outcome.stats["n_right_sides"]


def attitude_loop(gain):
    body = RigidBody(name="hub", mass=50.0, inertia=(4.0, 5.0, 6.0))
    axes = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
    torques = tuple(BodyTorque(name=f"torque_{name}", on="hub", direction=axis) for name, axis in axes.items())
    eom = form_equations(System(name="craft", parts=(Part(body, joint=Free(name="base")),), actuators=torques))

    def rule(s):
        turn = [s["base.qx"], s["base.qy"], s["base.qz"]]
        rates = [s["base.wx"], s["base.wy"], s["base.wz"]]
        return [-2.0 * gain * s["base.qw"] * q - gain * w for q, w in zip(turn, rates, strict=True)]

    return eom, make_law(rule, name="attitude", states=eom.labels.x, inputs=eom.labels.u)


def test_quaternion_under_a_high_gain_attitude_law():
    eom, law = attitude_loop(1e5)
    x0 = {"base.qw": np.cos(1.0), "base.qx": np.sin(1.0) * 0.6, "base.qz": np.sin(1.0) * 0.8, "base.wy": 0.2}
    options = {"x0": x0, "t_span": (0.0, 1.0), "grid": 21, "tier": "vm"}
    sim = simulate(eom, law, **options, method="radau", rtol=1e-7, atol=1e-9)
    explicit = simulate(eom, law, **options, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(np.linalg.norm(sim.x[:, :4], axis=1), 1.0, atol=4e-16)
    np.testing.assert_allclose(sim.x, explicit.x, atol=1e-6)
    # After the fast start the rates are -2 q_vec qw (kd w = kp e), to one part in the fast rate 2e4.
    np.testing.assert_allclose(sim["base.wx"][1:], -2.0 * (sim["base.qw"] * sim["base.qx"])[1:], atol=2e-4)
    assert explicit.outcome.stats["n_right_sides"] > 20 * sim.outcome.stats["n_right_sides"]


def test_jump_in_time_at_a_stop_is_met_from_both_sides():
    eom = make_plant(lambda s: -1e5 * (s["x"] - ca.if_else(s.t < 0.5, 1.0, 2.0)), ("x",))
    sim = simulate(eom, x0=[1.0], t_span=(0.0, 1.0), grid=[0.499, 0.5, 0.501, 1.0], method="radau", stops=(0.5,))
    np.testing.assert_allclose(sim["x"], [1.0, 1.0, 2.0, 2.0], atol=1e-8)
    assert sim.outcome.stats["n_steps"] < 400


@pytest.mark.parametrize("formulation", ["multipliers", "udwadia_phohomsiri"])
def test_formulations_for_constraints_serve_a_system_without(formulation):
    """Their solver is differentiated without constraint equations; the plain equations are the independent solution."""
    start = {"joint1": 0.3, "joint2": 0.8, "joint1_dot": 0.5}
    plain, other = (form_equations(library.planar_arm(), formulation=name) for name in ("articulated", formulation))
    runs = [simulate(eom, x0=start, t_span=(0.0, 1.0), method="radau", grid=3).x for eom in (plain, other)]
    np.testing.assert_allclose(runs[1], runs[0], atol=1e-8)  # of two runs at 1e-9
