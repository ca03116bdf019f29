"""`Beam`: a straight elastic beam along its x axis, from its section properties.

Euler-Bernoulli, or Timoshenko if a shear stiffness is given; bending in two planes, torsion, extension; bars and
strings as special cases (Sadigh 1995, section 2.2.2, Table 2.1). Shapes come from `shapes`, second-order shapes from
`fields`; the base class computes the parameters of the equations.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from spacectl.core.array import as_array, as_scalar
from spacectl.core.errors import ModelError
from spacectl.model.bodies.base.body import Frame
from spacectl.model.bodies.base.flexible import WITHIN_THEORY, FlexibleBody
from spacectl.model.bodies.base.interfaces import FrameShapes
from spacectl.model.bodies.base.modal_integrals import ModalPoints
from spacectl.model.bodies.base.profile import Profile, as_data, as_function
from spacectl.model.bodies.beam.basis import remembered
from spacectl.model.bodies.beam.fields import (
    BeamFields,
    Strand,
    integrate_fields,
    panels,
    quadrature,
    stiffness_derivatives,
    stiffness_matrix,
    strain_tensors,
)
from spacectl.model.bodies.beam.interfaces import (
    BeamInterfaces,
    check_beam,
    check_segments,
    check_stretchable,
    with_tip,
)
from spacectl.model.description import check_name, members, set_field, set_scalars

__all__ = ["Beam"]


@remembered
def _beam_fields(beam: Beam) -> tuple[BeamFields, BeamFields]:
    return integrate_fields(beam._edges, beam._strand)


@dataclass(frozen=True, kw_only=True)
class Beam(BeamInterfaces, FlexibleBody):
    """A straight beam from x = 0 (root, at the body's frame) to x = length (frame ``"tip"``).

    Parameters
    ----------
    name : str
        Unique in the system.
    length : float
        Length [m].
    mass : float or Profile
        Total mass [kg] of a uniform beam; or a profile (or function of x) of mass per length [kg/m].
    EI : float, pair, Profile or function
        Bending stiffness [N m^2], for deflection along y and z if two are given.
    EA, GJ, warping : float, Profile or function
        Stiffness in extension [N], torsion [N m^2], and warping E Gamma [N m^4].
    GA : float, pair, Profile or function
        Shear stiffness [N] (shear modulus times effective shear area): makes it a Timoshenko beam.
    rotary : sequence of three
        Inertia of slices per length about x, y, z [kg m]; torsion requires the first.
    tension : float
        Constant axial force in the undeformed beam [N]; with EI = 0 a string.
    bending : tuple of "y", "z"
        Directions of deflection.
    modes : int or tuple of int
        Number of shapes for each direction.
    torsion, extension : int
        Number of torsion and extension shapes.
    root, tip : {"clamped", "pinned", "sliding", "free"}
        End conditions of the shapes. Torsion is fixed at ends that fix rotation, extension at ends that fix deflection.
    shapes : "auto", "interface", "modes", "polynomials" or tuple of functions of x
        ``"interface"``: static shapes at the interfaces, then modes with the interfaces fixed. ``"modes"``: exact modes of
        the beam, with taper, `tip_mass` and `tip_inertia`. Functions are for bending. ``"auto"`` (default): interface
        shapes if a system has attachments and neither end conditions nor a tip body are given, else modes.
    interfaces : tuple of str
        Places of attachments: ``"tip"`` or, with the directions that transmit loads, ``"tip: x y z"``; ``"root"`` is the
        end at the body's frame. If omitted, the system derives them from its joints, constraints and springs.
    tip_mass, tip_inertia : float
        Tip body that determines the mode shapes [kg], [kg m^2] (one number, or about x, y, z); it is not part
        of the beam.
    damping : float, sequence, matrix or Proportional
        Damping ratio(s) of the modes, or matrix, or ``alpha M + beta K``.
    frames : tuple of Frame
        Additional frames for attachments; off the axis they move with their slice.
    order : str
        ``"consistent"`` (default), ``"truncated"``, ``"linearised"``, ``"premature"``, ``"strain"`` or
        ``"pseudo_potential"``; see docs/flexible.md.
    segments : int
        Number of pieces, with rigid interfaces between them, for deflections beyond a few per cent of the length. Numbers
        of shapes are then per piece, and coordinates are named after the pieces: ``"boom[1].eta1"``, ``"boom[2].eta1"``.

    Examples
    --------
    >>> boom = Beam(name="boom", length=10.0, mass=8.0, EI=1e4, modes=2)
    >>> boom.modal_names
    ('eta1', 'eta2')
    >>> float(round(boom.frequencies[0] / np.sqrt(1e4 / (0.8 * 10.0**4)), 4))  # lowest root 1.8751, squared
    3.516
    """

    name: str
    length: float
    mass: Any
    EI: Any = 0.0
    EA: Any = None
    GJ: Any = None
    GA: Any = None
    warping: Any = None
    rotary: Any = (0.0, 0.0, 0.0)
    tension: float = 0.0
    bending: tuple[str, ...] = ("y",)
    modes: Any = 1
    torsion: int = 0
    extension: int = 0
    root: str = "clamped"
    tip: str = "free"
    shapes: Any = "auto"
    interfaces: Any = ()
    tip_mass: float = 0.0
    tip_inertia: Any = 0.0
    damping: Any = 0.0
    frames: tuple[Frame, ...] = ()
    order: str = "consistent"
    segments: int = 1

    def __post_init__(self) -> None:
        check_name(self.name, "Beam")
        set_scalars(self, self._what, "length", sign="positive", unit=" m")
        set_scalars(self, self._what, "tension", "tip_mass", sign="not negative")
        shape = (3,) if np.ndim(self.tip_inertia) else ()
        set_field(self, "tip_inertia", as_array(self.tip_inertia, shape, f"{self._what}: tip_inertia"))
        if np.min(np.asarray(self.tip_inertia)) < 0.0:
            raise ModelError(f"{self._what}: tip_inertia is {self.tip_inertia}, expected 0 or more")
        set_field(self, "bending", (self.bending,) if isinstance(self.bending, str) else tuple(self.bending or ()))
        set_field(self, "rotary", as_array(self.rotary, (3,), f"{self._what}: rotary"))
        if callable(self.shapes):
            set_field(self, "shapes", (self.shapes,))
        for key in ("mass", "EI", "EA", "GJ", "GA", "warping", "shapes"):
            set_field(self, key, as_data(getattr(self, key), self.length, f"{self._what}: {key}"))
        check_beam(self)
        check_segments(self)
        set_field(self, "frames", with_tip(members(self.frames, Frame, self._what, "frames"), self.length, self._what))
        self.check_interfaces()
        self.convert_damping()
        self.check_flexible()

    @property
    def modal_labels(self) -> tuple[tuple[str, str], ...]:
        """Names and units: deflections [m], twist [rad], extension [m]."""
        units = [unit for kind in self.kinds for unit in ["rad" if kind.name == "torsion" else "m"] * len(kind.shapes)]
        return tuple(zip(self.modal_names, units, strict=True))

    @property
    def n_modes(self) -> int:
        return sum(len(kind.shapes) for kind in self.kinds)

    def property_functions(self, key: str) -> tuple[Any, ...]:
        """Return a property as functions of x: two for EI and GA (deflection along y, z), one for others."""
        value = getattr(self, key)
        n = 2 if key in ("EI", "GA") else 1
        values = tuple(value) if isinstance(value, (tuple, list)) else (value,) * n
        if len(values) != n:
            raise ModelError(f"{self._what}: {key} has {len(values)} entries, expected one or two (along y, along z)")
        return tuple(as_function(item, f"{self._what}: {key}") for item in values)

    def density(self, x: np.ndarray) -> np.ndarray:
        """Return the mass per length [kg/m] at places x."""
        if callable(self.mass):
            return as_function(self.mass, f"{self._what}: mass")(x)  # type: ignore[misc]
        return np.full(np.shape(x), as_scalar(self.mass, f"{self._what}: mass") / self.length)

    def _strand(self, x: np.ndarray) -> Strand:
        """Return the first-order fields of all shapes at places x."""
        w, theta, strain, curvature = (np.zeros((x.size, 3, self.n_modes)) for _ in range(4))
        has_shear = self.GA is not None
        j = 0
        for kind in self.kinds:
            for shape in kind.shapes:
                if kind.name == "torsion":
                    theta[:, 0, j], curvature[:, 0, j] = shape.w(x), shape.turn(x)
                elif kind.name == "extension":
                    w[:, 0, j], strain[:, 0, j] = shape.w(x), shape.turn(x)
                else:
                    across, axis, sign = (1, 2, 1.0) if kind.name == "bending y" else (2, 1, -1.0)
                    w[:, across, j] = shape.w(x)
                    theta[:, axis, j] = sign * shape.turn(x)
                    curvature[:, axis, j] = sign * shape.turn.deriv()(x)
                    if has_shear:
                        strain[:, across, j] = shape.w.deriv()(x) - shape.turn(x)
                j += 1
        return Strand(w, theta, strain, curvature)

    @cached_property
    def _edges(self) -> np.ndarray:
        places = [float(np.asarray(frame.at)[0]) for frame in self.frames]
        for key in ("mass", "EI", "EA", "GJ", "GA", "warping"):
            value = getattr(self, key)
            for item in value if isinstance(value, tuple) else (value,):
                places += list(np.asarray(item.x)) if isinstance(item, Profile) else []
        most = self.modes if isinstance(self.modes, int) else max(self.modes, default=1)
        return panels(self.length, places, 4 + max(most, self.torsion, self.extension))

    @cached_property
    def _fields(self) -> tuple[BeamFields, BeamFields]:
        return _beam_fields(self)

    def own_material(self) -> ModalPoints:
        """Return the quadrature points of the beam with their shapes."""
        nodes, weights = quadrature(self._edges)
        inside = self._fields[0]
        X = np.stack([nodes, np.zeros_like(nodes), np.zeros_like(nodes)], axis=1)
        rotary = weights[:, None, None] * np.diag(np.asarray(self.rotary))
        first = inside.first
        return ModalPoints(
            X, weights * self.density(nodes), first.w, first.theta, -inside.position2, inside.theta2, rotary
        )

    @cached_property
    def elasticity(self) -> np.ndarray:
        """Stiffness matrix (m, m)."""
        return stiffness_matrix(self, *quadrature(self._edges), self._fields[0].first)

    def changed(self, **changes: Any) -> Beam:
        """Return the beam with other values of fields; its frame ``"tip"`` moves with its length."""
        if "length" in changes:
            check_stretchable(self)
            end = as_scalar(changes["length"], f"{self._what}: length")
            moved = (replace(f, at=(end, *np.asarray(f.at)[1:])) if f.name == "tip" else f for f in self.frames)
            changes = {"frames": tuple(moved), **changes}
        return replace(self, **changes)

    def stiffness_derivatives(self, key: str) -> tuple[np.ndarray, ...] | None:
        """Return derivatives by EI (no shear or tension), GJ (no warping) or EA, on which shapes do not depend."""
        return stiffness_derivatives(self, key)

    def load_weights(self, density: Any) -> np.ndarray:
        """Integrate a load per length over the quadrature points."""
        x, weights = quadrature(self._edges)
        return weights * as_function(density, f"{self._what}: load density")(x)  # type: ignore[misc]

    def strain_tensors(self) -> tuple[np.ndarray, np.ndarray]:
        return strain_tensors(self, *quadrature(self._edges), self._fields[0].first)

    def theory_remedy(self, error: float) -> str:
        factor = max(2, int(np.ceil(np.sqrt(error / WITHIN_THEORY))))
        whole, bracket, _ = self.name.partition("[")
        if bracket:
            return f"use {factor} times as many segments for '{whole}'"
        return f"use segments: Beam(name='{whole}', ..., segments={factor}), with modes=2 or more for each"

    def own_shapes(self, position: np.ndarray) -> FrameShapes | None:
        """Return the shapes at a place along the beam, on or off its axis."""
        x = float(position[0])
        if not -1e-9 * self.length <= x <= (1.0 + 1e-9) * self.length:
            return None
        edges = self._edges
        i = int(np.argmin(np.abs(edges - x)))
        fields, offset = self._fields[1], np.array([0.0, position[1], position[2]])
        if abs(edges[i] - x) > 1e-9 * self.length:
            extra = np.sort(np.append(edges, x))
            fields, i = integrate_fields(extra, self._strand)[1], int(np.searchsorted(extra, x))
        return fields.at(i, offset)

    def _frame_shapes(self, frame: Frame) -> FrameShapes:
        found = self.shapes_at(np.asarray(frame.at))
        if found is None:
            raise ModelError(
                f"{self._what}: frame '{frame.name}' is at x = {np.asarray(frame.at)[0]:g} m, expected 0 to {self.length:g} m"
            )
        return found
