"""A docking probe on crank-and-link legs."""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.model.actuators import JointForce
from spacectl.model.bodies.rigid import Frame, RigidBody
from spacectl.model.constraints import Loop, PointOnPlane
from spacectl.model.environment import FreeSpace
from spacectl.model.joints import Prismatic, Revolute, Spherical, Universal
from spacectl.model.library.docking.docking_parts import DRIVE_LIMIT, carrier, leg_springs, turn_z, unit
from spacectl.model.library.rods import rod
from spacectl.model.part import Part
from spacectl.model.system import System
from spacectl.spatial.rotation import frame_along

__all__ = ["docking_probe"]


def docking_probe(
    *,
    probe_mass: float = 18.0,
    leg_mass: float = 2.4,
    legs: int = 2,
    stiffness: float = 3000.0,
    damping: float = 600.0,
    base_mass: float | None = None,
    base_inertia: Any = None,
) -> System:
    """Return a docking probe in a gimbal supported by legs R1-R2-R3, each driven by a strut: nested loops.

    The sleeve tilts in a gimbal (``"gimbal.first"``, ``"gimbal.second"``) and the probe slides in it (``"probe"``): three
    independent freedoms. Each leg is a crank (``"crank1"``) and a link on a universal joint (``"link1"``), closed by a ball
    joint at the sleeve (loop ``"ball1"``). A telescopic strut (``"swing1"``, ``"strut1"``) drives each crank in its plane:
    an inner loop (pins ``"pin1_x"``, ``"pin1_y"``) within a dependent branch.

    Parameters
    ----------
    probe_mass, leg_mass : float
        Masses [kg]; crank, link, cylinder and piston are each a quarter of a leg.
    legs : int
        Number of legs, 1 or more, 90 degrees apart, the first along x.
    stiffness, damping : float
        Springs [N/m] and dampers [N s/m] of each strut and of the probe's slide.
    base_mass, base_inertia
        As in `docking_ring`.

    Examples
    --------
    >>> [item.name for item in docking_probe(legs=1).constraints]
    ['ball1', 'pin1_x', 'pin1_y']
    """
    if legs < 1:
        raise ModelError(f"docking_probe: legs is {legs}, expected 1 or more")
    sleeve = RigidBody(name="sleeve", mass=8.0, inertia=(0.14, 0.15, 0.06), com=(0.0, 0.0, 0.05))
    probe = RigidBody(
        name="probe",
        mass=probe_mass,
        inertia=tuple(probe_mass * np.array([0.03, 0.03, 0.001])),
        com=(0.0, 0.0, 0.35),
        frames=(Frame(name="head", at=(0.0, 0.0, 0.75)),),
    )
    parts = [
        carrier(base_mass, base_inertia, 0.9),
        Part(sleeve, on="base", at=(0.0, 0.0, 0.15), joint=Universal(name="gimbal", first="x", second="y")),
        Part(probe, on="sleeve", joint=Prismatic(name="probe", axis="z")),
    ]
    loops: list[Any] = []
    for k in range(1, legs + 1):
        more, closed = _crank_leg(k, 0.5 * np.pi * (k - 1), leg_mass / 4.0)
        parts += more
        loops += closed
    driven = [f"strut{k}" for k in range(1, legs + 1)]
    return System(
        name="docking probe",
        environment=FreeSpace(),
        parts=tuple(parts),
        actuators=tuple(JointForce(joint=name, limit=DRIVE_LIMIT) for name in ("probe", *driven)),
        elements=leg_springs([(name, "") for name in ("probe", *driven)], stiffness, damping),
        constraints=tuple(loops),
    )


def _crank_leg(k: int, angle: float, mass: float) -> tuple[list[Part], list[Any]]:
    """Return crank, link and strut in the radial plane at an angle about z, and the loops that close them."""
    c, s = np.cos(angle), np.sin(angle)
    plane = np.array([[c, 0.0, s], [s, 0.0, -c], [0.0, 1.0, 0.0]])  # x outwards, y up, z across
    root, knee, ball, foot, pin = (
        np.array(point) for point in ((0.45, -0.05), (0.52, 0.25), (0.14, 0.22), (0.75, -0.1), (0.50, 0.15))
    )  # [m], outwards and up, at rest; the pin lies on the crank
    along = knee - root
    turn = float(np.arctan2(along[1], along[0]))
    R_crank = plane @ turn_z(turn)
    R_link = frame_along(unit(plane @ np.array([*(ball - knee), 0.0])))
    R_strut = plane @ turn_z(float(np.arctan2(*(pin - foot)[::-1])))
    crank = rod(f"arm{k}", float(np.linalg.norm(along)), mass)
    reach, full = float(np.linalg.norm(ball - knee)), float(np.linalg.norm(pin - foot))
    across = Revolute(name=f"crank{k}", axis="z")
    parts = [
        Part(crank, on="base", at=plane @ [*root, 0.0], rotation=R_crank, joint=across),
        Part(
            rod(f"bar{k}", reach, mass, "z"),
            on=f"arm{k}.end",
            rotation=R_crank.T @ R_link,
            joint=Universal(name=f"link{k}", first="x", second="y"),
        ),
        Part(
            rod(f"cylinder{k}", 0.6 * full, mass),
            on="base",
            at=plane @ [*foot, 0.0],
            rotation=R_strut,
            joint=Revolute(name=f"swing{k}", axis="z"),
        ),
        Part(
            rod(f"piston{k}", 0.7 * full, mass),
            on=f"cylinder{k}",
            at=(0.3 * full, 0.0, 0.0),
            joint=Prismatic(name=f"strut{k}", axis="x"),
        ),
    ]
    on_sleeve = plane @ [*ball, 0.0] - (0.0, 0.0, 0.15)
    on_crank = (plane @ turn_z(turn)).T @ (plane @ [*(pin - root), 0.0])
    loops: list[Any] = [Loop(name=f"ball{k}", a="sleeve", at_a=on_sleeve, b=f"bar{k}.end", joint=Spherical())]
    loops += [
        PointOnPlane(name=f"pin{k}_{axis}", a=f"arm{k}", at_a=on_crank, b=f"piston{k}.end", normal=axis)
        for axis in "xy"
    ]
    return parts, loops
