"""A chain whose links are maintained by motors."""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl.model.actuators import JointTorque
from spacectl.model.bodies.beam.beam import Beam
from spacectl.model.constraints import Artificial, Constraint
from spacectl.model.environment import UniformGravity
from spacectl.model.joints import Revolute
from spacectl.model.library.constrained.four_bar_parts import DOWN
from spacectl.model.library.rods import rod
from spacectl.model.part import Part
from spacectl.model.system import System
from spacectl.spatial.rotation import rotation_about

__all__ = ["kept_chain"]


def kept_chain(n: int = 2, *, flexible: bool = True) -> System:
    """Return n segments of two links; a motor maintains each second joint at twice the angle of the first.

    It combines artificial constraints (Sadigh 1995, chapter 3) with order-N recursion and flexible bodies, which
    section 9.2 there leaves open.

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
        environment=UniformGravity(g=DOWN),
        parts=tuple(parts),
        actuators=tuple(actuators),
        constraints=tuple(constraints),
    )


def _keep(k: int, first: str, second: str) -> Constraint:
    return Constraint(name=f"keep{k}", rule=lambda s: s[second] - 2.0 * s[first], kind=Artificial(by=(second,)))
