"""Small systems held by more constraints than are needed."""

from __future__ import annotations

import numpy as np

from spacectl import (
    BodyForce,
    Fixed,
    Free,
    FreeSpace,
    Loop,
    Part,
    Planar,
    PointOnPlane,
    Revolute,
    RigidBody,
    System,
)

SUPPORTS = np.array([-1.0, 0.4, 1.5])  # [m] along the bar
LOAD_AT = 0.9  # [m]
BENT = np.array([0.0, 0.5 * np.pi, 0.0, 0.0])  # state of the clamped arm


def clamped_part(left=None, right=None, *, is_reversed=False):
    """A part in two clamps, 0.6 m apart and symmetric about the pull; each of them alone would hold it."""
    clamps = [
        Loop(name=name, b="part", at_a=at, at_b=at, joint=Fixed(), compliance=compliance)
        for name, at, compliance in (("left", (0.0, 0.3, 0.0), left), ("right", (0.0, -0.3, 0.0), right))
    ]
    return System(
        name="clamped part",
        environment=FreeSpace(),
        parts=(Part(RigidBody(name="part", mass=100.0, inertia=(10.0, 12.0, 14.0)), joint=Free(name="part")),),
        actuators=(BodyForce(name="pull", on="part", direction="x"),),
        constraints=tuple(clamps[::-1] if is_reversed else clamps),
    )


def spinning_pair():
    """Two free bodies in two clamps, each of which alone would hold them together."""
    bodies = (("a", 100.0, (10.0, 12.0, 14.0)), ("b", 60.0, (5.0, 6.0, 7.0)))
    return System(
        name="spinning pair",
        environment=FreeSpace(),
        parts=tuple(Part(RigidBody(name=n, mass=m, inertia=I), joint=Free(name=n)) for n, m, I in bodies),
        actuators=(BodyForce(name="pull", on="b", direction="x"),),
        constraints=tuple(
            Loop(name=name, a="a", b="b", at_a=(0.5, y, 0.1), at_b=(-0.5, y, 0.1), joint=Fixed())
            for name, y in (("left", 0.3), ("right", -0.3))
        ),
    )


def clamped_arm(compliance=None):
    """An arm of two links whose tip two pins hold, so that joints of the tree and pins share loads out of the plane.

    It is at `BENT`; out of the plane the pins' own equations vanish.
    """
    link = {"inertia": (0.1, 0.3, 0.3), "com": (0.5, 0.0, 0.0)}
    parts = (
        Part(RigidBody(name="upper", mass=2.0, **link), joint=Revolute(name="shoulder", axis="z")),
        Part(
            RigidBody(name="lower", mass=1.0, **link),
            on="upper",
            at=(1.0, 0, 0),
            joint=Revolute(name="elbow", axis="z"),
        ),
    )
    pins = [
        Loop(name=name, b="lower", at_a=(1.0, 1.0, 0.0), at_b=(1.0, 0.0, 0.0), joint=Revolute(axis="z"), compliance=c)
        for name, c in zip(("first", "second"), compliance or (None, None), strict=True)
    ]
    return System(
        name="clamped arm",
        environment=FreeSpace(),
        parts=parts,
        actuators=(BodyForce(name="push", on="lower", direction=(0.6, 0.0, 0.8), at=(0.7, 0.1, 0.0)),),
        constraints=tuple(pins),
    )


def bar_on_supports(compliance=None, elements=(), *, is_held=True):
    """A rigid bar in a plane on three supports, one more than is needed, with a load beside the middle one."""
    values = [None] * 3 if compliance is None else compliance
    supports = tuple(
        PointOnPlane(name=f"s{k}", b="bar", at_a=(at, 0, 0), at_b=(at, 0, 0), normal="y", compliance=c)
        for k, (at, c) in enumerate(zip(SUPPORTS, values, strict=True))
    )
    return System(
        name="bar on supports",
        environment=FreeSpace(),
        parts=(Part(RigidBody(name="bar", mass=3.0, inertia=(1.0, 1.0, 2.0)), joint=Planar(name="bar", normal="z")),),
        actuators=(BodyForce(name="load", on="bar", at=(LOAD_AT, 0.0, 0.0), direction="-y", axes="world"),),
        constraints=supports if is_held else (),
        elements=elements,
    )


def bar_reactions(compliance, load):
    """Rigid bar on springs: ``R_i = k_i (d + phi x_i)`` with ``sum R = load`` and ``sum R x = load LOAD_AT``."""
    k = 1.0 / np.asarray(compliance, dtype=float)
    A = np.array([[np.sum(k), np.sum(k * SUPPORTS)], [np.sum(k * SUPPORTS), np.sum(k * SUPPORTS**2)]])
    d, phi = np.linalg.solve(A, [load, load * LOAD_AT])
    return k * (d + phi * SUPPORTS)
