"""Elementary joints, of which joints may consist: rotation about z, translation along z and free rotation.

Their subspace S is constant in the child's frame, as the derivative recursion requires.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spacectl.spatial.rotation import AXES, frame_along

__all__ = ["ALONG", "BALL", "SLIDE", "TURN", "Elementary", "Sequence", "slides"]

TURN, SLIDE, BALL = range(3)  #: kinds, as in derivatives.c

#: A frame along each coordinate axis: its third axis is the named one
ALONG: dict[str, np.ndarray] = {letter: frame_along(np.array(AXES[letter])) for letter in "xyz"}


class Elementary(NamedTuple):
    """An elementary joint: its kind, the rotation before it, its first coordinate and its first speed in the joint."""

    kind: int
    turn: np.ndarray
    q: int = 0
    v: int = 0


class Sequence(NamedTuple):
    """A joint as a series of elementary joints, and the rotation of its frame F in the frame of the last."""

    items: tuple[Elementary, ...]
    R_EF: np.ndarray


def slides(q: int = 0, v: int = 0) -> tuple[Elementary, ...]:
    """Return translations along x, y, z; the frame of the last is ``ALONG["z"]``."""
    turns = (ALONG["x"], ALONG["x"].T @ ALONG["y"], ALONG["y"].T @ ALONG["z"])
    return tuple(Elementary(SLIDE, turn, q + k, v + k) for k, turn in enumerate(turns))
