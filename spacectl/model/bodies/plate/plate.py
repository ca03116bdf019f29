"""`Plate`: a thin rectangular plate from its dimensions and material (Sadigh 1995, sections 2.2.3, 5.4.3).

Kirchhoff's plate with rotary inertia: bending, and stretch in its plane. Shapes come from `shapes` and `surface.ritz`,
second-order shapes from the least energy of the second-order strains (or Eq 5.34); the base class computes the
parameters of the equations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from spacectl.core.array import as_scalar
from spacectl.core.errors import ModelError
from spacectl.model.bodies.base.body import Frame
from spacectl.model.bodies.base.flexible import FlexibleBody
from spacectl.model.bodies.base.interfaces import FrameShapes
from spacectl.model.bodies.base.modal_integrals import ModalPoints
from spacectl.model.bodies.base.profile import SurfaceMesh, grid_triangles
from spacectl.model.bodies.plate.checks import check_plate, plate_frames
from spacectl.model.bodies.plate.interfaces import PlateInterfaces
from spacectl.model.bodies.plate.shapes import Flat, PlateFields, beam_functions, line_shortening, lowest_products
from spacectl.model.bodies.surface.basis import legendre_family, product_table
from spacectl.model.bodies.surface.fields import Fields, Geometry
from spacectl.model.bodies.surface.function import SurfaceFunction
from spacectl.model.bodies.surface.ritz import RitzSpace, Section, isotropic_section, neglected_energy, strain_energy
from spacectl.model.description import check_name, set_field

__all__ = ["Plate"]

SHAPES = ("auto", "interface", "modes", "products")  #: names of bases
_CANTILEVER = ("clamped", "free", "free", "free")


@dataclass(frozen=True, kw_only=True)
class Plate(PlateFields, PlateInterfaces, FlexibleBody):
    """A rectangular plate: x from 0 to length, y from -width / 2 to width / 2, z normal to it.

    The body's frame is the middle of the edge x = 0, which is clamped unless `edges` say otherwise.

    Parameters
    ----------
    name : str
        Unique in the system.
    length, width, thickness : float
        Along x, y and z [m].
    mass : float
        Total mass [kg].
    E, nu : float
        Young's modulus [Pa] and Poisson's ratio.
    bending_stiffness, stretch_stiffness : float, optional
        D [N m] and C [N/m] of a sandwich or stiffened plate, in place of ``E h^3 / 12 (1 - nu^2)`` and ``E h / (1 - nu^2)``.
    modes : int or tuple of pairs
        Number of transverse shapes; for ``shapes="products"`` also the pairs (i, j) of beam functions along x and y, from 1.
    membrane : int
        Number of in-plane shapes (modes of stretch and shear).
    edges : tuple of four str
        Conditions at x = 0, x = length, y = -width / 2, y = width / 2: ``"clamped"``, ``"supported"`` (hinged, in-plane
        displacement fixed), ``"diaphragm"`` (hinged, free to move in-plane across the edge) or ``"free"``.
    shapes : "auto", "interface", "modes", "products" or tuple of functions of (x, y)
        Static shapes at the interfaces, then modes with the interfaces fixed; modes by Ritz's method; products of beam
        functions (Sadigh 1995, Eq 5.49); or your own deflections. ``"auto"`` (default): interface shapes if a system has
        attachments and the plate is clamped at x = 0 only, else modes.
    interfaces : tuple of str
        Places of attachments: ``"tip"``, ``"tip: x y z"`` (see `Beam`). If omitted, the system derives them.
    terms : int
        Polynomials in x and in y for modes and second-order shapes.
    shortening : {"energy", "line"}
        Second-order shapes of least energy; or Sadigh 1995, Eq 5.34, by integrals along lines from the body's frame,
        which neglects shear and Poisson's ratio and is wrong for acceleration along y.
    rotary : bool
        Whether slices have rotary inertia ``rho h^2 / 12`` (Eq 2.23 there).
    damping : float, sequence, matrix or Proportional
        Damping ratio(s) of the modes, or matrix, or ``alpha M + beta K``.
    frames : tuple of Frame or str
        Frames for attachments, on the plate or off it (carried by their slice). By name: ``"left"``, ``"right"`` (middles
        of the edges along y), ``"corner_left"``, ``"corner_right"`` (at x = length); ``"tip"`` (middle of x = length)
        always exists.
    order : str
        ``"consistent"`` (default), ``"truncated"``, ``"linearised"``, ``"premature"`` or
        ``"pseudo_potential"``; see docs/flexible.md.

    Examples
    --------
    >>> panel = Plate(name="panel", length=1.0, width=1.0, thickness=0.01, mass=1.0, E=12e6 * 0.91, nu=0.3, modes=2, rotary=False)
    >>> [float(round(w, 2)) for w in panel.frequencies]  # in sqrt(D / (rho h a^4))
    [3.47, 8.51]
    """

    name: str
    length: float
    width: float
    thickness: float
    mass: float
    E: float = 0.0
    nu: float = 0.3
    bending_stiffness: Any = None
    stretch_stiffness: Any = None
    modes: Any = 3
    membrane: int = 0
    edges: tuple[str, ...] = _CANTILEVER
    shapes: Any = "auto"
    interfaces: Any = ()
    terms: int = 12
    shortening: str = "energy"
    rotary: bool = True
    damping: Any = 0.0
    frames: tuple[Any, ...] = ()
    order: str = "consistent"

    def __post_init__(self) -> None:
        check_name(self.name, "Plate")
        for key in ("length", "width", "thickness", "mass", "E", "nu"):
            set_field(self, key, as_scalar(getattr(self, key), f"{self._what}: {key}"))
        check_plate(self)
        if self.shapes not in SHAPES:
            given = self.shapes if isinstance(self.shapes, (tuple, list)) else (self.shapes,)
            set_field(self, "shapes", tuple(self._user_shape(item, k) for k, item in enumerate(given)))
        set_field(self, "frames", plate_frames(self))
        self.check_interfaces()
        self.convert_damping()
        self.check_flexible()

    def _user_shape(self, item: Any, k: int) -> SurfaceFunction:
        if isinstance(item, SurfaceFunction):
            return item
        if not callable(item):
            raise ModelError(f"{self._what}: shapes is {item!r}, expected {', '.join(SHAPES)} or functions of (x, y)")
        return SurfaceFunction.fit(item, self._flat.ranges, f"{self._what}: shapes[{k}]")

    @property
    def _flat(self) -> Flat:
        return Flat(self.length, self.width)

    @cached_property
    def section(self) -> Section:
        """Stiffness and inertia per area."""
        stretch = (
            self.E * self.thickness / (1.0 - self.nu**2) if self.stretch_stiffness is None else self.stretch_stiffness
        )
        bend = stretch * self.thickness**2 / 12.0 if self.bending_stiffness is None else self.bending_stiffness
        mass = self.mass / (self.length * self.width)
        return isotropic_section(stretch, bend, self.nu, mass, mass * self.thickness**2 / 12.0 if self.rotary else 0.0)

    def _space(self, axes: tuple[int, ...]) -> RitzSpace:
        families: Any = tuple(legendre_family(span, self.terms) for span in self._flat.ranges)
        return RitzSpace(self._flat, self.section, families, axes, self.edges, self._nodes)

    @cached_property
    def _nodes(self) -> int:
        if self.basis in ("modes", "interface"):
            return self.terms + 8
        if self.basis == "products":
            families, pairs = self._products
            return 8 + max(families[k].functions[pair[k]].degree() for pair in pairs for k in (0, 1))
        return 8 + max(max(shape.coefficients.shape) for shape in self.shapes)

    @cached_property
    def _bending(self) -> RitzSpace:
        return self._space((2,))

    @cached_property
    def _stretching(self) -> RitzSpace:
        return self._space((0, 1))

    @cached_property
    def _products(self) -> tuple[Any, list[tuple[int, int]]]:
        """Beam functions along x and y, and the pairs of them that are shapes."""
        chosen = self.modes if isinstance(self.modes, tuple) else ()
        n = max([8, *(max(pair) for pair in chosen)])
        ends: Any = (self.edges[:2], self.edges[2:])
        families: Any = tuple(beam_functions(span, end, n) for span, end in zip(self._flat.ranges, ends, strict=True))
        if chosen:
            return families, [(i - 1, j - 1) for i, j in chosen]
        return families, lowest_products(self._flat, families, self.section, self.modes)

    @property
    def chooses_shapes(self) -> bool:
        is_open = self.shapes == "auto" and self.edges == _CANTILEVER and isinstance(self.modes, int)
        return is_open or (self.shapes == "interface" and not self.interfaces)

    @property
    def mode_mass(self) -> np.ndarray:
        if self.basis != "interface":
            return super().mode_mass
        return np.diag(np.concatenate([mass for _, mass in self._chosen if mass is not None]))

    @property
    def _coefficients(self) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Of the transverse shapes (None: not of trial functions) and of the membrane shapes, largest displacement near 1."""
        if self.basis in ("modes", "interface"):
            bending, *membrane = (coefficients for coefficients, _ in self._chosen)
            return bending, membrane[0] if membrane else None
        modes = self._stretching.modes(self.membrane)[1] if self.membrane else None
        return None, None if modes is None else modes / self._peaks(self._stretching, modes)

    def _first(self, x: np.ndarray, y: np.ndarray) -> Fields:
        """Return the first-order fields of all shapes at places (x, y)."""
        bending, membrane = self._coefficients
        if bending is not None:
            fields = self._bending.trial(x, y).combine(bending)
        elif self.basis == "products":
            fields = Fields.along(product_table(self._products[0], x, y, self._products[1]), (2,))
        else:
            tables = [shape.table(x, y) for shape in self.shapes]
            fields = Fields.along(np.concatenate(tables, axis=2), (2,))
        return fields if membrane is None else fields.beside(self._stretching.trial(x, y).combine(membrane))

    @cached_property
    def _second_coefficients(self) -> tuple[np.ndarray, np.ndarray | None]:
        u = self._first(*self._stretching.places[:2])
        return self._stretching.second_order(u), self._bending.second_order(u) if self.membrane else None

    def _second(self, x: np.ndarray, y: np.ndarray) -> Fields:
        """Return the second-order displacement of all pairs at places (x, y), as columns."""
        stretch, bend = self._second_coefficients
        fields = self._stretching.trial(x, y).combine(stretch)
        if bend is None:
            return fields
        across = self._bending.trial(x, y).combine(bend)
        return Fields(fields.value + across.value, fields.first + across.first, fields.second + across.second)

    def _all(self, x: np.ndarray, y: np.ndarray) -> tuple[Geometry, Fields, np.ndarray, np.ndarray, np.ndarray]:
        """Return the geometry, first-order fields, rotations Psi, and G, H at places (x, y)."""
        geometry, u = self._flat.geometry(x, y), self._first(x, y)
        n, m = len(x), u.size
        if self.shortening == "line":
            G = line_shortening(self._first, geometry.X, (0.0, 0.0), self._nodes)
            return geometry, u, geometry.turn(u), G, np.zeros_like(G)
        v = self._second(x, y)
        return geometry, u, geometry.turn(u), -v.value.reshape(n, 3, m, m), geometry.turn2(u, v)

    def own_material(self) -> ModalPoints:
        """Return the quadrature points of the plate with their shapes."""
        geometry, u, Psi, G, H = self._all(*self._stretching.places[:2])
        weights = self._stretching.weights
        rotary = self.section.rotary * weights[:, None, None] * np.diag([1.0, 1.0, 0.0])
        return ModalPoints(geometry.X, self.section.mass * weights, u.value, Psi, G, H, rotary)

    @cached_property
    def elasticity(self) -> np.ndarray:
        """Stiffness matrix (m, m), Sadigh 1995, Eq 2.28, with the factor 1/2 of an energy."""
        x, y, _ = self._stretching.places
        return strain_energy(self._flat.geometry(x, y), self._first(x, y), self.section, self._stretching.weights)

    def theory_error(self, eta: np.ndarray) -> np.ndarray:
        """Include the neglected energy of stretch that bending to a non-developable surface causes."""
        pairs = np.einsum("tj,tk->tjk", eta, eta).reshape(len(eta), -1)
        left_out = np.einsum("tp,pq,tq->t", pairs, self._neglected, pairs) / 8.0
        energy = 0.5 * np.einsum("tj,jk,tk->t", eta, self.elasticity, eta)
        stretch = 2.0 * left_out / np.maximum(energy, 1e-300)  # of forces: derivatives of fourth and of second order
        return np.maximum(super().theory_error(eta), stretch)

    @cached_property
    def _neglected(self) -> np.ndarray:
        x, y, _ = self._stretching.places
        return neglected_energy(
            self._flat.geometry(x, y), self._first(x, y), self._second(x, y), self.section, self._stretching.weights
        )

    def load_weights(self, density: Any) -> np.ndarray:
        """Integrate a load per area over the quadrature points."""
        return self._stretching.weights * np.asarray(density, dtype=float)

    def own_shapes(self, position: np.ndarray) -> FrameShapes | None:
        """Return the shapes at a place on the plate, or off it along z (carried by the slice)."""
        low, high = (np.array([span[k] for span in self._flat.ranges]) for k in (0, 1))
        slack = 1e-9 * (high - low)
        if np.any(position[:2] < low - slack) or np.any(position[:2] > high + slack):
            return None
        _, u, Psi, G, H = self._all(*position[:2, None])
        return FrameShapes(u.value[0], Psi[0], G[0], H[0]).carried(np.array([0.0, 0.0, position[2]]))

    def surface_mesh(self) -> SurfaceMesh:
        """Return a grid of 17 x 17 points on the plate with their shapes, joined by triangles."""
        x, y = self._grid(17)
        geometry, u, Psi, G, H = self._all(x, y)
        moved = self.from_root(geometry.X, FrameShapes(u.value, Psi, G, H))
        return SurfaceMesh(geometry.X, grid_triangles(17, 17), np.zeros((0, 2), dtype=int), moved.Phi, moved.G)

    def _frame_shapes(self, frame: Frame) -> FrameShapes:
        found = self.shapes_at(np.asarray(frame.at))
        if found is None:
            raise ModelError(
                f"{self._what}: frame '{frame.name}' is at {np.asarray(frame.at)[:2].tolist()}, expected x from 0 to "
                f"{self.length:g} m and y within {0.5 * self.width:g} m of the middle"
            )
        return found
