"""`Loop`: a kinematic loop closed by a joint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from spacectl.core.errors import ModelError
from spacectl.core.provenance import class_key
from spacectl.model.constraints.frame import FrameConstraint
from spacectl.model.description import Number
from spacectl.model.joints import Joint
from spacectl.spatial.inertia import Placement

__all__ = ["JointLoop", "Loop"]


@dataclass(frozen=True, kw_only=True)
class Loop(FrameConstraint):
    """A loop closed by a joint: F on `b` moves relative to J on `a` as the joint allows.

    Parameters
    ----------
    joint : Joint
        Any joint but `Free`; it has no coordinates here.

    Examples
    --------
    >>> from spacectl import Revolute
    >>> Loop(name="closure", a="world", b="rocker.end", at_a=(2, 0, 0), joint=Revolute(axis="z")).n_rows
    5
    """

    joint: Joint

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.joint, Joint):
            raise ModelError(f"{self._what}: joint is {self.joint!r}, expected a joint such as Revolute(axis='z')")
        kind = type(self.joint)
        if self.joint.is_free:
            raise ModelError(f"{self._what}: a {kind.__name__} joint has no constraint equations; use another joint")
        if not self.joint.closing_names or not all(kind.owns(key) for key in ("closing", "closing_names")):
            raise ModelError(
                f"{self._what}: {kind.__name__} joints have no equations to close a loop; define closing_names and closing in "
                f"{kind.__name__}, or open the loop at another joint"
            )
        if self.joint.motion is not None:
            raise ModelError(
                f"{self._what}: the motion of a joint that closes a loop cannot be prescribed; open the loop at another joint"
            )

    def numbers(self) -> dict[str, Number]:
        return {**super().numbers(), **self.joint.numbers()}

    @property
    def row_names(self) -> tuple[str, ...]:
        return self.joint.closing_names

    @property
    def structure(self) -> tuple[Any, ...]:
        return (self.a, self.b, class_key(type(self.joint)), *self.joint.structure)

    @property
    def closing_joint(self) -> Joint:
        return self.joint

    @property
    def closes_as(self) -> str:
        return self.joint.freedoms

    def rows(self, X_JF: Placement, n: Mapping[str, Any]) -> Any:
        return self.joint.closing(X_JF, n)

    def side(self, X_JF: Placement, n: Mapping[str, Any]) -> Any:
        return self.joint.closing_side(X_JF, n)


@dataclass(frozen=True, kw_only=True)
class JointLoop(Loop):
    """The loop that represents a joint in absolute coordinates (`as_absolute`): always active.

    Its compliance is zero, so that redundant constraints share their load as in joint coordinates, where joints of the
    tree have no constraint equations.
    """

    compliance: Any = (0.0,)
    is_permanent: ClassVar[bool] = True
