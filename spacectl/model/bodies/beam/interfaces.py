"""Checks of the data of a `Beam`, and its interfaces with the source of their shapes.

Each error names the beam, what was given and what is allowed.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh

from spacectl.core.errors import ModelError
from spacectl.model.bodies.base.body import Frame
from spacectl.model.bodies.base.interfaced import ChoosesBasis
from spacectl.model.bodies.base.interfaces import Compliance
from spacectl.model.bodies.base.profile import Curve, Profile
from spacectl.model.bodies.beam.basis import BeamKind, beam_kinds
from spacectl.model.bodies.beam.shapes import ENDS
from spacectl.model.description import is_count, set_field

__all__ = ["BeamInterfaces", "check_beam", "check_segments", "with_tip"]


class BeamInterfaces(ChoosesBasis):
    """Shapes and interfaces of a beam."""

    bending: tuple[str, ...]
    EI: Any
    root: str
    tip: str
    tip_mass: float
    tip_inertia: Any
    elasticity: Any

    @property
    def chooses_shapes(self) -> bool:
        has_own_ends = (self.root, self.tip) != ("clamped", "free") or self.tip_mass or np.any(self.tip_inertia)
        is_string = self.bending and not self.EI  # a string has no rotation for attachments
        is_open = self.shapes == "auto" and not has_own_ends and not is_string
        return is_open or (self.shapes == "interface" and not self.interfaces)

    @property
    def shapes_needed(self) -> str:
        """Numbers of shapes that make the static compliance at all interfaces exact."""
        needed = {kind.name: kind.n_static(self.interface_directions, self.frame_places) for kind in self.kinds}
        bending = [n for name, n in needed.items() if name.startswith("bending")]
        counts = {
            "modes": max(bending, default=0),
            "torsion": needed.get("torsion"),
            "extension": needed.get("extension"),
        }
        return ", ".join(f"{key}={n}" for key, n in counts.items() if n)

    @cached_property
    def kinds(self) -> tuple[BeamKind, ...]:
        """Shapes of bending, torsion and extension."""
        return beam_kinds(self)

    @property
    def frame_places(self) -> dict[str, float]:
        """Place of each frame along the beam [m]."""
        return {frame.name: float(np.asarray(frame.at)[0]) for frame in self.frames}

    def interface_point(self, position: np.ndarray) -> np.ndarray:
        return np.array([position[0], 0.0, 0.0])

    @property
    def kind_slices(self) -> tuple[slice, ...]:
        """Place of each kind of deformation among the modal coordinates."""
        counts = [len(kind.shapes) for kind in self.kinds]
        ends = np.cumsum(counts)
        return tuple(slice(int(end - n), int(end)) for n, end in zip(counts, ends, strict=True))

    @property
    def lowest_frequencies(self) -> tuple[float, ...]:
        """Lowest natural frequency of each kind of deformation [rad/s]."""
        K, M = self.elasticity, self.mode_mass
        pairs = ((K[own, own], M[own, own]) for own in self.kind_slices)
        return tuple(float(np.sqrt(np.min(eigvalsh(*pair)))) for pair in pairs)

    @cached_property
    def compliances(self) -> tuple[Compliance, ...]:
        places = (self.interface_directions, self.frame_places)
        pairs = zip(self.kinds, self.kind_slices, strict=True)
        return tuple(item for kind, own in pairs for item in kind.compliances(*places, self.elasticity[own, own]))

    @cached_property
    def mode_mass(self) -> np.ndarray:
        if not all(kind.mass is not None for kind in self.kinds):
            return super().mode_mass  # type: ignore[misc]
        return np.diag(np.concatenate([kind.mass for kind in self.kinds]))


MOST_SEGMENTS = 10_000  # with more, forming equations takes hours

SHAPES = ("auto", "interface", "modes", "polynomials")  #: names of bases


def check_beam(beam: Any) -> None:
    """Raise `ModelError` for the first invalid field."""
    what = f"Beam '{beam.name}'"
    if any(direction not in ("y", "z") for direction in beam.bending) or len(set(beam.bending)) < len(beam.bending):
        raise ModelError(f"{what}: bending is {beam.bending!r}, expected directions 'y', 'z' or both, once each")
    for key in ("root", "tip"):
        if not isinstance(getattr(beam, key), str) or getattr(beam, key) not in ENDS:
            raise ModelError(f"{what}: {key} is {getattr(beam, key)!r}, expected one of {', '.join(ENDS)}")
    counts = beam.modes if isinstance(beam.modes, (tuple, list)) else (beam.modes,) * len(beam.bending)
    if len(counts) != len(beam.bending) or any(not is_count(n) or n < 1 for n in counts):
        raise ModelError(
            f"{what}: modes is {beam.modes!r}, expected a positive number (one for each of {beam.bending})"
        )
    is_series = isinstance(beam.modes, (tuple, list))
    set_field(beam, "modes", tuple(int(n) for n in counts) if is_series else int(beam.modes))
    for key in ("torsion", "extension"):
        if not is_count(getattr(beam, key)) or getattr(beam, key) < 0:
            raise ModelError(f"{what}: {key} is {getattr(beam, key)!r}, expected a number of shapes, 0 or more")
        set_field(beam, key, int(getattr(beam, key)))
    for key, needs in (("bending", "EI"), ("torsion", "GJ"), ("extension", "EA")):
        if getattr(beam, key) and any(value is None for value in beam.property_functions(needs)):
            raise ModelError(f"{what}: {key} needs the stiffness {needs}; set {needs}=...")
    if not beam.bending and not beam.torsion and not beam.extension:
        raise ModelError(f"{what}: no shapes; request bending, torsion or extension, or use RigidBody")
    if beam.order == "strain" and not beam.extension:
        raise ModelError(f"{what}: order 'strain' couples bending to extension; request extension shapes")
    for key in ("mass", "EI", "EA", "GJ", "GA", "warping", "shapes"):
        value = getattr(beam, key)
        for item in value if isinstance(value, tuple) else (value,):
            if key == "shapes" and not isinstance(item, Curve) and item not in SHAPES:
                raise ModelError(f"{what}: shapes is {item!r}, expected {', '.join(SHAPES)} or functions of x")
            _check_cover(item, beam.length, f"{what}: {key}")
    for key in ("EI", "EA", "GJ", "GA", "warping"):
        for value in beam.property_functions(key):
            x = np.linspace(0.0, beam.length, 33)
            lowest = None if value is None else float(np.min(value(x)))
            is_string = key == "EI" and beam.tension > 0.0
            if lowest is not None and not (lowest > 0.0 or (is_string and lowest == 0.0) or not _uses(beam, key)):
                raise ModelError(f"{what}: {key} is {lowest:g} somewhere, expected positive stiffness")
    lightest = float(np.min(beam.density(np.linspace(0.0, beam.length, 33))))
    if not lightest > 0.0:
        raise ModelError(f"{what}: mass is {lightest:g} kg/m somewhere, expected a positive mass all along the beam")
    if np.min(np.asarray(beam.rotary)) < 0.0:
        raise ModelError(f"{what}: rotary is {np.asarray(beam.rotary).tolist()}, expected 0 or more")
    if beam.torsion and not np.asarray(beam.rotary)[0] > 0.0:
        raise ModelError(f"{what}: torsion needs inertia of the slices about x; set rotary=(rho J, ..., ...)")


def check_segments(beam: Any) -> None:
    """Raise `ModelError` for an invalid number of segments, and for fields that segments do not support."""
    what = f"Beam '{beam.name}'"
    if not is_count(beam.segments) or beam.segments < 1:
        raise ModelError(f"{what}: segments is {beam.segments!r}, expected a positive number of pieces")
    if beam.segments == 1:
        return
    if beam.segments > MOST_SEGMENTS:
        raise ModelError(f"{what}: segments is {beam.segments}, expected {MOST_SEGMENTS} at most")
    has_own_ends = (beam.root, beam.tip) != ("clamped", "free") or beam.tip_mass or np.any(beam.tip_inertia)
    if has_own_ends or isinstance(beam.shapes, tuple):
        raise ModelError(
            f"{what}: segments do not support end conditions, tip body or shape functions; omit root, tip, tip_mass, "
            "tip_inertia and shapes"
        )
    alpha = getattr(beam.damping, "alpha", 0.0)
    if np.ndim(beam.damping) or alpha:
        raise ModelError(
            f"{what}: with segments, damping is one ratio (of the lowest mode) or Proportional(beta=...); ratios for several "
            "modes, matrices and alpha require a single segment"
        )


def check_stretchable(beam: Any) -> None:
    """Raise `ModelError` if functions of x, which are fitted over the old length only, prevent another length."""
    for key in ("shapes", "mass", "EI", "EA", "GJ", "GA", "warping"):
        value = getattr(beam, key)
        if any(isinstance(item, Curve) for item in (value if isinstance(value, tuple) else (value,))):
            raise ModelError(
                f"Beam '{beam.name}': {key} is a function of x, fitted over its {beam.length:g} m; define a "
                "new beam of another length and form its equations"
            )


def with_tip(frames: tuple[Frame, ...], length: float, what: str) -> tuple[Frame, ...]:
    """Return the frames, with ``"tip"`` added at the end of the beam if it is missing."""
    for frame in frames:
        x = float(np.asarray(frame.at)[0])
        if frame.name == "tip" and abs(x - length) > 1e-9 * length:
            raise ModelError(
                f"{what}: frame 'tip' is at x = {x:g} m, but the beam ends at {length:g} m; omit it to have it put "
                "there (in replace(beam, length=...) also pass frames=()), or choose another name"
            )
    has_tip = any(frame.name == "tip" for frame in frames)
    return frames if has_tip else (*frames, Frame(name="tip", at=(length, 0.0, 0.0)))


def _check_cover(value: Any, length: float, what: str) -> None:
    """Raise `ModelError` unless a table or curve covers the whole beam: nothing is extrapolated."""
    if not isinstance(value, (Profile, Curve)):
        return
    ends = (0.0, value.length) if isinstance(value, Curve) else np.asarray(value.x)[[0, -1]]
    first, last = float(ends[0]), float(ends[1])
    if first > 1e-9 * length or last < (1.0 - 1e-9) * length:
        raise ModelError(f"{what}: it is given from x = {first:g} to {last:g} m, expected 0 to {length:g} m")


def _uses(beam: Any, key: str) -> bool:
    return {"EI": bool(beam.bending), "EA": bool(beam.extension), "GJ": bool(beam.torsion)}.get(key, True)
