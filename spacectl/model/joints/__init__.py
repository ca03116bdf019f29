"""The joints, one file each. To add one, write a file like its neighbours and list it here."""

from spacectl.model.joints.axis import AxisJoint
from spacectl.model.joints.base import Joint
from spacectl.model.joints.cartesian import Cartesian
from spacectl.model.joints.cylindrical import Cylindrical
from spacectl.model.joints.fixed import Fixed
from spacectl.model.joints.free import Free
from spacectl.model.joints.helical import Helical
from spacectl.model.joints.planar import Planar
from spacectl.model.joints.prismatic import Prismatic
from spacectl.model.joints.revolute import Revolute
from spacectl.model.joints.spherical import Spherical
from spacectl.model.joints.universal import Universal

__all__ = [
    "JOINTS",
    "AxisJoint",
    "Cartesian",
    "Cylindrical",
    "Fixed",
    "Free",
    "Helical",
    "Joint",
    "Planar",
    "Prismatic",
    "Revolute",
    "Spherical",
    "Universal",
]

#: Joints by their name in files; the native sweeps have a step for each of their `examples`.
JOINTS: dict[str, type[Joint]] = {
    kind.__name__: kind
    for kind in (Cartesian, Cylindrical, Fixed, Free, Helical, Planar, Prismatic, Revolute, Spherical, Universal)
}
