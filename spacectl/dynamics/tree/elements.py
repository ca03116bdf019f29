"""Springs, dampers and tethers in the terms of a tree, for every formulation.

Elements in joints give generalised forces and a potential; elements between points give loads on bodies (for
the order-N recursion, see `link_points`); deployed lengths of tethers give the masses of bodies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca

from spacectl.dynamics.tree.kinematics import BodyMotion, frame_in_body, frame_motion
from spacectl.dynamics.tree.nodes import ROOT, Numbers, Tree
from spacectl.model.elements import JointElement, PointElement
from spacectl.model.part import Part
from spacectl.model.system import System
from spacectl.model.validation.validate import find_component
from spacectl.spatial.backend import cross, stack, zeros
from spacectl.spatial.inertia import pull_wrench

__all__ = ["PointTerms", "joint_efforts", "joint_element_places", "joint_potential", "line_lengths", "mass_numbers"]


class PointTerms:
    """Motion of the points of all elements, and their loads on the bodies, on symbols.

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
        """Return the part of q_dot due to line that runs through the masses of a tether, (n_q,), or None."""
        rates, is_any = ca.SX.zeros(self.q.shape[0]), False
        places = {node.part.joint_name: node.q for node in self.tree.nodes}
        for element in self.system.point_elements:
            if element.points:
                p, _ = self.states(element)
                for joint, rate in element.drift(p, self.t, self.numbers.group(element.name)).items():
                    rates[places[joint]] = rate
                    is_any = True
        return rates if is_any else None


def joint_efforts(system: System, tree: Tree, q: Any, v: Any, numbers: Numbers) -> Any:
    """Return the summed efforts of all joint elements on the speeds, shape (n_v,)."""
    total = ca.SX.zeros(v.shape[0])
    for element, places in joint_element_places(system, tree):
        at = [(q[i] if i is not None else None, v[k]) for i, k in places]
        efforts = element.efforts([q_j for q_j, _ in at], [v_j for _, v_j in at], numbers.group(element.name))
        for (_, k), effort in zip(places, efforts, strict=True):
            total[k] += effort
    return total


def joint_potential(system: System, tree: Tree, q: Any, numbers: Numbers) -> Any:
    """Return the energy stored in all joint elements [J]."""
    total = ca.SX(0)
    for element, places in joint_element_places(system, tree):
        total += element.potential([None if i is None else q[i] for i, _ in places], numbers.group(element.name))
    return total


def joint_element_places(system: System, tree: Tree) -> list[tuple[JointElement, list[tuple[int | None, int]]]]:
    """Return each element with its indices in q (None if a speed is no coordinate's rate) and v."""
    found = []
    for element in system.joint_elements:
        places: list[tuple[int | None, int]] = []
        for joint, component in element.ends:
            node = next(node for node in tree.nodes if node.part.joint_name == joint)
            coordinate, speed = find_component(f"element '{element.name}'", component, node.part)
            places.append((None if coordinate is None else node.q.start + coordinate, node.v.start + speed))
        found.append((element, places))
    return found


def line_lengths(system: System, tree: Tree, t: Any, q: Any, numbers: Numbers) -> dict[str, Any]:
    """Return the deployed length of each tether, by name [m]."""
    places = {node.part.joint_name: node.q.start for node in tree.nodes}
    lengths = {}
    for line in system.point_elements:
        coordinate = q[places[line.length_joint]] if line.length_joint else None
        length = line.deployed(t, coordinate, numbers.group(line.name))
        if length is not None:
            lengths[line.name] = length
    return lengths


def mass_numbers(part: Part, numbers: Numbers, lengths: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the parameters of `mass_properties`: the body's own, or its tether's and the deployed length."""
    line = part.body.line
    return {**numbers.group(line), "length": lengths[line]} if line else numbers.group(part.name)
