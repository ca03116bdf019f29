"""Regulators along a motion: the steady gain, costs that simulations confirm, jumps, drift."""

from __future__ import annotations

import casadi
import numpy as np
import pytest
from scipy.integrate import simpson, solve_ivp
from scipy.interpolate import CubicSpline

from spacectl import (
    EquationsOfMotion,
    Labels,
    LinearTrajectory,
    ModelError,
    Trajectory,
    design_lqr,
    design_lqr_along,
    design_pd,
    displace_state,
    form_equations,
    library,
    linearize,
    linearize_along,
    make_law,
    simulate,
    subtract_states,
)
from tests.controllers.plants import carts, measured_body

Q = np.diag([2.0, 1.0, 0.5, 0.1])


@pytest.fixture(scope="module")
def resting() -> LinearTrajectory:
    eom = carts()
    return linearize_along(eom, (np.linspace(0.0, 30.0, 4), np.tile(eom.state(slide=0.4), (4, 1)), np.zeros((4, 1))))


def swing() -> tuple[EquationsOfMotion, LinearTrajectory, np.ndarray]:
    """A pendulum that is driven by a smooth torque."""
    eom = form_equations(library.pendulum())
    drive = make_law(lambda s: 2.0 * casadi.sin(3.0 * s.t), name="drive", states=eom.labels.x, inputs=eom.labels.u)
    sim = simulate(eom, drive, x0={"hinge": 0.2}, t_span=(0.0, 2.0), grid=201, rtol=1e-12, atol=1e-12)
    return eom, linearize_along(eom, sim), sim.x


def test_gain_tends_to_the_steady_one_and_ends_at_the_terminal_one(resting: LinearTrajectory) -> None:
    steady = design_lqr(linearize(carts(), carts().state(slide=0.4)), Q=Q, R=0.3)
    law = design_lqr_along(resting, Q=Q, R=0.3, terminal=0.0)
    # what is left decays twice as fast as the slowest pole, over 30 s
    left = np.exp(2.0 * np.max(steady.poles.real) * 30.0)
    assert left < 1e-5 and np.max(np.abs(law.gain(0.0) - steady.K)) < 2.0 * left * np.max(np.abs(steady.K))
    np.testing.assert_allclose(law.gain(30.0), np.zeros((1, 4)), atol=1e-15)  # rounding of the table
    held = design_lqr_along(resting, Q=Q, R=0.3)  # the steady solution at the end
    for t in (0.0, 12.3, 30.0, 99.0):
        np.testing.assert_allclose(held.gain(t), steady.K, rtol=1e-9, atol=1e-9)
    assert len(held.gains.t) < 60  # nothing changes, so steps are long


@pytest.mark.parametrize("terminal", [pytest.param(0.0, marks=pytest.mark.slow), {"slide": 5.0, "gap_dot": 3.0}])
def test_finite_horizon_cost_is_the_simulated_one(terminal: object) -> None:
    eom = carts()
    t = np.linspace(0.0, 3.0, 4)
    model = linearize_along(eom, (t, np.tile(eom.state(slide=0.4), (4, 1)), np.zeros((4, 1))))
    law = design_lqr_along(model, Q=Q, R=0.3, terminal=terminal, rtol=1e-9)
    x0 = eom.state(slide=1.0, gap=-0.2, gap_dot=0.5)
    sim = simulate(eom, law, x0=x0, t_span=(0.0, 3.0), grid=3001, rtol=1e-11, atol=1e-12)
    e = sim.x - eom.state(slide=0.4)
    S_f = np.zeros((4, 4)) if terminal == 0.0 else np.diag([5.0, 0.0, 0.0, 3.0])
    cost = simpson(np.einsum("ti,ij,tj->t", e, Q, e) + 0.3 * sim.u[:, 0] ** 2, x=sim.t) + e[-1] @ S_f @ e[-1]
    # the cost is stationary in the gain, so its error is the square of the table's; Simpson's rule 1e-10
    assert cost == pytest.approx(law.predict_cost(x0), rel=1e-7)
    worse = design_lqr(linearize(eom, eom.state(slide=0.4)), Q=Q, R=0.3)
    run = simulate(eom, worse, x0=x0, t_span=(0.0, 3.0), grid=3001, rtol=1e-11, atol=1e-12)
    e = run.x - eom.state(slide=0.4)
    other = simpson(np.einsum("ti,ij,tj->t", e, Q, e) + 0.3 * run.u[:, 0] ** 2, x=run.t) + e[-1] @ S_f @ e[-1]
    assert other > cost * (1.0 + 1e-4)


@pytest.mark.slow
def test_solution_along_a_motion_matches_an_integrator() -> None:
    _, model, _ = swing()
    law = design_lqr_along(model, Q=[10.0, 1.0], R=0.1, terminal=[5.0, 1.0], rtol=1e-9)

    def rate(s: float, flat: np.ndarray) -> np.ndarray:
        S, here = flat.reshape(2, 2), model.at(2.0 - s)
        A, B = np.asarray(here.A), np.asarray(here.B)
        return (A.T @ S + S @ A - S @ B @ B.T @ S / 0.1 + np.diag([10.0, 1.0])).reshape(-1)

    peer = solve_ivp(
        rate, (0.0, 2.0), np.diag([5.0, 1.0]).reshape(-1), "DOP853", [2.0 - 1.23, 2.0], rtol=1e-9, atol=1e-11
    )
    np.testing.assert_allclose(law.S[0].reshape(-1), peer.y[:, 1], rtol=1e-7)
    B = np.asarray(model.at(1.23).B)
    np.testing.assert_allclose(law.gain(1.23), B.T @ peer.y[:, 0].reshape(2, 2) / 0.1, rtol=1e-7)


def test_disturbed_motion_returns_with_the_predicted_cost() -> None:
    eom, model, x = swing()
    law = design_lqr_along(model, Q=[10.0, 1.0], R=0.1, terminal=[5.0, 1.0])
    x0 = x[0] + np.array([1e-3, 0.0])
    sim = simulate(eom, law, x0=x0, t_span=(0.0, 2.0), grid=2001, rtol=1e-11, atol=1e-13)
    assert law.reference is not None
    table = law.reference(sim.t)
    e, du = sim.x - table[:, 3:], sim.u[:, 0] - table[:, 2]
    cost = simpson(e**2 @ [10.0, 1.0] + 0.1 * du**2, x=sim.t) + e[-1] ** 2 @ [5.0, 1.0]
    assert cost == pytest.approx(law.predict_cost(x0), rel=2e-3)  # the plant is not linear: errors of order e
    undisturbed = simulate(eom, law, x0=x[0], t_span=(0.0, 2.0), grid=201)
    assert np.max(np.abs(undisturbed.x - x)) < 1e-6  # splines of the reference, 100 knots a second


def test_integration_starts_anew_at_a_jump() -> None:
    eom = form_equations(library.pendulum())
    command = Trajectory(
        t=[0.0, 1.0], values=[[2.0], [-2.0]], labels=Labels(("hinge",), ("N m",)), interpolation="previous"
    )
    drive = make_law(lambda s: s.r[0], name="bang", states=eom.labels.x, inputs=eom.labels.u, reference=command)
    sim = simulate(eom, drive, x0=eom.state(), t_span=(0.0, 2.0), grid=201, rtol=1e-12, atol=1e-12)
    model = linearize_along(eom, (sim.t, sim.x), u=command)
    law = design_lqr_along(model, Q=[10.0, 1.0], R=0.1, terminal=1.0)
    assert law.breaks == (1.0,) and law.reference is not None
    before, after = law.reference(np.nextafter(1.0, 0.0)), law.reference(1.0)
    np.testing.assert_allclose([before[2], after[2]], [2.0, -2.0])  # the reference's torque
    np.testing.assert_allclose(before[:2], after[:2], rtol=1e-12)  # K is continuous, as B is
    run = simulate(eom, law, x0=sim.x[0], t_span=(0.0, 2.0), grid=201, stops=law.breaks)
    assert np.max(np.abs(run.x - sim.x)) < 1e-6
    late = simulate(eom, law, x0=sim.x[0] + [1e-2, 0.0], t_span=(0.0, 2.0), grid=201, stops=law.breaks)
    assert np.linalg.norm(late.x[-1] - sim.x[-1]) < 1e-3


def test_jump_of_the_model_itself_is_preserved() -> None:
    """A plant whose input map jumps: the gain jumps with it, its solution does not."""
    t = np.array([0.0, 1.0, 1.0, 2.0])
    A, B = np.zeros((4, 1, 1)), np.array([1.0, 1.0, 3.0, 3.0]).reshape(4, 1, 1)
    none = np.zeros((4, 0, 1))
    x, u = Labels(("at",), ("m",), "state"), Labels(("push",), ("N",), "input")
    model = LinearTrajectory(
        t=t, A=A, B=B, C=none, D=none, E=np.zeros((4, 1, 0)), drift=np.zeros((4, 1)), x=x, u=u, y=Labels(kind="output"),
        d=Labels(kind="disturbance"), x_reference=np.zeros((4, 1)), u_reference=np.zeros((4, 1)),
    )  # fmt: skip
    law = design_lqr_along(model, Q=1.0, R=1.0, terminal=0.0, rtol=1e-9)
    s1 = np.tanh(3.0) / 3.0  # -s_dot = 1 - b^2 s^2
    assert law.gain(1.0)[0, 0] == pytest.approx(3.0 * s1, rel=1e-7)
    assert law.gain(np.nextafter(1.0, 0.0))[0, 0] == pytest.approx(s1, rel=1e-7)
    assert law.gain(0.0)[0, 0] == pytest.approx(np.tanh(1.0 + np.arctanh(s1)), rel=1e-7)


def test_drift_is_met_by_feed_forward() -> None:
    eom = carts()
    t = np.linspace(0.0, 4.0, 161)
    slide, rate, acceleration = 0.5 * np.sin(t), 0.5 * np.cos(t), -0.5 * np.sin(t)
    x = np.stack([slide, 0 * t, rate, 0 * t], axis=1)
    x_dot = np.stack([rate, 0 * t, acceleration, 0 * t], axis=1)
    # a plan that forgets the spring, and all forces
    model = linearize_along(eom, (t, x, np.zeros((161, 1))), x_dot=x_dot)
    law = design_lqr_along(model, Q=Q, R=0.3, terminal=0.0, rtol=1e-9)
    sim = simulate(eom, law, x0=x[0], t_span=(0.0, 4.0), grid=4001, rtol=1e-11, atol=1e-12)
    reference = np.stack([0.5 * np.sin(sim.t), 0 * sim.t, 0.5 * np.cos(sim.t), 0 * sim.t], axis=1)
    e = sim.x - reference
    cost = simpson(np.einsum("ti,ij,tj->t", e, Q, e) + 0.3 * sim.u[:, 0] ** 2, x=sim.t)
    assert cost == pytest.approx(law.predict_cost(x[0]), rel=1e-6)  # splines of the plan, 40 knots a second
    assert cost > 1e-3


def test_output_weights_equal_the_state_weights_they_mean() -> None:
    arm = carts()
    t = np.linspace(0.0, 3.0, 4)
    motion = (t, np.tile(arm.state(), (4, 1)), np.zeros((4, 1)))
    model = linearize_along(arm, motion, outputs=("rear_at.x",))
    C = np.array([[1.0, 1.0, 0.0, 0.0]])
    one = design_lqr_along(model, output_weight=4.0, R=1.0, terminal=0.0)
    two = design_lqr_along(model, Q=4.0 * C.T @ C, R=1.0, terminal=0.0)
    np.testing.assert_allclose(one.gain(0.7), two.gain(0.7), rtol=1e-6)


def test_rates_of_the_gain_are_those_of_its_values_where_weighted_outputs_change() -> None:
    """Output ``y = c(t) x + d(t) u``: also the weight of the input, ``R + d' W d``, changes with time."""
    t = np.linspace(0.0, 3.0, 121)
    column = np.ones((121, 1, 1))
    C, D = (1.0 + 0.3 * np.sin(t))[:, None, None], (0.8 + 0.5 * np.cos(2.0 * t))[:, None, None]
    x, u, y = (Labels((name,), (), kind) for name, kind in (("at", "state"), ("push", "input"), ("seen", "output")))
    model = LinearTrajectory(
        t=t, A=0.2 * column, B=column, C=C, D=D, E=np.zeros((121, 1, 0)), drift=np.zeros((121, 1)), x=x, u=u, y=y,
        d=Labels(kind="disturbance"), x_reference=np.zeros((121, 1)), u_reference=np.zeros((121, 1)),
    )  # fmt: skip
    gains = design_lqr_along(model, Q=1.0, R=0.5, output_weight=2.0, terminal=0.0, rtol=1e-9).gains
    found, values = np.asarray(gains.rates)[:, 0], CubicSpline(gains.t, np.asarray(gains.values)[:, 0])
    np.testing.assert_allclose(found[5:-5], values(np.asarray(gains.t), 1)[5:-5], atol=1e-3 * np.max(np.abs(found)))


def test_attitude_motion_is_followed_through_a_large_turn() -> None:
    eom = measured_body()
    home = eom.state()
    slew = make_law(
        lambda s: [0.5 * casadi.sin(0.3 * s.t), 0.3 * casadi.cos(0.2 * s.t), 0.2],
        name="slew", states=eom.labels.x, inputs=eom.labels.u,
    )  # fmt: skip
    sim = simulate(eom, slew, x0=home, t_span=(0.0, 40.0), grid=401)
    law = design_lqr_along(linearize_along(eom, sim), Q=1.0, R=0.01, terminal=1.0)
    start = displace_state(eom, home, np.concatenate([[0.2, -0.1, 0.3], np.zeros(9)]))
    run = simulate(eom, law, x0=start, t_span=(0.0, 40.0), grid=401)
    assert np.max(np.abs(subtract_states(eom, run.x[-1], sim.x[-1])[:3])) < 5e-3
    assert np.max(np.abs(subtract_states(eom, sim.x[-1], home)[:3])) > 0.5  # it did turn


def test_wrong_arguments_raise(resting: LinearTrajectory) -> None:
    with pytest.raises(ModelError, match="there is no weight"):
        design_lqr_along(resting, R=1.0)
    with pytest.raises(ModelError, match="terminal is 'stedy'"):
        design_lqr_along(resting, Q=1.0, R=1.0, terminal="stedy")
    with pytest.raises(ModelError, match="unknown state 'slid'"):
        design_lqr_along(resting, Q=1.0, R=1.0, terminal={"slid": 1.0})
    with pytest.raises(ModelError, match="use linearize_along"):
        design_lqr_along(linearize(carts(), carts().state()), Q=1.0, R=1.0)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="rtol is 1"):
        design_lqr_along(resting, Q=1.0, R=1.0, rtol=1.0)
    free = form_equations(library.free_flyer_arm())
    still = (np.array([0.0, 1.0]), np.tile(free.state(joint2=0.5), (2, 1)), np.zeros((2, 7)))
    with pytest.raises(ModelError, match="terminal='steady'.*not stabilizable"):
        design_lqr_along(linearize_along(free, still), Q=1.0, R=1.0)
    some = linearize_along(free, still, inputs=("joint3", "joint1"))
    with pytest.raises(ModelError, match="plant_inputs=eom.inputs"):
        design_lqr_along(some, Q=1.0, R=1.0, terminal=1.0)
    design_lqr_along(some, Q=1.0, R=1.0, terminal=1.0, plant_inputs=free.inputs, rtol=1e-3)


def test_reference_of_another_law_is_flown_again() -> None:
    eom = form_equations(library.planar_arm())
    pd = design_pd(eom, kp=40.0, kd=12.0, reference=lambda s: [casadi.sin(s.t), 0.5 * casadi.cos(s.t)])
    sim = simulate(eom, pd, x0=eom.state(joint2=0.5, joint1_dot=1.0), t_span=(0.0, 2.0), grid=201)
    law = design_lqr_along(linearize_along(eom, sim), Q=[10.0, 10.0, 1.0, 1.0], R=0.1)
    run = simulate(eom, law, x0=sim.x[0] + [0.05, -0.05, 0.0, 0.0], t_span=(0.0, 2.0), grid=201)
    assert np.max(np.abs(run.x[-1] - sim.x[-1])) < 0.01
