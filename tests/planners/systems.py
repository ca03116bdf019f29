"""Small systems with published minimum-time maneuvers."""

from __future__ import annotations

from spacectl import (
    BodyTorque,
    Frame,
    FreeSpace,
    JointForce,
    JointSpring,
    JointTorque,
    Part,
    Prismatic,
    Revolute,
    RigidBody,
    Spherical,
    System,
)


def body(name: str, mass: float = 1.0) -> RigidBody:
    return RigidBody(name=name, mass=mass, inertia=(1.0, 1.0, 1.0))


def cart() -> System:
    """A unit mass on a rail, force limit 1."""
    part = Part(body("cart"), on="world", joint=Prismatic(name="x", axis="x"))
    return System(name="cart", environment=FreeSpace(), parts=(part,), actuators=(JointForce(joint="x", limit=1.0),))


def sledge() -> System:
    """A unit mass in the plane with two forces up to 5."""
    slide = RigidBody(name="slide", mass=1e-3, inertia=(1.0, 1.0, 1.0))
    return System(
        name="sledge",
        environment=FreeSpace(),
        parts=(
            Part(slide, on="world", joint=Prismatic(name="x", axis="x")),
            Part(body("sledge"), on="slide", joint=Prismatic(name="y", axis="y")),
        ),
        actuators=(JointForce(joint="x", limit=5.0), JointForce(joint="y", limit=5.0)),
    )


def two_masses() -> System:
    """Two unit masses with a unit spring between them; a force up to 1 on the first (Liu and Wie 1992)."""
    first = Part(body("first"), on="world", joint=Prismatic(name="x", axis="x"))
    second = Part(body("second"), on="first", joint=Prismatic(name="stretch", axis="x"))
    return System(
        name="two masses",
        environment=FreeSpace(),
        parts=(first, second),
        elements=(JointSpring(name="spring", joint="stretch", stiffness=1.0),),
        actuators=(JointForce(joint="x", limit=1.0),),
    )


def two_links() -> System:
    """Two uniform links of unit mass and length with a unit tip mass, torque limits 1 (Luus 2000)."""
    upper = RigidBody(
        name="upper",
        mass=1.0,
        com=(0.5, 0.0, 0.0),
        inertia=(0.05, 0.1, 1.0 / 12.0),
        frames=(Frame(name="tip", at=(1.0, 0.0, 0.0)),),
    )
    about_centre = 1.0 / 12.0 + 0.25**2 + 0.25**2  # link and tip mass about their common centre, 3/4 from the elbow
    lower = RigidBody(name="lower", mass=2.0, com=(0.75, 0.0, 0.0), inertia=(0.05, 0.25, about_centre))
    return System(
        name="two links",
        environment=FreeSpace(),
        parts=(
            Part(upper, on="world", joint=Revolute(name="shoulder", axis="z")),
            Part(lower, on="upper.tip", joint=Revolute(name="elbow", axis="z")),
        ),
        actuators=(JointTorque(joint="shoulder", limit=1.0), JointTorque(joint="elbow", limit=1.0)),
    )


def symmetric_body() -> System:
    """A body with three equal inertias and three independent torques up to 1 (Bilimoria and Wie 1993)."""
    torques = tuple(BodyTorque(name=axis, on="body", direction=axis, limit=1.0) for axis in "xyz")
    part = Part(body("body"), on="world", joint=Spherical(name="attitude"))
    return System(name="symmetric body", environment=FreeSpace(), parts=(part,), actuators=torques)
