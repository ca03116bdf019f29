"""Systems with loops in Pinocchio: its tree with the closures as rigid constraints, or as rows of a Jacobian for gears."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from spacectl.model.constraints import Constraint, PointOnPlane
from spacectl.model.part import Part
from spacectl.model.system import System
from tests.peers.pinocchio_peer import build, pin

__all__ = ["LoopPeer", "depth_first"]


def depth_first(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Parts in an order in which whatever a body carries follows it without gaps.

    Pinocchio's factorisation of the mass matrix takes this for granted; in another order its constrained accelerations are
    wrong without a word (its unconstrained ones are right).
    """

    def below(on: str) -> list[Part]:
        return [item for part in parts if part.on.split(".")[0] == on for item in (part, *below(part.name))]

    return tuple(below("world"))


class LoopPeer:
    """Constrained forward dynamics of a tree of revolute joints in Pinocchio.

    Pins (pairs of `PointOnPlane` between the same frames) become contacts of a point, whose third row, out of the plane of the
    loop, holds nothing new; gears become rows of a Jacobian.

    Parameters
    ----------
    system : System
        Of revolute joints.
    """

    def __init__(self, system: System):
        system = replace(system, parts=depth_first(system.parts))
        self.built = build(system)
        self.model, self.system = self.built.model, system
        self.data = self.model.createData()
        self.names = [link.joint for _, link, _ in self.built.entries]
        self.gears = [item for item in system.constraints if isinstance(item, Constraint)]
        pins = {(item.a, item.b): item for item in system.constraints if isinstance(item, PointOnPlane)}
        self.contacts, self.contact_data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        for a, b in pins:
            model = pin.RigidConstraintModel(
                pin.ContactType.CONTACT_3D, self.model, *self._place(a), *self._place(b), pin.ReferenceFrame.LOCAL
            )
            self.contacts.append(model)
            self.contact_data.append(model.createData())
        pin.initConstraintDynamics(self.model, self.data, self.contacts, self.contact_data)
        # iterations until multipliers change by less than rounding; the regularisation does not change the limit
        self.settings = pin.ProximalSettings(1e-14, 1e-14, 1e-10, 100)

    def _place(self, on: str) -> tuple[int, Any]:
        """Joint that carries a frame, and the frame's placement there."""
        body, _, frame = on.partition(".")
        k = [part.name for part in self.system.tree].index(body)
        at = next((np.asarray(item.at) for item in self.system.tree[k].body.frames if item.name == frame), np.zeros(3))
        return self.built.joints[k], self.built.placements[k] * pin.SE3(np.eye(3), at)

    def order(self, eom: Any) -> list[int]:
        """Place of Pinocchio's coordinates (and speeds) in ours."""
        return [eom.coordinates.index(name) for name in self.names]

    def gear_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Return Jacobian and right-hand side of the gears, linear in the coordinates."""
        J = np.zeros((len(self.gears), self.model.nv))
        for k, item in enumerate(self.gears):
            (_, motor), _, (_, joint) = item.rule.needs
            J[k, self.names.index(motor)] = 1.0
            J[k, self.names.index(joint)] = -dict(item.values)["ratio"]
        return J, np.zeros(len(self.gears))

    def accelerate(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """Accelerations for coordinates, speeds and generalised forces in Pinocchio's order."""
        if self.gears:
            return np.array(pin.forwardDynamics(self.model, self.data, q, v, tau, *self.gear_rows(), 0.0))
        return np.array(
            pin.constraintDynamics(self.model, self.data, q, v, tau, self.contacts, self.contact_data, self.settings)
        )
