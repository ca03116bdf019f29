"""Checks of a `Plate`'s data and its named frames. Each error names the plate, what was given and what is allowed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.model.bodies.base.body import Frame
from spacectl.model.bodies.surface.ritz import EDGES
from spacectl.model.description import is_count, members, set_field, set_scalars

__all__ = ["check_plate", "check_stretchable", "move_frames", "plate_frames"]


def check_plate(plate: Any) -> None:
    """Raise `ModelError` for the first invalid field."""
    what = f"Plate '{plate.name}'"
    set_scalars(plate, what, "length", "width", "thickness", "mass", sign="positive")
    if not -1.0 < plate.nu <= 0.5:
        raise ModelError(f"{what}: nu is {plate.nu:g}, expected more than -1 and at most 0.5")
    if plate.thickness > 0.25 * min(plate.length, plate.width):
        raise ModelError(
            f"{what}: thickness {plate.thickness:g} m is not small compared with {plate.length:g} x {plate.width:g} m; "
            "check units: the thickness of a thin plate is at most a quarter of its width"
        )
    _check_stiffness(plate, what)
    edges = (plate.edges,) if isinstance(plate.edges, str) else tuple(plate.edges)
    if len(edges) != 4 or any(not isinstance(edge, str) or edge not in EDGES for edge in edges):
        raise ModelError(
            f"{what}: edges is {plate.edges!r}, expected four of {', '.join(EDGES)} (at x = 0, x = length, y low, y high)"
        )
    set_field(plate, "edges", edges)
    _check_counts(plate, what)
    if plate.shortening not in ("energy", "line"):
        raise ModelError(f"{what}: shortening is {plate.shortening!r}, expected 'energy' or 'line'")
    if plate.order == "strain":
        raise ModelError(f"{what}: order 'strain' needs the extension of a Beam; use 'consistent'")


def _check_stiffness(plate: Any, what: str) -> None:
    for key in ("bending_stiffness", "stretch_stiffness"):
        if getattr(plate, key) is not None:
            set_scalars(plate, what, key, sign="positive")
    if plate.stretch_stiffness is None and not plate.E > 0.0:
        raise ModelError(
            f"{what}: E is {plate.E:g} Pa, expected a positive number (or give the stiffnesses themselves)"
        )


def _check_counts(plate: Any, what: str) -> None:
    if isinstance(plate.modes, (tuple, list)):
        pairs = tuple(tuple(pair) if isinstance(pair, (tuple, list)) else (pair,) for pair in plate.modes)
        is_right = all(len(pair) == 2 and all(is_count(n) and n >= 1 for n in pair) for pair in pairs)
        if plate.shapes != "products" or not pairs or not is_right:
            raise ModelError(
                f"{what}: modes is {plate.modes!r}; pairs (i, j) from 1 number products of beam functions "
                "and need shapes='products'"
            )
        set_field(plate, "modes", tuple((int(i), int(j)) for i, j in pairs))
    elif not is_count(plate.modes) or plate.modes < 1:
        raise ModelError(f"{what}: modes is {plate.modes!r}, expected a positive number")
    if not is_count(plate.membrane) or plate.membrane < 0:
        raise ModelError(f"{what}: membrane is {plate.membrane!r}, expected a number of shapes, 0 or more")
    if not is_count(plate.terms) or not 6 <= plate.terms <= 24:
        raise ModelError(f"{what}: terms is {plate.terms!r}, expected 6 to 24 polynomials")
    most = (plate.terms - 4) ** 2
    if plate.shapes in ("auto", "interface", "modes") and plate.modes > most:
        raise ModelError(
            f"{what}: {plate.modes} modes are more than {plate.terms} polynomials can give ({most}); raise terms"
        )


def check_stretchable(plate: Any) -> None:
    """Raise `ModelError` if functions, which are fitted over the old size only, prevent another size."""
    if isinstance(plate.shapes, tuple):
        raise ModelError(
            f"Plate '{plate.name}': its shapes are functions, fitted over {plate.length:g} x {plate.width:g} "
            "m; define a new plate of another size and form its equations"
        )


def move_frames(frames: tuple[Frame, ...], length: float, width: float) -> tuple[Frame, ...]:
    """Move frames named after a place to that place of a plate of another size; do not move others."""
    places = _places(length, width)
    return tuple(replace(item, at=places[item.name]) if item.name in places else item for item in frames)


def _places(length: float, width: float) -> dict[str, tuple[float, float, float]]:
    half = 0.5 * width
    return {
        "tip": (length, 0.0, 0.0),
        "left": (0.5 * length, half, 0.0),
        "right": (0.5 * length, -half, 0.0),
        "corner_left": (length, half, 0.0),
        "corner_right": (length, -half, 0.0),
    }


def plate_frames(plate: Any) -> tuple[Frame, ...]:
    """Return the frames with named places resolved, and ``"tip"`` in the middle of the edge x = length."""
    what, places = f"Plate '{plate.name}'", _places(plate.length, plate.width)
    given = []
    for item in (plate.frames,) if isinstance(plate.frames, (str, Frame)) else plate.frames:
        if isinstance(item, str):
            if item not in places:
                raise ModelError(
                    f"{what}: frames has the name {item!r}, expected one of {', '.join(places)} or a Frame"
                )
            item = Frame(name=item, at=places[item])
        given.append(item)
    frames = members(given, Frame, what, "frames")
    for frame in frames:
        at = np.asarray(frame.at)
        if frame.name in places and np.max(np.abs(at - places[frame.name])) > 1e-9 * max(plate.length, plate.width):
            raise ModelError(
                f"{what}: frame '{frame.name}' is at {at.tolist()}, but that name belongs to "
                f"{list(places[frame.name])}; omit it (in replace(plate, length=...) also pass frames=()), "
                "or choose another name"
            )
    has_tip = any(frame.name == "tip" for frame in frames)
    return frames if has_tip else (*frames, Frame(name="tip", at=places["tip"]))
