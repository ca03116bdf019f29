"""Links and kinds that the arms of this folder share."""

from __future__ import annotations

from spacectl.core.errors import ModelError
from spacectl.model.constraints import Artificial, Natural
from spacectl.model.joints import Revolute
from spacectl.model.library.rods import slender_rod
from spacectl.model.part import Part

__all__ = ["kept_by", "slender_links"]


def slender_links(masses: tuple[float, ...], lengths: tuple[float, ...], joints: tuple[str, ...]) -> tuple[Part, ...]:
    """Return the slender uniform links in the x-y plane, joints about z, each with a frame ``"tip"``."""
    parts, on = [], "world"
    for i, (mass, length, joint) in enumerate(zip(masses, lengths, joints, strict=True)):
        body = slender_rod(f"link{i + 1}", length, mass)
        parts.append(Part(body, on=on, joint=Revolute(name=joint, axis="z")))
        on = f"{body.name}.tip"
    return tuple(parts)


def kept_by(kept: str, by: str) -> Natural | Artificial:
    """Return the kind of a constraint: ideal, or maintained by an actuator."""
    if kept not in ("natural", "artificial"):
        raise ModelError(f"kept is {kept!r}, expected 'natural' or 'artificial'")
    return Natural() if kept == "natural" else Artificial(by=(by,))
