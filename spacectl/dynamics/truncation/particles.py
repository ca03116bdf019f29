"""Positions of particles that represent the bodies of a tree, as explicit expressions of joints and shapes.

Rigid bodies and the slices of flexible ones become small sets of particles with the same mass, centre and second moments. They
are used by `correction`, which must be independent of the recursion and the inertia integrals.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from spacectl.core.errors import ModelError
from spacectl.dynamics.tree.nodes import Node, Tree
from spacectl.model.bodies.base.interfaces import FrameShapes
from spacectl.spatial.backend import skew
from spacectl.spatial.inertia import Placement

__all__ = ["body_placements", "frame_placement", "particle_position", "particles"]


def body_placements(tree: Tree, t: Any, q: Any) -> list[Placement]:
    """Return the placements of all bodies in the root."""
    found: list[Placement] = []
    for node in tree.nodes:
        part, joint = node.part, node.part.joint
        n = {key: ca.SX(ca.DM(np.asarray(number.value))) for key, number in joint.numbers().items()}
        q_j = q[node.q] if joint.motion is None else ca.SX(joint.motion(t)[0])
        X = frame_placement(tree, part.on, q, found) @ _constant(part.at, part.rotation) @ joint.placement(q_j, n)
        found.append(X @ _constant(part.child_at, part.child_rotation).inverse())
    return found


def frame_placement(tree: Tree, name: str, q: Any, placed: list[Placement]) -> Placement:
    """Return the placement in the root of a named frame, on a flexible body with its deformation."""
    if name in tree.root_names:
        return Placement.identity(q)
    body, key = tree.split(name)
    i = tree.index(body)
    node = tree.nodes[i]
    if not key:
        return placed[i]
    frame = next(frame for frame in node.part.body.frames if frame.name == key)
    fixed = _constant(frame.at, frame.rotation)
    if not node.is_flexible:
        return placed[i] @ fixed
    shapes = node.flexible_body.shapes_at(np.asarray(frame.at))
    if shapes is None:
        raise ModelError(f"body '{body}': no shapes at its frame '{key}'; move the frame to a material point")
    data = _data(0.0, np.asarray(frame.at), np.zeros(3), shapes)
    p, turned = _deformed(ca.SX(ca.DM(data)), q[node.eta])
    return placed[i] @ Placement(turned @ fixed.R, p)


def _constant(at: Any, rotation: Any) -> Placement:
    R = np.eye(3) if rotation is None else np.asarray(rotation)
    return Placement(ca.SX(ca.DM(R)), ca.SX(ca.DM(np.asarray(at))))


def particles(node: Node) -> np.ndarray:
    """Return the particles of a body as columns: weight, position of the slice, offset from it, shapes of the slice.

    Slices and rigid bodies with inertia J become seven particles each with the same mass, centre and second moments
    ``1/2 tr(J) - J``. Forces and displacements are linear in the offsets, so any distance gives the same sums; some
    weights may be negative (a rotor has no mass).
    """
    body = node.part.body
    if node.is_flexible:
        points = node.flexible_body.material
        slices = [(points.mass[i], points.X[i], points.rotary[i]) for i in range(len(points.mass))]
        shapes = [FrameShapes(points.Phi[i], points.Psi[i], points.G[i], points.H[i]) for i in range(len(points.mass))]
    else:
        numbers = {key: number.value for key, number in node.part.numbers().items()}
        mass, com, J = body.mass_properties({key: np.asarray(value) for key, value in numbers.items()})
        slices = [(float(mass), np.asarray(com, dtype=float), np.asarray(J, dtype=float))]
        none, none2 = np.zeros((3, 0)), np.zeros((3, 0, 0))
        shapes = [FrameShapes(none, none, none2, none2)]
    columns = []
    for (mass, X, J), shape in zip(slices, shapes, strict=True):
        moments, axes = np.linalg.eigh(0.5 * np.trace(J) * np.eye(3) - J)
        far = float(np.sqrt(np.abs(moments).sum() / mass)) if mass > 0.0 else 1.0
        centre = float(mass)
        for moment, axis in zip(moments, axes.T, strict=True):
            if moment:
                weight = 0.5 * moment / far**2
                centre -= 2.0 * weight
                columns += [_data(weight, X, sign * far * axis, shape) for sign in (1.0, -1.0)]
        columns.append(_data(centre, X, np.zeros(3), shape))
    return np.stack(columns, axis=1)


def _data(weight: float, X: np.ndarray, offset: np.ndarray, shapes: FrameShapes) -> np.ndarray:
    return np.concatenate(
        [[weight], X, offset, *(item.ravel() for item in (shapes.Phi, shapes.Psi, shapes.G, shapes.H))]
    )


def _deformed(particle: Any, eta: Any) -> tuple[Any, Any]:
    """Return the position of a slice ``X + Phi eta - 1/2 eta' G eta`` and its rotation ``1 + theta~ + 1/2 theta~ theta~``."""
    m = eta.shape[0]
    pieces, start = [], 7
    for size in (3 * m, 3 * m, 3 * m * m, 3 * m * m):
        pieces.append(particle[start : start + size])
        start += size
    Phi, Psi = (ca.reshape(piece, m, 3).T for piece in pieces[:2])
    pairs = ca.vec(eta @ eta.T)
    G, H = (ca.reshape(piece, m * m, 3).T @ pairs for piece in pieces[2:])
    theta = skew(Psi @ eta + 0.5 * H)
    return particle[1:4] + Phi @ eta - 0.5 * G, ca.SX.eye(3) + theta + 0.5 * theta @ theta


def particle_position(particle: Any, eta: Any) -> Any:
    """Return the position of a particle in body axes."""
    X, turned = _deformed(particle, eta)
    return X + turned @ particle[4:7]
