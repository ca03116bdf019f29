"""Ready systems with natural constraints: closed loops, rolling, a knife edge, momentum held by a rule.

Each meets its constraints at rest (all coordinates zero), so that ``eom.state()`` is a start. `library_artificial` has
those that actuators keep.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from spacectl.model.actuators import BodyTorque, JointTorque
from spacectl.model.beam import Beam
from spacectl.model.constraints import Constraint
from spacectl.model.environment import CircularOrbit, Environment, FreeSpace, UniformGravity
from spacectl.model.frame_constraints import Loop, PointOnPlane
from spacectl.model.joints import Fixed, Free, Planar, Prismatic, Revolute, Spherical, Universal
from spacectl.model.rigid import Frame, RigidBody
from spacectl.model.system import Part, System
from spacectl.spatial.rotation import frame_along, rotation_about

__all__ = [
    "flexible_four_bar",
    "four_bar",
    "momentum_flyer",
    "redundant_four_bar",
    "rolling_disc",
    "skate",
    "slider_crank",
    "spatial_four_bar",
    "two_arm_flyer",
]

_DOWN = (0.0, -9.81, 0.0)  # [m/s^2]
_PIVOTS = np.array(
    [[0.0, 0.0], [0.25, 0.65], [1.7, 1.1], [2.0, 0.0]]
)  # [m]: crank's root and end, rocker's end and root


def rod(name: str, length: float, mass: float, axis: str = "x") -> RigidBody:
    """A uniform round rod along an axis from its origin to its frame ``"end"``, a twentieth as thick as long."""
    k = "xyz".index(axis)
    along, across = mass * (length / 40.0) ** 2 / 2.0, mass * (length**2 / 12.0 + (length / 40.0) ** 2 / 4.0)
    inertia = tuple(along if i == k else across for i in range(3))
    reach = length * np.eye(3)[k]
    return RigidBody(name=name, mass=mass, inertia=inertia, com=reach / 2, frames=(Frame(name="end", at=reach),))


def _bars() -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Lengths [m] and directions [rad] of crank, coupler and rocker (towards its root)."""
    steps = np.diff(_PIVOTS, axis=0)
    return tuple(np.hypot(*steps.T)), tuple(np.arctan2(steps[:, 1], steps[:, 0]))


def _open_four_bar() -> tuple[Part, ...]:
    """The chain crank, coupler, rocker whose end lies at its fixed pivot when all angles are zero."""
    lengths, angles = _bars()
    parts, on, before = [], "world", 0.0
    for name, mass, length, angle in zip(("crank", "coupler", "rocker"), (1.0, 2.5, 1.5), lengths, angles, strict=True):
        joint = Revolute(name=f"{name}_pin", axis="z")
        parts.append(Part(rod(name, length, mass), on=on, rotation=rotation_about("z", angle - before), joint=joint))
        on, before = f"{name}.end", angle
    return tuple(parts)


def four_bar() -> System:
    """A planar four-bar linkage under gravity, driven at the crank; its last pin holds x and y: independent rows."""
    pivot = (*_PIVOTS[3], 0.0)
    return System(
        name="four-bar",
        environment=UniformGravity(g=_DOWN),
        parts=_open_four_bar(),
        actuators=(JointTorque(joint="crank_pin"),),
        constraints=tuple(PointOnPlane(name=f"pin_{axis}", b="rocker.end", at_a=pivot, normal=axis) for axis in "xy"),
    )


def redundant_four_bar() -> System:
    """The same linkage closed by a bearing in space: five rows, of which three hold what the other pins hold anyway."""
    loop = Loop(name="bearing", b="rocker.end", at_a=(*_PIVOTS[3], 0.0), joint=Revolute(axis="z"))
    return System(
        name="redundant four-bar",
        environment=UniformGravity(g=_DOWN),
        parts=_open_four_bar(),
        actuators=(JointTorque(joint="crank_pin"), JointTorque(name="rocker_motor", joint="bearing")),
        constraints=(loop,),
    )


def slider_crank(*, offset: float = 0.15) -> System:
    """A spatial slider-crank: pin, universal and ball joint in the tree, closed by a slide; one degree of freedom.

    Parameters
    ----------
    offset : float
        How far the slide lies above the plane of the crank [m].
    """
    B, C = np.array([0.2, 0.25, 0.0]), np.array([1.1, 0.1, offset])
    R_rod = frame_along((C - B) / np.linalg.norm(C - B))
    angle = float(np.arctan2(B[1], B[0]))
    R_crank = rotation_about("z", angle)
    block = RigidBody(name="block", mass=0.8, inertia=(2e-3, 3e-3, 4e-3), com=(0.02, 0.0, 0.01))
    return System(
        name="slider-crank",
        environment=UniformGravity(g=_DOWN),
        parts=(
            Part(rod("crank", float(np.hypot(*B[:2])), 1.2), rotation=R_crank, joint=Revolute(name="motor", axis="z")),
            Part(
                rod("rod", float(np.linalg.norm(C - B)), 0.9, "z"),
                on="crank.end",
                rotation=R_crank.T @ R_rod,
                joint=Universal(name="cross", first="x", second="y"),
            ),
            Part(block, on="rod.end", rotation=R_rod.T, joint=Spherical(name="ball")),
        ),
        actuators=(JointTorque(joint="motor"),),
        constraints=(Loop(name="slide", b="block", at_a=C, joint=Prismatic(axis="x")),),
    )


def spatial_four_bar() -> System:
    """A spatial four-bar: crank about z, rocker about x, coupler with a universal and a ball joint; one freedom."""
    B, D = np.array([0.4, 0.0, 0.0]), np.array([1.0, 0.3, -0.2])
    R_rocker = rotation_about("x", -0.4)
    C = D + 0.9 * R_rocker[:, 2]
    R_coupler = frame_along((C - B) / np.linalg.norm(C - B))
    return System(
        name="spatial four-bar",
        environment=UniformGravity(),
        parts=(
            Part(rod("crank", 0.4, 1.0), joint=Revolute(name="motor", axis="z")),
            Part(
                rod("coupler", float(np.linalg.norm(C - B)), 1.4, "z"),
                on="crank.end",
                rotation=R_coupler,
                joint=Universal(name="cross", first="x", second="y"),
            ),
            Part(rod("rocker", 0.9, 1.1, "z"), at=D, rotation=R_rocker, joint=Revolute(name="swing", axis="x")),
        ),
        actuators=(JointTorque(joint="motor"),),
        constraints=(Loop(name="ball", a="rocker.end", b="coupler.end", joint=Spherical()),),
    )


def rolling_disc(*, radius: float = 0.3, mass: float = 2.0) -> System:
    """A thin disc that rolls without slip on the horizontal plane z = 0; upright at rest, its axis along y.

    Parameters
    ----------
    radius, mass : float
        [m], [kg]
    """
    disc = RigidBody(name="disc", mass=mass, inertia=tuple(mass * radius**2 * np.array([0.25, 0.5, 0.25])))

    def touches(s):  # type: ignore[no-untyped-def]
        lean = s.rotation("disc")[2, 1]
        return s.position("disc")[2] - s.number("radius") * ca.sqrt(1.0 - lean**2)

    def rolls(s):  # type: ignore[no-untyped-def]
        axis = s.rotation("disc")[:, 1]
        up = ca.SX([0.0, 0.0, 1.0]) - axis[2] * axis  # in the disc, towards its highest point
        contact = -s.number("radius") * up / ca.sqrt(1.0 - axis[2] ** 2)
        slip = s.velocity("disc") + ca.cross(s.angular_velocity("disc"), contact)
        return [slip[0], slip[1]]

    values = {"radius": radius}
    return System(
        name="rolling disc",
        environment=UniformGravity(),
        parts=(Part(disc, at=(0.0, 0.0, radius), joint=Free(name="base")),),
        constraints=(
            Constraint(name="touch", rule=touches, values=values),
            Constraint(name="roll", rule=rolls, values=values),
        ),
    )


def skate(*, slope: float = 0.3) -> System:
    """A plate on a knife edge through its centre of mass on an inclined plane: it cannot move sideways.

    Parameters
    ----------
    slope : float
        Angle of the plane, downhill along x [rad].
    """
    plate = RigidBody(name="plate", mass=1.5, inertia=(0.02, 0.05, 0.07))
    g = 9.81 * np.array([np.sin(slope), 0.0, -np.cos(slope)])
    return System(
        name="skate",
        environment=UniformGravity(g=g),
        parts=(Part(plate, joint=Planar(name="ice")),),
        actuators=(BodyTorque(name="twist", on="plate", direction="z"),),
        constraints=(Constraint(name="edge", rule=lambda s: ca.dot(s.rotation("plate")[:, 1], s.velocity("plate"))),),
    )


def _arm(side: str, y: float) -> list[Part]:
    """Two links, bent at the elbow, ahead of the base."""
    shoulder = Universal(name=f"{side}_shoulder", first="z", second="y")
    upper, fore = rod(f"{side}_upper", 0.8, 6.0), rod(f"{side}_fore", 0.7, 4.0)
    elbow = Revolute(name=f"{side}_elbow", axis="y")
    return [
        Part(upper, on="bus", at=(0.5, y, 0.0), rotation=rotation_about("y", -0.5), joint=shoulder),
        Part(fore, on=f"{side}_upper.end", rotation=rotation_about("y", 1.1), joint=elbow),
    ]


def two_arm_flyer(*, rate: float = 1.1e-3) -> System:
    """A free-flyer that holds a bar with two arms: rigidly in the left hand, by a ball joint in the right one.

    Parameters
    ----------
    rate : float
        Of the circular orbit [rad/s]; zero for free space.
    """
    bus = RigidBody(name="bus", mass=120.0, inertia=(18.0, 22.0, 20.0, 0.5, -0.3, 0.2))
    bar = RigidBody(name="bar", mass=8.0, inertia=(0.7, 0.02, 0.7), com=(0.0, -0.5, 0.0))
    held = rotation_about("y", -0.6)
    parts = [Part(bus, joint=Free(name="base")), *_arm("left", 0.5), *_arm("right", -0.5)]
    parts.append(Part(bar, on="left_fore.end", rotation=held, joint=Fixed(name="grip")))
    joints = (("shoulder", "first_dot"), ("shoulder", "second_dot"), ("elbow", ""))
    environment: Environment = CircularOrbit(rate=rate) if rate else FreeSpace()
    return System(
        name="two-arm flyer",
        environment=environment,
        parts=tuple(parts),
        actuators=tuple(
            JointTorque(joint=f"{side}_{joint}", component=component)
            for side in ("left", "right")
            for joint, component in joints
        ),
        constraints=(Loop(name="grasp", a="right_fore.end", b="bar", at_b=(0.0, -1.0, 0.0), joint=Spherical()),),
    )


def flexible_four_bar() -> System:
    """The four-bar with a flexible coupler (two bending shapes in its plane)."""
    lengths, angles = _bars()
    coupler = Beam(name="coupler", length=lengths[1], mass=2.5, EI=150.0, bending=("y",), modes=2, damping=0.01)
    crank, _, rocker = _open_four_bar()
    root, back = (*_PIVOTS[3], 0.0), rotation_about("z", angles[2] + np.pi)
    return System(
        name="flexible four-bar",
        environment=UniformGravity(g=_DOWN),
        parts=(
            crank,
            Part(
                coupler,
                on="crank.end",
                rotation=rotation_about("z", angles[1] - angles[0]),
                joint=Revolute(name="coupler_pin", axis="z"),
            ),
            Part(rocker.body, at=root, rotation=back, joint=Revolute(name="rocker_pin", axis="z")),
        ),
        actuators=(JointTorque(joint="crank_pin"),),
        constraints=tuple(
            PointOnPlane(name=f"pin_{axis}", a="rocker.end", b="coupler.tip", normal=axis) for axis in "xy"
        ),
    )


def momentum_flyer() -> System:
    """A free-flyer with a two-joint arm whose momentum is held at zero by a rule (003 chapter 1, section 6.2)."""
    bus = RigidBody(name="bus", mass=60.0, inertia=(8.0, 10.0, 9.0), com=(0.0, 0.1, 0.0))
    return System(
        name="momentum flyer",
        environment=FreeSpace(),
        parts=(
            Part(bus, joint=Free(name="base")),
            Part(rod("upper", 1.2, 8.0), on="bus", at=(0.4, 0.0, 0.2), joint=Revolute(name="shoulder", axis="z")),
            Part(rod("fore", 1.0, 5.0), on="upper.end", joint=Revolute(name="elbow", axis="y")),
        ),
        actuators=(JointTorque(joint="shoulder"), JointTorque(joint="elbow")),
        constraints=(Constraint(name="momentum", rule=lambda s: s.momentum()),),
    )
