"""Drives as data: names, files, hashes, the laws of springs and friction, and what is refused."""

from __future__ import annotations

import pickle
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from spacectl import (
    Drive,
    Fixed,
    Friction,
    HardeningSpring,
    JointForce,
    JointSpring,
    JointTorque,
    ModelError,
    Part,
    Prismatic,
    Revolute,
    RigidBody,
    Spherical,
    Stiction,
    System,
    form_equations,
    load_system,
    save_system,
)
from spacectl.model.elements.drive_laws import close_gap

EQUATION_6_18 = HardeningSpring(quadratic=0.07, corner=1.5, slope=0.4)


def body(name: str) -> RigidBody:
    return RigidBody(name=name, mass=2.0, inertia=(0.3, 0.4, 0.5), com=(0.5, 0.0, 0.0))


def drive(**changes) -> Drive:
    return Drive(**{"joint": "shoulder", "ratio": 50.0, "rotor_inertia": 1e-4, "stiffness": 2e3, **changes})


def arm(*drives: Drive, **changes) -> System:
    parts = (
        Part(body("upper"), joint=Revolute(name="shoulder", axis="z")),
        Part(body("lower"), on="upper", at=(1.0, 0.0, 0.0), joint=Prismatic(name="slide", axis="x")),
    )
    return System(**{"name": "arm", "parts": parts, "elements": drives or (drive(),), **changes})


def test_a_drive_adds_a_motor_with_its_own_coordinate() -> None:
    eom = form_equations(
        arm(drive(), drive(joint="slide"), actuators=(JointTorque(joint="shoulder.motor", limit=2.0),))
    )
    assert eom.coordinates == ("shoulder", "slide", "shoulder.motor", "slide.motor")
    assert eom.speeds == ("shoulder_dot", "slide_dot", "shoulder.motor_dot", "slide.motor_dot")
    assert eom.labels.q.units == ("rad", "m", "rad", "rad")
    assert eom.inputs == ("shoulder.motor",)
    assert eom.limits()[1] == pytest.approx([2.0])
    assert eom.parameters.get("shoulder_drive.stiffness") == 2e3
    assert eom.parameters.get("slide_motor.spin_inertia") == 1e-4


@pytest.mark.parametrize("ending", ["toml", "json"])
def test_files_keep_every_field(ending: str, tmp_path) -> None:
    full = drive(
        name="first",
        cubic=3.0,
        spring=EQUATION_6_18,
        damping=0.2,
        friction=Stiction(static=0.2, coulomb=0.1, viscous=0.01, stribeck=0.3, stick=1e-4),
        joint_friction=Friction(coulomb=1.0, viscous=0.5, speed=0.02),
        backlash=1e-3,
        backlash_smoothing=1e-4,
        side="motor",
    )
    system = arm(full, drive(joint="slide", ratio=-30.0))
    again = load_system(save_system(system, tmp_path / f"arm.{ending}"))
    assert again == system
    assert again.content_hash() == system.content_hash()
    assert again.structure_hash() == system.structure_hash()


def test_a_function_is_hashed_by_its_expression_and_refused_by_files(tmp_path) -> None:
    def make(k: float) -> System:
        return arm(drive(spring=lambda d: k * ca.sinh(d)))

    assert make(3.0) == make(3.0)
    assert make(3.0).structure_hash() == make(3.0).structure_hash() != make(4.0).structure_hash()
    assert pickle.loads(pickle.dumps(make(3.0))) == make(3.0)
    with pytest.raises(ModelError, match=r"elements\[0\]\.spring.*function cannot be written"):
        save_system(make(3.0), tmp_path / "arm.toml")


def test_numbers_do_not_change_the_structure_but_laws_do() -> None:
    plain = arm().structure_hash()
    assert arm(drive(stiffness=9e3, ratio=70.0, damping=4.0, rotor_inertia=2e-4)).structure_hash() == plain
    others = [
        arm(drive(side="motor")),
        arm(drive(cubic=1.0)),
        arm(drive(spring=EQUATION_6_18)),
        arm(drive(friction=Friction(coulomb=1.0))),
        arm(drive(joint_friction=Friction(coulomb=1.0))),
        arm(drive(friction=Stiction(static=1.0, coulomb=1.0))),
        arm(drive(backlash=0.1)),
        arm(drive(backlash=0.1, backlash_smoothing=0.01)),
    ]
    assert len({plain, *(other.structure_hash() for other in others)}) == 1 + len(others)


def test_equation_6_18_and_its_traps() -> None:
    n = vars(EQUATION_6_18)
    for d in (-3.0, -1.2, -0.1, 0.0, 0.3, 1.499999, 1.500001, 4.0):
        published = 0.07 * d**2 if abs(d) < 1.5 else 0.4 * abs(d) - 0.4425  # |d|: as published it is not odd
        assert float(EQUATION_6_18.torque(d, n)) == pytest.approx(np.sign(d) * published, abs=1e-12)

    def stiffness(d: float) -> float:
        h = 1e-6  # quadratic and linear pieces: exact but for rounding, 1e-16 / 1e-6
        return float(EQUATION_6_18.torque(d + h, n) - EQUATION_6_18.torque(d - h, n)) / (2.0 * h)

    assert stiffness(0.0) == pytest.approx(0.0, abs=1e-6)  # no stiffness at rest
    assert stiffness(1.5 - 1e-5) == pytest.approx(0.21, abs=1e-5)
    assert stiffness(1.5 + 1e-5) == pytest.approx(0.40, abs=1e-5)


LAWS = {
    "linear": {},
    "cubic": {"cubic": 3e4},
    "hardening": {"stiffness": 0.0, "spring": EQUATION_6_18},
    "function": {"stiffness": 0.0, "spring": lambda d: 5.0 * ca.sinh(2.0 * d)},
    "sharp gap": {"backlash": 0.4},
    "smooth gap": {"backlash": 0.4, "backlash_smoothing": 0.05},
    "motor side": {"side": "motor", "spring": EQUATION_6_18},
}


@pytest.mark.parametrize("law", LAWS)
def test_the_torque_is_the_derivative_of_the_energy(law: str) -> None:
    item = drive(ratio=2.0, **LAWS[law])
    n = {key: float(number.value[...]) for key, number in item.numbers().items()}
    h = 1e-5
    for q, motor in ((0.0, 0.9), (0.4, -1.1), (0.05, 0.07), (-0.8, 2.9)):

        def energy(at_joint: float, at_motor: float) -> float:
            return float(item.potential((at_joint, at_motor), n))

        efforts = [float(effort) for effort in item.efforts((q, motor), (0.0, 0.0), n)]
        slopes = [
            (energy(q + h, motor) - energy(q - h, motor)) / (2.0 * h),
            (energy(q, motor + h) - energy(q, motor - h)) / (2.0 * h),
        ]
        # central differences: h^2 times a third derivative of order 1e5 at most (cubic law)
        np.testing.assert_allclose(efforts, [-slope for slope in slopes], rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("smoothing", [None, 1e-6])
def test_no_torque_is_transmitted_inside_the_gap(smoothing) -> None:
    for d in np.linspace(-0.099, 0.099, 7):
        held, slope = close_gap(d, 0.2, smoothing)
        # the smooth gap leaks smoothing^2 / (4 distance to its edge)
        assert abs(float(held)) < 1e-9 and abs(float(slope)) < 1e-6
    held, slope = close_gap(0.3, 0.2, smoothing)
    assert float(held) == pytest.approx(0.2, abs=1e-9) and float(slope) == pytest.approx(1.0, abs=1e-9)
    item = drive(backlash=0.2, damping=7.0)
    n = {key: float(number.value[...]) for key, number in item.numbers().items()}
    assert [float(effort) for effort in item.efforts((0.01, 0.0), (3.0, -40.0), n)] == [0.0, 0.0]


def test_stiction_has_its_break_away_and_sliding_levels() -> None:
    law = Stiction(static=2.0, coulomb=1.2, viscous=0.1, stribeck=0.1, stick=1e-5)
    n, rates = vars(law), np.logspace(-8, 1, 4001)
    friction = -np.array([float(law.torque(rate, n)) for rate in rates])
    peak = np.max(friction[rates < 0.05])
    assert peak == pytest.approx(2.0, rel=1e-4)  # tanh is 1, and stick is 1e-4 of stribeck
    assert friction[-1] == pytest.approx(1.2 + 0.1 * 10.0, rel=1e-9)
    assert float(law.torque(-3.0, n)) == -float(law.torque(3.0, n))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: drive(ratio=0.0), ("shoulder_drive", "ratio is 0")),
        (lambda: drive(rotor_inertia=0.0), ("shoulder_drive", "rotor_inertia", "positive", "JointSpring")),
        (lambda: drive(rotor_inertia=-1.0), ("rotor_inertia is -1", "positive")),
        (lambda: drive(stiffness=-5.0), ("shoulder_drive", "stiffness is -5", "0 or more")),
        (lambda: drive(stiffness=0.0), ("the motor is not coupled", "stiffness=")),
        (lambda: drive(stiffness=np.nan), ("stiffness", "finite")),
        (lambda: drive(damping=-0.1), ("damping is -0.1", "0 or more")),
        (lambda: drive(backlash=-0.1), ("backlash is -0.1", "0 or more")),
        (lambda: drive(backlash_smoothing=0.1), ("without backlash",)),
        (lambda: drive(side="input"), ("'input'", "'output' or 'motor'")),
        (lambda: drive(joint=""), ("Drive", "name of a joint")),
        (lambda: drive(name="a.b"), ("a.b", "'.'")),
        (lambda: drive(friction=0.3), ("friction is 0.3", "Friction(coulomb=, viscous=)")),
        (lambda: drive(spring=4.0), ("spring is 4.0", "HardeningSpring")),
        (lambda: drive(spring=lambda d: 1.0 + d), ("spring gives 1 at zero",)),
        (lambda: drive(spring=lambda d: -2.0 * d), ("sign of the deflection",)),
        (lambda: drive(spring=lambda d: np.sinh(float(d))), ("spring", "casadi")),
        (lambda: HardeningSpring(quadratic=0.0, corner=1.5, slope=0.4), ("HardeningSpring", "quadratic is 0")),
        (lambda: Friction(coulomb=-1.0), ("Friction", "coulomb is -1")),
        (lambda: Friction(coulomb=1.0, speed=0.0), ("Friction", "speed is 0", "positive")),
        (lambda: Stiction(static=1.0, coulomb=2.0), ("Stiction", "static is 1", "coulomb")),
        (lambda: Stiction(static=1.0, coulomb=0.5, stick=0.05), ("Stiction", "stick", "tenth of stribeck")),
        (lambda: arm(drive(joint="elbow")), ("shoulder", "elbow", "joint")),
        (lambda: arm(drive(), drive(name="second")), ("'shoulder' has two drives", "'second'")),
        (
            lambda: arm(actuators=(JointTorque(joint="shoulder"),)),
            ("actuator 'shoulder'", "has a drive", "JointTorque(joint='shoulder.motor')"),
        ),
        (
            lambda: arm(drive(joint="slide"), actuators=(JointForce(joint="slide"),)),
            ("has a drive", "JointTorque(joint='slide.motor')"),
        ),
        (lambda: arm(drive(joint="slide"), actuators=(JointForce(joint="slide.motor"),)), ("use JointTorque",)),
        (lambda: arm(parts=(Part(body("b"), joint=Fixed(name="shoulder")),)), ("Fixed", "Revolute or Prismatic")),
        (
            lambda: arm(parts=(Part(body("b"), joint=Spherical(name="shoulder")),)),
            ("Spherical", "Revolute or Prismatic"),
        ),
        (
            lambda: arm(parts=(Part(body("b"), joint=Revolute(name="shoulder", prescribed=lambda s: 0.1 * s.t)),)),
            ("prescribed", "remove the drive or the prescribed motion"),
        ),
        (
            lambda: arm(parts=(*arm().parts, Part(body("shoulder_motor"), on="lower", joint=Revolute(name="x1")))),
            ("shoulder_motor",),
        ),
    ],
)
def test_what_cannot_be_right_is_refused(make, words) -> None:
    with pytest.raises(ModelError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)


def test_a_spring_in_the_joint_may_stand_beside_the_drive_and_replace_keeps_the_rest() -> None:
    system = arm(drive(), JointSpring(joint="shoulder", stiffness=3.0))
    assert replace(system, name="other").elements == system.elements
    assert replace(system.elements[0], stiffness=1.0).name == "shoulder_drive"
