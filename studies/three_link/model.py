"""The three-link mechanism of Aslanov, Kruglov and Yuditsev, section 4: in absolute coordinates, and as a tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl import (
    Baumgarte,
    EquationsOfMotion,
    Frame,
    Free,
    NoRelativeRotation,
    Part,
    PointOnPlane,
    Revolute,
    RigidBody,
    Simulation,
    Spherical,
    System,
    UniformGravity,
    form_equations,
    simulate,
)

LINKS = ("link1", "link2", "link3")
JOINTS = (("A", "world", "link1"), ("B", "link1.end", "link2"), ("C", "link2.end", "link3"))


@dataclass(frozen=True)
class Parameters:
    """Parameters of Aslanov, Kruglov and Yuditsev, section 4; each can be set on the command line."""

    mass: float = 1.0  # [kg], each link
    length: float = 1.0  # [m], each link
    inertia_along: float = 0.013  # [kg m^2], about the link's own axis
    inertia_across: float = 0.083  # [kg m^2], about the centre of mass
    gravity: float = 9.81  # [m/s^2], along -y
    alpha: float = 10.0  # [1/s], Baumgarte
    beta: float = 10.0  # [1/s], Baumgarte
    rtol: float = 1e-12  # [1], of the run whose centres are reported
    rtol_compared: float = 1e-6  # [1], of the runs with and without stabilisation (not published)


def link(name: str, parameters: Parameters) -> RigidBody:
    """Return a link along x from its first joint to its frame "end"."""
    across = parameters.inertia_across
    return RigidBody(
        name=name,
        mass=parameters.mass,
        inertia=(parameters.inertia_along, across, across),
        com=(parameters.length / 2.0, 0.0, 0.0),
        frames=(Frame(name="end", at=(parameters.length, 0.0, 0.0)),),
    )


def absolute_system(parameters: Parameters) -> System:
    """Return three free bodies and eleven primitives: each joint is three points on planes, C also prevents two rotations.

    Planes are fixed in the first body of each joint (Aslanov et al., Eqs 34-40); their "cylindrical" joint C does not slide.
    """
    points = [PointOnPlane(name=f"{joint}_{axis}", a=a, b=b, normal=axis) for joint, a, b in JOINTS for axis in "xyz"]
    turns = [NoRelativeRotation(name=f"C_turn_{axis}", a="link2", b="link3", axis=axis, free="z") for axis in "xy"]
    return System(
        name="three links, absolute",
        environment=UniformGravity(g=(0.0, -parameters.gravity, 0.0)),
        parts=tuple(Part(link(name, parameters), joint=Free(name=name)) for name in LINKS),
        constraints=(*points, *turns),
    )


def tree_system(parameters: Parameters) -> System:
    """Return the same mechanism in joint coordinates: ball, ball, pin; seven speeds, no constraints."""
    kinds = (Spherical(name="A"), Spherical(name="B"), Revolute(name="C", axis="z"))
    return System(
        name="three links, tree",
        environment=UniformGravity(g=(0.0, -parameters.gravity, 0.0)),
        parts=tuple(
            Part(link(body, parameters), on=on, joint=kind) for (_, on, body), kind in zip(JOINTS, kinds, strict=True)
        ),
    )


def form_absolute(parameters: Parameters, *, stabilised: bool = False) -> EquationsOfMotion:
    """Form Newton-Euler equations with multipliers (Aslanov et al., Eq 41), plain or with Baumgarte's terms."""
    terms = Baumgarte(alpha=parameters.alpha, beta=parameters.beta) if stabilised else None
    return form_equations(absolute_system(parameters), formulation="multipliers", stabilization=terms)


def start(parameters: Parameters) -> dict[str, float]:
    """Return the state with all links along +x, at rest."""
    return {"link2.x": parameters.length, "link3.x": 2.0 * parameters.length}


def fly(eom: EquationsOfMotion, parameters: Parameters, grid: np.ndarray, **options: Any) -> Simulation:
    """Simulate from rest; trees start with all coordinates zero."""
    x0 = start(parameters) if eom.constraint_rows else {}
    settings = {"rtol": parameters.rtol, "atol": parameters.rtol, "x0": x0, **options}
    return simulate(eom, t_span=(0.0, float(grid[-1])), grid=grid, **settings)


def centres(eom: EquationsOfMotion, sim: Simulation, parameters: Parameters) -> np.ndarray:
    """Return the centres of mass of the links, root axes, shape (n, 3, 3)."""
    places = eom.along("placements", sim.t, sim.x)
    return places[:, :, 9:] + 0.5 * parameters.length * places[:, :, (0, 3, 6)]


def joints(eom: EquationsOfMotion, sim: Simulation, parameters: Parameters) -> np.ndarray:
    """Return the points A, B, C and the free end, root axes, shape (n, 4, 3)."""
    places = eom.along("placements", sim.t, sim.x)
    end = places[:, -1:, 9:] + parameters.length * places[:, -1:, (0, 3, 6)]
    return np.concatenate([places[:, :, 9:], end], axis=1)


def errors(eom: EquationsOfMotion, sim: Simulation) -> tuple[np.ndarray, np.ndarray]:
    """Return position residuals of the constraints (n, 11), and the energy less its initial value (n,)."""
    residual = eom.along("residual", sim.t, sim.x)[:, : len(eom.position_rows)]
    energy = np.sum(eom.along("energy", sim.t, sim.x), axis=1)
    return residual, energy - energy[0]
