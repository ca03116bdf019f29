"""A spacecraft with the imported reflector on a two-axis gimbal; pointing and surface error of the reflector."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from spacectl import (
    BodyTorque,
    FemModel,
    Frame,
    Free,
    JointTorque,
    ModalBody,
    Part,
    RigidBody,
    System,
    Universal,
    load_fem,
)

FILE = Path(__file__).with_name("antenna.npz")
HUB = tuple(range(14))  # nodes of the inner ring
RIM = 70  # node of the rim that carries the feed


def read() -> FemModel:
    """Return the finite-element model, with the mass stated in its drawing."""
    return load_fem(FILE, total_mass=17.4)


def reflector(parameters: Any, fem: FemModel) -> ModalBody:
    """Return the reflector, held at its hub, with the feed's node as interface."""
    return ModalBody.from_fem(
        fem,
        name="dish",
        root=HUB,
        interface={"feed": RIM},
        modes=parameters.modes,
        frequency=parameters.cutoff,
        damping=parameters.damping,
    )


def spacecraft(parameters: Any, dish: ModalBody) -> System:
    """Return bus, gimbal on its top, reflector and feed at the rim; torques on the bus and in the gimbal."""
    bus = RigidBody(
        name="bus", mass=500.0, inertia=(120.0, 130.0, 110.0), frames=(Frame(name="top", at=(0.0, 0.0, 0.8)),)
    )
    feed = RigidBody(name="horn", mass=parameters.feed_mass, inertia=(0.01, 0.01, 0.01))
    torques = tuple(BodyTorque(name=f"bus_{axis}", on="bus", direction=axis) for axis in "xyz")
    gimbal = tuple(
        JointTorque(joint="gimbal", component=f"{part}_dot", name=f"gimbal_{part}", limit=parameters.limit)
        for part in ("first", "second")
    )
    return System(
        name="spacecraft with reflector",
        parts=(
            Part(bus, joint=Free(name="bus")),
            Part(dish, on="bus.top", joint=Universal(name="gimbal", first="x", second="y")),
            Part(feed, on="dish.feed"),
        ),
        actuators=(*torques, *gimbal),
    )


def beam_errors(dish: ModalBody, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return tilts of the best-fitting paraboloid about x and y [rad] and the residual surface error [m rms], histories (t, m).

    Displacements along the surface's normal are fitted by a piston and two tilts of the undeformed surface.
    """
    mesh = dish.surface_mesh()
    corners = mesh.points[mesh.triangles]
    faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal = np.zeros_like(mesh.points)
    for k in range(3):
        np.add.at(normal, mesh.triangles[:, k], faces)
    area = np.linalg.norm(normal, axis=1)
    normal = normal / area[:, None] * np.sign(normal[:, 2:])
    moved = np.einsum("nx,nxm->nm", normal, mesh.shapes) @ eta.T
    turned = [np.einsum("nx,nx->n", normal, np.cross(axis, mesh.points)) for axis in np.eye(3)[:2]]
    basis = np.stack([normal[:, 2], *turned], axis=1) * np.sqrt(area)[:, None]
    found, *_ = np.linalg.lstsq(basis, moved * np.sqrt(area)[:, None], rcond=None)
    rest = moved * np.sqrt(area)[:, None] - basis @ found
    return found[1:].T, np.sqrt(np.sum(rest**2, axis=0) / area.sum())
