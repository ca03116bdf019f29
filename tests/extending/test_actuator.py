"""Actuators of one's own: a pair of opposed jets, and a motor that works in two joints through a gear."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spacectl import (
    Artificial,
    Beam,
    BodyTorque,
    Constraint,
    Fixed,
    Free,
    JointTorque,
    Loop,
    Part,
    Prismatic,
    Revolute,
    RigidBody,
    System,
    correction_terms,
    design_pd,
    form_equations,
    linearize,
    load_system,
    register,
    save_system,
    simulate,
    write_report,
)
from spacectl.core.array import as_array, as_scalar
from spacectl.core.errors import ModelError
from spacectl.dynamics.absolute_state import absolute_state
from spacectl.dynamics.reactions.wrenches import find_base_wrench
from spacectl.model.actuators import Actuator, Effort, JointEffort, Wrench
from spacectl.model.description import Number, always, direction, set_field


@register
@dataclass(frozen=True, kw_only=True)
class JetPair(Actuator):
    """Two opposed jets at plus and minus `arm` from the origin of a frame: a couple of 2 arm x direction."""

    on: str
    arm: Any = (0.0, 1.0, 0.0)
    direction: Any = "x"

    def __post_init__(self) -> None:
        super().__post_init__()
        set_field(self, "arm", as_array(self.arm, (3,), "arm"))
        set_field(self, "direction", direction(self.direction, "direction"))

    def efforts(self) -> tuple[Effort, ...]:
        return tuple(Wrench(on=self.on, direction=f"direction_{side}", at=f"at_{side}") for side in "ab")

    def numbers(self) -> dict[str, Number]:
        arm, along = np.asarray(self.arm), np.asarray(self.direction)
        own = {"at_a": arm, "at_b": -arm, "direction_a": along, "direction_b": -along}
        return {**super().numbers(), **{key: always(value) for key, value in own.items()}}


@register
@dataclass(frozen=True, kw_only=True)
class GearedMotor(Actuator):
    """A motor on one joint that turns another through a gear: `ratio` times its torque there, reversed."""

    joint_a: str
    joint_b: str
    ratio: float = 2.0

    def __post_init__(self) -> None:
        super().__post_init__()
        set_field(self, "ratio", as_scalar(self.ratio, "ratio"))

    def efforts(self) -> tuple[Effort, ...]:
        return (JointEffort(joint=self.joint_a), JointEffort(joint=self.joint_b, gain="gain"))

    def numbers(self) -> dict[str, Number]:
        return {**super().numbers(), "gain": always(-self.ratio)}


JETS = JetPair(name="jets", on="hub", arm=(0.2, 0.7, 0.1), direction="x", limit=5.0)
MOTOR = GearedMotor(name="motor", joint_a="shoulder", joint_b="elbow", ratio=1.7)
#: What the jets must be: the torque 2 arm x x
COUPLE = 2.0 * np.cross((0.2, 0.7, 0.1), (1.0, 0.0, 0.0))


def arm(n: int = 2, *actuators: Actuator, **changes: Any) -> System:
    """A free hub with n links."""
    names = ["shoulder", "elbow", *(f"joint{k}" for k in range(2, n))]
    hub = Part(RigidBody(name="hub", mass=20.0, inertia=(3.0, 4.0, 5.0)), joint=Free(name="hub"))
    parts = [hub]
    for k, name in enumerate(names):
        body = RigidBody(name=f"link{k}", mass=2.0, inertia=(0.1, 0.4, 0.4), com=(0.5, 0.0, 0.0))
        on, at = ("hub", (0.5, 0.0, 0.0)) if k == 0 else (f"link{k - 1}", (1.0, 0.0, 0.0))
        parts.append(Part(body, on=on, at=at, joint=Revolute(name=name, axis="zy"[k % 2])))
    return System(name="arm", parts=tuple(parts), actuators=actuators or (JETS, MOTOR), **changes)


def known(system: System) -> System:
    """The same with kinds of the package: a torque, and two motors."""
    size = float(np.linalg.norm(COUPLE))
    torque = BodyTorque(name="jets", on="hub", direction=COUPLE / size)
    return replace(system, actuators=(torque, JointTorque(joint="shoulder"), JointTorque(joint="elbow")))


def split(u: Any) -> np.ndarray:
    """Inputs of `known` for those of the own kinds."""
    return np.array([u[0] * np.linalg.norm(COUPLE), u[1], -1.7 * u[1]])


FORMULATIONS = ("kane", "articulated", "embedded", "multipliers", "udwadia_phohomsiri")


@pytest.mark.parametrize("n", [2, 30])
def test_every_formulation_and_native_code_serve_them(n: int) -> None:
    system, rng = arm(n), np.random.default_rng(n)
    reference = form_equations(known(system), formulation="articulated")
    x = reference.state(0.3 * rng.standard_normal(reference.n_x))
    u = np.array([0.7, -0.4])
    expected = reference.x_dot(0.0, x, split(u))
    for formulation in FORMULATIONS if n < 10 else ("articulated", "embedded"):
        eom = form_equations(system, formulation=formulation)
        assert eom.inputs == ("jets", "motor")
        for found in (eom.x_dot(0.0, x, u), eom.compiled().x_dot(0.0, x, u)):
            assert np.allclose(found, expected, rtol=0.0, atol=1e-11 * np.max(np.abs(expected))), formulation
    eom = form_equations(system)
    driven = eom.compiled(kind="data-driven").x_dot(0.0, x, u)
    assert np.allclose(driven, expected, rtol=0.0, atol=1e-11 * np.max(np.abs(expected)))


def test_they_work_in_absolute_coordinates() -> None:
    joint, absolute = form_equations(arm()), form_equations(arm(), coordinates="absolute")
    u = np.array([0.7, -0.4])
    x = joint.state(shoulder=0.4, elbow=-0.7, elbow_dot=0.3)
    rates = absolute.x_dot(0.0, absolute_state(joint, absolute, x), u)[absolute.n_q :]
    assert rates[:6] == pytest.approx(joint.x_dot(0.0, x, u)[joint.n_q :][:6], abs=1e-11)


def test_they_keep_constraints_and_drive_loops() -> None:
    hold = Constraint(name="hold", rule=lambda s: s["shoulder"] - 0.3 * s["elbow"], kind=Artificial(by=("motor",)))
    found = []
    for formulation in ("artificial", "embedded"):
        eom = form_equations(arm(2, constraints=(hold,)), formulation=formulation)
        x = eom.state(**{"hub.wx": 0.2, "elbow_dot": 1.0, "shoulder_dot": 0.3})
        found.append(
            np.concatenate([eom.x_dot(0.0, x, [0.5]), eom.multipliers(0.0, x[: eom.n_q], x[eom.n_q :], [0.5])])
        )
    assert found[1] == pytest.approx(found[0], rel=1e-9, abs=1e-10)
    bar = RigidBody(name="bar", mass=1.0, inertia=(0.1, 0.1, 0.1), com=(0.5, 0.0, 0.0))
    parts = (
        Part(bar, joint=Revolute(name="shoulder", axis="z")),
        Part(replace(bar, name="coupler"), on="bar", at=(1.0, 0.0, 0.0), joint=Revolute(name="middle", axis="z")),
        Part(replace(bar, name="rocker"), at=(1.5, 0.0, 0.0), joint=Revolute(name="far", axis="z")),
    )
    loop = Loop(
        name="elbow", a="coupler", at_a=(1.0, 0.0, 0.0), b="rocker", at_b=(1.0, 0.0, 0.0), joint=Revolute(axis="z")
    )
    runs = []
    for formulation in ("kane", "embedded", "multipliers"):
        eom = form_equations(
            System(name="bars", parts=parts, constraints=(loop,), actuators=(MOTOR,)), formulation=formulation
        )
        pair = form_equations(
            System(
                name="bars", parts=parts, constraints=(loop,),
                actuators=(JointTorque(joint="shoulder"), JointTorque(joint="elbow")),
            ),
            formulation=formulation,
        )  # fmt: skip
        sim = simulate(eom, x0=_closed(eom), u=[0.4], t_span=(0.0, 0.5), grid=3)
        assert np.allclose(
            sim.x, simulate(pair, x0=_closed(pair), u=[0.4, -0.68], t_span=(0.0, 0.5), grid=3).x, atol=1e-8
        )
        runs.append(sim.x)
    assert np.allclose(runs[1], runs[0], atol=1e-7) and np.allclose(runs[2], runs[0], atol=1e-6)


def _closed(eom: Any) -> np.ndarray:
    slope = np.arccos(0.25)  # three bars of length 1 over a base of 1.5: a symmetric trapezium
    return np.asarray(eom.state(shoulder=slope, middle=-slope, far=np.pi - slope))


def test_linearization_equals_central_differences() -> None:
    for actuators in ((MOTOR, JETS), (JETS,)):
        for formulation in ("kane", "articulated"):
            eom = form_equations(replace(arm(2, *actuators), parts=_based()), formulation=formulation)
            x, u, h = np.array([0.3, -0.5, 0.2, 0.4]), np.full(eom.n_u, 0.6), 1e-6
            model = linearize(eom, x, u=u, check=False)
            A = [(eom.x_dot(0.0, x + h * d, u) - eom.x_dot(0.0, x - h * d, u)) / (2.0 * h) for d in np.eye(4)]
            B = [eom.x_dot(0.0, x, u + d) - eom.x_dot(0.0, x, u) for d in np.eye(eom.n_u)]
            assert np.allclose(model.A, np.array(A).T, atol=1e-8)
            assert np.allclose(model.B, np.array(B).T, atol=1e-12)


def _based() -> tuple[Part, ...]:
    """The arm on a hub that does not move, so that coordinates are their own tangent."""
    hub, *links = arm().parts
    return (replace(hub, joint=Fixed()), *links)


def test_all_tiers_run_alike_and_reports_draw_them(tmp_path: Path) -> None:
    eom = form_equations(arm())
    law = lambda t, x: np.array([np.sin(t), 0.2])  # noqa: E731
    runs = [
        simulate(eom, law, t_span=(0.0, 2.0), tier=tier, grid=9) for tier in ("native", "vm", "data-driven", "callback")
    ]
    for run in runs[1:]:
        assert np.allclose(run.x, runs[0].x, atol=1e-8)
    text = write_report(runs[0], tmp_path / "arm.html").read_text(encoding="utf-8")
    assert "jet pair jets" in text and "geared motor" in text


def test_files_hold_them(tmp_path: Path) -> None:
    system = arm()
    again = load_system(save_system(system, tmp_path / "arm.toml"))
    assert again == system and again.structure_hash() == system.structure_hash()


def test_a_class_that_is_not_registered_is_refused_with_the_cure(tmp_path: Path) -> None:
    @dataclass(frozen=True, kw_only=True)
    class Secret(JetPair):
        """Known to nobody."""

    system = arm(2, Secret(name="jets", on="hub"))
    with pytest.raises(ModelError, match=r"spacectl.register\(Secret\)"):
        save_system(system, tmp_path / "arm.toml")
    path = tmp_path / "other.toml"
    path.write_text(save_system(arm(), tmp_path / "arm.toml").read_text().replace("JetPair", "Secret"))
    with pytest.raises(ModelError, match="import the module that calls spacectl.register"):
        load_system(path)
    with pytest.raises(ModelError, match="frozen dataclass"):
        register(type("Plain", (), {}))
    with pytest.raises(ModelError, match="another class"):
        register(dataclass(frozen=True, kw_only=True)(type("JetPair", (Actuator,), {"__module__": "elsewhere"})))


def test_numbers_are_run_time_parameters() -> None:
    eom = form_equations(arm())
    p = eom.parameters.vector({"motor.ratio": 3.0, "jets.arm": (0.0, 1.0, 0.0)})
    jets, motor = replace(JETS, arm=(0.0, 1.0, 0.0)), replace(MOTOR, ratio=3.0)
    other = form_equations(arm(2, jets, motor))
    assert other.structure_hash == eom.structure_hash
    assert eom.x_dot(0.0, eom.x_rest, [1.0, 1.0], p) == pytest.approx(
        other.x_dot(0.0, eom.x_rest, [1.0, 1.0]), abs=1e-13
    )


def test_base_wrench_and_flexible_bodies() -> None:
    beam = Beam(name="boom", length=3.0, mass=1.0, EI=20.0, bending=("y", "z"), modes=2)
    jets = replace(JETS, on="boom.tip")

    def flexible(order: str, *actuators: Actuator) -> System:
        part = Part(replace(beam, order=order), joint=Revolute(name="root", axis="z"))
        return System(name="boom", parts=(part,), actuators=actuators)

    size = float(np.linalg.norm(COUPLE))
    torque = BodyTorque(name="jets", on="boom.tip", direction=COUPLE / size)
    q, v = np.array([0.2, 0.02, -0.01, 0.01, 0.005]), 0.1 * np.ones(5)
    for order in ("consistent", "linearised"):  # in the premature order jets are frozen in space, each at its place
        own, other = (form_equations(flexible(order, item)) for item in (jets, torque))
        assert own.v_dot(0.0, q, v, [0.5]) == pytest.approx(other.v_dot(0.0, q, v, [0.5 * size]), rel=1e-10, abs=1e-11)
        found = find_base_wrench(own, 0.0, np.concatenate([q, v]), [0.5])
        expected = find_base_wrench(other, 0.0, np.concatenate([q, v]), [0.5 * size])
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-10)
    proper, rough = (form_equations(flexible(order, jets)) for order in ("linearised", "premature"))
    lost = correction_terms(flexible("consistent", jets)).stiffness(0.0, q, 0.0 * v, [1.0]) @ q[1:]
    assert (proper.input_map(0.0, q) - rough.input_map(0.0, q))[1:, 0] == pytest.approx(lost, abs=1e-8)


def test_a_pd_law_does_not_act_on_geared_motors() -> None:
    eom = form_equations(arm(2, MOTOR, JointTorque(joint="elbow")))
    assert design_pd(eom, kp=1.0, kd=1.0).inputs.names == ("elbow",)


@dataclass(frozen=True, kw_only=True)
class Silent(Actuator):
    """Says nothing."""


@dataclass(frozen=True, kw_only=True)
class Wrong(JetPair):
    """Asks for a number that it does not have."""

    def efforts(self) -> tuple[Effort, ...]:
        return (Wrench(on=self.on, direction="heading"),)


@dataclass(frozen=True, kw_only=True)
class Single(JetPair):
    """Returns an effort where a tuple is expected."""

    def efforts(self) -> Any:
        return Wrench(on=self.on, direction="direction_a")


def test_what_is_missing_is_said() -> None:
    with pytest.raises(ModelError, match="expected a tuple of JointEffort and Wrench"):
        arm(2, Single(name="single", on="hub"))
    with pytest.raises(ModelError, match=r"Silent does not define efforts\(\)"):
        arm(2, Silent(name="silent"))
    with pytest.raises(ModelError, match="unknown parameter 'heading'"):
        arm(2, Wrong(name="wrong", on="hub"))
    with pytest.raises(ModelError, match="unknown joint 'wrist'"):
        arm(2, replace(MOTOR, joint_b="wrist"))
    slide = (
        *arm().parts,
        Part(RigidBody(name="s", mass=1.0, inertia=(1, 1, 1)), on="hub", joint=Prismatic(name="slide")),
    )
    assert form_equations(replace(arm(), parts=slide, actuators=(replace(MOTOR, joint_b="slide"),))).n_u == 1
