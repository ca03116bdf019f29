"""Forces of springs between points of an aggregate: from the motion of the points to loads on its links and on its base.

The motion of ends on the aggregate and on its base is relative to the base; for an end on the root the base's own motion is
added, so that a spring to the root couples no links. `points` and `link_points` serve the other formulations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from spacectl.core.provenance import content_hash
from spacectl.dynamics.embedding.aggregates import Aggregate
from spacectl.dynamics.tree.nodes import ROOT
from spacectl.model.elements import PointElement
from spacectl.spatial.backend import cross, stack, zeros
from spacectl.spatial.inertia import pull_wrench

if TYPE_CHECKING:
    from spacectl.dynamics.embedding.record import Frames
    from spacectl.dynamics.embedding.terms import AggregateTerms

__all__ = ["add_point_loads", "key_of_points", "sees_root"]


def sees_root(frames: Frames, element: PointElement) -> bool:
    """Return whether an element needs the positions of its points in the root."""
    return not element.is_objective or any(frames.place(on)[0] == ROOT for on, _ in element.points)


def key_of_points(frames: Frames, aggregate: Aggregate) -> list[Any]:
    """Return what determines the code of an aggregate's elements: their laws as expressions, and the carriers of their ends."""
    place = {i: k for k, i in enumerate(aggregate.links)} | {ROOT: "root"}
    found = []
    for element in aggregate.elements:
        ends = [frames.place(on)[:2] for on, _ in element.points]
        carriers = [(place.get(i, "base"), frame if i in place else "") for i, frame in ends]
        found.append([_law(frames, element), carriers, sees_root(frames, element)])
    return found


def _law(frames: Frames, element: PointElement) -> str:
    """Return a hash of the expression of an element's forces, so that equal laws share their code and others do not."""
    numbers = frames.numbers.group(element.name)
    n = {key: ca.SX.sym(key, *np.shape(np.atleast_1d(value))) for key, value in numbers.items()}
    t, rate, count = ca.SX.sym("t"), ca.SX.sym("rate", 3), len(element.points)
    p, v = ([ca.SX.sym(f"{key}{k}", 3) for k in range(count)] for key in "pv")
    forces = element.forces(p, v, rate if _turns(frames, element) else None, t, n)
    law = ca.Function("law", [*p, *v, rate, t, *n.values()], forces)
    return content_hash([law.serialize(), *(key for _, key in element.points), *n])


def _turns(frames: Frames, element: PointElement) -> bool:
    """Return whether the axes of an element may rotate: those of a base always, those of the root in an orbit."""
    return not sees_root(frames, element) or frames.root_rate(0.0, frames.numbers.group("environment")) is not None


def add_point_loads(own: AggregateTerms, loads: list[Any], modal: dict[int, Any]) -> Any:
    """Add the forces of all elements to the loads on links and modes; return the wrench on the base, (6,)."""
    on_base = zeros(6, own.q)
    for k, element in enumerate(own.aggregate.elements):
        n = own.group(f"#point{k}")
        seen = _InRoot(own) if sees_root(own.frames, element) else _InBase(own)
        places = [n[key] if key else zeros(3, own.q) for _, key in element.points]
        motions = [seen.motion(on, at) for (on, _), at in zip(element.points, places, strict=True)]
        forces = element.forces([p for p, _ in motions], [v for _, v in motions], seen.rate, own.t, n)
        for (on, _), at, force in zip(element.points, places, forces, strict=True):
            if own.frames.place(on)[0] != ROOT:
                on_base = on_base + _put(own, on, at, seen.in_base(force), loads, modal)
    return on_base


def _put(own: AggregateTerms, on: str, at: Any, force: Any, loads: list[Any], modal: dict[int, Any]) -> Any:
    """Add a force (base axes) to the loads of the link that carries its point, or return the wrench on the base."""
    i, X, attachment = own.located(on)
    if i == ROOT:
        return stack(cross(X.point(at), force), force)
    local = (own.placements[i] @ X).R.T @ force
    wrench = stack(cross(at, local), local)
    loads[i] = loads[i] + pull_wrench(X, wrench)
    if attachment is not None:
        modal[i] = modal[i] + attachment.S.T @ wrench
    return zeros(6, own.q)


class _InBase:
    """Points relative to the base; `rate` is its inertial rate."""

    def __init__(self, own: AggregateTerms):
        self.own = own
        self.rate: Any = own.base_twist[:3]

    def motion(self, on: str, at: Any) -> tuple[Any, Any]:
        """Return position and velocity relative to the base, in its axes."""
        X, twist = self.own.frame(on)
        return X.point(at), twist[3:6] + cross(twist[0:3], X.R @ at)

    def in_base(self, force: Any) -> Any:
        """Return a force in the base's axes."""
        return force


class _InRoot(_InBase):
    """Points relative to the root; `rate` is its inertial rate, or None."""

    def __init__(self, own: AggregateTerms):
        super().__init__(own)
        self.rate = own.frames.root_rate(own.t, own.group("#environment"))

    def motion(self, on: str, at: Any) -> tuple[Any, Any]:
        """Return position and velocity relative to the root, in its axes."""
        if self.own.frames.place(on)[0] == ROOT:
            return self.own.located(on)[1].point(at), zeros(3, self.own.q)
        p, moving = super().motion(on, at)
        V, X = self.own.base_twist, self.own.base
        position, velocity = X.point(p), X.R @ (V[3:6] + cross(V[0:3], p) + moving)
        return position, velocity if self.rate is None else velocity - cross(self.rate, position)

    def in_base(self, force: Any) -> Any:
        return self.own.base.R.T @ force
