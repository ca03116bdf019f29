"""Plant, sensors and a continuous law read one table of sines; what they give does not depend on it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from spacectl import (
    EquationsOfMotion,
    FeedbackLinearization,
    JointTorque,
    Part,
    Position,
    Revolute,
    RigidBody,
    System,
    design_kalman,
    design_lqg,
    design_lqr,
    form_equations,
    library,
    linearize,
    simulate,
    simulate_many,
)
from spacectl.simulation.run.simulate import build_run

START = {"turn": 0.3, "shoulder": 0.7, "elbow": -1.2, "turn_dot": 0.05}


@pytest.fixture(scope="module")
def arm() -> EquationsOfMotion:
    parts, on = [], "world"
    for name, axis in (("turn", "z"), ("shoulder", "y"), ("elbow", "y")):
        body = RigidBody(name=f"{name}_link", mass=2.0, inertia=(0.1, 0.2, 0.25), com=(0.4, 0.0, 0.1))
        parts.append(Part(body, on=on, at=(0.8, 0.0, 0.0), joint=Revolute(name=name, axis=axis)))
        on = body.name
    actuators = tuple(JointTorque(joint=part.joint_name) for part in parts)
    return form_equations(System(name="arm", parts=tuple(parts), actuators=actuators))


@pytest.fixture(scope="module")
def law(arm: EquationsOfMotion) -> FeedbackLinearization:
    return FeedbackLinearization(arm, frequency=2.0, reference={"elbow": -1.0})


def estimating() -> tuple[EquationsOfMotion, Any]:
    arm = library.planar_arm()
    eom = form_equations(replace(arm, sensors=(Position(name="hand", on="link2", at=(1.0, 0.0, 0.0)),)))
    point = eom.state(joint1=0.3, joint2=0.7)
    model = linearize(eom, point, outputs=("hand.x", "hand.y"))
    regulator = design_lqr(model, Q={"joint1": 10.0, "joint2": 5.0}, R=1.0)
    hand = dict(zip(eom.labels.y.names, eom.outputs(0.0, point, np.zeros(2)), strict=True))
    return eom, design_lqg(regulator, design_kalman(model, process=1e-2, measurement=1e-4), y_point=hand)


def shared(eom: EquationsOfMotion, law: Any) -> list[int]:
    run = build_run(
        eom, law, t_span=(0.0, 1.0), x0=None, grid=2, u=None, guards=(), rtol=1e-9, atol=1e-9, method="dop853",
        max_step=1.0, max_steps=10, stops=(), p=None, driver="native", tier="native", begin=0.0,
    )  # fmt: skip
    return run.data.angles.tolist()


def test_the_table_holds_what_at_least_two_read(arm: EquationsOfMotion, law: FeedbackLinearization) -> None:
    assert shared(arm, law) == [1, 2]  # the first joint turns everything alike
    assert shared(arm, None) == []
    assert shared(arm, FeedbackLinearization(arm, frequency=2.0, period=0.01)) == []  # called now and then only


def test_native_runs_with_the_table_equal_those_of_the_reference_without(
    arm: EquationsOfMotion, law: FeedbackLinearization
) -> None:
    options: dict[str, Any] = {"x0": START, "t_span": (0.0, 1.0), "tier": "native", "grid": 5, "rtol": 1e-8}
    native, reference = (simulate(arm, law, driver=driver, **options) for driver in ("native", "python"))
    np.testing.assert_allclose(native.x, reference.x, rtol=0.0, atol=1e-13)  # rounding of the driver's sums
    machine = simulate(arm, law, **{**options, "tier": "vm"})
    np.testing.assert_allclose(native.x, machine.x, rtol=0.0, atol=1e-12)  # rounding, over some ten steps


def test_estimators_too() -> None:
    eom, lqg = estimating()
    options: dict[str, Any] = {"x0": {"joint1": 0.35, "joint2": 0.6}, "t_span": (0.0, 3.0), "tier": "native"}
    native, reference = (simulate(eom, lqg, driver=driver, **options) for driver in ("native", "python"))
    np.testing.assert_allclose(native.x, reference.x, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(native.z, reference.z, rtol=0.0, atol=1e-12)


def test_campaigns_make_the_table_for_each_run(arm: EquationsOfMotion, law: FeedbackLinearization) -> None:
    starts = np.array([arm.state(**{**START, "elbow": -1.2 + 0.02 * k}) for k in range(5)])
    masses = [{"elbow_link.mass": 1.0 + k} for k in range(5)]
    options: dict[str, Any] = {"t_span": (0.0, 0.5), "grid": 3, "rtol": 1e-8}
    batch = simulate_many(arm, law, x0=starts, p=masses, threads=2, **options)
    for k in range(5):
        one = simulate(arm, law, x0=starts[k], p=masses[k], **options)
        np.testing.assert_array_equal(batch.x[k], one.x)
