"""`JointSpring`: a spring and damper in a joint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spacectl.core.errors import ModelError
from spacectl.model.description import Number, always, check_name, set_field, set_scalars
from spacectl.model.elements.base import JointElement

__all__ = ["JointSpring"]


@dataclass(frozen=True, kw_only=True)
class JointSpring(JointElement):
    """Spring and damper in a joint: effort ``-k (q - rest) - k3 (q - rest)^3 - d q_dot``.

    Parameters
    ----------
    joint : str
        Name of the joint.
    component : str
        Speed of a joint with several speeds, by its suffix: ``"slide_dot"``, ``"wx"``, ...
    stiffness, cubic : float
        k [N m/rad or N/m] and k3 [N m/rad^3 or N/m^3]; not for the rates of a quaternion, which can only be damped.
    damping : float
        d [N m s/rad or N s/m], 0 or more.
    rest : float
        Coordinate at which the spring is unloaded.

    Examples
    --------
    >>> JointSpring(joint="hinge", stiffness=10.0, damping=0.5).name
    'hinge_spring'
    """

    joint: str
    component: str = ""
    stiffness: float = 0.0
    cubic: float = 0.0
    damping: float = 0.0
    rest: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.joint, str) or not self.joint:
            raise ModelError(f"JointSpring: joint is {self.joint!r}, expected the name of a joint")
        if self.name:
            check_name(self.name, "JointSpring")
        else:
            set_field(self, "name", "_".join(filter(None, (self.joint, self.component, "spring"))))
        set_scalars(self, f"spring '{self.name}'", "stiffness", "cubic", "rest")
        set_scalars(self, f"spring '{self.name}'", "damping", sign="not negative")

    @property
    def ends(self) -> tuple[tuple[str, str], ...]:
        return ((self.joint, self.component),)

    @property
    def has_spring(self) -> bool:
        """Whether it has a spring, which requires a coordinate."""
        return self.stiffness != 0.0 or self.cubic != 0.0

    def numbers(self) -> dict[str, Number]:
        keys = ("stiffness", "cubic", "damping", "rest") if self.has_spring else ("damping",)
        return {key: always(getattr(self, key)) for key in keys}

    def efforts(self, q: Sequence[Any], v: Sequence[Any], n: Mapping[str, Any]) -> list[Any]:
        effort = -n["damping"] * v[0]
        if self.has_spring:
            stretch = q[0] - n["rest"]
            effort = effort - n["stiffness"] * stretch - n["cubic"] * stretch**3
        return [effort]

    def potential(self, q: Sequence[Any], n: Mapping[str, Any]) -> Any:
        if not self.has_spring:
            return 0.0
        stretch = q[0] - n["rest"]
        return 0.5 * n["stiffness"] * stretch**2 + 0.25 * n["cubic"] * stretch**4
