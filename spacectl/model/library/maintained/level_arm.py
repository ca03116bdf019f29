"""An arm whose second link maintains its direction."""

from __future__ import annotations

from spacectl.model.actuators import JointTorque
from spacectl.model.constraints import NoRelativeRotation
from spacectl.model.library.maintained.links import kept_by, slender_links
from spacectl.model.system import System

__all__ = ["level_arm"]


def level_arm(*, kept: str = "artificial", mass: float = 1.0, length: float = 1.0) -> System:
    """Return an arm whose second link maintains its direction by guides or the elbow (Sadigh 1995, Fig. 3.1).

    Parameters
    ----------
    kept : {"artificial", "natural"}
        Maintained by the elbow motor (Figure 3.1-b), or by frictionless guides (3.1-a).
    mass, length : float
        Mass [kg] and length [m] of each link.
    """
    return System(
        name=f"level arm ({kept})",
        parts=slender_links((mass, mass), (length, length), ("shoulder", "elbow")),
        actuators=(JointTorque(joint="shoulder"), JointTorque(joint="elbow")),
        constraints=(NoRelativeRotation(name="level", b="link2", axis="z", free="none", kind=kept_by(kept, "elbow")),),
    )
