"""Ready systems with many local loops: geared motors, four-bars, a five-bar, a differential; rigid, flexible and kept by motors.

All meet their constraints at rest. A chain of n has n loops, each hanging on the one before, so that the cost of equations
can be followed with their number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl.model.actuators import JointTorque
from spacectl.model.beam import Beam
from spacectl.model.constraints import Artificial, Constraint
from spacectl.model.environment import UniformGravity
from spacectl.model.frame_constraints import PointOnPlane
from spacectl.model.joints import Free, Revolute
from spacectl.model.library_constrained import rod
from spacectl.model.rigid import Frame, RigidBody
from spacectl.model.system import Part, System
from spacectl.spatial.rotation import rotation_about

__all__ = ["differential_wrist", "five_bar", "four_bar_chain", "geared_chain", "kept_chain"]

_DOWN = (0.0, -9.81, 0.0)  # [m/s^2]
_PIVOTS = {"left": (0.0, 0.0), "crank": (0.06, 0.42), "rocker": (0.52, 0.5), "right": (0.45, -0.05)}  # [m]


def gear(name: str, motor: str, joint: str, ratio: float) -> Constraint:
    """A gear without play: the motor turns `ratio` times as far as the joint, against the body that carries both."""
    return Constraint(name=name, rule=lambda s: s[motor] - s.number("ratio") * s[joint], values={"ratio": ratio})


def rotor(name: str, mass: float = 0.4, radius: float = 0.04) -> RigidBody:
    """A motor's rotor: a disc about z, half as long as its radius."""
    across = mass * (radius**2 / 4.0 + (radius / 2.0) ** 2 / 12.0)
    return RigidBody(name=name, mass=mass, inertia=(across, across, mass * radius**2 / 2.0))


def geared_chain(
    n: int = 3, *, ratio: float = 20.0, twist: float = 0.5 * np.pi, gravity: tuple[float, float, float] = _DOWN
) -> System:
    """A chain of n links; each joint is driven by a motor on the link before, through a gear.

    The rotors are bodies of their own, which spin about axes that move: their momentum couples to the links before.

    Parameters
    ----------
    n : int
        Number of links, motors and gears.
    ratio : float
        Motor rate over joint rate.
    twist : float
        Angle between the axes of neighbouring joints [rad]; 0 for a plane arm.
    gravity : vector, shape (3,)
        [m/s^2]
    """
    parts, constraints, actuators, on = [], [], [], "world"
    for k in range(n):
        turn = rotation_about("x" if k % 2 else "y", twist) if k else np.eye(3)
        at = {} if k == 0 else {"at": (0.02, 0.0, -0.03)}
        motor, joint = f"motor{k}", f"joint{k}"
        wheel = Revolute(name=motor, axis="z")
        parts.append(Part(rotor(f"rotor{k}"), on=on, rotation=turn, joint=wheel, **at))
        parts.append(Part(rod(f"link{k}", 0.3, 1.2), on=on, rotation=turn, joint=Revolute(name=joint, axis="z")))
        constraints.append(gear(f"gear{k}", motor, joint, ratio))
        actuators.append(JointTorque(joint=motor))
        on = f"link{k}.end"
    return System(
        name=f"geared chain of {n}",
        environment=UniformGravity(g=gravity),
        parts=tuple(parts),
        actuators=tuple(actuators),
        constraints=tuple(constraints),
    )


def _bar(name: str, start: str, stop: str, mass: float) -> tuple[RigidBody, float]:
    """A rod between two pivots of a window, and its direction."""
    step = np.subtract(_PIVOTS[stop], _PIVOTS[start])
    return rod(name, float(np.hypot(*step)), mass), float(np.arctan2(step[1], step[0]))


def four_bar_chain(n: int = 2, *, flexible: bool = False, gravity: tuple[float, float, float] = _DOWN) -> System:
    """A mast of n four-bars, each on the coupler of the one before and turned a quarter against it; driven at the cranks.

    Parameters
    ----------
    n : int
        Number of windows.
    flexible : bool
        Whether the couplers are beams with two bending shapes in the plane of their window.
    gravity : vector, shape (3,)
        [m/s^2]
    """
    crank, along = _bar("crank", "left", "crank", 0.6)
    coupler, across = _bar("coupler", "crank", "rocker", 0.9)
    rocker, back = _bar("rocker", "right", "rocker", 0.7)
    length = float(crank.com[0]), float(coupler.frames[0].at[0]), float(rocker.com[0])
    parts: list[Part] = []
    constraints, actuators, on = [], [], "world"
    seat = rotation_about("y", 0.5 * np.pi) if n > 1 else np.eye(3)
    for k in range(n):
        turn = np.eye(3) if k == 0 else seat
        bars: list[tuple[str, str, Any, Any, float]] = [
            ("crank", on, (*_PIVOTS["left"], 0.0), rod(f"crank{k}", 2.0 * length[0], 0.6), along),
            ("coupler", f"crank{k}.end", (0.0, 0.0, 0.0), _coupler(k, length[1], flexible), across - along),
            ("rocker", on, (*_PIVOTS["right"], 0.0), rod(f"rocker{k}", 2.0 * length[2], 0.7), back),
        ]
        for name, carrier, at, body, angle in bars:
            outer = carrier == on
            rotation = (turn if outer else np.eye(3)) @ rotation_about("z", angle)
            place = turn @ np.asarray(at) if outer else np.asarray(at)
            joint = Revolute(name=f"{name}_pin{k}", axis="z")
            parts.append(Part(body, on=carrier, at=place, rotation=rotation, joint=joint))
        tip = f"coupler{k}.tip" if flexible else f"coupler{k}.end"
        for axis in "xy":
            constraints.append(PointOnPlane(name=f"pin{k}_{axis}", a=f"rocker{k}.end", b=tip, normal=axis))
        actuators.append(JointTorque(joint=f"crank_pin{k}"))
        on = tip
    return System(
        name=f"{'flexible ' if flexible else ''}four-bar chain of {n}",
        environment=UniformGravity(g=gravity),
        parts=tuple(parts),
        actuators=tuple(actuators),
        constraints=tuple(constraints),
    )


def _coupler(k: int, length: float, flexible: bool) -> Any:
    if not flexible:
        return rod(f"coupler{k}", length, 0.9)
    return Beam(name=f"coupler{k}", length=length, mass=0.9, EI=40.0, bending=("y",), modes=2, damping=0.01)


def five_bar() -> System:
    """A planar five-bar with two motors on a turntable: two freedoms in the loop, closed by a pin between the forearms."""
    table = RigidBody(name="table", mass=6.0, inertia=(0.3, 0.3, 0.5))
    lengths, angles = (0.35, 0.5), (1.9, 0.7)
    left = np.array([-0.1, 0.0]) + lengths[0] * np.array([np.cos(angles[0]), np.sin(angles[0])])
    right = np.array([0.1, 0.0]) + lengths[0] * np.array([np.cos(np.pi - angles[0]), np.sin(np.pi - angles[0])])
    reach = 0.5 * (right - left)
    height = float(np.sqrt(lengths[1] ** 2 - reach @ reach))
    tilt = float(np.arctan2(height, reach[0]))
    parts = [Part(table, joint=Revolute(name="turntable", axis="y"))]
    for side, sign, upper, fore in (("left", -1.0, angles[0], tilt), ("right", 1.0, np.pi - angles[0], np.pi - tilt)):
        shoulder, elbow = Revolute(name=f"{side}_motor", axis="z"), Revolute(name=f"{side}_elbow", axis="z")
        upper_arm, forearm = rod(f"{side}_arm", lengths[0], 0.8), rod(f"{side}_fore", lengths[1], 0.6)
        parts.append(
            Part(upper_arm, on="table", at=(0.1 * sign, 0, 0.05), rotation=rotation_about("z", upper), joint=shoulder)
        )
        parts.append(Part(forearm, on=f"{side}_arm.end", rotation=rotation_about("z", fore - upper), joint=elbow))
    pins = tuple(PointOnPlane(name=f"pin_{axis}", a="left_fore.end", b="right_fore.end", normal=axis) for axis in "xy")
    motors = ("turntable", "left_motor", "right_motor")
    return System(
        name="five-bar",
        environment=UniformGravity(g=_DOWN),
        parts=tuple(parts),
        actuators=tuple(JointTorque(joint=name) for name in motors),
        constraints=pins,
    )


def differential_wrist(*, ratio: float = 6.0) -> System:
    """A wrist driven through a bevel differential on a floating arm: equal motor turns pitch it, opposite ones roll it.

    Parameters
    ----------
    ratio : float
        Motor turns for a turn of the wrist.
    """
    bus = RigidBody(name="bus", mass=30.0, inertia=(3.0, 3.5, 4.0, 0.1, 0.0, -0.1))
    arm = rod("arm", 0.8, 4.0)
    cage = RigidBody(
        name="cage", mass=0.5, inertia=(1e-3, 1.2e-3, 1.1e-3), frames=(Frame(name="seat", at=(0.05, 0, 0)),)
    )
    tool = RigidBody(name="tool", mass=1.5, inertia=(0.01, 0.02, 0.025), com=(0.12, 0.02, 0.0))
    to_y = rotation_about("x", -0.5 * np.pi)  # z of a rotor along the pitch axis y
    parts = (
        Part(bus, joint=Free(name="base")),
        Part(arm, on="bus", at=(0.3, 0.0, 0.1), joint=Revolute(name="shoulder", axis="y")),
        Part(
            rotor("rotor1", 0.3), on="arm.end", at=(0, 0.06, 0), rotation=to_y, joint=Revolute(name="motor1", axis="z")
        ),
        Part(
            rotor("rotor2", 0.3), on="arm.end", at=(0, -0.06, 0), rotation=to_y, joint=Revolute(name="motor2", axis="z")
        ),
        Part(cage, on="arm.end", joint=Revolute(name="pitch", axis="y")),
        Part(tool, on="cage.seat", joint=Revolute(name="roll", axis="x")),
    )

    def bevels(s):  # type: ignore[no-untyped-def]
        r = s.number("ratio")
        return [s["motor1"] - r * (s["pitch"] + s["roll"]), s["motor2"] - r * (s["pitch"] - s["roll"])]

    return System(
        name="differential wrist",
        parts=parts,
        actuators=tuple(JointTorque(joint=name) for name in ("shoulder", "motor1", "motor2")),
        constraints=(Constraint(name="bevels", rule=bevels, values={"ratio": ratio}),),
    )


def kept_chain(n: int = 2, *, flexible: bool = True) -> System:
    """A chain of n segments of two links each whose second joint a motor keeps at twice the angle of the first (003 chapter 3).

    Constraints that actuators keep, order N and flexible bodies together: what 003 section 9.2 leaves open.

    Parameters
    ----------
    n : int
        Number of segments.
    flexible : bool
        Whether the second link of each segment is a beam with two bending shapes.
    """
    parts: list[Part] = []
    constraints, actuators, on = [], [], "world"
    for k in range(n):
        turn = rotation_about("x", 0.5 * np.pi) if k else np.eye(3)
        names = (f"first{k}", f"second{k}")
        outer: Any = rod(f"outer{k}", 0.4, 0.8)
        if flexible:
            outer = Beam(name=f"outer{k}", length=0.4, mass=0.8, EI=30.0, bending=("y",), modes=2, damping=0.01)
        parts.append(Part(rod(f"inner{k}", 0.3, 1.0), on=on, rotation=turn, joint=Revolute(name=names[0], axis="z")))
        parts.append(Part(outer, on=f"inner{k}.end", joint=Revolute(name=names[1], axis="z")))
        constraints.append(_keep(k, *names))
        actuators += [JointTorque(joint=name) for name in names]
        on = f"outer{k}.{'tip' if flexible else 'end'}"
    return System(
        name=f"kept chain of {n}",
        environment=UniformGravity(g=_DOWN),
        parts=tuple(parts),
        actuators=tuple(actuators),
        constraints=tuple(constraints),
    )


def _keep(k: int, first: str, second: str) -> Constraint:
    return Constraint(name=f"keep{k}", rule=lambda s: s[second] - 2.0 * s[first], kind=Artificial(by=(second,)))
