"""Constraint equations of an aggregate, ``J v_dot = gamma`` in its own speeds relative to its base."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import casadi as ca

from spacectl.core.labels import Labels
from spacectl.dynamics.constraints.terms import ConstraintTerms
from spacectl.dynamics.embedding.terms import AggregateTerms
from spacectl.dynamics.tree.actuation import effort_gain, effort_speed
from spacectl.dynamics.tree.nodes import Numbers
from spacectl.spatial.inertia import Placement, pull_wrench

__all__ = ["LocalConstraints"]


class LocalConstraints(ConstraintTerms):
    """Constraint equations of an aggregate, relative to its base in place of the root.

    Parameters
    ----------
    own : AggregateTerms
        Provides the symbols.
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
        column = ca.SX.zeros(own.v.shape[0])
        for k, (actuator, _) in enumerate(own.efforts):
            if actuator.input_name == name:
                column -= ca.jacobian(own.inertia.h, own.u[k])
        nodes = {link.node.part.joint_name: link.node for link in own.links if link.kind == "joint"}
        for k, actuator in enumerate(own.frames.maintaining(own.aggregate)):
            for effort in actuator.joint_efforts if actuator.input_name == name else ():
                if effort.joint in nodes:
                    column[effort_speed(effort, nodes)] += effort_gain(effort, own.group(f"#maintaining{k}"))
        return column


def _labels(whole: Labels, own: AggregateTerms, level: str) -> Labels:
    """Return the names of the aggregate's coordinates or speeds, in its own order."""
    keys = ("eta" if level == "q" else "eta_dot", level)
    names: list[str] = []
    for i in own.aggregate.links:
        link = own.frames.links.items[i]
        names += whole.names[getattr(link.node, keys[0] if link.kind == "modal" else keys[1])]
    return Labels(tuple(names), tuple(whole.unit(name) for name in names), "state")
