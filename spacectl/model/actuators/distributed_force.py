"""Distributed loads on flexible bodies: pressure, drag, magnetic torque (Sadigh 1995, Eqs 2.20, 2.27).

Each is one input that scales a given density along one direction. The load is integrated once over the material
points, as the inertia is, so its cost depends on the number of modes only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from spacectl.core.array import as_array, as_scalar
from spacectl.core.errors import ModelError, ShapeError
from spacectl.model.actuators.base import DirectedActuator
from spacectl.model.actuators.effort import Effort, Wrench
from spacectl.model.bodies.base.flexible import FlexibleBody
from spacectl.model.bodies.base.modal_integrals import pack_symmetric
from spacectl.model.bodies.base.profile import Curve, Profile
from spacectl.model.description import Number, always, set_field, unless_trivial

__all__ = ["DistributedForce", "DistributedTorque"]


@dataclass(frozen=True, kw_only=True)
class DistributedForce(DirectedActuator):
    """Force distributed over a flexible body and scaled by the input.

    Parameters
    ----------
    on : str
        The flexible body.
    density : float, Profile or array (n,)
        For unit input: force per length of a `Beam` [N/m]; force per area of a `Plate` [N/m^2], one number or one for
        each point; force on each point of a `ModalBody` [N].
    direction : vector or "x", "-y", ...
        Unit direction, the same everywhere.
    axes : {"body", "world"}
        Axes in which the direction is fixed: the body's frame, or the root.
    """

    density: Any = 1.0
    direction: Any = "y"
    unit: ClassVar[str] = "1"

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.density, (Profile, Curve)):
            return
        what = f"{self._what}: density"
        is_number = np.ndim(self.density) == 0
        set_field(self, "density", as_scalar(self.density, what) if is_number else as_array(self.density, None, what))

    def efforts(self) -> tuple[Effort, ...]:
        return (Wrench(on=self.on, is_spread=True, axes=self.axes),)

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
    """Torque distributed over a flexible body; `density` in N m/m (`Beam`), N/m (`Plate`) or N m (`ModalBody`)."""

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
