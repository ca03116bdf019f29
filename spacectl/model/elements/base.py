"""The base of all elements, and of those that act on joint speeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from spacectl.model.description import Number

__all__ = ["Element", "JointElement"]


@dataclass(frozen=True, kw_only=True)
class Element:
    """Base of the entries of ``System(elements=...)``.

    A subclass is a frozen, keyword-only dataclass derived from `JointElement`, which acts on joint speeds, or from
    `PointElement`, which acts at points of bodies.

    Parameters
    ----------
    name : str
        Unique name, also of its parameters.
    """

    name: str = ""

    @property
    def ends(self) -> tuple[tuple[str, str], ...]:
        """Joints or points on which it acts, as pairs that subclasses define."""
        return ()

    @property
    def structure(self) -> tuple[Any, ...]:
        """Data besides class, ends and parameters that determine the form of its efforts."""
        return ()

    def numbers(self) -> dict[str, Number]:
        """Return the run-time parameters by key."""
        return {}

    def brings(self, parts: tuple[Any, ...]) -> tuple[tuple[Any, dict[str, Any]], ...]:
        """Return the bodies that it adds to the parts of a system, each with the fields of its `Part`."""
        return ()

    @property
    def has_kinks(self) -> bool:
        """Whether its forces have kinks or jumps that a simulation must locate."""
        return False

    def _symbols(self) -> dict[str, Any]:
        """Return its parameters as symbols."""
        return {key: ca.SX.sym(key, number.value.size) for key, number in self.numbers().items()}


@dataclass(frozen=True, kw_only=True)
class JointElement(Element):
    """Base of elements on joint speeds: `ends` are pairs (joint, component), with an empty component for one speed."""

    def efforts(self, q: Sequence[Any], v: Sequence[Any], n: Mapping[str, Any]) -> list[Any]:
        """Return the generalised force on each speed; an entry of q is None where a speed is no coordinate's rate."""
        raise NotImplementedError

    @property
    def has_kinks(self) -> bool:
        q, v = ([ca.SX.sym("s") for _ in self.ends] for _ in range(2))
        return bool(self.kinks(q, v, self._symbols()))

    def kinks(self, q: Sequence[Any], v: Sequence[Any], n: Mapping[str, Any]) -> list[Any]:
        """Return expressions that cross zero at discontinuities of efforts or their derivatives."""
        return []

    def potential(self, q: Sequence[Any], n: Mapping[str, Any]) -> Any:
        """Return the stored energy [J]."""
        return 0.0
