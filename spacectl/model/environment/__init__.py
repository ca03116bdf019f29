"""The environments, one file each. To add one, write a file like its neighbours and list it here."""

from spacectl.model.environment.base import Environment, has_field_of
from spacectl.model.environment.central_gravity import CentralGravity
from spacectl.model.environment.circular_orbit import CircularOrbit
from spacectl.model.environment.elliptic_orbit import EllipticOrbit
from spacectl.model.environment.free_space import FreeSpace
from spacectl.model.environment.orbit_frame import OrbitFrame
from spacectl.model.environment.uniform_gravity import UniformGravity

__all__ = [
    "ENVIRONMENTS",
    "CentralGravity",
    "CircularOrbit",
    "EllipticOrbit",
    "Environment",
    "FreeSpace",
    "OrbitFrame",
    "UniformGravity",
    "has_field_of",
]

#: Environments by their name in files.
ENVIRONMENTS: dict[str, type[Environment]] = {
    kind.__name__: kind for kind in (FreeSpace, UniformGravity, CentralGravity, CircularOrbit, EllipticOrbit)
}
