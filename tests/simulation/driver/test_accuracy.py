"""Order of the methods, dense output, tolerances, quaternions: against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

from spacectl.dynamics.form import form_equations
from spacectl.model.bodies.rigid import RigidBody
from spacectl.model.environment import UniformGravity
from spacectl.model.joints import Free, Revolute
from spacectl.model.part import Part
from spacectl.model.system import System
from spacectl.simulation.driver.methods.tableau import find_tableau
from spacectl.simulation.run.simulate import simulate
from tests.simulation.stand_in import make_plant, oscillator, tumbling_body


def error_of(sim):
    return np.max(np.abs(sim["angle"] - np.cos(sim.t)))


@pytest.mark.parametrize(("method", "order", "steps"), [("dop853", 8, (8, 12, 16)), ("rk45", 5, (40, 80, 160))])
def test_error_at_the_end_falls_with_the_order_of_the_method(method, order, steps):
    errors = []
    for n in steps:
        # tolerances that never bind: max_step makes equal steps; the first ones are shorter but count little
        sim = simulate(
            oscillator(),
            x0=[1.0, 0.0],
            t_span=(0.0, 8.0),
            grid=[8.0],
            method=method,
            max_step=8.0 / n,
            rtol=0.9,
            atol=1e3,
        )
        errors.append(np.hypot(sim.x[-1, 0] - np.cos(8.0), sim.x[-1, 1] + np.sin(8.0)))
    slope = -np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert slope > order - 0.6  # the range where the leading term rules is short for order 8


@pytest.mark.parametrize(("method", "dense_order"), [("dop853", 7), ("rk45", 4)])
def test_dense_output_error_falls_with_its_order(method, dense_order):
    errors = []
    for n in (8, 16):
        sim = simulate(
            oscillator(),
            x0=[1.0, 0.0],
            t_span=(0.0, 8.0),
            grid=1001,
            method=method,
            max_step=8.0 / n,
            rtol=0.9,
            atol=1e3,
        )
        errors.append(error_of(sim))
    assert np.log2(errors[0] / errors[1]) > dense_order - 0.5


@pytest.mark.parametrize("method", ["dop853", "rk45"])
def test_error_follows_the_tolerance(method):
    errors = [
        error_of(simulate(oscillator(), x0=[1.0, 0.0], t_span=(0.0, 10.0), rtol=tol, atol=tol, method=method))
        for tol in (1e-4, 1e-6, 1e-8, 1e-10)
    ]
    assert all(a > 10.0 * b for a, b in zip(errors[:-1], errors[1:], strict=True))  # 100 if exactly proportional
    assert errors[-1] < 1e-8  # local errors of 1e-10 add up over some tens (dop853) to hundreds of steps (rk45)


def test_backward_sign_of_time_starts_anywhere():
    sim = simulate(oscillator(), x0=[np.cos(-3.0), -np.sin(-3.0)], t_span=(-3.0, 4.0))
    assert error_of(sim) < 1e-7
    assert (sim.t[0], sim.t[-1]) == (-3.0, 4.0)


def test_time_dependent_right_hand_side():
    eom = make_plant(lambda s: 3.0 * s.t**2, ("x",))
    sim = simulate(eom, t_span=(1.0, 2.0), x0=[1.0], grid=11)
    np.testing.assert_allclose(sim["x"], sim.t**3, rtol=1e-13)  # both methods integrate a square exactly


def test_jump_at_a_stop_costs_no_rejected_steps():
    eom = make_plant(lambda s: s["u"], ("x",), ("u",))

    def law(t, x):
        return [1.0 if t < 0.5 else -1.0]

    sim = simulate(eom, law, t_span=(0.0, 1.0), x0=[0.0], stops=(0.5,), grid=[0.25, 0.5, 1.0])
    np.testing.assert_allclose(sim["x"], [0.25, 0.5, 0.0], atol=1e-15)
    np.testing.assert_array_equal(sim["u"], [1.0, -1.0, -1.0])  # just after the jump
    assert sim.outcome.stats["n_rejected"] == 0
    blind = simulate(eom, law, t_span=(0.0, 1.0), x0=[0.0])
    assert blind.outcome.stats["n_rejected"] > 5


def test_grid_does_not_change_the_steps():
    runs = [simulate(oscillator(), x0=[1.0, 0.0], t_span=(0.0, 10.0), grid=grid) for grid in (2, 101, 1001)]
    assert len({run.outcome.stats["n_steps"] for run in runs}) == 1
    assert np.array_equal(runs[0].x[-1], runs[1].x[-1])
    assert np.array_equal(runs[0].x[-1], runs[2].x[-1])


def test_each_state_has_its_own_absolute_tolerance():
    eom = make_plant(lambda s: [s["b"], -s["a"], s["d"], -s["c"]], ("a", "b", "c", "d"))
    x0 = [1e-6, 0.0, 1.0, 0.0]
    loose = simulate(eom, x0=x0, t_span=(0.0, 10.0), rtol=1e-12, atol=1e-4)
    tight = simulate(eom, x0=x0, t_span=(0.0, 10.0), rtol=1e-12, atol=[1e-13, 1e-13, 1e-4, 1e-4])

    def wrong(sim):
        return np.max(np.abs(sim["a"] - 1e-6 * np.cos(sim.t)))

    assert wrong(tight) < 1e-11 < wrong(loose)


def test_quaternion_norm_does_not_drift():
    sim = simulate(tumbling_body(), x0={"wx": 0.1, "wy": 2.0, "wz": 0.3}, t_span=(0.0, 50.0), rtol=1e-6, atol=1e-6)
    norms = np.linalg.norm(sim.x[:, :4], axis=1)
    assert np.max(np.abs(norms - 1.0)) < 4e-16  # two roundings


def test_normalising_keeps_the_accuracy_of_the_attitude():
    """A body that spins about a principal axis: the quaternion is (cos wt/2, 0, 0, sin wt/2)."""
    sim = simulate(tumbling_body(), x0={"wz": 3.0}, t_span=(0.0, 20.0))
    angle = 1.5 * sim.t
    np.testing.assert_allclose(sim.x[:, [0, 3]], np.column_stack([np.cos(angle), np.sin(angle)]), atol=1e-7)


def test_large_pendulum_swing_follows_the_elliptic_function():
    """sin(angle/2) = k cd(w t), k = sin(amplitude/2): a real system against a closed form."""
    length, amplitude, g = 1.3, 2.5, 9.81
    bob = RigidBody(name="bob", mass=2.0, com=(length, 0.0, 0.0), inertia=(0.0, 0.0, 0.0))
    system = System(
        name="pendulum",
        environment=UniformGravity(g=(g, 0.0, 0.0)),
        parts=(Part(bob, joint=Revolute(name="swing", axis="z")),),
    )
    sim = simulate(form_equations(system), x0={"swing": amplitude}, t_span=(0.0, 6.0))
    k = np.sin(0.5 * amplitude)
    _, cn, dn, _ = ellipj(np.sqrt(g / length) * sim.t, k**2)
    np.testing.assert_allclose(np.sin(0.5 * sim["swing"]), k * cn / dn, atol=1e-7)
    assert ellipk(k**2) / np.sqrt(g / length) < 6.0  # more than a quarter period


def test_energy_and_momentum_of_a_free_arm_are_conserved():
    base = RigidBody(name="base", mass=10.0, inertia=(1.0, 1.1, 1.2))
    link = RigidBody(name="link", mass=2.0, inertia=(0.1, 0.2, 0.25), com=(0.5, 0.0, 0.0))
    parts = (
        Part(base, joint=Free()),
        Part(link, on="base", at=(1.0, 0.0, 0.0), joint=Revolute(name="elbow", axis="y")),
    )
    eom = form_equations(System(name="free arm", parts=parts))
    sim = simulate(
        eom, x0={"elbow": 0.3, "elbow_dot": 0.5, "base.wx": 0.2, "base.wz": 0.4}, t_span=(0.0, 20.0), grid=21
    )
    momentum = eom.along("momentum", sim.t, sim.x)
    energy = eom.along("energy", sim.t, sim.x).reshape(-1)
    # rtol 1e-9 per step, some hundred steps
    np.testing.assert_allclose(momentum - momentum[0], 0.0, atol=1e-7)
    np.testing.assert_allclose(energy, energy[0], atol=1e-7)


@pytest.mark.parametrize("method", ["dop853", "rk45"])
def test_coefficients_meet_the_order_conditions(method):
    """Weights integrate powers of time exactly up to the order, and the dense output ends where the step does."""
    tableau = find_tableau(method)
    n, order = tableau.n_stages, {"dop853": 8, "rk45": 5}[method]
    weights = tableau.A[n, :n]
    for power in range(order):
        assert weights @ tableau.C[:n] ** power == pytest.approx(1.0 / (power + 1.0), abs=1e-14)
    np.testing.assert_allclose(tableau.F[0], tableau.A[n], atol=1e-14)
