"""The PD law: its formula, its references and its errors."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from spacectl import library, simulate
from spacectl.controllers.regulators.pd import design_pd
from spacectl.core.errors import ModelError
from spacectl.core.labels import Labels
from spacectl.core.trajectory import Trajectory
from spacectl.dynamics.form import form_equations


@pytest.fixture(scope="module")
def eom():
    return form_equations(library.planar_arm())


def test_formula(eom) -> None:
    law = design_pd(eom, kp=(3.0, 5.0), kd=(0.5, 0.25), reference=lambda s: [ca.sin(2 * s.t), 0.1])
    t, x = 0.7, np.array([0.1, -0.2, 0.3, 0.4])
    expected = [3.0 * (np.sin(1.4) - 0.1) + 0.5 * (2 * np.cos(1.4) - 0.3), 5.0 * (0.1 + 0.2) - 0.25 * 0.4]
    np.testing.assert_allclose(law(t, x), expected, rtol=1e-14)


def test_table_and_expression_agree(eom) -> None:
    t = np.linspace(0.0, 3.0, 601)
    table = Trajectory(
        t=t,
        values=np.stack([np.cos(t), np.sin(t)], axis=1),
        rates=np.stack([-np.sin(t), np.cos(t)], axis=1),
        labels=Labels(("joint2", "joint1")),  # any order
    )
    a = design_pd(eom, kp=10.0, kd=2.0, reference=table)
    b = design_pd(eom, kp=10.0, kd=2.0, reference=lambda s: [ca.sin(s.t), ca.cos(s.t)])
    for time in (0.0, 1.2345, 2.999):
        # Hermite error h^4 / 384 on positions, h^3 / 72 on rates: below 1e-6
        np.testing.assert_allclose(a(time, np.zeros(4)), b(time, np.zeros(4)), atol=1e-6)


@pytest.mark.parametrize("rule", ["cubic", "linear", "previous"])
def test_the_reference_rate_is_the_rate_of_the_table(rule: str) -> None:
    """Between the knots too: a coarse table shows any other rate at once."""
    eom = form_equations(library.planar_arm(lengths=(1.0,)))
    values = np.array([[0.0], [1.0], [1.0], [0.0]])
    table = Trajectory(t=[0.0, 1.0, 2.0, 3.0], values=values, labels=Labels(("joint1",)), interpolation=rule)
    law = design_pd(eom, kp=0.0, kd=1.0, reference=table)
    for time in (-1.0, 0.0, 0.5, 1.5, 2.5, 3.5):
        np.testing.assert_allclose(law(time, [0.0, 0.0]), table.rate(time), atol=1e-15)
    sim = simulate(eom, law, t_span=(0.0, 2.9), grid=[0.5, 1.5, 2.5], rtol=1e-9, atol=1e-9)
    expected = table.rate(sim.t)[:, 0] - sim["joint1_dot"]
    np.testing.assert_allclose(sim.u[:, 0], expected, atol=1e-12)
    python = simulate(eom, law, t_span=(0.0, 2.9), grid=[0.5, 1.5, 2.5], rtol=1e-9, atol=1e-9, driver="python")
    np.testing.assert_allclose(python.x, sim.x, atol=1e-12)


def test_some_inputs_only(eom) -> None:
    law = design_pd(eom, kp=1.0, kd=1.0, inputs=("joint2",))
    assert law.inputs.names == ("joint2",)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kp": -1.0, "kd": 1.0}, ("kp", "not negative")),
        ({"kp": (1.0, 2.0, 3.0), "kd": 1.0}, ("kp", "2 numbers")),
        ({"kp": 1.0, "kd": 1.0, "inputs": ("joint9",)}, ("joint9", "joint1")),
        ({"kp": 1.0, "kd": 1.0, "reference": lambda s: [s["elbow"], 0.0]}, ("reference", "elbow")),
        ({"kp": 1.0, "kd": 1.0, "reference": lambda s: [0.0]}, ("1 values", "joint1, joint2")),
        ({"kp": 1.0, "kd": 1.0, "reference": 3.0}, ("Trajectory",)),
        ({"kp": 1.0, "kd": 1.0, "period": -0.1}, ("period",)),
    ],
)
def test_wrong_arguments_are_explained(eom, options, words) -> None:
    with pytest.raises(ModelError) as caught:
        design_pd(eom, **options)
    for word in words:
        assert word in str(caught.value)


def test_no_actuator_is_explained() -> None:
    with pytest.raises(ModelError, match="JointTorque"):
        design_pd(form_equations(library.spherical_pendulum()), kp=1.0, kd=1.0)
