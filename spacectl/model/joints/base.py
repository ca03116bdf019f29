"""The base of all joints: placement and motion of a child frame F relative to a parent frame J.

An `Elementary` joint is a rotation about z, a translation along z or a free rotation; its subspace S is constant in the
child's frame, as the derivative recursion requires.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.core.expression import TimeExpression
from spacectl.model.description import Number, check_name, unless_trivial
from spacectl.spatial.backend import constant, eye, matrix, stack, vector, zeros
from spacectl.spatial.inertia import Placement
from spacectl.spatial.rotation import AXES, frame_along

__all__ = [
    "ALONG",
    "ANGLE",
    "ANGLE_RATE",
    "BALL",
    "POSITION",
    "QUATERNION",
    "RATES",
    "SLIDE",
    "TURN",
    "VELOCITY",
    "Elementary",
    "Joint",
    "JointSequence",
    "Names",
    "axis_number",
    "columns",
    "slides",
    "translations",
    "unit_vectors",
]

TURN, SLIDE, BALL = range(3)  #: kinds, as in derivatives.c

#: A frame along each coordinate axis: its third axis is the named one
ALONG: dict[str, np.ndarray] = {letter: frame_along(np.array(AXES[letter])) for letter in "xyz"}


class Elementary(NamedTuple):
    """An elementary joint: its kind, the rotation before it, its first coordinate and its first speed in the joint."""

    kind: int
    turn: np.ndarray
    q: int = 0
    v: int = 0


class JointSequence(NamedTuple):
    """A joint as a series of elementary joints, and the rotation of its frame F in the frame of the last."""

    items: tuple[Elementary, ...]
    R_EF: np.ndarray


def slides(q: int = 0, v: int = 0) -> tuple[Elementary, ...]:
    """Return translations along x, y, z; the frame of the last is ``ALONG["z"]``."""
    turns = (ALONG["x"], ALONG["x"].T @ ALONG["y"], ALONG["y"].T @ ALONG["z"])
    return tuple(Elementary(SLIDE, turn, q + k, v + k) for k, turn in enumerate(turns))


Names = tuple[tuple[str, str], ...]  # (suffix, unit) of each coordinate or speed

ANGLE: Names = (("", "rad"),)
ANGLE_RATE: Names = (("_dot", "rad/s"),)
POSITION: Names = ((".x", "m"), (".y", "m"), (".z", "m"))
VELOCITY: Names = ((".x_dot", "m/s"), (".y_dot", "m/s"), (".z_dot", "m/s"))
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

    A subclass is a frozen, keyword-only dataclass. All formulations, simulation, linearisation and reports
    use these members:

    1. `coordinates` and `speeds`, suffixes and units of q and v. A subclass with a unit quaternion in q sets `quaternion_at`.
    2. `placement`, the placement of F in J; `subspace`, the twist of F relative to J in F axes for unit speeds, S(q); `bias`,
       ``S_dot v``, unless S is constant; and `q_dot`, unless the speeds are the rates of the coordinates. Write them
       with `spacectl.spatial.backend`, for both numpy and CasADi.
    3. `numbers`, the run-time parameters, with keys other than those of body and placement ("mass", "com", "inertia",
       "at", "rotation", ...). The methods receive them as `n`.

    It may add:

    4. `structure`, if a numeric field determines the form of the motion, or a field is not plain data.
    5. `closing_names`, `closing`, `closing_side` and `effort_wrenches`: the constraint equations of a joint that closes a
       loop or is used in absolute coordinates. Without them such a use raises `ModelError`.
    6. `elements`, the joint as a sequence of elementary joints, for the native derivative recursion, and `examples`, for
       the native sweeps over joints in `JOINTS`. Without them the joint uses generated expressions.
    7. `letter`, the freedoms of the joint in types of legs such as ``"R2-P1-R3"``.
    8. `redundancies`, for redundant coordinates.

    Inherited members of 5 to 7 are valid only for the inherited motion: a subclass that overrides a method of 2 must
    define its own.

    Parameters
    ----------
    name : str
        Name of the joint and its coordinates; default: that of the body.
    """

    name: str = ""

    coordinates: ClassVar[Names] = ()
    speeds: ClassVar[Names] = ()
    quaternion_at: ClassVar[int | None] = None  # first entry of a quaternion in q
    closing_names: ClassVar[tuple[str, ...]] = ()  # names of the equations that close a loop
    letter: ClassVar[str] = ""
    is_axial: ClassVar[bool] = False  # whether F and J may be rotated so that parameter "axis" becomes their third axis

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
        """Whether it permits all motion."""
        return len(self.speeds) >= 6

    @property
    def is_fixed(self) -> bool:
        """Whether it has no motion."""
        return not self.speeds and self.motion is None

    def numbers(self) -> dict[str, Number]:
        """Return the run-time parameters of the joint."""
        return {}

    @property
    def structure(self) -> tuple[Any, ...]:
        """Fields besides motion and parameters that determine the form of its equations: here all others."""
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

        For a joint that closes a loop and has no coordinates. This default is for joints whose S is constant with
        orthonormal columns.
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
        """Return the constraint equations of the placement of F in J as residuals, named by `closing_names`.

        They must be independent and satisfied at every relative position that the joint allows.
        """
        raise ModelError(f"{self._what}: {self._kind} has no equations to close a loop; define {self._kind}.closing")

    def closing_side(self, X_JF: Placement, n: Mapping[str, Any]) -> Any:
        """Return a positive value on the intended branch, a negative one on that turned by 180 degrees."""
        return 1.0

    def elements(self, n: Mapping[str, Any]) -> JointSequence:
        """Return the joint as a sequence of elementary joints, for numeric n."""
        raise NotImplementedError

    @classmethod
    def examples(cls) -> tuple[Joint, ...]:
        """Return one joint for each `structure` with its own native step."""
        return (cls(),)

    @property
    def freedoms(self) -> str:
        """The `letter`, or the number of speeds if a subclass has changed the motion."""
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

        For joints in redundant coordinates; `name` is the name of the joint in the system.
        """
        return ()


def translations(R: Any) -> list[Any]:
    """Return the twists of F in F axes for unit velocities along the axes of J, with ``R = R_JF``."""
    return [stack(zeros(3, R), vector(R[i, 0], R[i, 1], R[i, 2])) for i in range(3)]


def unit_vectors(q: Any) -> tuple[Any, Any, Any]:
    """Return the three unit vectors, of the type of q."""
    unit = eye(3, q)
    return tuple(vector(unit[0, i], unit[1, i], unit[2, i]) for i in range(3))
