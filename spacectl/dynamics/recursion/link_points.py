"""Forces of springs and tethers between points, for the order-N recursion: link motion to loads.

This module shares only the elements' laws (`model`) and `spatial` with `points`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from spacectl.dynamics.recursion.links import Links
from spacectl.dynamics.recursion.sweeps import LinkMotion
from spacectl.dynamics.tree.nodes import ROOT, Numbers, Tree
from spacectl.model.elements import PointElement
from spacectl.model.system import System
from spacectl.spatial.backend import cross, stack, zeros
from spacectl.spatial.flexible import Attachment, attach
from spacectl.spatial.inertia import Placement, move_twist, pull_wrench

__all__ = ["LinkPoints"]


@dataclass(frozen=True)
class _Point:
    """A moving point: its link, its frame in the link (axes of the carrying frame), position and velocity."""

    link: int
    X_FA: Placement
    attachment: Attachment | None
    p: Any
    v: Any
    R: Any


class LinkPoints:
    """Loads of all point elements on links and modes, and the drift of the coordinates.

    Parameters
    ----------
    system, tree : System and Tree
        The description.
    numbers : Numbers
        Run-time parameters.
    links, motions, placements : Links, list of LinkMotion, list of Placement
        From the outward sweep.
    root_rate : symbol or None
        Inertial rate of the root.
    """

    def __init__(
        self,
        system: System,
        tree: Tree,
        numbers: Numbers,
        links: Links,
        motions: list[LinkMotion],
        placements: list[Placement],
        root_rate: Any | None,
    ):
        self.system, self.tree, self.numbers = system, tree, numbers
        self.links, self.motions, self.placements, self.root_rate = links, motions, placements, root_rate

    def add_loads(self, t: Any, q: Any, v: Any, loads: list[Any], modal: dict[int, Any]) -> None:
        """Add the wrenches about F to `loads` and the modal forces to `modal`."""
        for element in self.system.point_elements:
            points = self._points(element, q, v)
            if not points:
                continue
            n = self.numbers.group(element.name)
            forces = element.forces([a.p for a in points], [a.v for a in points], self.root_rate, t, n)
            for point, force in zip(points, forces, strict=True):
                if point.link == ROOT:
                    continue
                wrench = stack(zeros(3, q), point.R.T @ force)
                loads[point.link] = loads[point.link] + pull_wrench(point.X_FA, wrench)
                if point.attachment is not None:
                    at_frame = pull_wrench(point.attachment.X_BA.inverse() @ point.X_FA, wrench)
                    modal[point.link] = modal[point.link] + point.attachment.S.T @ at_frame

    def drift(self, t: Any, q: Any, v: Any) -> Any:
        """Return the drift, shape (n_q,), to be subtracted from the coordinate rates of the joints."""
        rates = ca.SX.zeros(q.shape[0])
        places = {node.part.joint_name: node.q for node in self.tree.nodes}
        for element in self.system.point_elements:
            positions = [point.p for point in self._points(element, q, v)]
            if positions:
                for joint, rate in element.drift(positions, t, self.numbers.group(element.name)).items():
                    rates[places[joint]] = rate
        return rates

    def _points(self, element: PointElement, q: Any, v: Any) -> list[_Point]:
        n = self.numbers.group(element.name)
        return [self._point(frame, n[key] if key else zeros(3, q), q, v) for frame, key in element.points]

    def _point(self, name: str, at: Any, q: Any, v: Any) -> _Point:
        body, frame = self.tree.split(name)
        here = Placement(Placement.identity(q).R, at)
        if body in self.tree.root_names:
            return _Point(ROOT, here, None, at, zeros(3, q), None)
        i, X = self.links.body[self.tree.index(body)]
        X_frame = Placement.identity(q)
        if frame and (i == ROOT or self.links.items[i].kind != "modal"):
            X_frame = Placement(self.numbers[f"{body}.{frame}.rotation"], self.numbers[f"{body}.{frame}.at"])
        if i == ROOT:  # a body fixed to the root
            return _Point(ROOT, here, None, (X @ X_frame).point(at), zeros(3, q), None)
        link, attachment, relative = self.links.items[i], None, None
        if frame and link.kind == "modal":
            eta_dot = v[link.node.eta_dot]
            attachment = attach(link.n, frame, q[link.node.eta], eta_dot)
            X, relative = attachment.X_BA, attachment.S @ eta_dot
        else:
            X = X @ X_frame
        twist = move_twist(X, self.motions[i].twist)
        twist = move_twist(here, twist if relative is None else twist + relative)
        X_NA = self.placements[i] @ X @ here
        velocity = X_NA.R @ twist[3:6]
        if self.root_rate is not None:
            velocity = velocity - cross(self.root_rate, X_NA.p)
        return _Point(i, X @ here, attachment, X_NA.p, velocity, X_NA.R)
