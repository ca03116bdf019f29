"""Distributed loads on flexible bodies: pressure, drag, magnetic torque (003 Eqs 2.20, 2.27).

Each is one input that scales a given density along one direction. Like a body's inertia, the load is integrated once
over the material points, so its cost is that of the modes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from spacectl.core.array import as_array, as_scalar
from spacectl.core.errors import ModelError, ShapeError
from spacectl.model.actuators.base import Actuator
from spacectl.model.actuators.effort import Effort, Wrench
from spacectl.model.bodies.base.flexible import FlexibleBody
from spacectl.model.bodies.base.modal_integrals import pack_symmetric
from spacectl.model.bodies.base.profile import Curve, Profile
from spacectl.model.description import Number, always, direction, set_field, unless_trivial

__all__ = ["DistributedForce", "DistributedTorque"]


@dataclass(frozen=True, kw_only=True)
class DistributedForce(Actuator):
    """Force spread over a flexible body; the input scales it.

    Parameters
    ----------
    on : str
        The flexible body.
    density : float, Profile or array (n,)
        For a `Beam` force per length [N/m] for unit input, along its length; for a `Plate` force per area [N/m^2], one
        number (or one for each of its points); for a `ModalBody` the force on each of its points [N].
    direction : vector or "x", "-y", ...
        Unit direction, the same everywhere.
    axes : {"body", "world"}
        Axes in which it is fixed: the body's own frame, or the root.
    """

    on: str
    density: Any = 1.0
    direction: Any = "y"
    axes: str = "body"
    unit: ClassVar[str] = "1"

    def __post_init__(self) -> None:
        super().__post_init__()
        set_field(self, "direction", direction(self.direction, f"{self._what}: direction"))
        if self.axes not in ("body", "world"):
            raise ModelError(f"{self._what}: axes is {self.axes!r}, expected 'body' or 'world'")
        if isinstance(self.density, (Profile, Curve)):
            return
        is_number = np.ndim(self.density) == 0
        check = (
            as_scalar(self.density, f"{self._what}: density") if is_number else as_array(self.density, None, "density")
        )
        set_field(self, "density", check)

    def efforts(self) -> tuple[Effort, ...]:
        return (Wrench(on=self.on, is_spread=True, axes=self.axes),)

    def numbers(self) -> dict[str, Number]:
        return {**super().numbers(), "direction": unless_trivial(self.direction, 0.0, 1.0, -1.0)}

    def body_numbers(self, body: Any) -> dict[str, Number]:
        """Integrate the load over a body: total, and first moments of the deformed points to second order."""
        weights, points = self._weights(body), body.material
        second = -np.einsum("n,najk->ajk", weights, points.G)
        return {
            "load": always(weights.sum()),
            "load0": unless_trivial(weights @ points.X),
            "load1": unless_trivial(np.einsum("n,naj->aj", weights, points.Phi)),
            "load2": unless_trivial(np.stack([pack_symmetric(part) for part in second])),
        }

    def _weights(self, body: Any) -> np.ndarray:
        if not isinstance(body, FlexibleBody):
            raise ModelError(
                f"{self._what}: '{self.on}' is not a flexible body; use BodyForce or BodyTorque on a rigid one"
            )
        weights = body.load_weights(self.density)
        if weights.shape != body.material.mass.shape:
            raise ShapeError(
                f"{self._what}: density has shape {weights.shape}, expected one number for each of the "
                f"{body.material.mass.size} points of '{body.name}'"
            )
        return weights


@dataclass(frozen=True, kw_only=True)
class DistributedTorque(DistributedForce):
    """Torque spread over a flexible body, `density` in N m/m for a `Beam`, N/m for a `Plate`, N m at points of a `ModalBody`."""

    def efforts(self) -> tuple[Effort, ...]:
        return (Wrench(on=self.on, is_moment=True, is_spread=True, axes=self.axes),)

    def body_numbers(self, body: Any) -> dict[str, Number]:
        """Integrate the load over a body: total, and rotation of the slices to first order."""
        weights, points = self._weights(body), body.material
        Psi, m = points.Psi, points.Psi.shape[2]
        pair = np.cross(Psi.transpose(0, 2, 1)[:, None, :, :], Psi.transpose(0, 2, 1)[:, :, None, :])  # Psi_k x Psi_j
        turned = points.H.transpose(0, 2, 3, 1) + 0.5 * pair
        return {
            "load": always(weights.sum()),
            "load1": unless_trivial(np.einsum("n,naj->aj", weights, Psi)),
            "load2": unless_trivial(np.einsum("n,njka->jak", weights, turned).reshape(3 * m, m)),
        }
