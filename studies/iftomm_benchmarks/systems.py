"""The five mechanisms of the benchmark library as systems; sources in README.md. SI units, gravity 9.81 m/s^2."""

from __future__ import annotations

import casadi as ca
import numpy as np

from spacectl import (
    Cartesian,
    Constraint,
    Frame,
    Free,
    FreeSpace,
    JointTorque,
    Loop,
    Part,
    PointOnPlane,
    Prismatic,
    Revolute,
    RigidBody,
    SpringDamper,
    System,
    UniformGravity,
)

__all__ = ["ANDREWS_START", "andrews", "bricard", "four_bars", "governor", "pendulum", "swinging_rod"]

_DOWN = (0.0, -9.81, 0.0)  # [m/s^2]


def pendulum(*, length: float = 1.0, mass: float = 1.0) -> System:
    """Return a point mass in absolute coordinates at a fixed distance from the origin, in the x-y plane, at rest at -x."""

    def reaches(s):  # type: ignore[no-untyped-def]
        r = s.position("point")
        return ca.dot(r, r) - s.number("length") ** 2

    point = RigidBody(name="point", mass=mass, inertia=(0.0, 0.0, 0.0))
    return System(
        name="simple pendulum",
        environment=UniformGravity(g=_DOWN),
        parts=(Part(point, at=(-length, 0.0, 0.0), joint=Cartesian(name="point")),),
        constraints=(
            Constraint(name="bar", rule=reaches, values={"length": length}),
            PointOnPlane(name="plane", b="point", normal="z"),
        ),
    )


def swinging_rod(*, length: float = 1.0, mass: float = 1.0) -> System:
    """Return the same pendulum as a tree: one angle."""
    body = RigidBody(name="bob", mass=mass, inertia=(0.0, 0.0, 0.0), com=(-length, 0.0, 0.0))
    return System(
        name="simple pendulum, joint coordinate",
        environment=UniformGravity(g=_DOWN),
        parts=(Part(body, joint=Revolute(name="hinge", axis="z")),),
    )


def _link(name: str, length: float = 1.0, mass: float = 1.0) -> RigidBody:
    """Return a thin uniform link along its x axis."""
    across = mass * length**2 / 12.0
    end = Frame(name="end", at=(length, 0.0, 0.0))
    return RigidBody(name=name, mass=mass, inertia=(0.0, across, across), com=(length / 2, 0.0, 0.0), frames=(end,))


def four_bars(windows: int) -> System:
    """Return N parallelograms: N + 1 cranks on the ground, N couplers; all links 1 m, 1 kg. Cranks upright at rest.

    The state starts in the regular part of the family; with all cranks horizontal there are instantaneously N + 1 degrees
    of freedom.
    """
    up, down = (
        ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)),
        ((0.0, 1.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 0.0, 1.0)),
    )
    parts, loops = [], []
    for i in range(windows + 1):
        crank = Part(_link(f"crank{i}"), at=(float(i), 0.0, 0.0), rotation=up, joint=Revolute(name=f"a{i}", axis="z"))
        parts.append(crank)
        if i:
            parts.append(
                Part(_link(f"bar{i}"), on=f"crank{i - 1}.end", rotation=down, joint=Revolute(name=f"b{i}", axis="z"))
            )
            loops += [
                PointOnPlane(name=f"pin{i}_{axis}", a=f"crank{i}.end", b=f"bar{i}.end", normal=axis) for axis in "xy"
            ]
    return System(
        name=f"four-bar linkage with {windows} windows",
        environment=UniformGravity(g=_DOWN),
        parts=tuple(parts),
        constraints=tuple(loops),
    )


#: Angles at the start [rad], test set for IVP solvers
ANDREWS_START = {
    "beta": -0.0617138900142764496358948458001,
    "theta": 0.0,
    "gamma": 0.455279819163070380255912382449,
    "phi": 0.222668390165885884674473185609,
    "delta": 0.487364979543842550225598953530,
    "omega": -0.222668390165885884674473185609,
    "epsilon": 1.23054744454982119249735015568,
}


def _plane_body(
    name: str, mass: float, inertia: float, com: tuple[float, float], **frames: tuple[float, float]
) -> RigidBody:
    """Return a body that moves in the x-y plane."""
    points = tuple(Frame(name=key, at=(*at, 0.0)) for key, at in frames.items())
    return RigidBody(name=name, mass=mass, inertia=(inertia, inertia, inertia), com=(*com, 0.0), frames=points)


def andrews() -> System:
    """Return Andrews' squeezing mechanism: seven bodies, three loops through the point E, a spring and a motor; no gravity."""
    A, B, C = (-0.06934, -0.00227, 0.0), (-0.03635, 0.03273, 0.0), (0.014, 0.072, 0.0)
    bodies = {  # where, joint, body
        "k1": ("world", (0.0, 0.0, 0.0), "beta", _plane_body("k1", 0.04325, 2.194e-6, (0.00092, 0.0), f=(0.007, 0.0))),
        "k2": ("k1.f", (0.0, 0.0, 0.0), "theta", _plane_body("k2", 0.00365, 4.410e-7, (-0.0115, 0.0), e=(-0.028, 0.0))),
        "k3": (
            "world",
            B,
            "gamma",
            _plane_body("k3", 0.02373, 5.255e-6, (0.01043, -0.01874), e=(0.0, -0.035), d=(0.02, -0.018)),
        ),
        "k5": ("world", A, "delta", _plane_body("k5", 0.07050, 1.169e-5, (0.02308, 0.00916), g=(0.04, 0.0))),
        "k4": ("k5.g", (0.0, 0.0, 0.0), "phi", _plane_body("k4", 0.00706, 5.667e-7, (0.0, -0.00579), e=(0.0, -0.02))),
        "k7": ("world", A, "epsilon", _plane_body("k7", 0.05498, 1.912e-5, (-0.00449, -0.01228), h=(0.0, -0.04))),
        "k6": ("k7.h", (0.0, 0.0, 0.0), "omega", _plane_body("k6", 0.00706, 5.667e-7, (0.00579, 0.0), e=(0.02, 0.0))),
    }
    return System(
        name="Andrews' squeezing mechanism",
        environment=FreeSpace(),
        parts=tuple(
            Part(body, on=on, at=at, joint=Revolute(name=joint, axis="z")) for on, at, joint, body in bodies.values()
        ),
        actuators=(JointTorque(joint="beta"),),
        elements=(SpringDamper(name="spring", on_a="k3.d", on_b="world", at_b=C, stiffness=4530.0, length=0.07785),),
        constraints=tuple(
            PointOnPlane(name=f"{body}_{axis}", a="k2.e", b=f"{body}.e", normal=axis)
            for body in ("k3", "k4", "k6")
            for axis in "xy"
        ),
    )


def bricard() -> System:
    """Return Bricard's mechanism: five rods and six hinges along the edges of a cube, each normal to its neighbours.

    It has one degree of freedom.
    """
    corners = np.array(
        [[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1]], dtype=float
    )  # [m]; hinges about y, z, x, y, z, x
    thin, wide = (
        1.0 * 2 * 0.1**2 / 12.0,
        1.0 * (1.0 + 0.1**2) / 12.0,
    )  # [kg m^2], along and across a rod of 0.1 m square
    parts, on = [], "world"
    for k in range(5):
        along = corners[k + 1] - corners[k]
        inertia = tuple(np.where(np.abs(along) > 0.5, thin, wide))
        end = Frame(name="end", at=along)
        body = RigidBody(name=f"rod{k + 1}", mass=1.0, inertia=inertia, com=along / 2, frames=(end,))
        parts.append(Part(body, on=on, at=corners[0], joint=Revolute(name=f"hinge{k + 1}", axis="yzxyz"[k])))
        on = f"rod{k + 1}.end"
    loop = Loop(name="hinge6", b=on, at_a=corners[5], joint=Revolute(axis="x"))
    return System(
        name="Bricard's mechanism", environment=UniformGravity(g=_DOWN), parts=tuple(parts), constraints=(loop,)
    )


def governor(*, is_tree: bool = True) -> System:
    """Return the stiff flyball governor: a shaft, two arms with 5 kg balls, a slider held by two stiff springs to the arms.

    As a tree, the slider has its own coordinate on the shaft; otherwise it is a free body guided along the shaft by a loop.
    """
    density, point = 3000.0, 5.0  # [kg/m^3], [kg]
    mass, cube = density * 1e-4, density * 1e-3
    thin, wide = mass * 2 * 0.01**2 / 12.0, mass * (1.0 + 0.01**2) / 12.0
    shaft = RigidBody(name="shaft", mass=mass, inertia=(wide, wide, thin), com=(0.0, 0.0, 0.5))
    slider = RigidBody(name="slider", mass=cube, inertia=(cube * 0.01 / 6.0,) * 3)
    parts = [
        Part(shaft, joint=Revolute(name="spin", axis="z")),
        Part(slider, on="shaft", at=(0.0, 0.0, 0.5), joint=Prismatic(name="lift", axis="z"))
        if is_tree
        else Part(slider, at=(0.0, 0.0, 0.5), joint=Free(name="lift")),
    ]
    guide = Loop(name="guide", a="shaft", at_a=(0.0, 0.0, 0.5), b="slider", joint=Prismatic(axis="z"))
    springs = []
    for k, side in ((1, 1.0), (2, -1.0)):
        total = mass + point
        com = (0.5 * mass + 1.0 * point) / total  # of rod and ball together
        across = wide + mass * (com - 0.5) ** 2 + point * (1.0 - com) ** 2
        arm = RigidBody(name=f"arm{k}", mass=total, inertia=(thin, across, across), com=(com, 0.0, 0.0))
        outwards = np.array([[side, 0.0, 0.0], [0.0, side, 0.0], [0.0, 0.0, 1.0]])
        tilt = np.array(
            [[np.cos(np.pi / 6), 0.0, np.sin(np.pi / 6)], [0.0, 1.0, 0.0], [-np.sin(np.pi / 6), 0.0, np.cos(np.pi / 6)]]
        )
        parts.append(
            Part(
                arm,
                on="shaft",
                at=(0.05 * side, 0.0, 1.0),
                rotation=outwards @ tilt,  # 30 degrees below the horizontal, outwards
                joint=Revolute(name=f"swing{k}", axis="y"),
            )
        )
        springs.append(
            SpringDamper(
                name=f"spring{k}",
                on_a="slider",
                at_a=(0.05 * side, 0.0, 0.0),
                on_b=f"arm{k}",
                at_b=(0.5, 0.0, 0.0),
                stiffness=8e5,
                damping=4e4,
                length=0.5,
            )
        )
    return System(
        name="stiff flyball governor",
        environment=UniformGravity(g=(0.0, 0.0, -9.81)),
        parts=tuple(parts),
        elements=tuple(springs),
        constraints=() if is_tree else (guide,),
    )
