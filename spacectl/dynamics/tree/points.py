"""Forces of springs and tethers between points, for the terms of a tree: where the points are, and what the bodies feel.

The order-N recursion has its own way to the same in `link_points`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca

from spacectl.dynamics.tree.kinematics import BodyMotion, frame_in_body, frame_motion
from spacectl.dynamics.tree.nodes import ROOT, Numbers, Tree
from spacectl.model.elements import PointElement
from spacectl.model.system import System
from spacectl.spatial.backend import cross, stack, zeros
from spacectl.spatial.motion import pull_wrench

__all__ = ["PointTerms"]


class PointTerms:
    """Motion of the points of all elements, and the loads they put on the bodies, on symbols.

    Parameters
    ----------
    system : System
        The description.
    tree : Tree
        Its tree.
    t, q, v : symbols
        Time, coordinates, speeds.
    numbers : Numbers
        Run-time parameters.
    motions : sequence of BodyMotion
        Inertial motion of the bodies.
    """

    def __init__(
        self, system: System, tree: Tree, t: Any, q: Any, v: Any, numbers: Numbers, motions: Sequence[BodyMotion]
    ):
        self.system, self.tree, self.t, self.q, self.v = system, tree, t, q, v
        self.numbers, self.motions = numbers, motions
        self.rate = system.environment.root_rate(t, numbers.group("environment"))

    def states(self, element: PointElement) -> tuple[list[Any], list[Any]]:
        """Return the positions and velocities of an element's points, relative to the root, in its axes."""
        n = self.numbers.group(element.name)
        positions, velocities = [], []
        for frame, key in element.points:
            at = n[key] if key else zeros(3, self.q)
            i, X_BA, attachment = frame_in_body(self.tree, frame, self.q, self.v, self.numbers)
            if i == ROOT:
                positions.append(at)
                velocities.append(zeros(3, self.q))
                continue
            motion, place = self.motions[i], X_BA.point(at)
            if attachment is not None:
                motion, place = frame_motion(motion, attachment, self.v[self.tree.nodes[i].eta_dot]), at
            p = motion.X_NB.point(place)
            velocity = motion.X_NB.R @ (motion.twist[3:6] + cross(motion.twist[0:3], place))
            positions.append(p)
            velocities.append(velocity if self.rate is None else velocity - cross(self.rate, p))
        return positions, velocities

    def loads(self) -> list[tuple[int, Any, Any]]:
        """Return (body, wrench about its origin in its axes, modal forces or None) of every force on a body."""
        found = []
        for element in self.system.point_elements:
            n = self.numbers.group(element.name)
            p, v = self.states(element)
            forces = element.forces(p, v, self.rate, self.t, n) if p else []
            for (frame, key), force in zip(element.points, forces, strict=True):
                i, X_BA, attachment = frame_in_body(self.tree, frame, self.q, self.v, self.numbers)
                if i == ROOT:
                    continue
                local = (self.motions[i].X_NB @ X_BA).R.T @ force
                at = n[key] if key else zeros(3, self.q)
                wrench = stack(cross(at, local), local)
                modal = None if attachment is None else attachment.S.T @ wrench
                found.append((i, pull_wrench(X_BA, wrench), modal))
        return found

    def potential(self) -> Any:
        """Return the energy stored in all elements [J]."""
        stored = ca.SX(0)
        for element in self.system.point_elements:
            if element.points:
                stored += element.potential(self.states(element)[0], self.t, self.numbers.group(element.name))
        return stored

    def drift(self) -> Any | None:
        """Return the part of q_dot due to line that runs through the masses of a tether, shape (n_q,); None if there is none."""
        rates, is_any = ca.SX.zeros(self.q.shape[0]), False
        places = {node.part.joint_name: node.q for node in self.tree.nodes}
        for element in self.system.point_elements:
            if element.points:
                p, _ = self.states(element)
                for joint, rate in element.drift(p, self.t, self.numbers.group(element.name)).items():
                    rates[places[joint]] = rate
                    is_any = True
        return rates if is_any else None
