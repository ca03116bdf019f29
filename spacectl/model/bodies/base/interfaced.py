"""`Interfaced`: interfaces of a flexible body, and its shapes relative to its joint."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.model.bodies.base.body import Frame
from spacectl.model.bodies.base.interfaces import (
    ROOT_INTERFACE,
    Compliance,
    FrameShapes,
    join_interfaces,
    measure_from,
    read_interfaces,
)
from spacectl.model.bodies.base.modal_integrals import ModalPoints
from spacectl.model.description import set_field

__all__ = ["ChoosesBasis", "Interfaced"]


class Interfaced:
    """Base of flexible bodies: interfaces and shapes."""

    name: str
    frames: tuple[Frame, ...]
    interfaces: Any = ()

    @property
    def _what(self) -> str:
        return f"{type(self).__name__} '{self.name}'"

    def own_material(self) -> ModalPoints:
        """Return the material points with their shapes, as the body describes them."""
        raise NotImplementedError

    @property
    def elasticity(self) -> np.ndarray:
        """Stiffness matrix (m, m)."""
        raise NotImplementedError

    def own_shapes(self, position: np.ndarray) -> FrameShapes | None:
        """Return the shapes at a place of the undeformed body (body axes), or None if they are not known there.

        Here those of the material point at `position` (within 1e-9 of the body's size).
        """
        points = self.own_material()
        distance = np.linalg.norm(points.X - position, axis=1)
        i = int(np.argmin(distance))
        if distance[i] > 1e-9 * max(float(np.max(np.abs(points.X))), 1e-300):
            return None
        return FrameShapes(points.Phi[i], points.Psi[i], points.G[i], points.H[i])

    @cached_property
    def material(self) -> ModalPoints:
        """Material points with their shapes, relative to the slice attached to the joint."""
        own = self.own_material()
        moved = self.from_root(own.X, FrameShapes(own.Phi, own.Psi, own.G, own.H))
        return replace(own, Phi=moved.Phi, Psi=moved.Psi, G=moved.G, H=moved.H)

    def shapes_at(self, position: np.ndarray) -> FrameShapes | None:
        """Return the shapes at a place of the undeformed body (body axes), or None if they are not known there."""
        found = self.own_shapes(position)
        if found is None or self._root_shapes is None:
            return found
        one = FrameShapes(found.Phi[None], found.Psi[None], found.G[None], found.H[None])
        moved = self.from_root(np.asarray(position, dtype=float)[None], one)
        return FrameShapes(moved.Phi[0], moved.Psi[0], moved.G[0], moved.H[0])

    def from_root(self, X: np.ndarray, fields: FrameShapes) -> FrameShapes:
        """Return the shapes at X (n, 3), relative to the slice at the body's frame if it is at the joint."""
        return fields if self._root_shapes is None else measure_from(self._root_shapes, X, fields)

    @cached_property
    def _root_shapes(self) -> FrameShapes | None:
        """Shapes at the body's frame, if they do not vanish at its joint: a pinned or free end."""
        if ROOT_INTERFACE not in self.interface_directions or self.basis == "interface":
            return None
        return self.own_shapes(np.zeros(3))

    @property
    def basis(self) -> str:
        """Source of the shapes."""
        return "given"

    @property
    def chooses_shapes(self) -> bool:
        """Whether the system determines the interfaces: shapes depend on them and the user gave none."""
        return False

    @property
    def shapes_needed(self) -> str:
        """Numbers of shapes that make the static compliance at all interfaces exact."""
        return "more shapes"

    @property
    def interface_directions(self) -> dict[str, tuple[str, ...]]:
        """Directions that each interface transmits (see `model.bodies.base.interfaces`)."""
        return read_interfaces(self.interfaces, [frame.name for frame in self.frames], self._what)

    @property
    def carries(self) -> bool:
        """Whether anything is attached to the body, apart from its own joint."""
        return any(name != ROOT_INTERFACE for name in self.interface_directions)

    def interface_point(self, position: np.ndarray) -> np.ndarray:
        """Return the reference point of the interface at a place: that of the slice that carries it."""
        return position

    @property
    def compliances(self) -> tuple[Compliance, ...]:
        """Static compliance at the interfaces, exact and with the body's shapes; empty where the exact one is not known."""
        return ()

    def with_interfaces(self, interfaces: tuple[str, ...]) -> Self:
        """Return the body with other interfaces."""
        if all(item.name != "interfaces" for item in fields(self)):  # type: ignore[arg-type]
            raise ModelError(
                f"{self._what}: its shapes do not vanish at its joint; add a field interfaces: Any = () to "
                f"{type(self).__name__}, so that they are measured from the joint"
            )
        return replace(self, interfaces=interfaces)  # type: ignore[type-var]

    def check_interfaces(self) -> None:
        """Store the interfaces in their canonical form; raise `ModelError` for unknown frames or directions."""
        set_field(self, "interfaces", join_interfaces(self.interface_directions))


class ChoosesBasis(Interfaced):
    """Base of bodies whose field `shapes` names a basis, is ``"auto"``, or holds functions."""

    shapes: Any

    @property
    def basis(self) -> str:
        """Source of the shapes: ``"interface"``, ``"functions"`` or another value of `shapes`."""
        if self.shapes != "auto":
            return self.shapes if isinstance(self.shapes, str) else "functions"
        return "interface" if self.carries and self.chooses_shapes else "modes"
