"""Passive elements in joints: springs, dampers, and what couples several joints.

An element names the joint speeds that it acts on and gives their efforts from coordinates and speeds. To add one, write
a class like its neighbour and list it in `ELEMENTS`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from spacectl.core.array import as_scalar
from spacectl.core.errors import ModelError
from spacectl.model.description import Number, always, check_name, set_field

__all__ = ["ELEMENTS", "Element", "JointElement", "JointSpring"]


@dataclass(frozen=True, kw_only=True)
class Element:
    """Base of everything in ``System(elements=...)``: a name, and what it acts on.

    Parameters
    ----------
    name : str
        Unique; its numbers are named after it.
    """

    name: str = ""

    @property
    def ends(self) -> tuple[tuple[str, str], ...]:
        """What it acts on, in pairs whose meaning the kind decides."""
        return ()

    @property
    def structure(self) -> tuple[Any, ...]:
        """What besides its kind, ends and numbers decides the form of its efforts."""
        return ()

    def numbers(self) -> dict[str, Number]:
        """Run-time numbers."""
        return {}

    @property
    def has_kinks(self) -> bool:
        """Whether its forces have kinks or jumps that a simulation must locate."""
        return False

    def _symbols(self) -> dict[str, Any]:
        """Its numbers as symbols."""
        return {key: ca.SX.sym(key, number.value.size) for key, number in self.numbers().items()}


@dataclass(frozen=True, kw_only=True)
class JointElement(Element):
    """Base of what acts on joint speeds: `ends` are pairs (joint, component), component empty for a joint with one speed."""

    def efforts(self, q: Sequence[Any], v: Sequence[Any], n: Mapping[str, Any]) -> list[Any]:
        """Generalised force on each of its speeds; an entry of q is None where a speed is no coordinate's rate."""
        raise NotImplementedError

    @property
    def has_kinks(self) -> bool:
        q, v = ([ca.SX.sym("s") for _ in self.ends] for _ in range(2))
        return bool(self.kinks(q, v, self._symbols()))

    def kinks(self, q: Sequence[Any], v: Sequence[Any], n: Mapping[str, Any]) -> list[Any]:
        """Expressions that pass through zero where its efforts, or their derivatives, jump: steps end there."""
        return []

    def potential(self, q: Sequence[Any], n: Mapping[str, Any]) -> Any:
        """Stored energy [J]."""
        return 0.0


@dataclass(frozen=True, kw_only=True)
class JointSpring(JointElement):
    """Spring and damper in a joint: effort ``-k (q - rest) - k3 (q - rest)^3 - d q_dot``.

    Parameters
    ----------
    joint : str
        The joint.
    component : str
        For a joint with several speeds, which one, as in the speed's name (``"slide_dot"``, ``"wx"``).
    stiffness, cubic : float
        [N m/rad or N/m] and [N m/rad^3 or N/m^3]; not for the rates of a quaternion, which can only be damped.
    damping : float
        [N m s/rad or N s/m], not negative.
    rest : float
        Coordinate at which the spring is free.

    Examples
    --------
    >>> JointSpring(joint="hinge", stiffness=10.0, damping=0.5).name
    'hinge_spring'
    """

    joint: str
    component: str = ""
    stiffness: float = 0.0
    cubic: float = 0.0
    damping: float = 0.0
    rest: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.joint, str) or not self.joint:
            raise ModelError(f"JointSpring: joint is {self.joint!r}, expected the name of a joint")
        if self.name:
            check_name(self.name, "JointSpring")
        else:
            set_field(self, "name", "_".join(filter(None, (self.joint, self.component, "spring"))))
        for key in ("stiffness", "cubic", "damping", "rest"):
            set_field(self, key, as_scalar(getattr(self, key), f"spring '{self.name}': {key}"))
        if self.damping < 0.0:
            raise ModelError(f"spring '{self.name}': damping is {self.damping:g}, expected 0 or more")

    @property
    def ends(self) -> tuple[tuple[str, str], ...]:
        return ((self.joint, self.component),)

    @property
    def has_spring(self) -> bool:
        """Whether it needs a coordinate."""
        return self.stiffness != 0.0 or self.cubic != 0.0

    def numbers(self) -> dict[str, Number]:
        keys = ("stiffness", "cubic", "damping", "rest") if self.has_spring else ("damping",)
        return {key: always(getattr(self, key)) for key in keys}

    def efforts(self, q: Sequence[Any], v: Sequence[Any], n: Mapping[str, Any]) -> list[Any]:
        effort = -n["damping"] * v[0]
        if self.has_spring:
            stretch = q[0] - n["rest"]
            effort = effort - n["stiffness"] * stretch - n["cubic"] * stretch**3
        return [effort]

    def potential(self, q: Sequence[Any], n: Mapping[str, Any]) -> Any:
        if not self.has_spring:
            return 0.0
        stretch = q[0] - n["rest"]
        return 0.5 * n["stiffness"] * stretch**2 + 0.25 * n["cubic"] * stretch**4


ELEMENTS: dict[str, type[JointElement]] = {"JointSpring": JointSpring}
