"""Checks of elements that act at points, against the system that holds them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from spacectl.core.errors import ModelError, unknown_name
from spacectl.model.elements import PointElement

if TYPE_CHECKING:
    from spacectl.model.system import System

__all__ = ["check_carriers", "check_points"]


def check_carriers(system: System) -> None:
    """Raise `ModelError` if what carries a tether is no frame, before the tree is put in order."""
    brought = [(element, element.parts()) for element in system.point_elements]
    bodies = [part.body for part in system.parts] + [body for _, parts in brought for body, _ in parts]
    frames = [f"{body.name}.{frame.name}" for body in bodies for frame in body.frames]
    known = [*system.environment.root_names, *sorted([*(body.name for body in bodies), *frames])]
    for element, parts in brought:
        for _, place in parts:
            if place["on"] not in known:
                raise ModelError(f"tether '{element.name}': on names an {unknown_name('frame', place['on'], known)}")


def check_points(element: PointElement, frames: Iterable[str]) -> None:
    """Raise `ModelError` if the element ends on an unknown frame, or with both ends at one place of it."""
    what = f"element '{element.name}'"
    known = sorted(frames)
    for frame, _ in element.points:
        if not isinstance(frame, str) or frame not in known:
            raise ModelError(f"{what}: it ends on an {unknown_name('frame', frame, known)}")
    places = [(frame, getattr(element, key, None)) for frame, key in element.points]
    if len(places) == 2 and places[0] == places[1]:
        raise ModelError(f"{what}: both its ends are at the same point of '{places[0][0]}'; move one of them")
