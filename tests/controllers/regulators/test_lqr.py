"""Regulators about a point: gains, costs that simulations confirm, attitudes, integrals, references, and refusals."""

from __future__ import annotations

from typing import Any

import casadi
import control
import numpy as np
import pytest
from scipy.integrate import simpson

from spacectl import (
    ControlLaw,
    Labels,
    LinearModel,
    ModelError,
    Simulation,
    Trajectory,
    design_lqr,
    displace_state,
    find_operating_point,
    form_equations,
    library,
    linearize,
    reduce_modal,
    simulate,
    subtract_states,
)
from spacectl.controllers.regulators.riccati import sort_poles
from tests.controllers.plants import carts, double_integrator, flexible_modes, measured_body, oscillator

ATTITUDE = ("base.rx", "base.ry", "base.rz", "base.wx", "base.wy", "base.wz")


def cost_of(sim: Simulation, Q: np.ndarray, R: float, x_ref: np.ndarray) -> float:
    """Integral of the cost over a run of the carts, by Simpson's rule over the recorded times."""
    e = sim.x - x_ref
    return float(simpson(np.einsum("ti,ij,tj->t", e, Q, e) + R * sim.u[:, 0] ** 2, x=sim.t))


def test_gain_solution_and_poles_match_python_control() -> None:
    eom = form_equations(library.planar_arm())
    model = linearize(eom, find_operating_point(eom, q={"joint2": 0.7}))
    law = design_lqr(model, Q={"joint1": 10.0, "joint2": 5.0}, R={"joint1": 1.0, "joint2": 2.0})
    K, S, poles = control.lqr(np.asarray(model.A), np.asarray(model.B), np.diag([10, 5, 0, 0]), np.diag([1.0, 2.0]))
    np.testing.assert_allclose(law.K, K, rtol=1e-10, atol=1e-12)  # theirs: two entries are zero
    np.testing.assert_allclose(law.S, S, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(law.poles, sort_poles(poles), rtol=1e-9)
    assert law.residual < 1e-15
    assert isinstance(law, ControlLaw) and law.states.names == eom.states


def test_output_weights_equal_the_state_weights_they_mean() -> None:
    eom = carts()
    model = linearize(eom, eom.state(), outputs=("rear_at.x", "slide_dot"))
    by_output = design_lqr(model, output_weight={"rear_at.x": 4.0}, Q={"gap_dot": 0.1}, R=1.0)
    C = np.array([[1.0, 1.0, 0.0, 0.0]])  # rear = slide + gap
    by_state = design_lqr(model, Q=4.0 * C.T @ C + np.diag([0.0, 0.0, 0.0, 0.1]), R=1.0)
    np.testing.assert_allclose(by_output.K, by_state.K, rtol=1e-12)


def test_direct_gain_of_an_output_counts_in_the_cost() -> None:
    m = double_integrator()
    y = Labels(("acceleration",), (), "output")
    direct = LinearModel(A=m.A, B=m.B, C=[[0.0, 0.0]], D=[[1.0]], x=m.x, u=m.u, y=y)
    law = design_lqr(direct, Q=[1.0, 0.0], R=1.0, output_weight=3.0)
    np.testing.assert_allclose(law.K, design_lqr(m, Q=[1.0, 0.0], R=4.0).K, rtol=1e-14)


@pytest.mark.parametrize("period", [0.0, 0.2])
def test_predicted_cost_is_the_simulated_one(period: float) -> None:
    eom = carts()
    point = eom.state(slide=0.4)
    Q = np.diag([2.0, 1.0, 0.5, 0.0])
    law = design_lqr(linearize(eom, point), Q=Q, R=0.3, period=period)
    x0 = eom.state(slide=1.0, gap=-0.2, gap_dot=0.5)
    sim = simulate(eom, law, x0=x0, t_span=(0.0, 60.0), grid=60 * 200 + 1, rtol=1e-11, atol=1e-12)
    if period == 0.0:
        found = cost_of(sim, Q, 0.3, point)
    else:  # the input is held from each sample on; Simpson's rule within a period
        e = (sim.x - point)[:-1].reshape(300, 40, 4)
        e = np.concatenate([e, np.concatenate([e[1:, :1], (sim.x - point)[-1:, None]])], axis=1)
        within = simpson(np.einsum("kti,ij,ktj->kt", e, Q, e), dx=0.005, axis=1)
        found = float(np.sum(within) + 0.3 * period * np.sum(sim.u[:-1:40, 0] ** 2))
    # Simpson's rule at 200 times a second, and what is left after 60 s
    assert found == pytest.approx(law.predict_cost(x0), rel=1e-7)


def test_sampled_gain_tends_to_the_continuous_one() -> None:
    model = linearize(carts(), carts().state())
    gains = [np.asarray(design_lqr(model, Q=1.0, R=1.0, period=T).K) for T in (0.0, 1e-3, 1e-4)]
    errors = [np.max(np.abs(item - gains[0])) for item in gains[1:]]
    assert 9.0 < errors[0] / errors[1] < 11.0  # first order in the period
    assert errors[1] < 1e-3


def test_sampled_gain_matches_python_control_on_sampled_matrices() -> None:
    model = double_integrator()
    T = 0.5
    law = design_lqr(model, Q=[1.0, 0.0], R=1.0, period=T)
    Ad, Bd = [[1.0, T], [0.0, 1.0]], [[T**2 / 2], [T]]
    Qd, Nd = [[T, T**2 / 2], [T**2 / 2, T**3 / 3]], [[T**3 / 6], [T**4 / 8]]
    K, _, poles = control.dlqr(np.array(Ad), np.array(Bd), np.array(Qd), np.array([[T + T**5 / 20]]), np.array(Nd))
    np.testing.assert_allclose(law.K, K, rtol=1e-10)
    np.testing.assert_allclose(np.sort(np.abs(law.poles)), np.sort(np.abs(poles)), rtol=1e-9)


def test_attitude_is_regulated_from_far_away_with_either_sign_of_the_quaternion() -> None:
    eom = measured_body()
    weights = dict(zip(ATTITUDE, [1.0, 1.0, 1.0, 50.0, 50.0, 50.0], strict=True))
    law = design_lqr(linearize(eom, eom.state()), Q=weights, R=0.01, reduction=ATTITUDE)
    start = displace_state(eom, eom.state(), np.concatenate([np.radians([100.0, -60.0, 50.0]), np.zeros(9)]))
    u = law(0.0, start)
    e = subtract_states(eom, start, eom.state())
    np.testing.assert_allclose(u, -np.asarray(law.K) @ e, rtol=1e-12)
    other = start.copy()
    other[:4] *= -1.0
    np.testing.assert_allclose(law(0.0, other), u, rtol=1e-12)
    sim = simulate(eom, law, x0=start, t_span=(0.0, 200.0))
    assert np.max(np.abs(subtract_states(eom, sim.x[-1], eom.state())[:3])) < 1e-3


def test_law_about_a_point_holds_it_with_its_trim() -> None:
    eom = form_equations(library.pendulum())
    point = find_operating_point(eom, q={"hinge": 0.5})
    law = design_lqr(linearize(eom, point), Q={"hinge": 10.0}, R=0.1)
    np.testing.assert_allclose(law(0.0, point.x), point.u, rtol=1e-14)
    sim = simulate(eom, law, x0={"hinge": 0.3}, t_span=(0.0, 20.0))
    assert abs(sim["hinge"][-1] - 0.5) < 1e-6


def test_some_inputs_of_a_trimmed_plant_need_their_trim() -> None:
    eom = form_equations(library.planar_arm())
    model = linearize(eom, eom.state(joint2=0.3), [1.0, 2.0], inputs=("joint2",), check=False)
    sub = ("joint2", "joint2_dot")
    with pytest.raises(ModelError, match="trim={'joint2'"):
        design_lqr(model, Q={"joint2": 1.0}, R=1.0, reduction=sub)
    law = design_lqr(model, Q={"joint2": 1.0}, R=1.0, reduction=sub, trim={"joint2": 2.0})
    np.testing.assert_allclose(law(0.0, eom.state(joint2=0.3)), [2.0])


@pytest.mark.parametrize("period", [0.0, 0.05])
@pytest.mark.parametrize("integrated", ["slide", "rear_at.x"])
def test_integral_action_removes_a_constant_disturbance(period: float, integrated: str) -> None:
    eom = carts()
    model = linearize(eom, eom.state(), outputs=("rear_at.x",))
    law = design_lqr(
        model, Q={"slide": 1.0}, R=0.1, integral={integrated: 0.5}, y_point={"rear_at.x": 0.0}, period=period
    )
    assert law.memory.names == (f"integral.{integrated}",) and np.shape(law.K_integral) == (1, 1)
    gains = law.named_gains()["slide"]
    assert gains["gap_dot"] == law.K[0, 3] and gains[f"integral.{integrated}"] == law.K_integral[0, 0]
    biased = design_lqr(model, Q={"slide": 1.0}, R=0.1, trim=[3.0], period=period)  # a wrong trim is a disturbance
    stays = simulate(eom, biased, x0=eom.state(), t_span=(0.0, 60.0))
    assert abs(stays["slide"][-1]) > 0.5
    shifted = design_lqr(
        model,
        Q={"slide": 1.0},
        R=0.1,
        integral={integrated: 0.5},
        y_point={"rear_at.x": 0.0},
        period=period,
        trim=[3.0],
    )
    sim = simulate(eom, shifted, x0=eom.state(), t_span=(0.0, 120.0))
    assert abs(sim["slide"][-1]) < 1e-5  # the spring's swing (damping 0.008) is left: 3 exp(-0.12 * 120)


def test_reference_table_is_followed_with_its_rates_and_inputs() -> None:
    eom = carts()
    t = np.linspace(0.0, 10.0, 401)
    slide, rate, push = 0.3 * np.sin(t), 0.3 * np.cos(t), -3.0 * 0.3 * np.sin(t)  # both masses move as one, nearly
    labels = Labels(("slide", "u.slide"), ("m", "N"))
    table = Trajectory(
        t=t, values=np.stack([slide, push], axis=1), rates=np.stack([rate, -0.9 * np.cos(t)], axis=1), labels=labels
    )
    law = design_lqr(linearize(eom, eom.state()), Q={"slide": 100.0, "slide_dot": 10.0}, R=0.01, reference=table)
    x = eom.state(slide=0.1, gap=0.2)
    e = np.array([0.1 - 0.3 * np.sin(2.0), 0.2, -0.3 * np.cos(2.0), 0.0])
    np.testing.assert_allclose(law(2.0, x), -0.9 * np.sin(2.0) - np.asarray(law.K) @ e, rtol=1e-6)  # cubic table
    sim = simulate(eom, law, x0=eom.state(slide_dot=0.3), t_span=(0.0, 10.0))
    assert np.max(np.abs(sim["slide"] - 0.3 * np.sin(sim.t))) < 0.01


def test_margins_of_a_regulator_are_those_it_guarantees() -> None:
    eom = form_equations(library.planar_arm())
    model = linearize(eom, eom.state(joint2=0.7))
    law = design_lqr(model, Q=[10.0, 5.0, 1.0, 1.0], R=1.0)
    for found in law.classical.values():  # Kalman's inequality, |1 + L| >= 1 for equal weights of the inputs
        assert found.gain[0] <= 0.5 and found.gain[1] == np.inf and found.phase >= np.radians(60.0) - 1e-9
    alpha = law.margins.simultaneous.alpha
    assert alpha >= 1.0  # sensitivity at most 1: disk of factors about 1 / (1 - d / 2) at least


def test_sampled_margins_are_exact_at_the_worst_factor() -> None:
    model = double_integrator()
    law = design_lqr(model, Q=[1.0, 0.0], R=1.0, period=0.4)
    margin = law.margins.simultaneous
    A, B = law.loop.A, law.loop.B
    poles = np.linalg.eigvals(A - margin.factors["force"] * B @ np.asarray(law.K))
    wanted = np.exp(1j * margin.frequency * 0.4)
    assert np.min(np.abs(poles - wanted)) < 1e-6  # a pole on the unit circle at the reported frequency
    low, high = law.classical["force"].gain
    assert np.max(np.abs(np.linalg.eigvals(A - high * B @ np.asarray(law.K)))) == pytest.approx(1.0, abs=1e-9)
    assert low == 0.0


def test_new_gains_need_no_new_code() -> None:
    model = linearize(carts(), carts().state())
    one, two = (design_lqr(model, Q=q, R=1.0) for q in (1.0, 5.0))
    assert one.function.serialize() == two.function.serialize() and one.content_hash != two.content_hash


def test_states_are_named_in_refusals() -> None:
    free = form_equations(library.free_flyer_arm())
    with pytest.raises(ModelError, match="not stabilizable: no input moves the mode at the origin.*base.x_dot"):
        design_lqr(linearize(free, free.state(joint2=0.5)), Q=1.0, R=1.0)
    with pytest.raises(ModelError, match="no weight covers the mode at 2 rad/s.*give '(position|speed)' a weight"):
        design_lqr(oscillator(), Q=0.0, R=1.0)
    with pytest.raises(ModelError, match="no weight covers the mode at the origin"):
        design_lqr(double_integrator(), Q={"speed": 1.0}, R=1.0)
    with pytest.raises(ModelError, match="integral.at.*1 of the 2"):  # twice the integral of one output
        m = double_integrator()
        y = Labels(("at", "again"), (), "output")
        double = LinearModel(A=m.A, B=m.B, C=[[1, 0], [2, 0]], D=[[0], [0]], x=m.x, u=m.u, y=y)
        design_lqr(double, Q=1.0, R=1.0, integral={"at": 1.0, "again": 1.0})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"R": 1.0}, "there is no weight"),
        ({"Q": {"sped": 1.0}, "R": 1.0}, "unknown state 'sped'; did you mean 'speed'"),
        ({"Q": 1.0, "R": 0.0}, "input 'force' has the weight 0"),
        ({"Q": [1.0, -1.0], "R": 1.0}, "state 'speed' has the weight -1"),
        ({"Q": [[1.0, 1.0], [0.0, 1.0]], "R": 1.0}, "not symmetric"),
        ({"Q": 1.0, "R": 1.0, "integral": {"att": 1.0}}, "unknown output or state 'att'"),
        ({"Q": 1.0, "R": 1.0, "integral": {"at": 0.0}}, "integral 'at' has the weight 0"),
        ({"Q": 1.0, "R": 1.0, "period": -1.0}, "period is -1"),
        ({"Q": 1.0, "R": 1.0, "reduction": "speed"}, "is the text 'speed'"),
        ({"Q": 1.0, "R": 1.0, "trim": [1.0, 2.0]}, "trim has shape"),
        ({"Q": 1.0, "R": 1.0, "N": [[2.0], [0.0]]}, "indefinite"),
    ],
)
def test_wrong_arguments_raise(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        design_lqr(double_integrator(), **arguments)


def test_wrong_references_and_models_raise() -> None:
    eom = measured_body()
    model = linearize(eom, eom.state())
    keep: dict[str, Any] = {"Q": 1.0, "R": 1.0, "reduction": ATTITUDE}
    table = Trajectory(t=[0.0, 1.0], values=[[1.0], [1.0]], labels=Labels(("base.qw",), ()))
    with pytest.raises(ModelError, match="give all four of base.qw"):
        design_lqr(model, reference=table, **keep)
    table = Trajectory(t=[0.0, 1.0], values=[[1.0], [1.0]], labels=Labels(("base.rx",), ()))
    with pytest.raises(ModelError, match="unknown state or u.<input> 'base.rx'"):
        design_lqr(model, reference=table, **keep)
    with pytest.raises(ModelError, match="expected a LinearModel, got EquationsOfMotion"):
        design_lqr(eom, Q=1.0, R=1.0)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="reduced model is passed as reduction="):
        design_lqr(reduce_modal(linearize(carts(), carts().state()), keep=1).model, Q=1.0, R=1.0)
    with pytest.raises(ModelError, match="measures 'star.s1', whose value at the point is not known"):
        design_lqr(model, Q=1.0, R=1.0, integral={"star.s1": 1.0}, reduction=ATTITUDE)


def test_law_for_other_states_is_refused_by_the_simulation() -> None:
    law = design_lqr(linearize(carts(), carts().state()), Q=1.0, R=1.0)
    with pytest.raises(ModelError, match="gains for the wrong states: its state 0 is 'slide'"):
        simulate(form_equations(library.pendulum()), law, t_span=(0.0, 1.0))


def test_gain_on_modes_is_the_gain_on_the_projected_state() -> None:
    model = flexible_modes(6)
    small = reduce_modal(model, keep=3)
    law = design_lqr(model, Q=1.0, R=1.0, reduction=small)
    same = design_lqr(small.model, Q=small.right.T @ small.right, R=1.0)
    np.testing.assert_allclose(law.K, np.asarray(same.K) @ small.left, rtol=1e-10, atol=1e-12)
    assert law.reduction is small


def test_table_of_a_turn_is_followed_on_the_attitude_manifold() -> None:
    eom = measured_body()
    weights = dict(zip(ATTITUDE, [1.0, 1.0, 1.0, 50.0, 50.0, 50.0], strict=True))
    t = np.linspace(0.0, 100.0, 201)
    angle, rate = 1.5 * (1.0 - np.cos(np.pi * t / 100.0)), 1.5 * np.pi / 100.0 * np.sin(np.pi * t / 100.0)
    names = ("base.qw", "base.qx", "base.qy", "base.qz", "base.wx")
    values = np.stack([np.cos(angle / 2), np.sin(angle / 2), 0 * t, 0 * t, rate], axis=1)
    table = Trajectory(t=t, values=values, labels=Labels(names, ()))
    law = design_lqr(linearize(eom, eom.state()), Q=weights, R=1e-4, reduction=ATTITUDE, reference=table)
    sim = simulate(eom, law, x0=eom.state(), t_span=(0.0, 150.0))
    turned = displace_state(eom, eom.state(), np.concatenate([[3.0], np.zeros(11)]))
    assert np.max(np.abs(subtract_states(eom, sim.x[-1], turned)[:3])) < 1e-3
    assert isinstance(law.function, casadi.Function)
