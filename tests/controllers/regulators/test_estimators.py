"""Kalman filters and LQG laws: closed forms, python-control, separation, and covariances met by simulations with noise."""

from __future__ import annotations

from dataclasses import replace

import control
import numpy as np
import pytest

from spacectl import (
    Labels,
    LinearModel,
    ModelError,
    add_noise,
    design_kalman,
    design_lqg,
    design_lqr,
    find_operating_point,
    form_equations,
    library,
    linearize,
    reduce_modal,
    simulate,
)
from spacectl.controllers.regulators.riccati import sort_poles
from tests.controllers.plants import carts, double_integrator, flexible_modes, oscillator

SENSED = ("rear_at.x",)


def test_double_integrator_has_its_closed_form() -> None:
    w, v = 0.3, 0.02  # L = (sqrt(2 a), a) with a = sqrt(w / v)
    found = design_kalman(double_integrator(), process=w, measurement=v)
    a = np.sqrt(w / v)
    np.testing.assert_allclose(found.L, [[np.sqrt(2.0 * a)], [a]], rtol=1e-13)
    np.testing.assert_allclose(found.P, v * np.array([[np.sqrt(2 * a), a], [a, a * np.sqrt(2 * a)]]), rtol=1e-13)


def test_gain_and_covariance_match_python_control() -> None:
    eom = carts()
    model = linearize(eom, eom.state(), outputs=SENSED)
    A, B, C = (np.asarray(item) for item in (model.A, model.B, model.C))
    found = design_kalman(model, process=0.1, measurement=1e-3)
    L, P, poles = control.lqe(A, B, C, [[0.1]], [[1e-3]])
    np.testing.assert_allclose(found.L, L, rtol=1e-8)
    np.testing.assert_allclose(found.P, P, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(found.poles, sort_poles(np.asarray(poles, dtype=complex)), rtol=1e-7)
    assert found.residual < 1e-14


def test_sampled_filter_matches_python_control_and_its_own_recursion() -> None:
    model, T = double_integrator(), 0.5
    found = design_kalman(model, process=0.3, measurement=0.02, period=T)
    Ad, C = np.array([[1.0, T], [0.0, 1.0]]), np.array([[1.0, 0.0]])
    Wd = 0.3 * np.array([[T**3 / 3, T**2 / 2], [T**2 / 2, T]])
    _, P, _ = control.dlqe(Ad, np.eye(2), C, Wd, [[0.02]])
    np.testing.assert_allclose(found.P, P, rtol=1e-9)
    after, L = np.asarray(found.P_after), np.asarray(found.L)
    np.testing.assert_allclose(Ad @ after @ Ad.T + Wd, found.P, rtol=1e-12)  # prediction closes the circle
    np.testing.assert_allclose(L, after @ C.T / 0.02, rtol=1e-12)
    assert found.deviations()["position"] == pytest.approx(np.sqrt(after[0, 0]))


def test_noise_enters_through_the_selected_inputs() -> None:
    m = double_integrator()
    pushed = LinearModel(
        A=m.A, B=m.B, C=m.C, D=m.D, E=[[0.0], [2.0]], x=m.x, u=m.u, y=m.y, d=Labels(("wind",), ("N",), "disturbance")
    )
    by_wind = design_kalman(pushed, process={"wind": 0.1}, measurement=1.0)
    by_input = design_kalman(pushed, process=0.4, measurement=1.0, through="inputs")
    by_state = design_kalman(pushed, process={"speed": 0.4}, measurement=1.0, through="states")
    np.testing.assert_allclose(by_wind.L, by_input.L, rtol=1e-13)
    np.testing.assert_allclose(by_wind.L, by_state.L, rtol=1e-13)


def test_unseen_and_unmoved_modes_are_named() -> None:
    m = double_integrator()
    blind = LinearModel(A=m.A, B=m.B, C=[[0.0, 1.0]], D=m.D, x=m.x, u=m.u, y=m.y)
    with pytest.raises(ModelError, match="not detectable: no output sees the mode at the origin, mostly position"):
        design_kalman(blind, process=1.0, measurement=1.0)
    with pytest.raises(ModelError, match="no process noise excites the mode at 2 rad/s"):
        design_kalman(oscillator(), process=0.0, measurement=1.0)
    with pytest.raises(ModelError, match="output 'at' has the weight 0"):
        design_kalman(m, process=1.0, measurement=0.0)
    with pytest.raises(ModelError, match="no disturbances"):
        design_kalman(m, process=1.0, measurement=1.0, through="disturbances")
    with pytest.raises(ModelError, match="through is 'inptus'"):
        design_kalman(m, process=1.0, measurement=1.0, through="inptus")  # type: ignore[arg-type]


@pytest.mark.parametrize("period", [0.0, 0.1])
def test_poles_of_regulator_and_filter_separate(period: float) -> None:
    eom = carts()
    model = linearize(eom, eom.state(), outputs=SENSED)
    regulator = design_lqr(model, Q=1.0, R=0.1, period=period)
    estimator = design_kalman(model, process=0.1, measurement=1e-3, period=period)
    law = design_lqg(regulator, estimator, y_point=[0.0])
    both = np.concatenate([regulator.poles, estimator.poles])
    np.testing.assert_allclose(law.poles, sort_poles(both, discrete=period > 0.0), rtol=1e-8)
    assert law.memory.names[:2] == ("estimate.slide", "estimate.gap") and law.measurements.names == SENSED
    sim = simulate(eom, law, x0=eom.state(slide=0.5, gap=0.1), t_span=(0.0, 60.0))
    assert np.max(np.abs(sim.x[-1])) < 1e-3
    np.testing.assert_allclose(sim.dataset["z"].values[-1], sim.x[-1], atol=1e-3)  # the estimate has converged


def test_law_about_a_trimmed_point_finds_it_from_measurements() -> None:
    arm = carts()
    model = linearize(arm, arm.state(slide=0.3), outputs=SENSED)
    y = dict(zip(arm.labels.y.names, arm.outputs(0.0, arm.state(slide=0.3), [0.0]), strict=True))
    law = design_lqg(design_lqr(model, Q=1.0, R=0.1), design_kalman(model, process=0.1, measurement=1e-3), y_point=y)
    sim = simulate(arm, law, x0=arm.state(), t_span=(0.0, 60.0))
    assert abs(sim["slide"][-1] - 0.3) < 1e-4


def integral_laws(integrated: str, period: float) -> tuple:
    """Regulator with an integral, filter, and both as one law, on the carts."""
    model = linearize(carts(), carts().state(), outputs=SENSED)
    at_zero = {"rear_at.x": 0.0}
    regulator = design_lqr(
        model, Q={"slide": 1.0}, R=0.1, integral={integrated: 0.5}, y_point=at_zero, trim=[1.0], period=period
    )
    estimator = design_kalman(model, process=0.1, measurement=1e-3, period=period)
    return regulator, estimator, design_lqg(regulator, estimator, y_point=[0.0])


@pytest.mark.parametrize("integrated", ["rear_at.x", "slide"])
@pytest.mark.parametrize("period", [0.0, 0.1])
def test_poles_separate_with_integral_action(period: float, integrated: str) -> None:
    """Estimation errors evolve on their own, whether measurements or estimates are integrated."""
    regulator, estimator, law = integral_laws(integrated, period)
    both = np.concatenate([regulator.poles, estimator.poles])
    assert len(both) == len(law.poles) == 9
    np.testing.assert_allclose(law.poles, sort_poles(both, discrete=period > 0.0), rtol=1e-7)


@pytest.mark.parametrize("integrated", ["rear_at.x", "slide"])
def test_sampled_integral_is_a_sum_times_the_period(integrated: str) -> None:
    """Each sample adds the period times the measurement, or times the estimate that the measurement has corrected."""
    T = 0.4
    _, estimator, law = integral_laws(integrated, T)
    L, C = np.asarray(estimator.L), np.asarray(estimator.model.C)
    z, total = np.zeros(5), 0.0
    for k in range(30):
        y = np.array([1.0 + np.sin(0.3 * k)])
        corrected = z[:4] + L @ (y - C @ z[:4])
        total += T * (y[0] if integrated == "rear_at.x" else corrected[0])
        z = np.array(law.function(0.0, np.zeros(4), y, z, [], np.asarray(law.p))[2]).reshape(-1)
        assert z[4] == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("integrated", ["rear_at.x", "slide"])
def test_integral_action_works_on_estimates(integrated: str) -> None:
    """At rest the force is zero, but the filter believes in -1 N against a wrong trim of 1 N.

    ``A z - B + L (y - C z) = 0`` for the estimate z, with y or the estimate of slide at zero as its integral demands.
    """
    eom = carts()
    _, estimator, law = integral_laws(integrated, 0.0)
    sim = simulate(eom, law, x0=eom.state(), t_span=(0.0, 150.0))
    A, B, C = (np.asarray(item) for item in (estimator.model.A, estimator.model.B, estimator.model.C))
    L = np.asarray(estimator.L)
    zero = np.append(np.zeros(4), 1.0) if integrated == "rear_at.x" else np.append(1.0, np.zeros(4))
    z = np.linalg.solve(np.vstack([np.hstack([A - L @ C, L]), zero]), np.append(B[:, 0], 0.0))
    np.testing.assert_allclose(sim.dataset["z"].values[-1, :4], z[:4], atol=1e-3)
    np.testing.assert_allclose(sim.x[-1], [z[4], 0.0, 0.0, 0.0], atol=1e-3)
    assert np.max(np.abs(z)) > 0.01  # the push does leave a trace


def test_known_limits_keep_the_filter_correct_in_saturation() -> None:
    eom = carts()
    model = linearize(eom, eom.state(), outputs=SENSED)
    parts = (design_lqr(model, Q=1.0, R=0.01), design_kalman(model, process=0.1, measurement=1e-3))
    low, high = np.array([-0.2]), np.array([0.2])
    law = design_lqg(*parts, y_point=[0.0], limits=(low, high))
    free = design_lqg(*parts, y_point=[0.0])
    z = np.array([5.0, 0.0, 0.0, 0.0])
    u, z_dot, _ = (
        np.array(item).reshape(-1) for item in law.function(0.0, np.zeros(4), [5.0], z, [], np.asarray(law.p))
    )
    _, other, _ = (
        np.array(item).reshape(-1) for item in free.function(0.0, np.zeros(4), [5.0], z, [], np.asarray(free.p))
    )
    assert u[0] < -0.2
    np.testing.assert_allclose(z_dot - other, np.asarray(model.B)[:, 0] * (-0.2 - u[0]), rtol=1e-12)


def test_filter_of_a_few_modes_estimates_with_them() -> None:
    model = flexible_modes(6)
    small = reduce_modal(model, keep=3)
    regulator = design_lqr(model, Q=1.0, R=1.0, reduction=small)
    estimator = design_kalman(model, process=1.0, measurement=1e-2, reduction=small)
    law = design_lqg(regulator, estimator)
    assert len(law.memory) == 6 and len(law.poles) == 18
    assert np.max(law.poles.real) < 0.0


def test_margins_of_lqg_are_those_of_its_loop() -> None:
    model = double_integrator()
    law = design_lqg(design_lqr(model, Q=1.0, R=1.0), design_kalman(model, process=1.0, measurement=1.0))
    worst = law.margins.simultaneous
    A, B, C = law.loop.A, law.loop.B, law.loop.C
    poles = np.linalg.eigvals(A - worst.factors["force"] * B @ C)
    assert np.min(np.abs(poles - 1j * worst.frequency)) < 1e-6
    assert law.classical["force"].phase < law.regulator.classical["force"].phase  # an estimator costs margin


def test_closed_loop_meets_its_predicted_covariance_over_a_hundred_runs() -> None:
    """Counter-based noise on sensors and inputs; 100 runs, 12 nearly independent times each."""
    eom = carts()
    model, T = linearize(eom, eom.state(), outputs=SENSED), 0.05
    force, sensor = 0.5, 0.02  # standard deviations, held over a period
    regulator = design_lqr(model, Q=[4.0, 1.0, 2.0, 2.0], R=0.05, period=T)
    estimator = design_kalman(model, process=force**2 * T, measurement=sensor**2, period=T)
    law = design_lqg(regulator, estimator, y_point=[0.0])
    predicted = law.covariance
    rate = -np.log(np.max(np.abs(law.poles))) / T  # of the slowest pole
    wait, gap, count = 6.0 / rate, 1.5 / rate, 12
    times = T * np.round((wait + gap * np.arange(count)) / T)
    x, u = np.zeros((100, count, 4)), np.zeros((100, count, 1))
    noisy = add_noise(add_noise(law, sensor, seed=0), force, seed=0, on="inputs")
    keys = [k for k, name in enumerate(noisy.parameters.names) if name.rpartition(".")[2].startswith("key")]
    assert len(keys) == 4
    rng = np.random.default_rng(5)
    for run in range(100):  # a seed is two words of 26 bits for each signal
        p = np.array(noisy.p)
        p[keys] = rng.integers(0, 2**26, 4)
        sim = simulate(
            eom, replace(noisy, p=p), x0=eom.state(), t_span=(0.0, times[-1] + T), grid=np.append(times, times[-1] + T),
            rtol=1e-6, atol=1e-8, method="rk45",
        )  # fmt: skip
        x[run], u[run] = sim.x[:-1], sim.u[:-1]
    # variance of a variance from N independent normal draws: 2 / N; times correlate by exp(-1.5), hence N / 1.1
    spread = np.sqrt(2.0 / (100 * count / 1.1))
    # noise held over a period instead of white changes the covariance by O(rate * T)^2, below 1 percent here
    bound = 4.0 * spread + 0.01
    for k in range(4):
        assert np.mean(x[:, :, k] ** 2) == pytest.approx(predicted.x[k, k], rel=bound)
    assert np.mean(u**2) == pytest.approx(predicted.u[0, 0] + force**2, rel=bound)
    assert np.mean(x) ** 2 < 16.0 * np.max(predicted.x) / (100 * count / 1.1)


def test_mismatched_parts_raise() -> None:
    model = double_integrator()
    regulator, estimator = design_lqr(model, Q=1.0, R=1.0), design_kalman(model, process=1.0, measurement=1.0)
    with pytest.raises(ModelError, match="periods?.*0.1"):
        design_lqg(regulator, design_kalman(model, process=1.0, measurement=1.0, period=0.1))
    with pytest.raises(ModelError, match="different states: 'position' against 'slide'"):
        other = linearize(carts(), carts().state(), outputs=SENSED)
        design_lqg(regulator, design_kalman(other, process=1.0, measurement=1.0))
    with pytest.raises(ModelError, match="expected an LqrLaw"):
        design_lqg(estimator, regulator)  # type: ignore[arg-type]
    eom = form_equations(library.pendulum())
    pendulum = linearize(eom, find_operating_point(eom, q={"hinge": 0.5}), outputs=("hinge",))
    with pytest.raises(ModelError, match="measures 'hinge', whose value at the point is not known"):
        design_lqg(design_lqr(pendulum, Q=1.0, R=1.0), design_kalman(pendulum, process=1.0, measurement=1.0))
