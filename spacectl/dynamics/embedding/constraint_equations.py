"""Constraint rows of an aggregate, ``J v_dot = gamma`` in its own speeds, seen from its base."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import casadi as ca

from spacectl.core.labels import Labels
from spacectl.dynamics.constraints.terms import ConstraintTerms
from spacectl.dynamics.embedding.terms import AggregateTerms
from spacectl.dynamics.tree.nodes import Numbers
from spacectl.model.actuators import JointTorque
from spacectl.model.validation.validate import find_speed
from spacectl.spatial.motion import Placement, pull_wrench

__all__ = ["LocalRows"]


class LocalRows(ConstraintTerms):
    """Constraint rows of an aggregate: the base takes the place of the root.

    Parameters
    ----------
    own : AggregateTerms
        Whose symbols.
    """

    def __init__(self, own: AggregateTerms):
        frames = own.frames
        names: dict[str, Any] = {}
        for k, item in enumerate(own.aggregate.constraints):
            names |= {f"{item.name}.{key}": value for key, value in own.group(f"#constraint{k}").items()}
        tree = SimpleNamespace(
            coordinates=_labels(frames.tree.coordinates, own, "q"), speeds=_labels(frames.tree.speeds, own, "v")
        )
        terms: Any = SimpleNamespace(t=own.t, q=own.q, v=own.v, q_dot=own.q_dot, numbers=Numbers(names), tree=tree)
        super().__init__(terms, own.aggregate.constraints)
        self.own = own

    def frame(self, name: str) -> tuple[Placement, Any]:
        return self.own.frame(name)

    def momentum(self) -> Any:
        total = ca.SX.zeros(6)
        for link, motion, X in zip(self.own.links, self.own.motions, self.own.placements, strict=True):
            body = (
                link.inertia @ motion.twist
                if motion.modal is None
                else motion.modal.momentum(motion.twist, motion.rates)
            )
            total = total + pull_wrench(X, body)
        return total

    def input_column(self, name: str) -> Any:
        own = self.own
        actuator = next(a for a in own.frames.system.actuators if a.input_name == name)
        if actuator in own.pushing:
            return -ca.jacobian(own.inertia.h, own.u[own.pushing.index(actuator)])
        joint = actuator.joint if isinstance(actuator, JointTorque) else actuator.input_name
        node = next(link.node for link in own.links if link.kind == "joint" and link.node.part.joint_name == joint)
        column = ca.SX.zeros(own.v.shape[0])
        column[node.v.start + (find_speed(actuator, node.part) if isinstance(actuator, JointTorque) else 0)] = 1.0
        return column


def _labels(whole: Labels, own: AggregateTerms, level: str) -> Labels:
    """Names of the aggregate's coordinates or speeds, in its own order."""
    keys = ("eta" if level == "q" else "eta_dot", level)
    names: list[str] = []
    for i in own.aggregate.links:
        link = own.frames.links.items[i]
        names += whole.names[getattr(link.node, keys[0] if link.kind == "modal" else keys[1])]
    return Labels(tuple(names), tuple(whole.unit(name) for name in names), "state")
