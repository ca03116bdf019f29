"""The spacecraft: a hub with two flexible solar arrays and a boom, torques on three axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl import Beam, BodyTorque, Frame, Free, Part, Plate, RigidBody, System, rotation_about

AXES = ("x", "y", "z")


def array(parameters: Any, name: str) -> Plate:
    """Return a sandwich panel: length from its root, bending stiffness given, transverse modes."""
    return Plate(
        name=name,
        length=parameters.array_length,
        width=parameters.array_width,
        thickness=0.02,
        mass=parameters.array_mass,
        bending_stiffness=parameters.array_stiffness,
        stretch_stiffness=1.5e7,
        modes=parameters.array_modes,
        damping=parameters.damping,
        terms=9,
    )


def spacecraft(parameters: Any) -> System:
    """Return the spacecraft: arrays along +y and -y, normals along z; the boom along -z with an instrument at its tip."""
    a, b, c = 1.0, 1.0, 1.5  # [m], edges of the hub
    right, left = rotation_about("z", 0.5 * np.pi), rotation_about("z", -0.5 * np.pi)
    down = rotation_about("y", 0.5 * np.pi)
    hub = RigidBody(
        name="hub",
        mass=parameters.hub_mass,
        inertia=parameters.hub_mass / 12.0 * np.array([b * b + c * c, a * a + c * c, a * a + b * b]),
        frames=(
            Frame(name="right", at=(0.0, 0.5 * b, 0.0), rotation=right),
            Frame(name="left", at=(0.0, -0.5 * b, 0.0), rotation=left),
            Frame(name="down", at=(0.0, 0.0, -0.5 * c), rotation=down),
        ),
    )
    boom = Beam(
        name="boom", length=parameters.boom_length, mass=parameters.boom_mass, EI=parameters.boom_EI, bending=("y", "z"), modes=1,
        tip_mass=parameters.instrument_mass, damping=parameters.damping,
    )  # fmt: skip
    instrument = RigidBody(name="instrument", mass=parameters.instrument_mass, inertia=(0.2, 0.2, 0.2))
    return System(
        name="spacecraft with solar arrays",
        parts=(
            Part(hub, joint=Free(name="hub")),
            Part(array(parameters, "array1"), on="hub.right"),
            Part(array(parameters, "array2"), on="hub.left"),
            Part(boom, on="hub.down"),
            Part(instrument, on="boom.tip"),
        ),
        actuators=tuple(
            BodyTorque(name=f"torque_{axis}", on="hub", direction=axis, limit=parameters.torque_limit) for axis in AXES
        ),
    )
