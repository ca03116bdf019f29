"""Systems in absolute coordinates: each body has a free joint, each joint becomes a constraint."""

from __future__ import annotations

from dataclasses import replace

from spacectl.core.errors import ModelError
from spacectl.model.constraints import JointLoop
from spacectl.model.elements import SpringDamper
from spacectl.model.joints import Free
from spacectl.model.part import Part
from spacectl.model.system import System

__all__ = ["as_absolute"]


def as_absolute(system: System) -> System:
    """Return the same mechanism with a `Free` joint for each body and a `JointLoop` for each joint.

    Coordinates are named after the bodies (``"link.x"``), the loops after the joints (with ``_joint`` added where a body
    has the joint's name). Wheels remain on their bodies; springs between points are unchanged.

    Raises
    ------
    ModelError
        For joints whose motion is prescribed, elements in joints and tethers, which need joint coordinates.
    """
    in_joints = [item.name for item in system.elements if not isinstance(item, SpringDamper)]
    if in_joints:
        raise ModelError(
            f"system '{system.name}': {', '.join(map(repr, in_joints))} need joint coordinates (springs between points, "
            "SpringDamper, do not); use coordinates='joint'"
        )
    parts, loops = [], []
    names: dict[str, str] = {}
    for part in system.parts:
        if part.joint.motion is not None:
            raise ModelError(
                f"part '{part.name}': its joint is prescribed, which needs joint coordinates; use coordinates='joint'"
            )
        parts.append(Part(part.body, on="world", joint=Free(name=part.name)))
        if part.joint.is_free:
            if isinstance(part.joint, Free) and part.on in system.environment.root_names:
                parts[-1] = part
            continue
        taken = {other.name for other in system.parts}
        name = f"{part.joint_name}_joint" if part.joint_name in taken else part.joint_name
        names[part.joint_name] = name
        loops.append(
            JointLoop(
                name=name,
                a=part.on,
                b=part.name,
                at_a=part.at,
                rotation_a=part.rotation,
                at_b=part.child_at,
                rotation_b=part.child_rotation,
                joint=replace(part.joint, name=""),
            )
        )
    actuators = tuple(actuator.with_joints(names) for actuator in system.actuators)
    return replace(system, parts=tuple(parts), actuators=actuators, constraints=(*loops, *system.constraints))
