"""Plane linkages of bars, drawn at a given crank angle, for tests of loop closure: four-bar, crank-slider, parallel cranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl import (
    FreeSpace,
    Loop,
    Part,
    PointOnPlane,
    Prismatic,
    Revolute,
    RigidBody,
    System,
    rotation_about,
)
from spacectl.model.bodies.rigid import Frame

LEVEL = np.eye(3)
TILT = rotation_about("x", 0.4) @ rotation_about("y", 0.3)  # planes that are no coordinate planes: entries are rounded


def rod(name: str, length: float) -> RigidBody:
    """A thin rod along x with a frame at its end."""
    inertia = (0.001, length**2 / 12.0, length**2 / 12.0)
    end = Frame(name="end", at=(length, 0.0, 0.0))
    return RigidBody(name=name, mass=1.0, inertia=inertia, com=(0.5 * length, 0.0, 0.0), frames=(end,))


def _closing(kind: str, b: str) -> tuple[Any, ...]:
    if kind == "hinge":
        return (Loop(name="hinge", a="coupler.end", b=b, joint=Revolute(axis="z")),)
    return tuple(PointOnPlane(name=f"pin_{axis}", a="coupler.end", b=b, normal=axis) for axis in "xy")


def four_bar(
    lengths: tuple[float, float, float] = (0.3, 0.9, 0.7),
    *,
    ground: float = 1.0,
    angle: float = 1.0,
    closing: str = "pin",
    height: float = 0.0,
    tilt: Any = LEVEL,
) -> System:
    """Coupler on the crank, rocker on the ground, closed at the coupler's end by a pin in the plane or by a hinge.

    `height` lifts the rocker out of the plane.
    """
    a, b, c = lengths
    knee = a * np.array([np.cos(angle), np.sin(angle)])
    to = np.array([ground, 0.0]) - knee
    distance = np.hypot(*to)
    cosine = np.clip((b**2 + distance**2 - c**2) / (2.0 * b * distance), -1.0, 1.0)
    along = np.arctan2(to[1], to[0]) + np.arccos(cosine)
    end = knee + b * np.array([np.cos(along), np.sin(along)]) - [ground, 0.0]
    pivot = tuple(tilt @ np.array([ground, 0.0, height]))
    turns = [tilt @ rotation_about("z", angle), rotation_about("z", along - angle)]
    turns.append(tilt @ rotation_about("z", np.arctan2(end[1], end[0])))
    return System(
        name="four-bar of rods",
        environment=FreeSpace(),
        parts=(
            Part(rod("crank", a), rotation=turns[0], joint=Revolute(name="crank_pin", axis="z")),
            Part(rod("coupler", b), on="crank.end", rotation=turns[1], joint=Revolute(name="coupler_pin", axis="z")),
            Part(rod("rocker", c), at=pivot, rotation=turns[2], joint=Revolute(name="rocker_pin", axis="z")),
        ),
        constraints=_closing(closing, "rocker.end"),
    )


def crank_slider(*, closing: str = "pin", tilt: Any = LEVEL) -> System:
    """Coupler on the crank, slider on the ground along x, 0.1 m beside the crank's pivot."""
    a, b, angle, beside = 0.3, 0.9, 1.0, 0.1
    knee = a * np.array([np.cos(angle), np.sin(angle)])
    x = knee[0] + np.sqrt(b**2 - (beside - knee[1]) ** 2)
    along = np.arctan2(beside - knee[1], x - knee[0])
    piston = RigidBody(name="piston", mass=1.0, inertia=(0.1, 0.1, 0.1))
    turn, place = tilt @ rotation_about("z", angle), tuple(tilt @ np.array([x, beside, 0.0]))
    bend = rotation_about("z", along - angle)
    return System(
        name="crank-slider of rods",
        environment=FreeSpace(),
        parts=(
            Part(rod("crank", a), rotation=turn, joint=Revolute(name="crank_pin", axis="z")),
            Part(rod("coupler", b), on="crank.end", rotation=bend, joint=Revolute(name="coupler_pin", axis="z")),
            Part(piston, at=place, rotation=tilt, joint=Prismatic(name="slide", axis="x")),
        ),
        constraints=_closing(closing, "piston"),
    )


def parallel_cranks() -> System:
    """A bar on three parallel cranks: four rows, of which three are independent on the way that it can go."""
    turn = rotation_about("z", 1.0)
    cranks = [
        Part(rod(f"crank{i}", 0.5), at=(1.0 * i, 0.0, 0.0), rotation=turn, joint=Revolute(name=f"pin{i}", axis="z"))
        for i in range(3)
    ]
    bar = Part(rod("bar", 2.0), on="crank0.end", rotation=turn.T, joint=Revolute(name="knee", axis="z"))
    rows = tuple(
        PointOnPlane(name=f"tie{i}_{axis}", a="bar", at_a=(1.0 * i, 0.0, 0.0), b=f"crank{i}.end", normal=axis)
        for i in (1, 2)
        for axis in "xy"
    )
    return System(
        name="parallel cranks", environment=FreeSpace(), parts=(cranks[0], bar, *cranks[1:]), constraints=rows
    )
