"""A flexible arm whose tip follows a line."""

from __future__ import annotations

from spacectl.model.actuators import JointTorque
from spacectl.model.bodies.beam.beam import Beam
from spacectl.model.bodies.rigid import Frame, RigidBody
from spacectl.model.constraints import Artificial, PointOnPlane
from spacectl.model.joints import Revolute
from spacectl.model.part import Part
from spacectl.model.system import System

__all__ = ["flexible_line_arm"]


def flexible_line_arm() -> System:
    """Return two flexible links and a hand; the wrist maintains its tip on the x axis (Sadigh 1995, section 7.3.2)."""
    beams = [
        Beam(name=f"link{i}", length=0.8, mass=2.51, EI=930.0, bending=("y",), modes=1, shapes="modes", damping=0.02)
        for i in (1, 2)
    ]
    hand = RigidBody(
        name="hand",
        mass=5.0,
        inertia=(0.0, 0.01, 0.01),
        com=(0.075, 0.0, 0.0),
        frames=(Frame(name="tip", at=(0.15, 0, 0)),),
    )
    joints, places = ("shoulder", "elbow", "wrist"), ("world", "link1.tip", "link2.tip")
    bodies: tuple[Beam | RigidBody, ...] = (*beams, hand)
    return System(
        name="flexible line arm",
        parts=tuple(
            Part(body, on=on, joint=Revolute(name=joint, axis="z"))
            for body, on, joint in zip(bodies, places, joints, strict=True)
        ),
        actuators=tuple(JointTorque(joint=joint) for joint in joints),
        constraints=(PointOnPlane(name="line", b="hand.tip", normal="y", kind=Artificial(by=("wrist",))),),
    )
