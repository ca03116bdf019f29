"""Feedback linearisation gives exactly the damped oscillator it promises, or says why it cannot."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from spacectl import (
    BodyTorque,
    FeedbackLinearization,
    Free,
    JointTorque,
    ModelError,
    ModifiedFeedbackLinearization,
    Part,
    Revolute,
    RigidBody,
    System,
    form_equations,
    library,
    linearize,
    simulate,
)
from spacectl.controllers.analysis.law_loop import close_loop, linearise_law


def decay(t: np.ndarray, e0: float, rate0: float, omega: float, zeta: float) -> np.ndarray:
    """Closed form of a damped oscillator."""
    damped = omega * np.sqrt(1.0 - zeta**2)
    return np.exp(-zeta * omega * t) * (
        e0 * np.cos(damped * t) + (rate0 + zeta * omega * e0) / damped * np.sin(damped * t)
    )


def test_tracking_error_is_the_damped_oscillator_of_the_design():
    eom = form_equations(library.planar_arm())
    law = FeedbackLinearization(
        eom, frequency=3.0, damping=0.8, reference=lambda s: {"joint1": 0.5 * ca.sin(s.t), "joint2": 0.2 * s.t}
    )
    sim = simulate(eom, law, x0=eom.state(joint1=0.4, joint2=-0.3), t_span=(0.0, 5.0), rtol=1e-9, atol=1e-11)
    t, x = np.asarray(sim.t), np.asarray(sim.x)
    # the loop is linear exactly: what remains is the integrator's error
    assert np.max(np.abs(x[:, 0] - 0.5 * np.sin(t) - decay(t, 0.4, -0.5, 3.0, 0.8))) < 1e-7
    assert np.max(np.abs(x[:, 1] - 0.2 * t - decay(t, -0.3, -0.2, 3.0, 0.8))) < 1e-7


def test_a_wrong_model_leaves_an_error():
    eom = form_equations(library.planar_arm())
    mass = next(name for name in eom.parameters.names if name.endswith(".mass"))
    p = eom.parameters.vector({mass: 2.0 * float(eom.parameters.get(mass))})
    law = FeedbackLinearization(eom, frequency=3.0, reference={"joint1": 0.5}, p=p)
    x0 = eom.state(joint1=0.4)
    right = FeedbackLinearization(eom, frequency=3.0, reference={"joint1": 0.5})
    assert not np.allclose(law(0.0, x0), right(0.0, x0), rtol=1e-3)


def free_flyer() -> System:
    base = RigidBody(name="base", mass=50.0, inertia=(8.0, 9.0, 10.0))
    arm = RigidBody(name="arm", mass=5.0, inertia=(0.1, 0.6, 0.6), com=(0.5, 0.0, 0.0))
    return System(
        name="free flyer",
        parts=(
            Part(base, joint=Free(name="base")),
            Part(arm, on="base", at=(0.5, 0, 0), joint=Revolute(name="elbow", axis="z")),
        ),
        actuators=(
            *(BodyTorque(name=f"torque_{a}", on="base", direction=a) for a in "xyz"),
            JointTorque(joint="elbow"),
        ),
    )


def test_chosen_speeds_of_an_under_actuated_free_flyer_are_controlled_exactly():
    eom = form_equations(free_flyer())
    chosen = ("base.wx", "base.wy", "base.wz", "elbow_dot")
    law = FeedbackLinearization(eom, frequency=1.0, damping=0.9, reference={"elbow": 0.7}, speeds=chosen)
    x0 = eom.state(**{"base.qw": np.cos(0.2), "base.qz": np.sin(0.2), "elbow": 0.2})
    sim = simulate(eom, law, x0=x0, t_span=(0.0, 15.0), rtol=1e-9, atol=1e-11)
    t, x = np.asarray(sim.t), np.asarray(sim.x)
    elbow = x[:, eom.labels.x.index("elbow")]
    assert np.max(np.abs(elbow - 0.7 - decay(t, -0.5, 0.0, 1.0, 0.9))) < 1e-6
    angle = 2.0 * np.arctan2(x[:, 3], x[:, 0])
    assert np.max(np.abs(angle - decay(t, 0.4, 0.0, 1.0, 0.9))) < 1e-6  # a turn about one axis stays one


def test_too_few_inputs_are_refused_with_the_cure():
    eom = form_equations(free_flyer())
    with pytest.raises(ModelError, match="ModifiedFeedbackLinearization"):
        FeedbackLinearization(eom, frequency=1.0)
    with pytest.raises(ModelError, match=r"base\.x_dot"):
        FeedbackLinearization(eom, frequency=1.0, speeds=("base.x_dot", "base.y_dot", "base.z_dot", "elbow_dot"))
    with pytest.raises(ModelError, match="frequency"):
        FeedbackLinearization(eom, frequency={"elbo": 1.0}, speeds=("base.wx", "base.wy", "base.wz", "elbow_dot"))


@pytest.mark.parametrize("weight", ["identity", "inverse mass"])
def test_modified_law_minimises_its_weighted_residual(weight):
    eom = form_equations(free_flyer())
    law = ModifiedFeedbackLinearization(eom, frequency=1.0, damping=0.7, weight=weight)
    rng = np.random.default_rng(3)
    x = eom.state(**{name: 0.3 * value for name, value in zip(eom.states, rng.normal(size=eom.n_x), strict=True)})
    q, v = x[: eom.n_q], x[eom.n_q :]
    M, h, B = eom.mass_matrix(0.0, q), eom.bias(0.0, q, v), eom.input_map(0.0, q)
    Q = np.eye(eom.n_v) if weight == "identity" else np.linalg.inv(M)
    u = law(0.0, x)
    quat = x[:4]
    angle = 2.0 * np.arccos(quat[0])
    theta = np.concatenate([quat[1:4] / np.linalg.norm(quat[1:4]) * angle, q[4:]])
    a = -2.0 * 0.7 * v - theta
    left = B @ u - M @ a - h
    # the gradient of a least-squares problem vanishes at its solution, to rounding
    assert np.max(np.abs(B.T @ Q @ left)) < 1e-9 * np.max(np.abs(B.T @ Q @ (M @ a + h)))


def test_poles_of_the_linearised_loop_are_those_of_the_design():
    eom = form_equations(library.planar_arm())
    law = FeedbackLinearization(eom, frequency=2.0, damping=0.5)
    model = linearize(eom, eom.state(), law(0.0, eom.state()))
    poles = np.linalg.eigvals(close_loop(linearise_law(law, model, what="test")))
    wanted = np.roots([1.0, 2.0, 4.0])
    assert max(np.min(np.abs(pole - wanted)) for pole in poles) < 1e-7
