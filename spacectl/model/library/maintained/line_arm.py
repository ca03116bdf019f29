"""An arm whose tip follows a line."""

from __future__ import annotations

from spacectl.core.errors import ModelError
from spacectl.model.actuators import JointTorque
from spacectl.model.bodies.rigid import RigidBody
from spacectl.model.constraints import Constraint, PointOnPlane
from spacectl.model.joints import Fixed
from spacectl.model.library.maintained.links import kept_by, slender_links
from spacectl.model.part import Part
from spacectl.model.system import System

__all__ = ["line_arm"]


def line_arm(
    *, kept: str = "artificial", mass: float = 1.0, length: float = 1.0, payload: float = 0.5, prescribed: str = "tip"
) -> System:
    """Return an arm that moves a point mass along the x axis by the elbow's torque (Sadigh 1995, Figure 7.1).

    Parameters
    ----------
    kept : {"artificial", "natural"}
        Maintained by the elbow motor, or by a rail.
    mass, length : float
        Mass [kg] and length [m] of each link.
    payload : float
        Point mass at the tip [kg].
    prescribed : {"tip", "angles"}
        The constraint on the height of the tip, or as ``q1 + q2 = 0`` in angles from the x axis (Sadigh 1995, Eq 7.3).
        The folded arm (q2 = q1 + pi) also satisfies the first; the second selects the extended branch.
    """
    if prescribed not in ("tip", "angles"):
        raise ModelError(f"line_arm: prescribed is {prescribed!r}, expected 'tip' or 'angles'")
    ball = RigidBody(name="payload", mass=payload, inertia=(0.0, 0.0, 0.0))
    kind = kept_by(kept, "elbow")
    on_line = (
        PointOnPlane(name="line", b="link2.tip", normal="y", kind=kind)
        if prescribed == "tip"
        else Constraint(name="line", rule=lambda s: 2.0 * s["shoulder"] + s["elbow"], kind=kind)
    )
    return System(
        name=f"line arm ({kept})",
        parts=(
            *slender_links((mass, mass), (length, length), ("shoulder", "elbow")),
            Part(ball, on="link2.tip", joint=Fixed(name="grip")),
        ),
        actuators=(JointTorque(joint="shoulder"), JointTorque(joint="elbow")),
        constraints=(on_line,),
    )
