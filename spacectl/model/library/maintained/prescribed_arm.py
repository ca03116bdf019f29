"""An arm with one joint angle prescribed through an actuator."""

from __future__ import annotations

import casadi as ca

from spacectl.model.actuators import JointTorque
from spacectl.model.constraints import Artificial, Constraint
from spacectl.model.library.maintained.links import slender_links
from spacectl.model.system import System

__all__ = ["prescribed_arm"]


def prescribed_arm(*, by: str = "shoulder", rate: float = 0.7, amplitude: float = 0.4) -> System:
    """Return an arm whose first link follows ``amplitude (1 - cos(rate t))`` (Sadigh 1995, section 3.4).

    Parameters
    ----------
    by : {"shoulder", "elbow"}
        The motor that maintains it. The elbow loses authority where ``cos(elbow) = -2/3``.
    rate, amplitude : float
        Rate [rad/s] and amplitude [rad] of the motion.
    """
    return System(
        name=f"prescribed arm (by {by})",
        parts=slender_links((1.0, 1.0), (1.0, 1.0), ("shoulder", "elbow")),
        actuators=(JointTorque(joint="shoulder"), JointTorque(joint="elbow")),
        constraints=(
            Constraint(
                name="program",
                rule=lambda s: s["shoulder"] - s.number("amplitude") * (1.0 - ca.cos(s.number("rate") * s.t)),
                values={"amplitude": amplitude, "rate": rate},
                kind=Artificial(by=(by,)),
            ),
        ),
    )
