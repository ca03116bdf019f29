"""The base of all joints: how a child frame F is placed in and moves against a parent frame J.

A joint gives the placement of F in J, the twist of F relative to J in F's axes, ``S(q) v``, and the part of that
twist's rate without v_dot, ``S_dot v``. The kinds are in `joints`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.core.expression import TimeExpression
from spacectl.model.description import Number, check_name, unless_trivial
from spacectl.spatial.backend import constant, eye, matrix, vector, zeros
from spacectl.spatial.motion import Placement

__all__ = ["ANGLE", "QUATERNION", "RATES", "Joint", "Names", "axis_number", "columns", "unit_vectors"]

Names = tuple[tuple[str, str], ...]  # (suffix, unit) of each coordinate or speed

ANGLE: Names = (("", "rad"),)
QUATERNION: Names = ((".qw", "1"), (".qx", "1"), (".qy", "1"), (".qz", "1"))
RATES: Names = ((".wx", "rad/s"), (".wy", "rad/s"), (".wz", "rad/s"))


def axis_number(axis: Any) -> Number:
    """An axis; entries 0, 1 and -1 are structure."""
    return unless_trivial(axis, 0.0, 1.0, -1.0)


def columns(*twists: Any) -> Any:
    """Twists as the columns of a matrix (6, n)."""
    return matrix([[twist[i] for twist in twists] for i in range(6)])


@dataclass(frozen=True, kw_only=True)
class Joint:
    """Base of all joints: no motion. Subclasses override what they need.

    Parameters
    ----------
    name : str
        Coordinates are named after it; if omitted, after the body.
    """

    name: str = ""

    coordinates: ClassVar[Names] = ()
    speeds: ClassVar[Names] = ()
    quaternion_at: ClassVar[int | None] = None  # first entry of a quaternion in q

    def __post_init__(self) -> None:
        if self.name:
            check_name(self.name, f"{type(self).__name__} joint")

    @property
    def _what(self) -> str:
        return f"joint '{self.name}'" if self.name else f"{type(self).__name__} joint"

    @property
    def motion(self) -> TimeExpression | None:
        """The prescribed motion, for a joint that has one."""
        return None

    def numbers(self) -> dict[str, Number]:
        """Run-time numbers of the joint."""
        return {}

    def rest(self) -> np.ndarray:
        """Coordinates of the reference position."""
        q = np.zeros(len(self.coordinates))
        if self.quaternion_at is not None:
            q[self.quaternion_at] = 1.0
        return q

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        """Placement of F in J."""
        return Placement.identity(q)

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        """S, shape (6, n_v): twist of F relative to J, in F axes, for unit speeds."""
        raise ModelError(f"{self._what}: a fixed joint has no speeds")

    def effort_wrenches(self, R_JF: Any, n: Mapping[str, Any]) -> Any:
        """Wrenches on the child of unit efforts, about F in F axes, shape (6, n_v): in the span of S, with ``S' W = 1``.

        For a joint that closes a loop, which has no coordinates of its own. Here for joints whose S is constant with unit
        columns normal to each other.
        """
        return self.subspace(constant(tuple(self.rest()), R_JF), n)

    def bias(self, q: Any, v: Any, n: Mapping[str, Any]) -> Any:
        """``S_dot v``, shape (6,)."""
        return zeros(6, q)

    def q_dot(self, q: Any, v: Any) -> Any:
        """Rates of the coordinates."""
        return v

    def redundancies(self, q: np.ndarray, name: str) -> tuple[tuple[np.ndarray, str], ...]:
        """Directions of its speeds that move nothing, each with the constraint equation that they need, in words.

        For joints in redundant coordinates; `name` is what the joint is called in the system.
        """
        return ()


def unit_vectors(q: Any) -> tuple[Any, Any, Any]:
    """The three unit vectors, of the kind of q."""
    unit = eye(3, q)
    return tuple(vector(unit[0, i], unit[1, i], unit[2, i]) for i in range(3))
