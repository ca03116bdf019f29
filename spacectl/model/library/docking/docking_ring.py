"""A peripheral docking ring on six legs."""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.model.actuators import JointForce
from spacectl.model.bodies.rigid import Frame, RigidBody
from spacectl.model.constraints import Loop
from spacectl.model.environment import FreeSpace
from spacectl.model.joints import Cylindrical, Free, Joint, Prismatic, Spherical, Universal
from spacectl.model.library.docking.docking_parts import DRIVE_LIMIT, carrier, circle, leg_springs, strut_length
from spacectl.model.library.rods import rod
from spacectl.model.part import Part
from spacectl.model.system import System
from spacectl.spatial.rotation import frame_along

__all__ = ["docking_ring"]


def docking_ring(
    *,
    ring_radius: float = 0.60,
    base_radius: float = 0.68,
    height: float = 0.40,
    spread: float = 0.17,
    ring_mass: float = 24.0,
    leg_mass: float = 3.0,
    stiffness: float = 4000.0,
    damping: float = 900.0,
    base_mass: float | None = None,
    base_inertia: Any = None,
    slider: str = "prismatic",
) -> System:
    """Return a peripheral docking ring on six legs R2-P1-R3 (or R2-C2-R2), each with a drive, a spring and a damper.

    The ring (independent branch, joint ``"ring"``, six freedoms relative to the base) is supported by legs: a tube on a
    universal joint ``"leg1.first"``, ``"leg1.second"``, a rod that slides in it (``"slide1"``) and a ball joint at the
    ring: the loops ``"ball1"`` to ``"ball6"``. Inputs ``"slide1"`` to ``"slide6"`` are the drives' forces, positive
    outwards. Frame ``"ring.face"`` is the mating plane, ``"base.dock"`` its counterpart on the carrier.

    Parameters
    ----------
    ring_radius, base_radius : float
        Radii of the circles through the joints of the legs [m].
    height : float
        Height of the ring's joints above those of the base [m].
    spread : float
        Half the angle between the two joints of a pair [rad]; pairs lie 120 degrees apart, on the ring between those on the
        base.
    ring_mass, leg_mass : float
        Masses [kg]; a leg is two thirds tube and one third rod.
    stiffness, damping : float
        Spring (unloaded at rest) [N/m] and damper [N s/m] of each leg; with both zero there is neither.
    base_mass : float, optional
        Mass of a free-flying carrier (joint ``"base"``) [kg]; if omitted, the base is fixed.
    base_inertia : (3,), optional
        Inertia about its centre of mass, 1.5 m behind the ring's base [kg m^2]; default: a sphere of 1 m radius.
    slider : {"prismatic", "cylindrical"}
        Whether the rod can turn in its tube; then the loop at the ring is a universal joint (R2-C2-R2).

    Examples
    --------
    >>> system = docking_ring()
    >>> len(system.constraints), system.actuators[0].input_name
    (6, 'slide1')
    """
    if slider not in ("prismatic", "cylindrical"):
        raise ModelError(f"docking_ring: slider is {slider!r}, expected 'prismatic' or 'cylindrical'")
    tilted = np.arange(3) * 2.0 * np.pi / 3.0
    lower = circle(base_radius, np.repeat(tilted, 2) + np.tile([-spread, spread], 3), 0.0)
    upper = circle(ring_radius, np.repeat(tilted, 2) + np.tile([spread - np.pi / 3, np.pi / 3 - spread], 3), 0.0)
    ring = RigidBody(
        name="ring",
        mass=ring_mass,
        inertia=tuple(ring_mass * ring_radius**2 * np.array([0.5, 0.5, 1.0])),
        com=(0.0, 0.0, 0.03),
        frames=(Frame(name="face", at=(0.0, 0.0, 0.06)),),
    )
    parts = [
        carrier(base_mass, base_inertia, height + 0.06),
        Part(ring, on="base", at=(0.0, 0.0, height), joint=Free(name="ring")),
    ]
    loops = []
    for k, (B, A) in enumerate(zip(lower, upper, strict=True), start=1):
        parts += _leg(k, B, A + (0.0, 0.0, height), leg_mass, slider)
        joint: Joint = Spherical() if slider == "prismatic" else Universal(first="x", second="y")
        turned = (
            None if slider == "prismatic" else frame_along((A + (0.0, 0.0, height) - B) / strut_length(A, B, height))
        )
        loops.append(Loop(name=f"ball{k}", a="ring", at_a=A, rotation_a=turned, b=f"rod{k}.end", joint=joint))
    component = "" if slider == "prismatic" else "slide_dot"
    return System(
        name="docking ring",
        environment=FreeSpace(),
        parts=tuple(parts),
        actuators=tuple(
            JointForce(name=f"slide{k}" if component else "", joint=f"slide{k}", component=component, limit=DRIVE_LIMIT)
            for k in range(1, 7)
        ),
        elements=leg_springs([(f"slide{k}", component) for k in range(1, 7)], stiffness, damping),
        constraints=tuple(loops),
    )


def _leg(k: int, B: np.ndarray, A: np.ndarray, mass: float, slider: str) -> list[Part]:
    """Return tube and rod from B on the base to A on the ring; z of their frame is along the leg at rest."""
    length = float(np.linalg.norm(A - B))
    tube = rod(f"tube{k}", 0.6 * length, 2.0 * mass / 3.0, "z")
    inner = rod(f"rod{k}", 0.7 * length, mass / 3.0, "z")
    slide = (Prismatic if slider == "prismatic" else Cylindrical)(name=f"slide{k}", axis="z")
    pivot = Universal(name=f"leg{k}", first="x", second="y")
    return [
        Part(tube, on="base", at=B, rotation=frame_along((A - B) / length), joint=pivot),
        Part(inner, on=f"tube{k}", at=(0.0, 0.0, 0.3 * length), joint=slide),
    ]
