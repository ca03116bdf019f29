"""Small systems that change their structure, for the tests of stages."""

from __future__ import annotations

import numpy as np

from spacectl import (
    Constraint,
    Exit,
    Fixed,
    Free,
    FreeSpace,
    Guard,
    JointForce,
    Loop,
    Part,
    Planar,
    PointOnPlane,
    Prismatic,
    Revolute,
    RigidBody,
    Stage,
    System,
    UniformGravity,
    form_equations,
)

GRAVITY = 10.0  # [m/s^2]


def ball():
    """A mass above a floor, along x against gravity; the floor is a contact or holds it."""
    body = RigidBody(name="ball", mass=2.0, inertia=(1.0, 1.0, 1.0))
    return form_equations(
        System(
            name="ball",
            environment=UniformGravity(g=(-GRAVITY, 0.0, 0.0)),
            parts=(Part(body, joint=Prismatic(name="height", axis="x")),),
            constraints=(PointOnPlane(name="floor", b="ball", normal="x"),),
            actuators=(JointForce(joint="height", name="lift"),),
        ),
        switchable=True,
    )


def two_bodies(*, is_spatial: bool = True):
    """Two free bodies in space; a latch holds a point of one to a point of the other, or both rigidly together."""
    first = RigidBody(name="a", mass=3.0, inertia=(2.0, 3.0, 4.0))
    second = RigidBody(name="b", mass=1.5, inertia=(0.5, 0.7, 0.9), com=(0.1, -0.2, 0.05))
    return form_equations(
        System(
            name="two bodies",
            environment=FreeSpace(),
            parts=(Part(first, joint=Free(name="a")), Part(second, joint=Free(name="b"))),
            constraints=(
                Loop(name="latch", a="a", b="b", at_a=(1.0, 0.2, 0.0), at_b=(-0.8, 0.0, 0.3), joint=Fixed()),
                PointOnPlane(name="touch", a="a", b="b", at_a=(1.0, 0.2, 0.0), at_b=(-0.8, 0.0, 0.3), normal="x"),
            ),
        ),
        switchable=True,
    )


def sliders():
    """Two masses on one line: the second one can be caught by the first, and both by a wall that drives away."""
    bodies = [
        RigidBody(name=name, mass=mass, inertia=(1.0, 1.0, 1.0)) for name, mass in (("left", 2.0), ("right", 3.0))
    ]
    return form_equations(
        System(
            name="sliders",
            environment=FreeSpace(),
            parts=tuple(Part(body, joint=Prismatic(name=f"{body.name}_x", axis="x")) for body in bodies),
            constraints=(
                Constraint(name="hook", rule=lambda s: s["right_x"] - s["left_x"]),
                Constraint(name="wall", rule=lambda s: s["left_x"] - 0.5 * s.t),
                Constraint(name="rail", rule=lambda s: s["right_x"] - 0.7 * s.t),
                Constraint(name="early", rule=lambda s: s["left_x"] - 0.5 - 0.2 * (s.t - 1.0)),
                Constraint(name="late", rule=lambda s: s["right_x"] - 0.5 - 0.3 * (s.t - 1.0)),
            ),
            actuators=(JointForce(joint="left_x", name="pull"), JointForce(joint="right_x", name="push")),
        ),
        switchable=True,
    )


def pendulum_on_string():
    """A mass on a planar joint whose distance to the origin is held until the string goes slack."""
    body = RigidBody(name="bob", mass=1.3, inertia=(1.0, 1.0, 1e-3))
    return form_equations(
        System(
            name="string",
            environment=UniformGravity(g=(0.0, -GRAVITY, 0.0)),
            parts=(Part(body, joint=Planar(name="bob", normal="z")),),
            constraints=(Constraint(name="string", rule=lambda s: 0.5 * (1.0 - s["bob.x"] ** 2 - s["bob.y"] ** 2)),),
        ),
        switchable=True,
    )


def swinging_start(speed: float) -> dict[str, float]:
    """At the lowest point, moving along x."""
    return {"bob.y": -1.0, "bob.x_dot": speed}


def string_stages(tension_sign: float = 1.0) -> list[Stage]:
    """Taut until the tension is gone, slack until the distance is one again."""
    slack = Guard(name="slack", expression=lambda s: tension_sign * s.reaction("string"), direction=-1)
    taut = Guard(name="taut", expression=lambda s: s.gap("string"), direction=-1)
    return [
        Stage(name="taut", active=("string",), exits=(Exit(guard=slack, to="slack"),)),
        Stage(name="slack", exits=(Exit(guard=taut, to="taut"),)),
    ]


def hinged_rods():
    """Two rods on fixed hinges whose ends can be pinned together: a four-bar once captured."""
    rod = {"mass": 1.0, "inertia": (0.01, 1 / 12, 1 / 12), "com": (0.5, 0.0, 0.0)}
    return form_equations(
        System(
            name="rods",
            environment=UniformGravity(g=(0.0, -GRAVITY, 0.0)),
            parts=(
                Part(RigidBody(name="one", **rod), joint=Revolute(name="one", axis="z")),
                Part(RigidBody(name="two", **rod), at=(np.sqrt(2.0), 0.0, 0.0), joint=Revolute(name="two", axis="z")),
            ),
            constraints=(
                PointOnPlane(name="pin_x", a="one", b="two", at_a=(1.0, 0.0, 0.0), at_b=(1.0, 0.0, 0.0), normal="x"),
                PointOnPlane(name="pin_y", a="one", b="two", at_a=(1.0, 0.0, 0.0), at_b=(1.0, 0.0, 0.0), normal="y"),
            ),
        ),
        switchable=True,
    )
