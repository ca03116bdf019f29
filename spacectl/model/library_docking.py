"""Ready docking mechanisms with closed loops (002): a peripheral ring on six legs, a probe on crank-and-link legs.

Each meets its constraints at rest (all coordinates zero). The axis of the mechanism is z, outwards; the carrier, the
body ``"base"``, stands still or flies free.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.model.actuators import JointForce
from spacectl.model.elements import JointSpring
from spacectl.model.environment import FreeSpace
from spacectl.model.frame_constraints import Loop, PointOnPlane
from spacectl.model.joints import Cylindrical, Fixed, Free, Joint, Prismatic, Revolute, Spherical, Universal
from spacectl.model.library_constrained import rod
from spacectl.model.rigid import Frame, RigidBody
from spacectl.model.system import Part, System
from spacectl.spatial.rotation import frame_along

__all__ = ["docking_probe", "docking_ring"]

_LIMIT = 2000.0  # [N], of every drive


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
    """A peripheral docking ring on six legs R2-P1-R3 (or R2-C2-R2), each with a drive, a spring and a damper.

    The ring (independent branch, joint ``"ring"``, six freedoms against the base) is carried by legs of a tube on a
    universal joint ``"leg1.first"``, ``"leg1.second"``, a rod that slides in it (``"slide1"``) and a ball joint at the
    ring: the loops ``"ball1"`` to ``"ball6"``. Inputs ``"slide1"`` to ``"slide6"`` are the drives' forces, positive
    outwards. Frame ``"ring.face"`` is the mating plane, ``"base.dock"`` its counterpart on the carrier.

    Parameters
    ----------
    ring_radius, base_radius : float
        Of the circles through the joints of the legs [m].
    height : float
        Of the ring's joints above the base's [m].
    spread : float
        Half the angle between the two joints of a pair [rad]; pairs lie 120 degrees apart, on the ring between those on the
        base.
    ring_mass, leg_mass : float
        [kg]; a leg is two thirds tube and one third rod.
    stiffness, damping : float
        Of each leg's spring (free at rest) [N/m] and damper [N s/m]; with both zero there is neither.
    base_mass : float, optional
        Mass of a carrier that flies free (joint ``"base"``) [kg]; if omitted, the base stands still.
    base_inertia : (3,), optional
        About its centre of mass, 1.5 m behind the ring's base [kg m^2]; default: a sphere of 1 m radius.
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
    lower = _circle(base_radius, np.repeat(tilted, 2) + np.tile([-spread, spread], 3), 0.0)
    upper = _circle(ring_radius, np.repeat(tilted, 2) + np.tile([spread - np.pi / 3, np.pi / 3 - spread], 3), 0.0)
    ring = RigidBody(
        name="ring",
        mass=ring_mass,
        inertia=tuple(ring_mass * ring_radius**2 * np.array([0.5, 0.5, 1.0])),
        com=(0.0, 0.0, 0.03),
        frames=(Frame(name="face", at=(0.0, 0.0, 0.06)),),
    )
    parts = [
        _base(base_mass, base_inertia, height + 0.06),
        Part(ring, on="base", at=(0.0, 0.0, height), joint=Free(name="ring")),
    ]
    loops = []
    for k, (B, A) in enumerate(zip(lower, upper, strict=True), start=1):
        parts += _leg(k, B, A + (0.0, 0.0, height), leg_mass, slider)
        joint: Joint = Spherical() if slider == "prismatic" else Universal(first="x", second="y")
        turned = None if slider == "prismatic" else frame_along((A + (0.0, 0.0, height) - B) / _length(A, B, height))
        loops.append(Loop(name=f"ball{k}", a="ring", at_a=A, rotation_a=turned, b=f"rod{k}.end", joint=joint))
    component = "" if slider == "prismatic" else "slide_dot"
    return System(
        name="docking ring",
        environment=FreeSpace(),
        parts=tuple(parts),
        actuators=tuple(
            JointForce(name=f"slide{k}" if component else "", joint=f"slide{k}", component=component, limit=_LIMIT)
            for k in range(1, 7)
        ),
        elements=_springs([(f"slide{k}", component) for k in range(1, 7)], stiffness, damping),
        constraints=tuple(loops),
    )


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
    """A docking probe in a gimbal whose tilt is carried by legs R1-R2-R3, each driven by a strut: nested loops.

    The sleeve tilts in a gimbal (``"gimbal.first"``, ``"gimbal.second"``) and the probe slides in it (``"probe"``): three
    independent freedoms. Each leg is a crank (``"crank1"``) and a link on a universal joint (``"link1"``), closed by a ball
    joint at the sleeve (loop ``"ball1"``). A telescopic strut (``"swing1"``, ``"strut1"``) drives each crank in its plane:
    an inner loop (pins ``"pin1_x"``, ``"pin1_y"``) within a dependent branch.

    Parameters
    ----------
    probe_mass, leg_mass : float
        [kg]; a leg is a quarter each of crank, link, cylinder and piston.
    legs : int
        Number of legs, 1 or more, spread over 90 degrees each from x.
    stiffness, damping : float
        Of each strut and of the probe's slide [N/m], [N s/m].
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
        _base(base_mass, base_inertia, 0.9),
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
        actuators=tuple(JointForce(joint=name, limit=_LIMIT) for name in ("probe", *driven)),
        elements=_springs([(name, "") for name in ("probe", *driven)], stiffness, damping),
        constraints=tuple(loops),
    )


def _circle(radius: float, angles: np.ndarray, z: float) -> np.ndarray:
    return np.stack([radius * np.cos(angles), radius * np.sin(angles), np.full(angles.shape, z)], axis=1)


def _length(A: np.ndarray, B: np.ndarray, height: float) -> float:
    return float(np.linalg.norm(A + (0.0, 0.0, height) - B))


def _base(mass: float | None, inertia: Any, dock: float) -> Part:
    """The carrier: fixed to the world, or free with its centre of mass 1.5 m behind the base of the mechanism."""
    moving = 1.0 if mass is None else mass
    given = tuple(0.4 * moving * np.ones(3)) if inertia is None else inertia
    com = (0.0, 0.0, 0.0) if mass is None else (0.0, 0.0, -1.5)
    frames = (Frame(name="dock", at=(0.0, 0.0, dock)),)
    body = RigidBody(name="base", mass=moving, inertia=given, com=com, frames=frames)
    return Part(body, joint=Fixed(name="stand") if mass is None else Free(name="base"))


def _leg(k: int, B: np.ndarray, A: np.ndarray, mass: float, slider: str) -> list[Part]:
    """Tube and rod from B on the base to A on the ring, in a frame whose z axis runs along the leg at rest."""
    length = float(np.linalg.norm(A - B))
    tube = rod(f"tube{k}", 0.6 * length, 2.0 * mass / 3.0, "z")
    inner = rod(f"rod{k}", 0.7 * length, mass / 3.0, "z")
    slide = (Prismatic if slider == "prismatic" else Cylindrical)(name=f"slide{k}", axis="z")
    pivot = Universal(name=f"leg{k}", first="x", second="y")
    return [
        Part(tube, on="base", at=B, rotation=frame_along((A - B) / length), joint=pivot),
        Part(inner, on=f"tube{k}", at=(0.0, 0.0, 0.3 * length), joint=slide),
    ]


def _crank_leg(k: int, angle: float, mass: float) -> tuple[list[Part], list[Any]]:
    """Crank, link and strut in the radial plane at an angle about z, and the loops that close them."""
    c, s = np.cos(angle), np.sin(angle)
    plane = np.array([[c, 0.0, s], [s, 0.0, -c], [0.0, 1.0, 0.0]])  # x outwards, y up, z across
    root, knee, ball, foot, pin = (
        np.array(point) for point in ((0.45, -0.05), (0.52, 0.25), (0.14, 0.22), (0.75, -0.1), (0.50, 0.15))
    )  # [m], outwards and up, at rest; the pin lies on the crank
    along = knee - root
    turn = float(np.arctan2(along[1], along[0]))
    R_crank = plane @ _turn_z(turn)
    R_link = frame_along(_unit(plane @ np.array([*(ball - knee), 0.0])))
    R_strut = plane @ _turn_z(float(np.arctan2(*(pin - foot)[::-1])))
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
    on_crank = (plane @ _turn_z(turn)).T @ (plane @ [*(pin - root), 0.0])
    loops: list[Any] = [Loop(name=f"ball{k}", a="sleeve", at_a=on_sleeve, b=f"bar{k}.end", joint=Spherical())]
    loops += [
        PointOnPlane(name=f"pin{k}_{axis}", a=f"arm{k}", at_a=on_crank, b=f"piston{k}.end", normal=axis)
        for axis in "xy"
    ]
    return parts, loops


def _turn_z(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _unit(vector: np.ndarray) -> np.ndarray:
    unit: np.ndarray = vector / np.linalg.norm(vector)
    return unit


def _springs(joints: Sequence[tuple[str, str]], stiffness: float, damping: float) -> tuple[JointSpring, ...]:
    if stiffness == 0.0 and damping == 0.0:
        return ()
    return tuple(
        JointSpring(joint=joint, component=component, stiffness=stiffness, damping=damping)
        for joint, component in joints
    )
