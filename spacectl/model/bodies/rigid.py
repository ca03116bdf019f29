"""Rigid bodies: mass, centre of mass, inertia, and named frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from spacectl.core.array import Array, as_array, as_scalar
from spacectl.core.errors import ModelError, ShapeError, warn
from spacectl.model.bodies.base.body import Body, Frame
from spacectl.model.description import (
    Number,
    always,
    direction,
    set_field,
    unless_trivial,
)
from spacectl.spatial.backend import matrix, outer

__all__ = ["Frame", "RigidBody", "Rotor"]

FILE_ROUNDING = 1e-4  #: tolerated error of an inertia, relative to its largest entry: rounded digits in files


@dataclass(frozen=True, kw_only=True)
class RigidBody(Body):
    """A rigid body.

    Parameters
    ----------
    name : str
        Unique in the system.
    mass : float
        Mass [kg], 0 or more. A body between joints (a composite joint, a frame of a robot file) needs no mass
        or inertia if its outboard bodies have inertia along every speed; `form_equations` checks this.
    inertia : (3,), (6,) or (3, 3)
        Inertia about the centre of mass, body axes [kg m^2]: the diagonal, or (xx, yy, zz, xy, xz, yz) where xy is
        the matrix entry (minus the product of inertia integral), or the matrix.
    com : vector, shape (3,)
        Centre of mass in body axes [m].
    frames : tuple of Frame
        Places to attach parts, actuators and sensors.

    Examples
    --------
    >>> RigidBody(name="link", mass=2.0, inertia=(0.1, 0.1, 0.01), com=(0.5, 0.0, 0.0)).mass
    2.0
    """

    name: str
    mass: float
    inertia: Any
    com: Any = (0.0, 0.0, 0.0)
    frames: tuple[Frame, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        what = f"body '{self.name}'"
        set_field(self, "mass", as_scalar(self.mass, f"{what}: mass"))
        if self.mass < 0.0:
            raise ModelError(f"{what}: mass is {self.mass:g} kg, expected a positive number or 0")
        set_field(self, "inertia", Array(_inertia_matrix(self.inertia, what)))
        set_field(self, "com", as_array(self.com, (3,), f"{what}: com"))

    def numbers(self) -> dict[str, Number]:
        """Return the run-time parameters: mass, com, inertia (xx, yy, zz, xy, xz, yz) and the frames."""
        I = np.asarray(self.inertia)
        products = unless_trivial([I[0, 1], I[0, 2], I[1, 2]])
        inertia = Number(Array([I[0, 0], I[1, 1], I[2, 2], *products.value]), (False, False, False, *products.fixed))
        own = {"mass": always(self.mass), "com": unless_trivial(self.com), "inertia": inertia}
        return {**own, **self.frame_numbers()}

    def mass_properties(self, n: Mapping[str, Any]) -> tuple[Any, Any, Any]:
        """Return mass, centre of mass and inertia about it for parameters `n` (symbols or floats)."""
        i = n["inertia"]
        I_C = matrix([[i[0], i[3], i[4]], [i[3], i[1], i[5]], [i[4], i[5], i[2]]])
        return n["mass"], n["com"], I_C


@dataclass(frozen=True, kw_only=True)
class Rotor(Body):
    """The spinning part of a wheel or motor: inertia about its spin axis only.

    Mass and transverse inertia of the real rotor are part of the body that carries it; the remaining kinetic
    energy is ``T = 1/2 J (omega_axis + spin)^2``. Used by `ReactionWheel`.
    """

    name: str
    axis: Any
    spin_inertia: float
    drawn_as: ClassVar[str] = ""

    def __post_init__(self) -> None:
        set_field(self, "axis", direction(self.axis, f"rotor '{self.name}': axis"))
        set_field(self, "spin_inertia", as_scalar(self.spin_inertia, f"rotor '{self.name}': inertia"))
        if self.spin_inertia <= 0.0:
            raise ModelError(
                f"rotor '{self.name}': inertia is {self.spin_inertia:g} kg m^2, expected a positive number"
            )

    @property
    def structure(self) -> tuple[Any, ...]:
        return ()

    def numbers(self) -> dict[str, Number]:
        return {"spin_inertia": always(self.spin_inertia)}

    def mass_properties(self, n: Mapping[str, Any]) -> tuple[Any, Any, Any]:
        """Return zero mass and the inertia ``J a a'`` about the axis of its joint."""
        axis = n["axis"]
        return 0.0, axis * 0.0, n["spin_inertia"] * outer(axis, axis)


def _inertia_matrix(value: Any, what: str) -> np.ndarray:
    """Return the inertia matrix from its short forms; raise `ModelError` if no body can have it."""
    array = as_array(value, None, f"{what}: inertia")
    if array.shape == (3,):
        I = np.diag(np.asarray(array))
    elif array.shape == (6,):
        xx, yy, zz, xy, xz, yz = array
        I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    elif array.shape == (3, 3):
        I = np.array(array)
    else:
        raise ShapeError(f"{what}: inertia has shape {array.shape}, expected (3,), (6,) or (3, 3)")
    scale = float(np.max(np.abs(I)))
    if np.max(np.abs(I - I.T)) > 1e-9 * scale:
        raise ModelError(f"{what}: inertia is not symmetric; pass (I + I') / 2 if that is only rounding")
    _check_moments(np.linalg.eigvalsh(I), scale, what)
    return 0.5 * (I + I.T)


def _check_moments(principal: np.ndarray, scale: float, what: str) -> None:
    """Raise `ModelError` for impossible moments; warn if only the rounded digits of a file explain the error."""
    moments = ", ".join(f"{moment:.6g}" for moment in principal)
    faults = (
        (
            -principal[0],
            f"inertia has the negative principal moment {principal[0]:.6g} kg m^2; moments must be 0 or more",
        ),
        (
            principal[2] - principal[0] - principal[1],
            f"principal moments {moments} kg m^2 violate the triangle inequality (the largest must not exceed the "
            "sum of the others); check units, and that the inertia is about the centre of mass",
        ),
    )
    for excess, text in faults:
        if excess > FILE_ROUNDING * scale:
            raise ModelError(f"{what}: {text}")
        if excess > 1e-9 * scale:
            warn(
                f"{what}: {text}; accepted, since {excess / scale:.1g} of the largest entry may be rounding of "
                "a file's digits"
            )
            return
