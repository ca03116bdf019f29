"""A wrist with a differential gear."""

from __future__ import annotations

import numpy as np

from spacectl.model.actuators import JointTorque
from spacectl.model.bodies.rigid import Frame, RigidBody
from spacectl.model.constraints import Constraint
from spacectl.model.joints import Free, Revolute
from spacectl.model.library.loops.gears import rotor
from spacectl.model.library.rods import rod
from spacectl.model.part import Part
from spacectl.model.system import System
from spacectl.spatial.rotation import rotation_about

__all__ = ["differential_wrist"]


def differential_wrist(*, ratio: float = 6.0) -> System:
    """Return a wrist with a bevel differential on a floating arm: equal motor angles pitch it, opposite ones roll it.

    Parameters
    ----------
    ratio : float
        Motor angle divided by wrist angle.
    """
    bus = RigidBody(name="bus", mass=30.0, inertia=(3.0, 3.5, 4.0, 0.1, 0.0, -0.1))
    arm = rod("arm", 0.8, 4.0)
    cage = RigidBody(
        name="cage", mass=0.5, inertia=(1e-3, 1.2e-3, 1.1e-3), frames=(Frame(name="seat", at=(0.05, 0, 0)),)
    )
    tool = RigidBody(name="tool", mass=1.5, inertia=(0.01, 0.02, 0.025), com=(0.12, 0.02, 0.0))
    to_y = rotation_about("x", -0.5 * np.pi)  # z of a rotor along the pitch axis y
    parts = (
        Part(bus, joint=Free(name="base")),
        Part(arm, on="bus", at=(0.3, 0.0, 0.1), joint=Revolute(name="shoulder", axis="y")),
        Part(
            rotor("rotor1", 0.3), on="arm.end", at=(0, 0.06, 0), rotation=to_y, joint=Revolute(name="motor1", axis="z")
        ),
        Part(
            rotor("rotor2", 0.3), on="arm.end", at=(0, -0.06, 0), rotation=to_y, joint=Revolute(name="motor2", axis="z")
        ),
        Part(cage, on="arm.end", joint=Revolute(name="pitch", axis="y")),
        Part(tool, on="cage.seat", joint=Revolute(name="roll", axis="x")),
    )

    def bevels(s):  # type: ignore[no-untyped-def]
        r = s.number("ratio")
        return [s["motor1"] - r * (s["pitch"] + s["roll"]), s["motor2"] - r * (s["pitch"] - s["roll"])]

    return System(
        name="differential wrist",
        parts=parts,
        actuators=tuple(JointTorque(joint=name) for name in ("shoulder", "motor1", "motor2")),
        constraints=(Constraint(name="bevels", rule=bevels, values={"ratio": ratio}),),
    )
