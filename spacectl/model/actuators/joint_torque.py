"""`JointTorque`: a torque between the two sides of a joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from spacectl.core.errors import ModelError
from spacectl.model.actuators.base import Actuator
from spacectl.model.actuators.effort import Effort, JointEffort

__all__ = ["JointTorque"]


@dataclass(frozen=True, kw_only=True)
class JointTorque(Actuator):
    """Torque between the two sides of a joint, positive on the child.

    Parameters
    ----------
    joint : str
        Name of the joint.
    component : str
        Speed of a joint with several speeds, by its suffix: ``"wx"``, ``"angle_dot"``, ...
    """

    joint: str
    component: str = ""
    unit: ClassVar[str] = "N m"

    def __post_init__(self) -> None:
        for key in ("joint", "component"):
            if not isinstance(getattr(self, key), str):
                raise ModelError(f"{type(self).__name__}: {key} is {getattr(self, key)!r}, expected a name")
        super().__post_init__()

    @property
    def input_name(self) -> str:
        """The actuator's own name, or the joint's (with the component)."""
        return self.name or (f"{self.joint}.{self.component}" if self.component else self.joint)

    def efforts(self) -> tuple[Effort, ...]:
        return (JointEffort(joint=self.joint, component=self.component),)
