"""Plants for tests of regulators and estimators: exactly linear carts, an orbital arm with a tether, lightly damped modes."""

from __future__ import annotations

import numpy as np

from spacectl import (
    AngularVelocity,
    Attitude,
    CircularOrbit,
    EquationsOfMotion,
    Free,
    JointForce,
    JointSpring,
    JointTorque,
    Labels,
    LinearModel,
    Part,
    Position,
    Prismatic,
    Revolute,
    RigidBody,
    System,
    form_equations,
)
from spacectl.model.actuators import BodyTorque

__all__ = ["carts", "double_integrator", "flexible_modes", "measured_body", "oscillator", "tethered_arm"]


def carts() -> EquationsOfMotion:
    """Two masses in a row, the second sprung to the first, driven at the first: its equations are linear."""
    parts = (
        Part(RigidBody(name="front", mass=2.0, inertia=(1.0, 1.0, 1.0)), joint=Prismatic(name="slide", axis="x")),
        Part(
            RigidBody(name="rear", mass=1.0, inertia=(1.0, 1.0, 1.0)),
            on="front",
            joint=Prismatic(name="gap", axis="x"),
        ),
    )
    return form_equations(
        System(
            name="carts",
            parts=parts,
            actuators=(JointForce(joint="slide"),),
            elements=(JointSpring(joint="gap", stiffness=9.0, damping=0.05),),
            sensors=(Position(name="rear_at", on="rear"),),
        )
    )


def double_integrator() -> LinearModel:
    """A unit mass with a force; its position is the output."""
    x, u, y = (
        Labels(("position", "speed"), ("m", "m/s"), "state"),
        Labels(("force",), ("N",), "input"),
        Labels(("at",), ("m",)),
    )
    return LinearModel(A=[[0, 1], [0, 0]], B=[[0], [1]], C=[[1, 0]], D=[[0]], x=x, u=u, y=y)


def oscillator(frequency: float = 2.0) -> LinearModel:
    """An undamped oscillator of unit mass."""
    x, u, y = (
        Labels(("position", "speed"), ("m", "m/s"), "state"),
        Labels(("force",), ("N",), "input"),
        Labels(("at",), ("m",)),
    )
    return LinearModel(A=[[0, 1], [-(frequency**2), 0]], B=[[0], [1]], C=[[1, 0]], D=[[0]], x=x, u=u, y=y)


def flexible_modes(count: int, *, seed: int = 0, damping: float = 0.005) -> LinearModel:
    """Lightly damped modes from 0.1 to 100 rad/s with random shapes at three inputs and three collocated rate outputs."""
    rng = np.random.default_rng(seed)
    w, shapes = np.logspace(-1.0, 2.0, count), rng.normal(size=(count, 3))
    A = np.block([[np.zeros((count, count)), np.eye(count)], [-np.diag(w**2), -np.diag(2.0 * damping * w)]])
    B = np.vstack([np.zeros((count, 3)), shapes])
    names = (*(f"eta{k + 1}" for k in range(count)), *(f"eta{k + 1}_dot" for k in range(count)))
    u, y = (Labels(tuple(f"{word}{k + 1}" for k in range(3)), (), "input") for word in ("force", "rate"))
    return LinearModel(A=A, B=B, C=B.T, D=np.zeros((3, 3)), x=Labels(names, (), "state"), u=u, y=y)


def tethered_arm(length: float = 1000.0) -> EquationsOfMotion:
    """Spacecraft, two-link arm and a stiff tether with an end mass in a circular orbit of 0.001 rad/s, in its plane."""
    craft = RigidBody(name="craft", mass=5000.0, inertia=(8000.0, 9000.0, 8000.0))
    links = [RigidBody(name=f"link{k}", mass=60.0, inertia=(50.0, 50.0, 1.0), com=(0.0, 0.0, 2.5)) for k in (1, 2)]
    mass = 100.0 + 0.005 * length
    tether = RigidBody(
        name="tether", mass=mass, inertia=(1.0, 1.0, 1.0), com=(0.0, 0.0, length * (100.0 + 0.0025 * length) / mass)
    )
    parts = [Part(craft, joint=Revolute(name="pitch", axis="y"))]
    for body, joint, on, at in (
        (links[0], "shoulder", "craft", 0.0),
        (links[1], "elbow", "link1", 5.0),
        (tether, "hand", "link2", 5.0),
    ):
        parts.append(Part(body, on=on, at=(0.0, 0.0, at), joint=Revolute(name=joint, axis="y")))
    return form_equations(
        System(
            name="tethered arm",
            environment=CircularOrbit(rate=1e-3),
            parts=tuple(parts),
            actuators=(
                BodyTorque(name="wheel", on="craft", direction="y"),
                JointTorque(joint="shoulder"),
                JointTorque(joint="elbow"),
            ),
        )
    )


def measured_body() -> EquationsOfMotion:
    """A free body in orbit with torques, a gyro and an attitude sensor."""
    torques = tuple(BodyTorque(name=f"torque_{axis}", on="body", direction=axis) for axis in "xyz")
    return form_equations(
        System(
            name="measured body",
            environment=CircularOrbit(rate=1e-3),
            parts=(Part(RigidBody(name="body", mass=100.0, inertia=(80.0, 120.0, 100.0)), joint=Free(name="base")),),
            actuators=torques,
            sensors=(
                AngularVelocity(name="gyro", on="body", seen_from="orbit", axes="body"),
                Attitude(name="star", on="body", seen_from="orbit"),
            ),
        )
    )
