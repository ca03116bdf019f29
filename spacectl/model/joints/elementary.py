"""Elementary joints: turns about z, slides along z and free turns, which joints may be made of.

For these three the subspace S is constant in the child's frame, which is what the derivative recursion needs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spacectl.spatial.rotation import AXES, frame_along

__all__ = ["ALONG", "BALL", "SLIDE", "TURN", "Elementary", "Sequence"]

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
    """A joint as elementary joints one after the other, and the rotation of its frame F in the frame of the last."""

    items: tuple[Elementary, ...]
    R_EF: np.ndarray
