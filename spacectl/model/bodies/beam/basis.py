"""The shapes of a `Beam` for each kind of deformation: bending along y and z, torsion, extension.

Shapes along x are computed from section properties, end conditions and interfaces, with the modal masses for
damping ratios and the static compliance at the interfaces. `beam` combines all kinds. Bodies that differ in
their names only share cached results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache, wraps
from typing import Any, TypeVar

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.model.bodies.base.interfaces import ROOT_INTERFACE, Compliance, balanced_loads, static_compliances
from spacectl.model.bodies.base.profile import as_function
from spacectl.model.bodies.beam.shapes import (
    ENDS,
    LineShape,
    LineSpace,
    bending_space,
    end_rows,
    interface_shapes,
    line_space,
    mode_shapes,
    power_shapes,
)

__all__ = ["BeamKind", "beam_kinds", "remembered"]

_RECENT = 64  # bodies with cached results

Result = TypeVar("Result")


class _Content:
    """A body as a key: all of its fields except the name, and its interfaces."""

    def __init__(self, body: Any):
        own = tuple(getattr(body, item.name) for item in fields(body) if item.name != "name")
        self.body, self.key = body, (type(body), own, body.basis, tuple(body.interface_directions.items()))

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Content) and self.key == other.key


def remembered(compute: Callable[[Any], Result]) -> Callable[[Any], Result]:
    """Cache `compute` by the content of a body; callers must not change the result."""

    @lru_cache(maxsize=_RECENT)
    def known(content: _Content) -> Result:
        return compute(content.body)

    @wraps(compute)
    def call(body: Any) -> Result:
        content = _Content(body)
        try:
            hash(content)
        except TypeError:  # an unhashable field such as a list
            return compute(body)
        return known(content)

    return call


#: Directions of an interface that each kind of deformation moves: (w, turn)
_DIRECTIONS: dict[str, tuple[str, ...]] = {
    "bending y": ("y", "rz"),
    "bending z": ("z", "ry"),
    "torsion": ("rx",),
    "extension": ("x",),
}


@dataclass(frozen=True)
class BeamKind:
    """Shapes of one kind of deformation.

    Parameters
    ----------
    name : str
        ``"bending y"``, ``"bending z"``, ``"torsion"`` or ``"extension"``.
    shapes : tuple of LineShape
        Along x.
    mass : array (n,) or None
        Modal masses for frequencies and damping ratios; None: those with the body's frame fixed.
    space : LineSpace
        Trial functions of exact static shapes.
    """

    name: str
    shapes: tuple[LineShape, ...]
    mass: np.ndarray | None
    space: LineSpace

    def n_static(self, interfaces: Mapping[str, tuple[str, ...]], places: Mapping[str, float]) -> int:
        """Return the number of static shapes under loads at the interfaces that the root can balance."""
        free, loads, _ = _loads(self.name, interfaces, places)
        rows = np.array([self.space.row(place, k)[free] for place, k in loads]).reshape(len(loads), len(free))
        return balanced_loads(rows).shape[1]

    def compliances(
        self, interfaces: Mapping[str, tuple[str, ...]], places: Mapping[str, float], K: np.ndarray
    ) -> tuple[Compliance, ...]:
        """Return the static compliance at the interfaces, exact and with these shapes, whose stiffness is K (n, n)."""
        free, loads, names = _loads(self.name, interfaces, places)
        if not loads:
            return ()
        space, n = self.space, self.space.n_rigid
        rows = np.array([space.row(place, k) for place, k in loads])
        model = np.array([[shape.value(place, k) for shape in self.shapes] for place, k in loads])
        return static_compliances(names, space.K[n:, n:], rows[:, n:], rows[:, free], model, K)


@remembered
def beam_kinds(beam: Any) -> tuple[BeamKind, ...]:
    """Return all kinds that a beam has, in the order of its modal coordinates."""
    counts = beam.modes if isinstance(beam.modes, tuple) else (beam.modes,) * len(beam.bending)
    wanted = [(f"bending {direction}", n) for direction, n in zip(beam.bending, counts, strict=True)]
    wanted += [(key, getattr(beam, key)) for key in ("torsion", "extension") if getattr(beam, key)]
    return tuple(_kind(beam, name, n) for name, n in wanted)


def _kind(beam: Any, name: str, n: int) -> BeamKind:
    loaded = {place for place, _ in _loads(name, beam.interface_directions, beam.frame_places)[1]}
    space = _space(beam, name, n, sorted(place for place in loaded if place < beam.length * (1.0 - 1e-9)))
    if beam.basis == "interface":
        free, loads, _ = _loads(name, beam.interface_directions, beam.frame_places)
        shapes, mass = interface_shapes(space, n, free, loads)
        return BeamKind(name, tuple(shapes), mass, space)
    return BeamKind(name, tuple(_own_shapes(beam, name, n, _space(beam, name, n))), None, space)


def _loads(
    name: str, interfaces: Mapping[str, tuple[str, ...]], places: Mapping[str, float]
) -> tuple[list[int], list[tuple[float, int]], list[str]]:
    """Return rigid motions left free by the root, and loads at other interfaces: forces first, far ones first."""
    keys = _DIRECTIONS[name]
    root = interfaces.get(ROOT_INTERFACE, ())
    free = [k for k, key in enumerate(keys) if key not in root]
    loads = [
        (k, -places[frame], frame)
        for frame, directions in interfaces.items()
        for k, key in enumerate(keys)
        if frame != ROOT_INTERFACE and key in directions and places[frame] > 0.0
    ]
    distinct = {
        (k, -minus): frame for k, minus, frame in sorted(loads, reverse=True)
    }  # one of frames at the same place
    ordered = sorted(distinct, key=lambda item: (item[0], -item[1]))
    return free, [(place, k) for k, place in ordered], [f"{distinct[item]}.{keys[item[0]]}" for item in ordered]


def _space(beam: Any, name: str, n: int, breaks: Sequence[float] = ()) -> LineSpace:
    rotary = np.asarray(beam.rotary)
    if name.startswith("bending"):
        k = "yz".index(name[-1])
        inertia = float(rotary[2 - k])
        return bending_space(
            beam.length,
            n,
            EI=beam.property_functions("EI")[k],
            mass=beam.density,
            rotary=as_function(inertia, "rotary") if inertia else None,
            GA=beam.property_functions("GA")[k],
            tension=beam.tension,
            breaks=breaks,
        )
    if name == "torsion":
        GJ, warping = beam.property_functions("GJ")[0], beam.property_functions("warping")[0]
        polar: Any = as_function(float(rotary[0]), "rotary")
        return line_space(beam.length, n, stiffness=GJ, inertia=polar, warping=warping, breaks=breaks)
    return line_space(beam.length, n, stiffness=beam.property_functions("EA")[0], inertia=beam.density, breaks=breaks)


def _own_shapes(beam: Any, name: str, n: int, space: LineSpace) -> list[LineShape]:
    """Return shapes independent of interfaces: modes of the end conditions, polynomials or user functions (bending)."""
    ends, inertia = (beam.root, beam.tip), np.broadcast_to(np.asarray(beam.tip_inertia), (3,))
    if name == "torsion":
        held = [(place, 0) for end, place in zip(ends, (0.0, beam.length), strict=True) if ENDS[end][1]]
        if beam.warping is not None:  # a fixed end does not warp
            held += [(place, 1) for place, _ in held]
        return mode_shapes(space, n, held, (float(inertia[0]), 0.0))
    if name == "extension":
        held = [(place, 0) for end, place in zip(ends, (0.0, beam.length), strict=True) if ENDS[end][0]]
        return mode_shapes(space, n, held, (beam.tip_mass, 0.0))
    if isinstance(beam.shapes, tuple):
        if len(beam.shapes) < n:
            raise ModelError(f"Beam '{beam.name}': {len(beam.shapes)} shape functions for {n} modes; give one for each")
        return [LineShape(curve.polynomial, curve.polynomial.deriv()) for curve in beam.shapes[:n]]
    if beam.shapes == "polynomials":
        return power_shapes(beam.length, n, ends, f"Beam '{beam.name}'")
    about = float(inertia[2 - "yz".index(name[-1])])
    return mode_shapes(space, n, end_rows(ends, beam.length), (beam.tip_mass, about))
