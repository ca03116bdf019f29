"""Laws in the loop: continuous, sampled, with memory, limits, measurements, in Python; against exact solutions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm

from spacectl.core.control_law import CallableLaw, make_law
from spacectl.core.errors import ModelError, ShapeError
from spacectl.core.labels import Labels
from spacectl.dynamics.form import form_equations
from spacectl.model.actuators import JointTorque
from spacectl.model.bodies.rigid import RigidBody
from spacectl.model.joints import Revolute
from spacectl.model.part import Part
from spacectl.model.sensors import Acceleration, Position
from spacectl.model.system import System
from spacectl.simulation.run.simulate import simulate
from tests.simulation.stand_in import double_integrator, integrator, make_plant, pendulum


def law_for(eom, rule, **options):
    return make_law(rule, name="law", states=eom.labels.x, inputs=eom.labels.u, **options)


def held_double_integrator(x, u, period):
    return np.array([x[0] + period * x[1] + 0.5 * period**2 * u, x[1] + period * u])


def test_sampled_law_with_an_integrator_follows_the_exact_discrete_solution():
    eom, period = double_integrator(), 0.1
    law = law_for(
        eom,
        lambda s: (-2.0 * s["place"] - 2.5 * s["speed"] - 0.5 * s["sum"], s["sum"] + period * s["place"]),
        memory={"sum": 0.2},
        period=period,
    )
    sim = simulate(eom, law, x0=[1.0, 0.0], t_span=(0.0, 5.0), grid=51)
    x, z = np.array([1.0, 0.0]), 0.2
    for k in range(51):
        u, z_next = -2.0 * x[0] - 2.5 * x[1] - 0.5 * z, z + period * x[0]
        # constant inputs are integrated exactly: rounding of 50 samples remains
        np.testing.assert_allclose(sim.x[k], x, atol=1e-13)
        assert sim.u[k, 0] == pytest.approx(u, abs=1e-12)  # just after the sample
        assert sim["sum"][k] == pytest.approx(z_next, abs=1e-13)
        x, z = held_double_integrator(x, u, period), z_next
    assert sim.outcome.stats["n_law_calls"] == 51


def test_delay_line_in_the_memory_delays_by_whole_samples():
    eom, period = integrator(), 0.25
    law = law_for(eom, lambda s: (s["second"], [s.t, s["first"]]), memory={"first": 0.0, "second": 0.0}, period=period)
    sim = simulate(eom, law, t_span=(0.0, 2.0), grid=9)
    np.testing.assert_allclose(sim["flow"], [0.0, 0.0, *(period * np.arange(7))], atol=1e-15)


@pytest.mark.parametrize("period", [0.1, 1.0 / 3.0, 0.007])
def test_samples_do_not_drift(period):
    eom, seen = integrator(), []
    law = CallableLaw(function=lambda t, x: seen.append(t) or [0.0], period=period)
    simulate(eom, law, t_span=(2.0, 12.0), max_step=0.3)
    np.testing.assert_array_equal(seen, [2.0 + k * period for k in range(len(seen))])
    assert len(seen) == int(np.floor(10.0 / period + 1e-9)) + 1  # the one at the end too, if it falls there


def test_grid_times_at_samples_see_the_new_input_whatever_the_rounding():
    eom = integrator()
    law = CallableLaw(function=lambda t, x: [round(10.0 * t)], period=0.1)
    sim = simulate(eom, law, t_span=(0.0, 3.0), grid=np.array([k / 10.0 for k in range(31)]))
    np.testing.assert_array_equal(sim["flow"], np.arange(31))  # 0.3 and 3 * 0.1 differ by a rounding


@pytest.mark.parametrize("driver", ["native", "python"])
def test_sample_at_the_end_is_taken_whatever_the_rounding(driver):
    law = CallableLaw(function=lambda t, x: [t], period=0.1)
    sim = simulate(integrator(), law, t_span=(0.0, 0.3), grid=2, driver=driver)  # 3 * 0.1 lies just beyond 0.3
    assert sim["flow"].tolist() == [0.0, 0.3]
    assert sim.outcome.stats["n_law_calls"] == 4


def test_continuous_law_with_integral_action_is_the_linear_closed_loop():
    eom = double_integrator()
    law = law_for(
        eom,
        lambda s: (-2.0 * s["place"] - 3.0 * s["speed"] - 0.7 * s["sum"], s["place"] - 0.5),
        memory={"sum": 0.1},
    )
    sim = simulate(eom, law, x0=[1.0, 0.0], t_span=(0.0, 6.0), grid=61)
    A = np.array([[0.0, 1.0, 0.0, 0.0], [-2.0, -3.0, -0.7, 0.0], [1.0, 0.0, 0.0, -0.5], [0.0, 0.0, 0.0, 0.0]])
    exact = np.array([expm(A * t) @ [1.0, 0.0, 0.1, 1.0] for t in sim.t])
    np.testing.assert_allclose(
        np.column_stack([sim.x, sim.z]), exact[:, :3], atol=1e-8
    )  # rtol 1e-9, some tens of steps
    np.testing.assert_allclose(sim["force"], exact @ A[1], atol=1e-7)


def test_limits_act_on_the_plant_and_both_inputs_are_recorded():
    """x' = clip(100 (1 - x), 1): x = t until 0.99, then 1 - x = 0.01 exp(-100 (t - 0.99))."""
    eom = integrator(limits={"flow": (-1.0, 1.0)})
    law = law_for(eom, lambda s: 100.0 * (1.0 - s["level"]))
    sim = simulate(eom, law, t_span=(0.0, 1.1), grid=111)
    exact = np.where(sim.t < 0.99, sim.t, 1.0 - 0.01 * np.exp(-100.0 * (sim.t - 0.99)))
    np.testing.assert_allclose(sim["level"], exact, atol=1e-8)
    np.testing.assert_allclose(sim.u_commanded[:, 0], 100.0 * (1.0 - sim["level"]), atol=1e-12)
    np.testing.assert_allclose(sim.u[:, 0], np.minimum(sim.u_commanded[:, 0], 1.0), atol=1e-12)
    assert sim.u_commanded[0, 0] == 100.0


def test_constant_input_is_limited_too():
    sim = simulate(integrator(limits={"flow": (-1.0, 0.5)}), u={"flow": 3.0}, t_span=(0.0, 2.0), grid=2)
    assert sim["level"][-1] == pytest.approx(1.0, abs=1e-14)
    assert (sim.u[0, 0], sim.u_commanded[0, 0]) == (0.5, 3.0)


def two_flows():
    return make_plant(lambda s: [s["left"], s["right"]], ("a", "b"), ("left", "right"))


def test_law_may_command_some_inputs_and_constants_the_others():
    eom = two_flows()
    law = make_law(lambda s: 2.0, name="right only", states=eom.labels.x, inputs=Labels(("right",)))
    sim = simulate(eom, law, t_span=(0.0, 1.0))
    np.testing.assert_allclose(sim.x[-1], [0.0, 2.0], atol=1e-14)
    sim = simulate(eom, law, u={"left": -1.0}, t_span=(0.0, 1.0))
    np.testing.assert_allclose(sim.x[-1], [-1.0, 2.0], atol=1e-14)
    with pytest.raises(ModelError, match="'right' is commanded by the law"):
        simulate(eom, law, u={"right": 1.0}, t_span=(0.0, 1.0))


def test_law_may_name_inputs_in_its_own_order():
    eom = two_flows()
    law = make_law(lambda s: [3.0, 5.0], name="swapped", states=eom.labels.x, inputs=Labels(("right", "left")))
    np.testing.assert_allclose(simulate(eom, law, t_span=(0.0, 1.0)).x[-1], [5.0, 3.0], atol=1e-14)


@pytest.mark.parametrize("period", [0.0, 0.05])
def test_python_function_and_control_law_give_the_same_run(period):
    eom = pendulum()
    law = law_for(eom, lambda s: -3.0 * s["angle"] - s["rate"], period=period)
    plain = CallableLaw(function=lambda t, x: np.array([-3.0 * x[0] - x[1]]), period=period)
    a, b = (simulate(eom, item, x0=[0.5, 0.0], t_span=(0.0, 4.0)) for item in (law, plain))
    np.testing.assert_allclose(a.x, b.x, rtol=1e-12, atol=1e-12)  # same operations up to their order
    assert a.outcome.stats["n_steps"] == b.outcome.stats["n_steps"]


def test_plain_function_is_a_law_and_retains_its_name():
    def brake(t, x):
        return -x[1:]

    sim = simulate(pendulum(), brake, x0=[0.5, 0.0], t_span=(0.0, 1.0))
    assert sim.dataset.attrs["law"] == "brake"


def test_function_may_keep_the_state_it_was_given():
    seen = []
    simulate(integrator(), lambda t, x: (seen.append((t, x)), [1.0])[1], t_span=(0.0, 1.0), grid=2, max_step=0.1)
    # stage states of a constant rate lie on the line; a shared buffer would make all of them the last one
    np.testing.assert_allclose([x[0] for _, x in seen], [t for t, _ in seen], atol=1e-12)


def test_law_reads_measurements_by_name():
    eom = make_plant(
        lambda s: [s["speed"], s["force"]],
        ("place", "speed"),
        ("force",),
        outputs={"double": lambda s: 2.0 * s["place"], "triple": lambda s: 3.0 * s["speed"]},
    )
    law = law_for(eom, lambda s: -s["triple"] - s["double"], measurements=Labels(("triple", "double")))
    direct = law_for(eom, lambda s: -3.0 * s["speed"] - 2.0 * s["place"])
    a, b = (simulate(eom, item, x0=[1.0, 0.0], t_span=(0.0, 3.0)) for item in (law, direct))
    np.testing.assert_allclose(a.x, b.x, atol=1e-12)
    np.testing.assert_allclose(a["double"], 2.0 * a["place"], rtol=1e-15)


def accelerated_arm():
    link = RigidBody(name="link", mass=1.0, inertia=(0.1, 0.1, 0.1), com=(0.5, 0.0, 0.0))
    return form_equations(
        System(
            name="arm",
            parts=(Part(link, joint=Revolute(name="elbow", axis="z")),),
            actuators=(JointTorque(joint="elbow"),),
            sensors=(
                Acceleration(name="felt", on="link", at=(1.0, 0.0, 0.0)),
                Position(name="tip", on="link", at=(1.0, 0.0, 0.0)),
            ),
        )
    )


def test_accelerations_are_outputs_and_other_measurements_can_still_be_fed_back():
    eom = accelerated_arm()
    law = law_for(eom, lambda s: -s["tip.y"], measurements=Labels(("tip.y",)))
    sim = simulate(eom, law, x0={"elbow": 0.2}, t_span=(0.0, 1.0), grid=11)
    np.testing.assert_allclose(sim["tip.y"], np.sin(sim["elbow"]), atol=1e-12)
    np.testing.assert_allclose(sim.column("u", "elbow"), -sim["tip.y"], atol=1e-12)
    expected = eom.along("outputs", sim.t, sim.x, sim.u)[:, eom.labels.y.index("felt.x")]
    np.testing.assert_array_equal(sim["felt.x"], expected)


def test_feeding_back_an_acceleration_is_refused():
    eom = accelerated_arm()
    law = law_for(eom, lambda s: -s["felt.y"], measurements=Labels(("felt.y",)))
    with pytest.raises(ModelError, match=r"'felt.y' depends on the inputs"):
        simulate(eom, law, t_span=(0.0, 1.0))


def test_gains_for_the_wrong_states_are_refused():
    eom, other = double_integrator(), pendulum()
    law = make_law(lambda s: -s["angle"], name="other", states=other.labels.x, inputs=eom.labels.u)
    with pytest.raises(
        ModelError, match=r"law 'other' has gains for the wrong states: its state 0 is 'angle', .* 'place'"
    ):
        simulate(eom, law, t_span=(0.0, 1.0))
    short = make_law(lambda s: -s["place"], name="short", states=Labels(("place",)), inputs=eom.labels.u)
    with pytest.raises(ModelError, match="its state 1 is nothing, the equations have 'speed'"):
        simulate(eom, short, t_span=(0.0, 1.0))


def test_unknown_inputs_and_measurements_are_refused():
    eom = double_integrator()
    law = make_law(lambda s: 0.0, name="law", states=eom.labels.x, inputs=Labels(("forse",)))
    with pytest.raises(ModelError, match="unknown input 'forse'; did you mean 'force'"):
        simulate(eom, law, t_span=(0.0, 1.0))
    law = law_for(eom, lambda s: s["gyro"], measurements=Labels(("gyro",)))
    with pytest.raises(ModelError, match="unknown measurement 'gyro'"):
        simulate(eom, law, t_span=(0.0, 1.0))


def test_what_is_no_law_is_refused():
    with pytest.raises(ModelError, match="law: got ndarray, expected None"):
        simulate(integrator(), np.eye(2), t_span=(0.0, 1.0))
    with pytest.raises(ShapeError, match=r"returned shape \(2,\), expected \(1,\) for flow"):
        simulate(integrator(), lambda t, x: [1.0, 2.0], t_span=(0.0, 1.0))


def test_period_below_the_rounding_of_time_is_refused():
    with pytest.raises(ModelError, match="below the rounding"):
        simulate(integrator(), CallableLaw(function=lambda t, x: [0.0], period=1e-12), t_span=(0.0, 10.0))
