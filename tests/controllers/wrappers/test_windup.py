"""Anti-windup: what it does to integrators, that it helps, and what it asks of the law."""

from __future__ import annotations

import dataclasses

import casadi as ca
import numpy as np
import pytest

from spacectl import (
    JointTorque,
    Labels,
    ModelError,
    Part,
    Revolute,
    RigidBody,
    System,
    add_delay,
    form_equations,
    make_law,
    prevent_windup,
    simulate,
)

LIMIT = 1.0  # [N m]


@pytest.fixture(scope="module")
def eom():
    wheel = RigidBody(name="wheel", mass=1.0, inertia=(1.0, 1.0, 1.0))
    parts = (Part(wheel, joint=Revolute(name="turn", axis="z")),)
    return form_equations(System(name="turntable", parts=parts, actuators=(JointTorque(joint="turn", limit=LIMIT),)))


def integral_law(eom, period: float = 0.0, target: float = 3.0):
    """PID: poles of the unlimited loop at -1.5, -1 +- i."""

    def rule(s):
        e = target - s["turn"]
        u = s["kp"] * e - s["kd"] * s["turn_dot"] + s["ki"] * s["integral.turn"]
        return u, (s["integral.turn"] + period * e) if period else e

    return make_law(
        rule, name="PID", states=eom.labels.x, inputs=eom.labels.u, memory={"integral.turn": 0.0},
        parameters={"kp": 5.0, "ki": 3.0, "kd": 3.5}, period=period,
    )  # fmt: skip


@pytest.mark.parametrize("period", [0.0, 0.02])
def test_a_far_step_arrives_only_without_windup(eom, period) -> None:
    """15 times the torque there is would be needed: with windup the loop never settles."""
    bare = integral_law(eom, period)
    laws = {"bare": bare, "slow": prevent_windup(bare, eom, rate=3.0)}
    if period:
        laws |= {"quick": prevent_windup(bare, eom), "clamped": prevent_windup(bare, eom, method="clamping")}
    turns = {name: simulate(eom, law, t_span=(0.0, 30.0), rtol=1e-8)["turn"] for name, law in laws.items()}
    assert np.max(turns.pop("bare")) > 10.0 * 3.0
    for name, turn in turns.items():
        assert abs(turn[-1] - 3.0) < 1e-3, (
            name
        )  # the integral still works: slowest pole -1, 20 s after the end of saturation
        assert np.max(turn) < 1.3 * 3.0, name


@pytest.mark.parametrize("period", [0.0, 0.02])
def test_back_calculation_formula(eom, period) -> None:
    law = prevent_windup(integral_law(eom, period), {"turn": (-2.0, 1.0)}, rate=4.0)
    for angle, expected_clip in ((0.0, 1.0), (5.0, -2.0), (3.05, None)):
        u, z_dot, z_next = law.function(0.0, [angle, 0.0], [], [0.1], [], law.p)
        e, u = 3.0 - angle, float(u)
        assert u == pytest.approx(5.0 * e + 0.3)  # the command itself is as before
        pull = 0.0 if expected_clip is None else 4.0 * (expected_clip - u) / 3.0
        if period:
            assert float(z_next) == pytest.approx(0.1 + period * (e + pull))
        else:
            assert float(z_dot) == pytest.approx(e + pull)


def test_clamping_stops_only_what_pushes_further(eom) -> None:
    law = prevent_windup(integral_law(eom, 0.1), 1.0, method="clamping")
    step = lambda angle, z: float(law.function(0.0, [angle, 0.0], [], [z], [], law.p)[2])  # noqa: E731
    assert step(0.0, 0.0) == 0.0  # u = 15, e > 0: stands still
    assert step(3.5, 5.0) == pytest.approx(5.0 - 0.05)  # u = 12.5, e < 0: unwinds
    assert step(2.9, 0.0) == pytest.approx(0.01)  # within the limits


def test_gains_of_several_integrators_are_the_pseudo_inverse() -> None:
    K = np.array([[2.0, -1.0], [0.5, 1.5]])
    law = make_law(
        lambda s: (ca.DM(K) @ s.z + s.x, ca.vertcat(-s["a"], -s["b"])),
        name="two", states=Labels(("a", "b"), (), "state"), inputs=Labels(("f", "g"), (), "input"),
        memory={"integral.a": 0.0, "integral.b": 0.0},
    )  # fmt: skip
    safe = prevent_windup(law, {"f": 1.0, "g": 1.0}, rate=2.0)
    x, z = np.array([5.0, -0.2]), np.array([0.3, 0.4])
    u, z_dot, _ = (np.asarray(item).reshape(-1) for item in safe.function(0.0, x, [], z, [], safe.p))
    np.testing.assert_allclose(K @ z_dot, K @ -x + 2.0 * (np.clip(u, -1.0, 1.0) - u), atol=1e-12)


def test_own_gain_serves_laws_that_are_not_linear_in_their_integrators(eom) -> None:
    law = make_law(
        lambda s: (ca.sinh(s["integral.turn"]), -s["turn"]),
        name="odd", states=eom.labels.x, inputs=eom.labels.u, memory={"integral.turn": 0.0},
    )  # fmt: skip
    with pytest.raises(ModelError, match="odd.*constant coefficients.*gain="):
        prevent_windup(law, eom, rate=1.0)
    safe = prevent_windup(law, eom, rate=1.0, gain=[[0.5]])
    z_dot = float(safe.function(0.0, [0.0, 0.0], [], [2.0], [], safe.p)[1])
    assert z_dot == pytest.approx(0.5 * (1.0 - np.sinh(2.0)))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda law: prevent_windup(law, 1.0), ("PID", "rate=")),
        (lambda law: prevent_windup(law, 1.0, rate=1.0, integrators=("sum",)), ("sum", "integral.turn")),
        (lambda law: prevent_windup(law, 1.0, rate=1.0, integrators=()), ("PID", "integral.turn")),
        (lambda law: prevent_windup(law, {"turn": np.inf}, rate=1.0), ("PID", "no input has a limit")),
        (lambda law: prevent_windup(law, 1.0, rate=1.0, method="hope"), ("hope", "clamping")),
        (lambda law: prevent_windup(law, 1.0, method="clamping"), ("PID", "continuous", "period=")),
        (lambda law: prevent_windup(add_delay(law, 0.1), 1.0, rate=1.0), ()),
        (lambda law: prevent_windup(law, 1.0, rate=-1.0), ("rate", "positive")),
    ],
)
def test_wrong_arguments_are_explained(eom, make, words) -> None:
    if not words:  # a Pade filter passes a share at once, so the slope is constant, and the wrapper can be put outside
        assert "windup.rate" in make(integral_law(eom)).parameters
        return
    with pytest.raises(ModelError) as caught:
        make(integral_law(eom))
    for word in words:
        assert word in str(caught.value)


def test_integrators_behind_a_delay_are_explained(eom) -> None:
    late = add_delay(integral_law(eom, 0.1), 0.2)
    with pytest.raises(ModelError, match=r"integral\.turn.*does not act.*bare law first"):
        prevent_windup(late, eom)
    with pytest.raises(ModelError, match="up to 10"):
        prevent_windup(integral_law(eom, 0.1), eom, rate=11.0)
    with pytest.raises(ModelError, match="rate and gain"):
        prevent_windup(integral_law(eom, 0.1), eom, rate=1.0, method="clamping")


def test_period_and_memory_are_preserved(eom) -> None:
    bare = integral_law(eom, 0.1)
    law = prevent_windup(prevent_windup(bare, eom), eom, rate=1.0)
    assert (law.memory, law.period, law.inputs) == (bare.memory, bare.period, bare.inputs)
    assert {"windup.rate", "windup2.rate"} <= set(law.parameters.names)
    assert dataclasses.asdict(law.memory)["names"] == ("integral.turn",)
