"""The constraints, one file each. To add one, write a file like its neighbours and list it here."""

from spacectl.model.constraints.base import AnyConstraint, Artificial, Natural, Quantities
from spacectl.model.constraints.frame import FrameConstraint
from spacectl.model.constraints.loop import JointLoop, Loop
from spacectl.model.constraints.no_relative_rotation import NoRelativeRotation
from spacectl.model.constraints.point_on_plane import PLANE, PointOnPlane
from spacectl.model.constraints.rule import Constraint

__all__ = [
    "CONSTRAINTS",
    "PLANE",
    "AnyConstraint",
    "Artificial",
    "Constraint",
    "FrameConstraint",
    "JointLoop",
    "Loop",
    "Natural",
    "NoRelativeRotation",
    "PointOnPlane",
    "Quantities",
]

#: Constraints by their name in files.
CONSTRAINTS: dict[str, type] = {
    kind.__name__: kind for kind in (Constraint, Loop, JointLoop, PointOnPlane, NoRelativeRotation, Natural, Artificial)
}
