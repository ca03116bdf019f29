"""`Part`: a body with its attachment."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from spacectl.core.array import as_array
from spacectl.core.errors import ModelError
from spacectl.model.bodies.base.body import Body
from spacectl.model.description import Number, placement_number, rotation_matrix, set_field, unless_trivial
from spacectl.model.joints import Fixed, Joint

__all__ = ["Part"]


@dataclass(frozen=True, kw_only=True)
class Part:
    """A body with its joint and point of attachment.

    Parameters
    ----------
    body : Body
        The body.
    on : str
        Parent: ``"world"`` (``"orbit"``), a body, or ``"body.frame"``.
    at, rotation : vector and rotation, optional
        Placement of the joint frame J in the parent.
    joint : Joint
        Motion of F relative to J. Default: `Fixed`.
    child_at, child_rotation : vector and rotation, optional
        Placement of the joint frame F in the body.

    Examples
    --------
    >>> from spacectl import Revolute, RigidBody
    >>> link = RigidBody(name="link", mass=1.0, inertia=(0.1, 0.1, 0.1))
    >>> Part(link, on="world", joint=Revolute(axis="y")).joint_name
    'link'
    """

    body: Body = field(kw_only=False)
    on: str = "world"
    at: Any = (0.0, 0.0, 0.0)
    rotation: Any = None
    joint: Joint = field(default_factory=Fixed)
    child_at: Any = (0.0, 0.0, 0.0)
    child_rotation: Any = None

    def __post_init__(self) -> None:
        if not isinstance(self.body, Body):
            raise ModelError(f"part: expected a body such as RigidBody(...), got {self.body!r}")
        what = f"part '{self.body.name}'"
        if not isinstance(self.joint, Joint):
            raise ModelError(f"{what}: joint is {self.joint!r}, expected a joint such as Revolute(axis='z')")
        if not isinstance(self.on, str) or not self.on:
            raise ModelError(f"{what}: on is {self.on!r}, expected 'world', a body or 'body.frame'")
        for name in ("at", "child_at"):
            set_field(self, name, as_array(getattr(self, name), (3,), f"{what}: {name}"))
        for name in ("rotation", "child_rotation"):
            set_field(self, name, rotation_matrix(getattr(self, name), f"{what}: {name}"))

    @property
    def name(self) -> str:
        """The body's name."""
        return self.body.name

    @property
    def joint_name(self) -> str:
        """The joint's name, by default the body's."""
        return self.joint.name or self.body.name

    def numbers(self) -> dict[str, Number]:
        """Return the run-time parameters of body, placement and joint by key."""
        placement = {
            "at": unless_trivial(self.at),
            "rotation": placement_number(self.rotation),
            "child_at": unless_trivial(self.child_at),
            "child_rotation": placement_number(self.child_rotation),
        }
        body, joint = self.body.numbers(), self.joint.numbers()
        for key in joint:
            if key in body or key in placement:
                raise ModelError(
                    f"part '{self.name}': {type(self.joint).__name__} joints have a parameter '{key}', which the body or its "
                    f"placement also has; rename it in {type(self.joint).__name__}.numbers"
                )
        return {**body, **placement, **joint}
