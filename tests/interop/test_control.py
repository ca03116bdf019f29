"""The plant in python-control: the same simulation, the same linear model, names, units, parameters and limits."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from spacectl import (
    ModelError,
    find_operating_point,
    form_equations,
    library,
    linearize,
    simulate,
    to_nonlinear_control,
)

control = pytest.importorskip("control")


@pytest.mark.parametrize("name", ["planar_arm", "orbiting_body", "free_flyer_arm"])
def test_its_simulation_equals_ours(name: str) -> None:
    eom = form_equations(library.LIBRARY[name]())
    rng = np.random.default_rng(3)
    x0 = eom.state(eom.state() + 0.2 * rng.standard_normal(eom.n_x))
    u = rng.standard_normal(eom.n_u)
    t = np.linspace(0.0, 1.0, 11)
    plant = to_nonlinear_control(eom)
    there = control.input_output_response(
        plant, t, np.tile(u[:, None], 11), x0, solve_ivp_kwargs={"rtol": 1e-9, "atol": 1e-11}
    )
    here = simulate(eom, x0=x0, u=u, t_span=(0.0, 1.0), grid=t, rtol=1e-10, atol=1e-12)
    # their integrator's 1e-9 a step, and inputs interpolated between equal values
    np.testing.assert_allclose(there.states.T, here.x, atol=1e-6)
    expected = here.y if eom.n_y else here.x
    np.testing.assert_allclose(there.outputs.T, expected, atol=1e-6)


def test_its_linear_model_equals_ours_without_quaternions() -> None:
    eom = form_equations(library.planar_arm())
    point = find_operating_point(eom, q={"joint2": 0.8})
    plant = to_nonlinear_control(eom)
    there = control.linearize(plant, np.asarray(point.x), np.asarray(point.u), eps=1e-6, copy_names=True)
    ours = linearize(eom, point, outputs=eom.states)
    for letter in "ABCD":
        # one-sided differences with a step of 1e-6
        np.testing.assert_allclose(getattr(there, letter), getattr(ours, letter), atol=1e-5)
    handed = ours.to_control()
    assert handed.state_labels == there.state_labels and handed.input_labels == there.input_labels


def test_parameters_and_limits_act_there_as_here() -> None:
    eom = form_equations(library.free_flyer_arm(torque_limit=5.0))
    plant = to_nonlinear_control(eom)
    x, u = eom.state(joint2=0.3), 40.0 * np.ones(7)
    np.testing.assert_array_equal(plant.dynamics(0.0, x, u, {}), eom.x_dot(0.0, x, 5.0 * np.ones(7)))
    p = eom.parameters.vector({"payload.mass": 80.0, "joint1.limit": (-9.0, 9.0)})
    changed = plant.dynamics(0.0, x, u, {"payload.mass": 80.0, "joint1.limit": (-9.0, 9.0)})
    np.testing.assert_array_equal(changed, eom.x_dot(0.0, x, [9.0, *(5.0 * np.ones(6))], p))
    assert np.max(np.abs(changed - plant.dynamics(0.0, x, u, {}))) > 1e-3
    free = to_nonlinear_control(eom, clip=False)
    np.testing.assert_array_equal(free.dynamics(0.0, x, u, {}), eom.x_dot(0.0, x, u))


def test_changed_parameters_come_on_top_of_those_that_were_handed_over() -> None:
    eom = form_equations(library.planar_arm())
    x, u = eom.state(joint2=0.3), np.ones(eom.n_u)
    plant = to_nonlinear_control(eom, p={"link1.mass": 3.0})
    both = eom.parameters.vector({"link1.mass": 3.0, "link2.mass": 2.0})
    np.testing.assert_array_equal(plant.dynamics(0.0, x, u, {"link2.mass": 2.0}), eom.x_dot(0.0, x, u, both))


def test_names_units_and_quaternions_are_documented() -> None:
    eom = form_equations(library.wheel_spacecraft())
    plant = to_nonlinear_control(eom, outputs=("gyro.wx", "wheel_x_dot"), name="craft")
    assert (
        plant.name == "craft"
        and plant.state_labels[0] == "base_qw"
        and plant.output_labels == ["gyro_wx", "wheel_x_dot"]
    )
    for text in (
        "base_wx [rad/s]",
        "jet_left [N]",
        "gyro_wx [rad/s]",
        "start at base_qw",
        "bus.mass",
        "jet_left 0 to 5",
    ):
        assert text in plant.__doc__
    with pytest.raises(ModelError, match="did you mean 'gyro.wx'"):
        to_nonlinear_control(eom, outputs=("gyro.wxx",))


def test_a_missing_python_control_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "control", None)
    with pytest.raises(ModelError, match="python-control is not installed"):
        to_nonlinear_control(form_equations(library.pendulum()))
