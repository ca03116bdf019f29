"""Modal effective masses: the contribution of each mode to the reaction to motion of the body's frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from spacectl.model.bodies.base.flexible import FlexibleBody
from spacectl.model.bodies.base.modal_integrals import modal_integrals

__all__ = ["EffectiveMasses", "effective_masses"]


@dataclass(frozen=True)
class EffectiveMasses:
    """Modal effective masses of a flexible body about its frame.

    Parameters
    ----------
    frequencies : array (m,)
        Natural frequencies with the body's frame fixed [rad/s], ascending.
    masses : array (m, 6)
        Effective mass for motion of the frame along x, y, z [kg] and about x, y, z [kg m^2].
    rigid : array (6,)
        Mass and moments of inertia of the undeformed body for the same motions.
    """

    frequencies: np.ndarray
    masses: np.ndarray
    rigid: np.ndarray

    @property
    def share(self) -> np.ndarray:
        """Sum over the modes relative to the rigid body, (6,); tends to 1 with the number of modes (1 without motion)."""
        return np.where(self.rigid > 0.0, self.masses.sum(axis=0) / np.where(self.rigid > 0.0, self.rigid, 1.0), 1.0)


def effective_masses(body: FlexibleBody) -> EffectiveMasses:
    """Return modal effective masses ``(phi' M r)^2 / (phi' M phi)`` of fixed-frame modes, r a rigid motion.

    Parameters
    ----------
    body : FlexibleBody
        `Beam`, `Plate` or `ModalBody`.

    Examples
    --------
    >>> from spacectl import Beam
    >>> found = effective_masses(Beam(name="boom", length=1.0, mass=1.0, EI=1.0, modes=3))
    >>> [float(round(share, 3)) for share in found.masses[:, 1]]
    [0.613, 0.188, 0.065]
    """
    sums = modal_integrals(body.material, second_order=False)
    L = np.vstack([sums["first1"], sums["couple0"]])
    squares, vectors = eigh(body.elasticity, body.modal_mass)  # vectors' M vectors = 1
    I = sums["inertia0"]
    rigid = np.array([*(float(sums["mass"]),) * 3, *I[:3]])
    return EffectiveMasses(np.sqrt(np.maximum(squares, 0.0)), (L @ vectors).T ** 2, rigid)
