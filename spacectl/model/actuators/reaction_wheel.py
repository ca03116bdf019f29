"""`ReactionWheel`: a wheel that stores angular momentum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from spacectl.model.actuators.base import Actuator
from spacectl.model.actuators.effort import Effort, JointEffort
from spacectl.model.bodies.rigid import Rotor
from spacectl.model.description import direction, set_field, set_scalars
from spacectl.model.joints import Revolute

__all__ = ["ReactionWheel"]


@dataclass(frozen=True, kw_only=True)
class ReactionWheel(Actuator):
    """A wheel on a body. Input: motor torque on the wheel (the reaction acts on the body) [N m].

    It adds a coordinate, the wheel's angle relative to its body, named after the wheel, and its rate, so that stored
    momentum and gyroscopic torques are exact.

    Parameters
    ----------
    on : str
        Body, or ``"body.frame"``.
    axis : unit vector or "x", ...
        Spin axis in that frame.
    inertia : float
        Inertia about the spin axis [kg m^2]. The body's inertia includes the wheel's mass and transverse inertia.
    """

    on: str
    axis: Any = "z"
    inertia: float
    unit: ClassVar[str] = "N m"

    def __post_init__(self) -> None:
        super().__post_init__()
        set_field(self, "axis", direction(self.axis, f"{self._what}: axis"))
        set_scalars(self, self._what, "inertia", sign="positive", unit=" kg m^2")

    def efforts(self) -> tuple[Effort, ...]:
        return (JointEffort(joint=self.input_name),)

    def parts(self) -> tuple[tuple[Any, dict[str, Any]], ...]:
        rotor = Rotor(name=self.input_name, axis=self.axis, spin_inertia=self.inertia)
        return ((rotor, {"on": self.on, "joint": Revolute(name=self.input_name, axis=self.axis)}),)
