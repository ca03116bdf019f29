"""Small systems and paths that the tests of the planners share."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

import numpy as np

from spacectl import (
    EquationsOfMotion,
    Fixed,
    JointForce,
    JointPath,
    JointSpring,
    JointTorque,
    LineCurve,
    Part,
    Plan,
    Prismatic,
    Revolute,
    RigidBody,
    Simulation,
    SplineCurve,
    System,
    TaskPath,
    form_equations,
    library,
    make_law,
    simulate,
)

AT = {"shoulder": 1.175, "elbow": 0.79, "wrist": 1.175}  # [rad], near the begin of Sadigh (1995), Table 8.2
OUTPUTS = ("payload.x", "payload.y", "attitude.s3")


@cache
def wheel(inertia: float = 2.0, torque: float = 3.0, viscous: float = 0.0) -> EquationsOfMotion:
    """One inertia on a driven axis."""
    body = RigidBody(name="wheel", mass=1.0, inertia=(inertia, inertia, inertia))
    elements: tuple[Any, ...] = (JointSpring(joint="turn", damping=viscous),) if viscous else ()
    return form_equations(
        System(
            name="wheel",
            parts=(Part(body, joint=Revolute(name="turn", axis="z")),),
            actuators=(JointTorque(joint="turn", limit=torque),),
            elements=elements,
        )
    )


def turn(angle: float) -> JointPath:
    return JointPath(name="turn", curve=LineCurve(start=(0.0,), end=(angle,)), coordinates=("turn",))


@cache
def lift(axis: Any = "y", stiffness: float = 0.0, damping: float = 0.0, has_arm: bool = False) -> EquationsOfMotion:
    """A slider of 2 kg whose mass is off its axis, with a spring beside its motor and an arm on it, if so."""
    parts = [Part(RigidBody(name="slider", mass=2.0, inertia=(0.3, 0.4, 0.5), com=(0.3, 0.2, -0.4)),
                  joint=Prismatic(name="slide", axis=axis))]  # fmt: skip
    actuators: list[Any] = [JointForce(joint="slide", limit=9.0)]
    if has_arm:
        rod = RigidBody(name="rod", mass=1.5, inertia=(0.1, 0.3, 0.3), com=(0.7, 0.1, 0.0))
        parts.append(Part(rod, on="slider", at=(0.1, 0.0, 0.2), joint=Revolute(name="swing", axis="y")))
        actuators.append(JointTorque(joint="swing", limit=9.0))
    elements = (JointSpring(joint="slide", stiffness=stiffness, damping=damping),) if stiffness else ()
    return form_equations(
        System(name="lift", parts=tuple(parts), actuators=tuple(actuators), elements=elements)
    )  # fmt: skip


def lift_path() -> JointPath:
    return JointPath(name="rise", curve=LineCurve(start=(0.0,), end=(4.0,)), coordinates=("slide",))


@cache
def arm(flexible: bool = False) -> EquationsOfMotion:
    """The arm of Sadigh (1995), section 8.3."""
    return form_equations(library.retrieval_arm(flexible=flexible))


def line() -> TaskPath:
    """The path of Sadigh (1995), section 8.3."""
    curve = LineCurve(start=(0.0, 15.0, 0.0), end=(0.0, 3.0, 0.0))
    return TaskPath(name="line", curve=curve, outputs=OUTPUTS, at=AT)


@cache
def seven_joints() -> EquationsOfMotion:
    """The seven-joint arm on a base that is held."""
    free = library.free_flyer_arm()
    parts = (dataclasses.replace(free.parts[0], joint=Fixed(name="hold")), *free.parts[1:])
    return form_equations(dataclasses.replace(free, name="held arm", parts=parts))


def random_spline(seed: int) -> JointPath:
    """A spline through five random points of the seven-joint arm."""
    points = np.random.default_rng(seed).uniform(-1.5, 1.5, (5, 7))
    return JointPath(name=f"spline {seed}", curve=SplineCurve(points=points), coordinates=seven_joints().coordinates)


def replay(eom: EquationsOfMotion, plan: Plan, **options: Any) -> Simulation:
    """The plan's inputs on the equations, open loop."""
    law = make_law(lambda s: s.r, name="replay", states=eom.labels.x, inputs=eom.labels.u, reference=plan.u)
    return simulate(eom, law, x0=plan.x(0.0), t_span=(0.0, plan.final_time), grid=101, **options)
