"""Terms of the equations that close a loop."""

from __future__ import annotations

from typing import Any

from spacectl.spatial.backend import dot
from spacectl.spatial.rotation import frame_along

__all__ = ["offsets", "tilts", "turn_of", "uprightness"]


def turn_of(R: Any) -> list[Any]:
    """Return half the axial vector of R - R': the rotation vector for small turns."""
    return [0.5 * (R[2, 1] - R[1, 2]), 0.5 * (R[0, 2] - R[2, 0]), 0.5 * (R[1, 0] - R[0, 1])]


def uprightness(R: Any) -> Any:
    """Return the cosine of the angle of a rotation."""
    return 0.5 * (R[0, 0] + R[1, 1] + R[2, 2] - 1.0)


def offsets(axis: Any, p: Any) -> list[Any]:
    """Return the two components of a vector normal to an axis."""
    across = frame_along(axis)
    return [dot(across[:, 0], p), dot(across[:, 1], p)]


def tilts(axis: Any, R: Any) -> list[Any]:
    """Return the two components, normal to an axis, of the rotated axis."""
    return offsets(axis, R @ axis)
