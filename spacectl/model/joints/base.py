"""The base of all joints: how a child frame F is placed in and moves against a parent frame J. The kinds are in `joints`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.core.expression import TimeExpression
from spacectl.model.description import Number, check_name, unless_trivial
from spacectl.model.joints.elementary import Sequence
from spacectl.spatial.backend import constant, eye, matrix, vector, zeros
from spacectl.spatial.motion import Placement

__all__ = ["ANGLE", "QUATERNION", "RATES", "Joint", "Names", "axis_number", "columns", "unit_vectors"]

Names = tuple[tuple[str, str], ...]  # (suffix, unit) of each coordinate or speed

ANGLE: Names = (("", "rad"),)
QUATERNION: Names = ((".qw", "1"), (".qx", "1"), (".qy", "1"), (".qz", "1"))
RATES: Names = ((".wx", "rad/s"), (".wy", "rad/s"), (".wz", "rad/s"))


def axis_number(axis: Any) -> Number:
    """Return an axis as a parameter; its entries 0, 1 and -1 are structure."""
    return unless_trivial(axis, 0.0, 1.0, -1.0)


def columns(*twists: Any) -> Any:
    """Return the matrix (6, n) with the given twists as columns."""
    return matrix([[twist[i] for twist in twists] for i in range(6)])


@dataclass(frozen=True, kw_only=True)
class Joint:
    """Base of all joints: no motion.

    A subclass is a frozen, keyword-only dataclass. It is served by every formulation, in simulation, linearisation and
    reports, from these members:

    1. `coordinates` and `speeds`, suffixes and units of q and v. A subclass with a unit quaternion in q sets `quaternion_at`.
    2. `placement`, the placement of F in J; `subspace`, the twist of F relative to J in F axes for unit speeds, S(q); `bias`,
       ``S_dot v``, unless S is constant; and `q_dot`, unless the speeds are the rates of the coordinates. They are
       written with `spacectl.spatial.backend`, for numpy and CasADi alike.
    3. `numbers`, the run-time parameters, by keys that body and placement do not use ("mass", "com", "inertia", "at",
       "rotation", ...). The methods get them as `n`.

    It may add:

    4. `structure`, if a field decides the form of the motion and is a number, or is no plain data.
    5. `closing_names`, `closing`, `closing_side` and `effort_wrenches`: the equations of a joint that closes a loop, or
       that stands in absolute coordinates. Without them such a use raises `ModelError`.
    6. `elements`, the joint as a sequence of elementary joints, for the native derivative recursion, and `examples`, for
       the native sweeps over kinds that `JOINTS` lists. Without them the generated expressions serve the joint.
    7. `letter`, the freedoms of the joint in kinds of legs such as ``"R2-P1-R3"``.
    8. `redundancies`, for redundant coordinates.

    What a subclass of a kind inherits of 5 to 7 counts only while it moves as that kind: a subclass that overrides a method
    of 2 gives its own.

    Parameters
    ----------
    name : str
        Coordinates are named after it; if omitted, after the body.
    """

    name: str = ""

    coordinates: ClassVar[Names] = ()
    speeds: ClassVar[Names] = ()
    quaternion_at: ClassVar[int | None] = None  # first entry of a quaternion in q
    closing_names: ClassVar[tuple[str, ...]] = ()  # of the equations that close a loop
    letter: ClassVar[str] = ""
    is_axial: ClassVar[bool] = False  # whether F and J may be turned so that the number "axis" becomes their third

    def __post_init__(self) -> None:
        if self.name:
            check_name(self.name, f"{type(self).__name__} joint")

    @property
    def _what(self) -> str:
        return f"joint '{self.name}'" if self.name else f"{type(self).__name__} joint"

    @property
    def _kind(self) -> str:
        return type(self).__name__

    @property
    def motion(self) -> TimeExpression | None:
        """The prescribed motion, for a joint that has one."""
        return None

    @property
    def is_free(self) -> bool:
        """Whether it leaves all motion free, so that nothing holds the body."""
        return len(self.speeds) >= 6

    @property
    def is_fixed(self) -> bool:
        """Whether nothing moves in it."""
        return not self.speeds and self.motion is None

    def numbers(self) -> dict[str, Number]:
        """Return the run-time parameters of the joint."""
        return {}

    @property
    def structure(self) -> tuple[Any, ...]:
        """What besides its kind, motion and numbers decides the form of its equations: here all other fields."""
        known = {"name", "prescribed", *self.numbers()}
        return tuple(getattr(self, item.name) for item in fields(self) if item.name not in known)

    def rest(self) -> np.ndarray:
        """Return the coordinates of the reference position."""
        q = np.zeros(len(self.coordinates))
        if self.quaternion_at is not None:
            q[self.quaternion_at] = 1.0
        return q

    def placement(self, q: Any, n: Mapping[str, Any]) -> Placement:
        """Return the placement of F in J."""
        return Placement.identity(q)

    def subspace(self, q: Any, n: Mapping[str, Any]) -> Any:
        """Return S, shape (6, n_v): the twist of F relative to J, in F axes, for unit speeds."""
        raise ModelError(f"{self._what}: a fixed joint has no speeds")

    def effort_wrenches(self, R_JF: Any, n: Mapping[str, Any]) -> Any:
        """Return W, shape (6, n_v): wrenches of unit efforts on the child, about F in F axes, with ``S' W = 1``.

        For a joint that closes a loop, which has no coordinates of its own. Here for joints whose S is constant with unit
        columns normal to each other.
        """
        own = {key: np.asarray(number.value) for key, number in self.numbers().items()}
        S = [np.asarray(self.subspace(self.rest() + shift, own), dtype=float) for shift in (0.0, 0.3)]
        if not np.allclose(S[0], S[1]) or not np.allclose(S[0].T @ S[0], np.eye(len(self.speeds))):
            raise ModelError(
                f"{self._what}: an actuator acts in this closing joint; define {self._kind}.effort_wrenches"
            )
        return self.subspace(constant(tuple(self.rest()), R_JF), n)

    def bias(self, q: Any, v: Any, n: Mapping[str, Any]) -> Any:
        """Return ``S_dot v``, shape (6,)."""
        return zeros(6, q)

    def q_dot(self, q: Any, v: Any) -> Any:
        """Return the rates of the coordinates."""
        return v

    def closing(self, X_JF: Placement, n: Mapping[str, Any]) -> Any:
        """Return the constraint equations of the placement of F in J, zero when met; named by `closing_names`.

        They must be independent and hold for every position that the joint allows.
        """
        raise ModelError(f"{self._what}: {self._kind} has no equations to close a loop; define {self._kind}.closing")

    def closing_side(self, X_JF: Placement, n: Mapping[str, Any]) -> Any:
        """Return a positive value on the intended branch, a negative one where `closing` is met after a half turn."""
        return 1.0

    def elements(self, n: Mapping[str, Any]) -> Sequence:
        """Return the joint as a sequence of elementary joints, for numeric n."""
        raise NotImplementedError

    @classmethod
    def examples(cls) -> tuple[Joint, ...]:
        """Return one joint for each `structure` that has a native step of its own."""
        return (cls(),)

    @property
    def freedoms(self) -> str:
        """The `letter` of a joint that moves as its class says, else how many speeds it has."""
        return self.letter if self.letter and self.owns("letter") else f"?{len(self.speeds)}"

    @classmethod
    def owns(cls, name: str) -> bool:
        """Return whether a member belongs to the motion of this class: no subclass overrides the motion below it."""
        order = list(cls.__mro__)

        def first(key: str) -> int:
            return next(i for i, kind in enumerate(order) if key in vars(kind))

        return first(name) <= min(first(key) for key in ("placement", "subspace", "bias", "q_dot"))

    def redundancies(self, q: np.ndarray, name: str) -> tuple[tuple[np.ndarray, str], ...]:
        """Return directions of its speeds that cause no motion, each with the missing constraint equation in words.

        For joints in redundant coordinates; `name` is what the joint is called in the system.
        """
        return ()


def unit_vectors(q: Any) -> tuple[Any, Any, Any]:
    """Return the three unit vectors, of the type of q."""
    unit = eye(3, q)
    return tuple(vector(unit[0, i], unit[1, i], unit[2, i]) for i in range(3))
