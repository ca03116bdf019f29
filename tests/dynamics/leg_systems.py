"""A free plate on one leg of each kind, with skew axes and offsets, for tests of loop closure."""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl import (
    Cylindrical,
    FreeSpace,
    Loop,
    Part,
    Planar,
    PointOnPlane,
    Prismatic,
    Revolute,
    RigidBody,
    Spherical,
    System,
    Universal,
    rotation_about,
)
from spacectl.model.joints import Free

TILT = rotation_about("x", 0.3) @ rotation_about("z", -0.4)
JOINTS: dict[str, Any] = {
    "R1": lambda name: Revolute(name=name, axis="y"),
    "R2": lambda name: Universal(name=name, first="x", second="y"),
    "R3": lambda name: Spherical(name=name),
    "P1": lambda name: Prismatic(name=name, axis="z"),
    "C2": lambda name: Cylindrical(name=name, axis="z"),
}
CLOSING: dict[str, Any] = {"R3": Spherical(), "R2": Universal(first="x", second="y")}
SPATIAL = ("R2-P1-R3", "R2-C2-R2", "R1-R2-R3", "R2-R1-R3", "R3-P1-R2", "R1-R3-R2", "R2-R2-R2")
BENT = rotation_about("y", 1.6) @ rotation_about("z", 1.05) @ rotation_about("x", 1.05)  # away from singular positions
SPECIAL: dict[
    str, dict[str, Any]
] = {  # R2-R2-R2 with three successive axes in a point (which is along which link), or straight
    "R2-R2-R2, middle first along upper": {"upper": 0.45 * BENT[:, 0]},
    "R2-R2-R2, middle second along lower": {"end": (0.0, -0.35, 0.0), "closing": Universal(first="z", second="x")},
    "R2-R2-R2, root second along upper": {"upper": (0.0, 0.45, 0.0)},
    "R2-R2-R2, closing along lower": {"closing": Universal(first="x", second=(0.0, 0.0, -1.0))},
    "R2-R2-R2, closing along lower, oblique": {"closing": Universal(first=(0.6, 0.0, 0.8), second="z")},
    "R2-R2-R2, straight": {
        "upper": (0.0, 0.0, 0.45),
        "turn": rotation_about("z", 0.8) @ rotation_about("x", 1.1),
    },
}
PLANAR = ("R1-R1-R1", "R1-P1-R1", "P1-R1-R1")


def leg_system(name: str) -> System:
    """The plate stands where the leg's end is when all coordinates are zero."""
    first, second, last = name.split(",")[0].split("-")
    special = SPECIAL.get(name, {})
    # a cylinder's axis passes through both centres
    off = (0.0, 0.0, 0.1) if second in ("P1", "C2") else (0.03, 0.02, 0.1)
    upper = RigidBody(name="upper", mass=2.0, inertia=(0.05, 0.06, 0.02), com=(0.01, 0.0, 0.2))
    lower = RigidBody(name="lower", mass=1.0, inertia=(0.03, 0.03, 0.01), com=(0.0, 0.01, 0.1))
    plate = RigidBody(name="plate", mass=5.0, inertia=(0.3, 0.4, 0.5), com=(0.05, 0.0, 0.02))
    turn = np.eye(3) if second in ("P1", "C2") else rotation_about("y", 1.6)
    at2 = np.array([0.0, 0.0, 0.4] if second in ("P1", "C2") else [0.05, -0.03, 0.4])
    if special:
        turn = special.get("turn", BENT)
        at2 = np.asarray(special.get("upper", (0.08, -0.01, 0.5))) - np.asarray(off)
    end = np.asarray(special.get("end", (0.0, 0.0, 0.35)))
    root = np.array([0.2, -0.1, 0.05])
    where = root + TILT @ (np.asarray(off) + at2 + turn @ end)
    offset = np.array([0.3, 0.1, -0.05])  # of the leg's end in the plate
    return System(
        name=f"leg {name}",
        environment=FreeSpace(),
        parts=(
            Part(plate, at=where - offset, joint=Free(name="plate")),
            Part(upper, at=root, rotation=TILT, joint=JOINTS[first]("one"), child_at=tuple(-np.asarray(off))),
            Part(lower, on="upper", at=at2, rotation=turn, joint=JOINTS[second]("two")),
        ),
        constraints=(
            Loop(
                name="end",
                a="plate",
                at_a=offset,
                rotation_a=TILT @ turn,
                b="lower",
                at_b=end,
                joint=special.get("closing", CLOSING[last]),
            ),
        ),
    )


def planar_system(kind: str) -> System:
    """A plate that moves in the x-z plane on one plane leg."""
    first, second, _ = kind.split("-")
    upper = RigidBody(name="upper", mass=2.0, inertia=(0.05, 0.06, 0.02), com=(0.01, 0.0, 0.2))
    lower = RigidBody(name="lower", mass=1.0, inertia=(0.03, 0.03, 0.01), com=(0.0, 0.01, 0.1))
    plate = RigidBody(name="plate", mass=5.0, inertia=(0.3, 0.4, 0.5), com=(0.05, 0.0, 0.02))
    turn = np.eye(3) if second == "P1" else rotation_about("y", 0.5 if first == "P1" else 1.6)
    start = rotation_about("y", 0.2)
    at2, end = np.array([0.0, 0.0, 0.4]), np.array([0.0, 0.0, 0.35])
    where = start @ (at2 + turn @ end)
    offset = np.array([0.3, 0.0, -0.05])
    return System(
        name=f"plane leg {kind}",
        environment=FreeSpace(),
        parts=(
            Part(plate, at=where - offset, joint=Planar(name="plate", normal="y")),
            Part(upper, rotation=start, joint=JOINTS[first]("one")),
            Part(lower, on="upper", at=at2, rotation=turn, joint=JOINTS[second]("two")),
        ),
        constraints=tuple(
            PointOnPlane(name=f"pin_{axis}", a="plate", at_a=offset, b="lower", at_b=end, normal=axis) for axis in "xz"
        ),
    )
