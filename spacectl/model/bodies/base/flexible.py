"""The base of flexible bodies: modal coordinates, parameters of the equations, and physical checks.

A subclass provides material points, stiffness, damping and shapes at frames, from which this module computes the
run-time parameters. `ModalBody` takes them as data; `Beam` computes them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from scipy.linalg import eigh

from spacectl.core.array import Array
from spacectl.core.errors import ModelError
from spacectl.model.bodies.base.body import Body, Frame
from spacectl.model.bodies.base.damping import Damped, Proportional
from spacectl.model.bodies.base.interfaces import FrameShapes
from spacectl.model.bodies.base.modal_integrals import (
    ModalPoints,
    clean,
    clean_symmetric,
    field_integrals,
    modal_integrals,
    pack_symmetric,
    packed_pairs,
    packed_product,
    point_fields,
    unit_diagonal,
    unpack_symmetric,
)
from spacectl.model.bodies.base.profile import SurfaceMesh, line_through
from spacectl.model.description import Number, always, placement_number, unless_trivial
from spacectl.spatial.backend import dot

__all__ = ["FIRST_ORDER", "ORDERS", "WITHIN_THEORY", "FlexibleBody", "Proportional"]

WITHIN_THEORY = 0.01  #: estimated error up to which a body is within the range of its theory
THIRD_ORDER = 1.8  #: relative error of second-order equations over the square of the largest rotation

#: Second-order terms that are included (see `docs/flexible.md`)
ORDERS = ("consistent", "truncated", "linearised", "premature", "strain", "pseudo_potential")
FIRST_ORDER = ("linearised", "premature")  #: orders whose equations are linear in the modal coordinates


class FlexibleBody(Damped, Body):
    """Base of flexible bodies, whose parameters follow from material points with shapes.

    A subclass is a frozen, keyword-only dataclass with the attributes below as fields; all but `name` are
    optional. Instead of the members of `Body` it defines:

    1. `own_material`, the material points with their masses, slices and shapes (`ModalPoints`).
    2. `elasticity`, the stiffness matrix of the modal coordinates.

    It may add:

    3. `own_shapes`, the shapes at places other than material points, where frames may then be.
    4. `modal_names` and `modal_labels`, names and units of the modes.
    5. `strain_tensors`, for order 'strain'; `stiffness_derivatives`, closed forms for gradients.
    6. `theory_error` and `theory_remedy`, for the range of its theory.
    7. `surface_mesh`, its geometry for drawing.

    Attributes
    ----------
    name : str
        Unique in the system.
    frames : tuple of Frame
        Frames for parts, actuators and sensors; they move with the deformation.
    damping : float, sequence, matrix or Proportional
        Ratio of critical damping, for all modes or each; or the damping matrix (m, m); or `Proportional`.
    order : str
        One of `ORDERS`.
    interfaces : tuple of str
        Places of attachments; the system adds ``"root"`` if shapes do not vanish at the joint.
    """

    name: str
    frames: tuple[Frame, ...] = ()
    damping: Any = 0.0
    order: str = "consistent"
    is_flexible: ClassVar[bool] = True
    drawn_as: ClassVar[str] = "flexible"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.convert_damping()
        self.check_interfaces()
        self.check_flexible()

    @property
    def structure(self) -> tuple[Any, ...]:
        return (self.order,)

    @property
    def flexible(self) -> FlexibleBody:
        return self

    def damped(self, ratio: float) -> Self:
        return replace(self, damping=ratio)  # type: ignore[type-var]

    def surface_mesh(self) -> SurfaceMesh:
        """Return points with shapes, and triangles or lines between them, for drawing; here all material points."""
        points = self.material
        none = np.zeros((0, 3), dtype=int)
        return SurfaceMesh(points.X, none, line_through(points.X), points.Phi, points.G)

    @property
    def n_modes(self) -> int:
        """Number of modal coordinates."""
        return int(self.material.Phi.shape[2])

    @property
    def modal_names(self) -> tuple[str, ...]:
        """Modal coordinates: ``eta1``, ``eta2``, ..."""
        return tuple(f"eta{j + 1}" for j in range(self.n_modes))

    @property
    def modal_labels(self) -> tuple[tuple[str, str], ...]:
        """Names and units of the modal coordinates: a displacement [m], or an angle [rad] where a shape says so."""
        return tuple((name, "m") for name in self.modal_names)

    @cached_property
    def integrals(self) -> dict[str, Array]:
        """Inertia integrals for the body's order, without rounding (see `model.bodies.base.modal_integrals`)."""
        found = modal_integrals(self.material, second_order=self.order != "strain")
        if self.order == "pseudo_potential":  # a centrifugal field only: no terms of base acceleration
            plain = modal_integrals(self.material, second_order=False)
            found = {**plain, "inertia2": found["inertia2"]}
        cleaned = {key: clean(value) for key, value in found.items()}
        return {**cleaned, "modal_mass": clean_symmetric(unpack_symmetric(found["modal_mass"], self.n_modes))}

    @cached_property
    def modal_mass(self) -> np.ndarray:
        """Modal mass matrix (m, m)."""
        return _mass_matrix(self.material)

    @property
    def mode_mass(self) -> np.ndarray:
        """Mass matrix (m, m) for frequencies and damping ratios: of the shapes as the body describes them."""
        return self.modal_mass if self._root_shapes is None else _mass_matrix(self.own_material())

    @cached_property
    def frequencies(self) -> np.ndarray:
        """Natural frequencies of the body as supported by its joint [rad/s], ascending."""
        return np.sqrt(eigh(self.elasticity, self.mode_mass, eigvals_only=True))

    def _inertia(self) -> dict[str, Array]:
        """Return the integrals; for order 'consistent', a few equivalent points and integrals of the slices' inertia.

        Integrals to second order in the deformation suffice for small ones, but their mass matrix becomes indefinite at a
        few per cent of the length; with points, kinetic energy is always a sum of squares.
        """
        if self.order != "consistent":
            return self.integrals
        points = self.material
        slices = modal_integrals(replace(points, mass=np.zeros_like(points.mass)))
        own = {key: clean(slices[key]) for key in slices if not key.startswith(("mass", "first"))}
        first = {key: self.integrals[key] for key in ("mass", "first0", "first1", "first2")}
        return {**first, **own, "fields": Array(point_fields(points))}

    def numbers(self) -> dict[str, Number]:
        """Return the parameters: integrals, stiffness, damping and shapes at frames; exact zeros are structure."""
        numbers = {
            key: always(value) if key == "mass" else unless_trivial(value) for key, value in self._inertia().items()
        }
        if self.order in (
            "premature",
            "linearised",
        ):  # for the terms omitted by premature linearisation (dynamics.truncation.orders)
            numbers |= {key: unless_trivial(clean(value)) for key, value in field_integrals(self.material).items()}
        numbers["stiffness"] = unless_trivial(clean_symmetric(self.elasticity))
        if self.order == "strain":
            cubic, quartic = self.strain_tensors()
            numbers |= {"cubic": unless_trivial(clean(cubic)), "quartic": unless_trivial(clean(quartic))}
        numbers["modal_damping"] = unless_trivial(clean_symmetric(self.damping_matrix))
        for frame in self.frames:
            for key, number in self._frame_numbers(frame).items():
                numbers[f"{frame.name}.{key}"] = number
        return numbers

    def _frame_numbers(self, frame: Frame) -> dict[str, Number]:
        shapes = self._frame_shapes(frame)
        factor = 0.0 if self.order in ("strain", "pseudo_potential") else 1.0
        return {
            "at": unless_trivial(frame.at),
            "rotation": placement_number(frame.rotation),
            "shapes": unless_trivial(clean(shapes.Phi)),
            "slopes": unless_trivial(clean(shapes.Psi)),
            "shapes2": unless_trivial(clean(np.stack([pack_symmetric(-factor * G) for G in shapes.G]))),
            "slopes2": unless_trivial(clean(np.stack([pack_symmetric(factor * H) for H in shapes.H]))),
        }

    def _frame_shapes(self, frame: Frame) -> FrameShapes:
        found = self.shapes_at(np.asarray(frame.at))
        if found is None:
            raise ModelError(
                f"{self._what}: frame '{frame.name}' at {np.asarray(frame.at).tolist()} is not at a material point, where "
                "shapes are known; move the frame, or add a point (its mass may be 0)"
            )
        return found

    def load_weights(self, density: Any) -> np.ndarray:
        """Return the load on each material point from a density: one value for all, or one for each."""
        values = np.asarray(density, dtype=float)
        return np.full(self.material.mass.shape, values) if values.ndim == 0 else values

    def strain_tensors(self) -> tuple[np.ndarray, np.ndarray]:
        """Return cubic (m, k) and quartic (k, k) coefficients of the strain energy, for order 'strain'."""
        raise ModelError(f"{self._what}: order 'strain' needs the extension of a Beam; use 'consistent'")

    def elastic_forces(self, eta: Any, eta_dot: Any, n: Any) -> Any:
        """Return ``K eta + D eta_dot``, shape (m,), plus the gradient of nonlinear strain energy for order 'strain'."""
        forces = packed_product(n["stiffness"], eta) + packed_product(n["modal_damping"], eta_dot)
        if self.order == "strain":
            pairs = packed_pairs(eta)
            bent = n["cubic"].T @ eta + 0.5 * (n["quartic"] @ pairs)
            forces = forces + 0.5 * (n["cubic"] @ pairs) + packed_product(bent, eta)
        return forces

    def strain_energy(self, eta: Any, n: Any) -> Any:
        """Return ``1/2 eta' K eta`` [J], for order 'strain' with its terms of third and fourth order."""
        energy = 0.5 * dot(eta, packed_product(n["stiffness"], eta))
        if self.order == "strain":
            pairs = packed_pairs(eta)
            energy = energy + 0.5 * dot(eta, n["cubic"] @ pairs) + 0.125 * dot(pairs, n["quartic"] @ pairs)
        return energy

    def theory_error(self, eta: np.ndarray) -> np.ndarray:
        """Estimate the relative error of the small-deflection theory at modal coordinates eta (n, m), shape (n,).

        ``1.8 theta^2`` with the largest rotation theta of a slice relative to the body's frame: equations of second order
        neglect terms of this relative size. For a cantilever under a tip load, compared with eight segments, the error is
        0.45 theta^2 in equilibrium, and 1.2 to 1.6 theta^2 during two periods after a load step.
        """
        Psi = self.material.Psi
        some = Psi[:: max(1, len(Psi) // 48)]  # rotations are smooth
        turned = np.tensordot(eta, some, axes=(1, 2))  # (t, n, 3)
        return THIRD_ORDER * np.max(np.sum(turned**2, axis=2), axis=1, initial=0.0)

    def theory_remedy(self, error: float) -> str:
        """Return advice for an error of the theory."""
        return "divide the body into several, or treat the result as qualitative"

    def mass_properties(self, n: Any) -> tuple[Any, Any, Any]:
        """Raise `ModelError`: those of a flexible body depend on its deformation (`spatial.flexible.ModalInertia`)."""
        raise ModelError(f"{self._what}: a flexible body's mass properties depend on its modal coordinates")

    def check_flexible(self) -> None:
        """Raise `ModelError` for an invalid order, stiffness, modal mass or frame."""
        if self.order not in ORDERS:
            raise ModelError(f"{self._what}: order is {self.order!r}, expected one of {', '.join(ORDERS)}")
        K, M = self.elasticity, self.modal_mass
        weakest = np.linalg.eigvalsh(unit_diagonal(M))
        if not weakest[0] > 1e-12 * weakest[-1]:
            direction = np.linalg.eigh(unit_diagonal(M))[1][:, 0]
            which = ", ".join(self.modal_names[j] for j in np.flatnonzero(np.abs(direction) > 0.3))
            raise ModelError(
                f"{self._what}: the modal mass matrix is singular ({which} move no mass, or are dependent); "
                "remove one of these shapes"
            )
        if np.max(np.abs(K - K.T)) > 1e-9 * np.max(np.abs(K)):
            raise ModelError(
                f"{self._what}: the stiffness matrix is not symmetric; pass (K + K') / 2 if that is rounding"
            )
        squares = eigh(K, M, eigvals_only=True)
        if not squares[0] > 0.0 or not np.linalg.eigvalsh(unit_diagonal(K))[0] > 1e-13 * self.n_modes:
            raise ModelError(
                f"{self._what}: stiffness is not positive (smallest eigenvalue {squares[0]:.3g} rad^2/s^2); remove "
                "rigid-body shapes, which belong to the joint, and give positive stiffness"
            )
        if np.any(~np.isfinite(self.damping_matrix)):
            raise ModelError(f"{self._what}: damping is not finite")
        self.check_frames()
        for frame in self.frames:
            self._frame_shapes(frame)


def _mass_matrix(points: ModalPoints) -> np.ndarray:
    M = np.einsum("n,naj,nak->jk", points.mass, points.Phi, points.Phi)
    return M + np.einsum("naj,nab,nbk->jk", points.Psi, points.rotary, points.Psi)
