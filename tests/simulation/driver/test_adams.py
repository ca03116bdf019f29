"""The Adams method: its algebra, its order, its agreement with the other methods, and where it must start anew."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from numpy.polynomial import Polynomial

from spacectl import Guard, design_pd, form_equations, library, simulate, simulate_many
from spacectl.codegen.binding import bind_casadi
from spacectl.core.control_law import make_law
from spacectl.core.errors import SolverError
from spacectl.core.outcome import Status
from spacectl.simulation.driver.loop_data import LoopData
from spacectl.simulation.driver.methods.adams import MAX_ADAMS, adams_weights, make_adams
from spacectl.simulation.driver.methods.tableau import find_tableau
from spacectl.simulation.driver.reference.adams import adams_attempt
from spacectl.simulation.driver.reference.dense import dense_state
from spacectl.simulation.driver.reference.loop import PythonLoop
from tests.simulation.stand_in import integrator, make_plant, oscillator, pendulum

TIGHT = {"rtol": 1e-12, "atol": 1e-12}


def test_error_constants_are_those_of_the_implicit_formulas():
    E = make_adams().E
    np.testing.assert_allclose(E[:6], [1.0, 1 / 2, 1 / 12, 1 / 24, 19 / 720, 3 / 160], rtol=1e-14)


def test_weights_are_integrals_of_the_newton_polynomials():
    rng = np.random.default_rng(3)
    ratios = np.concatenate([[1.0], rng.uniform(0.05, 0.95, MAX_ADAMS)])
    for f in (1.0, 0.3):
        c, expected = Polynomial([1.0]), []
        for i in range(MAX_ADAMS + 1):
            expected.append(c.integ()(f))
            c = c * Polynomial([1.0 - ratios[i], ratios[i]])
        weights = adams_weights(make_adams().C, ratios, MAX_ADAMS + 1, f)
        np.testing.assert_allclose(weights, expected, rtol=1e-9)  # rounding of alternating sums of 13 terms


def step_with_history(k, degree, known):
    """One step of order k from exact rates of a polynomial at `known` unequal times: (data, exact s(t))."""
    rng = np.random.default_rng(k)
    rate = Polynomial(rng.uniform(-1.0, 1.0, degree + 1))
    eom = make_plant(lambda s: rate(s.t), ("x",))
    data = LoopData(
        plant=bind_casadi(eom.functions["x_dot"]),
        tableau=find_tableau("adams"),
        t_span=(0.0, 9.0),
        x0=[0.0],
        grid=[9.0],
        rtol=0.5,
        atol=1e6,
    )
    times = -np.concatenate([[0.0], np.cumsum(rng.uniform(0.5, 1.0, known - 1))])
    data.spans[: known - 1] = -times[1:]
    table = rate(times)
    for i in range(known):
        data.differences[i] = table[0] * np.prod(data.spans[:i])
        table = (table[:-1] - table[1:]) / (times[: known - 1 - i] - times[i + 1 :])
    data.order = data.order_next = k
    data.n_points, data.is_starting, data.h = known, 0, 0.7
    data.t_new = 0.7
    assert adams_attempt(data, 0.7)[0] < 0
    return data, rate.integ()


@pytest.mark.parametrize("k", range(1, MAX_ADAMS + 1))
@pytest.mark.parametrize("more", [0, 1])
def test_a_step_of_order_k_is_exact_for_rates_of_degree_k(k, more):
    """Predicted exactly up to degree k - 1, corrected and interpolated exactly up to degree k, with unequal steps."""
    data, exact = step_with_history(k, k, k + more)
    missed = abs(data.stage[0] - exact(0.7))  # the predictor is not exact for degree k
    assert missed > 1e-2
    rounding = 1e-5 * missed  # of divided differences over up to 12 unequal steps
    assert data.s_new[0] == pytest.approx(exact(0.7), abs=rounding)
    for t in (0.1, 0.5):
        dense_state(data, t, data.dense)
        assert data.dense[0] == pytest.approx(exact(t), abs=rounding)
    data, exact = step_with_history(k, k - 1, k + more)
    assert data.stage[0] == pytest.approx(exact(0.7), abs=rounding)


def stable_up_to(k, share):
    """Largest z for which equal steps of order k damp x' = -z x (h = 1)."""
    method = make_adams()
    n = k + 1
    differences = [Polynomial([1.0, -1.0]) ** i for i in range(n)]  # of the rates at t, t - 1, ...
    rows = np.array([np.pad(item.coef, (0, n - item.coef.size)) for item in differences])
    weights = adams_weights(method.C, 1.0 / np.arange(1.0, n + 1), n, 1.0)
    for z in np.arange(0.01, 5.0, 0.01):
        predicted = np.eye(n)[0] - z * weights[:k] @ rows[:k]
        change = -z * (predicted - rows[:k].sum(axis=0))
        first = predicted + weights[k] * (share * change - (1.0 - share) * z * rows[k])
        companion = np.vstack([first, np.eye(n)[:-1]])
        if np.max(np.abs(np.linalg.eigvals(companion))) > 1.0 + 1e-9:
            return z
    return 5.0


@pytest.mark.parametrize("k", range(2, 8))
def test_shared_correction_is_stable_with_longer_steps_than_the_usual_one(k):
    gain = stable_up_to(k, make_adams().A[k]) / stable_up_to(k, 1.0)
    assert 1.1 < gain < 1.5


def error_of(sim):
    return np.max(np.abs(sim["angle"] - np.cos(sim.t)))


def test_error_follows_the_tolerance_and_the_effort_grows_slowly():
    tolerances = 10.0 ** -np.arange(4.0, 11.5)
    runs = [
        simulate(oscillator(), x0=[1.0, 0.0], t_span=(0.0, 20.0), rtol=tol, atol=tol, method="adams")
        for tol in tolerances
    ]
    errors, counts = [error_of(run) for run in runs], [run.outcome.stats["n_right_sides"] for run in runs]
    slope = np.polyfit(np.log(tolerances), np.log(errors), 1)[0]
    assert 0.85 < slope < 1.15  # 1 if exactly proportional
    # A fixed order p would give log(error) = -p log(count); the order that grows with the tolerance beats order 8.
    assert -np.polyfit(np.log(counts), np.log(errors), 1)[0] > 8.0
    assert errors[-1] < 1e-8


def cases():
    planar = form_equations(library.planar_arm())
    yield "arm", planar, design_pd(planar, kp=40.0, kd=12.0), {"x0": {"joint1": 0.8}}
    flyer = form_equations(library.free_flyer_arm())
    start = {"joint1": 0.5, "joint4": -0.7, "base.wx": 0.3, "joint2_dot": 0.5, "joint5_dot": -0.6}
    yield "free flyer", flyer, None, {"x0": start}
    body = form_equations(library.orbiting_body())
    yield "orbiting body", body, None, {"x0": {"base.wx": 0.5, "base.wy": 1.0, "base.wz": 0.1}}
    ball = form_equations(library.spherical_pendulum())
    yield "spherical pendulum", ball, None, {"x0": {"ball.wx": 1.0, "ball.wy": 0.5, "ball.wz": 2.0}}
    sampled = design_pd(planar, kp=10.0, kd=1.0, period=0.05)
    yield "sampled", planar, sampled, {"x0": {"joint1": 0.8}}
    guard = Guard(name="half", expression=lambda s: s["joint1"] - 0.4, is_terminal=False)
    yield "guarded", planar, design_pd(planar, kp=40.0, kd=12.0), {"x0": {"joint1": 0.8}, "guards": [guard]}


@pytest.mark.parametrize("case", list(cases()), ids=lambda case: case[0])
def test_agrees_with_rk45_at_tight_tolerances(case):
    _, eom, law, options = case
    adams, other = (
        simulate(eom, law, t_span=(0.0, 2.0), method=name, **TIGHT, **options) for name in ("adams", "rk45")
    )
    # local errors of 1e-12 over some hundred steps of one and some thousand of the other
    np.testing.assert_allclose(adams.x, other.x, atol=1e-9)
    assert [event.name for event in adams.events] == [event.name for event in other.events]
    np.testing.assert_allclose([e.time for e in adams.events], [e.time for e in other.events], atol=1e-9)
    for k in eom.quaternions:
        assert np.max(np.abs(np.linalg.norm(adams.x[:, k : k + 4], axis=1) - 1.0)) < 4e-16


def test_smooth_loop_needs_far_fewer_evaluations_than_the_others():
    """At the same error, which the tolerances below give within a factor of two."""
    eom = form_equations(library.free_flyer_arm())
    start = {"joint1": 0.5, "joint4": -0.7, "base.wx": 0.3, "joint2_dot": 0.5, "joint5_dot": -0.6}
    options = {"x0": start, "t_span": (0.0, 5.0)}
    truth = simulate(eom, **options, **TIGHT).x

    def effort(method):
        for tol in 10.0 ** -np.arange(4.0, 12.0, 0.25):
            sim = simulate(eom, **options, rtol=tol, atol=tol, method=method)
            if np.max(np.abs(sim.x - truth)) < 1e-7:
                return sim.outcome.stats["n_right_sides"]
        raise AssertionError(f"{method} does not reach the accuracy")

    assert effort("adams") < 0.75 * min(effort("rk45"), effort("dop853"))


def test_grid_does_not_change_the_steps():
    runs = [
        simulate(oscillator(), x0=[1.0, 0.0], t_span=(0.0, 10.0), grid=grid, method="adams") for grid in (2, 101, 1001)
    ]
    assert len({run.outcome.stats["n_right_sides"] for run in runs}) == 1
    assert np.array_equal(runs[0].x[-1], runs[2].x[-1])
    assert error_of(runs[2]) < 10.0 * max(error_of(runs[0]), 1e-9)  # inside the steps as good as at their ends


def test_jump_at_a_stop_starts_anew_and_costs_no_rejected_steps():
    eom = integrator()

    def law(t, x):
        return [1.0 if t < 0.5 else -1.0]

    options = {"t_span": (0.0, 1.0), "x0": [0.0], "grid": [0.25, 0.5, 1.0], "method": "adams"}
    sim = simulate(eom, law, stops=(0.5,), **options)
    np.testing.assert_allclose(sim["level"], [0.25, 0.5, 0.0], atol=1e-15)
    assert sim.outcome.stats["n_rejected"] == 0
    blind = simulate(eom, law, **options)
    assert blind.outcome.stats["n_rejected"] > 5
    np.testing.assert_allclose(blind["level"], [0.25, 0.5, 0.0], atol=1e-8)  # some steps of tolerance 1e-9


def test_order_falls_back_to_one_after_a_stop():
    eom = oscillator()
    data = LoopData(
        plant=bind_casadi(eom.functions["x_dot"]),
        tableau=find_tableau("adams"),
        t_span=(0.0, 4.0),
        x0=[1.0, 0.0],
        u0=[0.0],
        grid=[4.0],
        stops=[2.0],
    )
    loop, orders = PythonLoop(data), []
    while data.t < 2.5:
        loop.advance(steps=1)
        orders.append((data.t, data.order))
    before = [order for t, order in orders if t < 2.0]
    after = [order for t, order in orders if t > 2.0]
    assert max(before) >= 8 and after[0] <= 2 and max(after) > after[0]


def test_all_tiers_and_batches_give_the_same_runs():
    eom = form_equations(library.planar_arm())
    law = design_pd(eom, kp=20.0, kd=3.0)
    options = {"t_span": (0.0, 1.0), "grid": 21, "method": "adams"}
    x0 = 0.5 * np.random.default_rng(0).standard_normal((40, 4))
    masses = [{"link2.mass": 1.0 + 0.01 * k} for k in range(40)]
    batch = simulate_many(eom, law, x0=x0, p=masses, threads=2, **options)
    for k in (0, 39):
        tiers = {
            tier: simulate(eom, law, x0=x0[k], p=masses[k], tier=tier, **options).x
            for tier in ("native", "vm", "data-driven", "callback")
        }
        np.testing.assert_array_equal(batch.x[k], tiers["native"])
        for x in tiers.values():
            # another rounding may change the choice of an order and with it the steps: errors of tolerance 1e-9 remain
            np.testing.assert_allclose(x, tiers["native"], atol=1e-7)


def test_memory_of_a_continuous_law_is_integrated():
    eom = oscillator()
    law = make_law(
        lambda s: (-s["sum"], s["angle"]), name="sum", states=eom.labels.x, inputs=eom.labels.u, memory={"sum": 0.3}
    )
    adams, other = (
        simulate(eom, law, x0=[1.0, 0.0], t_span=(0.0, 5.0), method=name, **TIGHT) for name in ("adams", "dop853")
    )
    np.testing.assert_allclose(adams.z, other.z, atol=1e-10)
    np.testing.assert_allclose(adams.u, other.u, atol=1e-10)


def test_motion_that_grows_without_bound_is_explained():
    eom = make_plant(lambda s: s["x"] ** 2, ("x",))
    with pytest.raises(SolverError, match=r"'x'") as caught:
        simulate(eom, x0=[1.0], t_span=(0.0, 2.0), method="adams")
    assert caught.value.partial.t[-1] == pytest.approx(1.0, abs=1e-6)  # 1 / (1 - t)


def test_rate_that_is_not_finite_is_explained():
    eom = make_plant(lambda s: ca.sqrt(1.0 - s.t), ("x",))
    with pytest.raises(SolverError, match="not finite at t = 1"):
        simulate(eom, x0=[0.0], t_span=(0.0, 2.0), method="adams")


def test_limit_of_steps_is_respected():
    sim = simulate(pendulum(), x0={"angle": 2.0}, t_span=(0.0, 5.0), method="adams", max_steps=20, check=False)
    assert sim.outcome.status is Status.LIMIT and sim.outcome.stats["n_steps"] == 20
