"""What of a constraint decides the form of the equations."""

from __future__ import annotations

from typing import Any

from spacectl.core.provenance import class_key
from spacectl.model.constraints.base import AnyConstraint

__all__ = ["structure_of"]


def structure_of(constraint: AnyConstraint) -> list[Any]:
    """What of a constraint decides the form of the equations."""
    own = [getattr(constraint, key, "") for key in ("rule", "a", "b", "free")]
    joint = getattr(constraint, "joint", None)
    return [
        class_key(type(constraint)),
        constraint.name,
        constraint.kind,
        constraint.compliance,
        *own,
        class_key(type(joint)),
        getattr(joint, "normal", ""),
    ]
