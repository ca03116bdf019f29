"""Ready systems with constraints that actuators keep (003 chapters 3 and 7), alone and next to natural ones."""

from __future__ import annotations

import casadi as ca

from spacectl.core.errors import ModelError
from spacectl.model.actuators import JointTorque
from spacectl.model.beam import Beam
from spacectl.model.constraints import Artificial, Constraint, Natural
from spacectl.model.frame_constraints import NoRelativeRotation, PointOnPlane
from spacectl.model.joints import Fixed, Revolute
from spacectl.model.rigid import Frame, RigidBody
from spacectl.model.system import Part, System

__all__ = ["flexible_line_arm", "guided_arm", "level_arm", "line_arm", "prescribed_arm"]


def _links(masses: tuple[float, ...], lengths: tuple[float, ...], joints: tuple[str, ...]) -> tuple[Part, ...]:
    """Slender uniform links in the x-y plane, joints about z, each with a frame ``"tip"``."""
    parts, on = [], "world"
    for i, (mass, length, joint) in enumerate(zip(masses, lengths, joints, strict=True)):
        inertia, reach = mass * length**2 / 12.0, (length, 0.0, 0.0)
        frame = Frame(name="tip", at=reach)
        body = RigidBody(
            name=f"link{i + 1}", mass=mass, inertia=(0.0, inertia, inertia), com=(length / 2, 0.0, 0.0), frames=(frame,)
        )
        parts.append(Part(body, on=on, joint=Revolute(name=joint, axis="z")))
        on = f"{body.name}.tip"
    return tuple(parts)


def _kind(kept: str, by: str) -> Natural | Artificial:
    if kept not in ("natural", "artificial"):
        raise ModelError(f"kept is {kept!r}, expected 'natural' or 'artificial'")
    return Natural() if kept == "natural" else Artificial(by=(by,))


def level_arm(*, kept: str = "artificial", mass: float = 1.0, length: float = 1.0) -> System:
    """A two-link arm whose second link keeps its direction (003 Figure 3.1), by guides or by the elbow's torque.

    Parameters
    ----------
    kept : {"artificial", "natural"}
        By the elbow motor (Figure 3.1-b), or by frictionless guides (3.1-a).
    mass, length : float
        Of each link [kg], [m].
    """
    return System(
        name=f"level arm ({kept})",
        parts=_links((mass, mass), (length, length), ("shoulder", "elbow")),
        actuators=(JointTorque(joint="shoulder"), JointTorque(joint="elbow")),
        constraints=(NoRelativeRotation(name="level", b="link2", axis="z", free="none", kind=_kind(kept, "elbow")),),
    )


def line_arm(
    *, kept: str = "artificial", mass: float = 1.0, length: float = 1.0, payload: float = 0.5, prescribed: str = "tip"
) -> System:
    """A two-link arm that moves a point mass at its tip along the x axis (003 Figure 7.1), by the elbow's torque.

    Parameters
    ----------
    kept : {"artificial", "natural"}
        By the elbow motor, or by a rail.
    mass, length : float
        Of each link [kg], [m].
    payload : float
        Point mass at the tip [kg].
    prescribed : {"tip", "angles"}
        The condition as the height of the tip, or as ``q1 + q2 = 0`` in angles from the x axis (003 Eq 7.3). The first also
        holds with the arm folded (q2 = q1 + pi); the second is the branch that reaches out.
    """
    if prescribed not in ("tip", "angles"):
        raise ModelError(f"line_arm: prescribed is {prescribed!r}, expected 'tip' or 'angles'")
    ball = RigidBody(name="payload", mass=payload, inertia=(0.0, 0.0, 0.0))
    kind = _kind(kept, "elbow")
    on_line = (
        PointOnPlane(name="line", b="link2.tip", normal="y", kind=kind)
        if prescribed == "tip"
        else Constraint(name="line", rule=lambda s: 2.0 * s["shoulder"] + s["elbow"], kind=kind)
    )
    return System(
        name=f"line arm ({kept})",
        parts=(
            *_links((mass, mass), (length, length), ("shoulder", "elbow")),
            Part(ball, on="link2.tip", joint=Fixed(name="grip")),
        ),
        actuators=(JointTorque(joint="shoulder"), JointTorque(joint="elbow")),
        constraints=(on_line,),
    )


def prescribed_arm(*, by: str = "shoulder", rate: float = 0.7, amplitude: float = 0.4) -> System:
    """A two-link arm whose first link follows ``amplitude (1 - cos(rate t))`` (003 section 3.4).

    Parameters
    ----------
    by : {"shoulder", "elbow"}
        Which motor keeps it there. The elbow can, but not where ``cos(elbow) = -2/3``.
    rate, amplitude : float
        [rad/s], [rad]
    """
    return System(
        name=f"prescribed arm (by {by})",
        parts=_links((1.0, 1.0), (1.0, 1.0), ("shoulder", "elbow")),
        actuators=(JointTorque(joint="shoulder"), JointTorque(joint="elbow")),
        constraints=(
            Constraint(
                name="program",
                rule=lambda s: s["shoulder"] - s.number("amplitude") * (1.0 - ca.cos(s.number("rate") * s.t)),
                values={"amplitude": amplitude, "rate": rate},
                kind=Artificial(by=(by,)),
            ),
        ),
    )


def guided_arm() -> System:
    """A three-link arm with its tip on a rail (natural) whose last link keeps its direction by the wrist (artificial)."""
    parts = _links((1.0, 0.8, 0.5), (1.0, 0.9, 0.4), ("shoulder", "elbow", "wrist"))
    return System(
        name="guided arm",
        parts=parts,
        actuators=tuple(JointTorque(joint=part.joint_name) for part in parts),
        constraints=(
            PointOnPlane(name="rail", b="link3.tip", normal="y"),
            NoRelativeRotation(name="level", b="link3", axis="z", free="none", kind=Artificial(by=("wrist",))),
        ),
    )


def flexible_line_arm() -> System:
    """Two flexible links and a rigid hand whose tip the wrist keeps on the x axis (after 003 section 7.3.2)."""
    beams = [
        Beam(name=f"link{i}", length=0.8, mass=2.51, EI=930.0, bending=("y",), modes=1, shapes="modes", damping=0.02)
        for i in (1, 2)
    ]
    hand = RigidBody(
        name="hand",
        mass=5.0,
        inertia=(0.0, 0.01, 0.01),
        com=(0.075, 0.0, 0.0),
        frames=(Frame(name="tip", at=(0.15, 0, 0)),),
    )
    joints, places = ("shoulder", "elbow", "wrist"), ("world", "link1.tip", "link2.tip")
    bodies: tuple[Beam | RigidBody, ...] = (*beams, hand)
    return System(
        name="flexible line arm",
        parts=tuple(
            Part(body, on=on, joint=Revolute(name=joint, axis="z"))
            for body, on, joint in zip(bodies, places, joints, strict=True)
        ),
        actuators=tuple(JointTorque(joint=joint) for joint in joints),
        constraints=(PointOnPlane(name="line", b="hand.tip", normal="y", kind=Artificial(by=("wrist",))),),
    )
