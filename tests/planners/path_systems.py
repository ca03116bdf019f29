"""Small systems and paths that the tests of the planners share."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

import numpy as np

from spacectl import (
    EquationsOfMotion,
    Fixed,
    JointPath,
    JointSpring,
    JointTorque,
    LineCurve,
    Part,
    Plan,
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

AT = {"shoulder": 1.175, "elbow": 0.79, "wrist": 1.175}  # [rad], near the begin of 003 Table 8.2
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
def arm(flexible: bool = False) -> EquationsOfMotion:
    """The arm of 003 section 8.3."""
    return form_equations(library.retrieval_arm(flexible=flexible))


def line() -> TaskPath:
    """The path of 003 section 8.3."""
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
