"""Random flexible bodies, and random trees with some of their bodies made flexible: what `strategies` is to rigid ones.

`with_flexible_bodies` changes a drawn case and draws from its own generator, so that the rigid draws stay as they are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from spacectl.model.bodies.beam.beam import Beam
from spacectl.model.bodies.modal.modal import ModalBody
from spacectl.model.bodies.rigid import Frame
from spacectl.model.joints import Free
from spacectl.model.part import Part
from tests.strategies import Case, random_rotation

__all__ = ["random_beam", "random_modal_body", "with_flexible_bodies"]


def random_modal_body(rng: np.random.Generator, name: str, damping: float = 0.0) -> ModalBody:
    """Ten to fourteen points, one to three modes, all second-order shapes and slices; a frame ``"port"`` on a point."""
    n, m = int(rng.integers(10, 15)), int(rng.integers(1, 4))
    X = rng.normal(size=(n, 3))
    shapes, slopes = (0.5 * rng.normal(size=(n, 3, m)) for _ in range(2))
    second, second_slopes = (0.3 * rng.normal(size=(n, 3, m, m)) for _ in range(2))
    root = 0.3 * rng.normal(size=(n, 3, 3))
    stiffness = rng.normal(size=(m, m))
    return ModalBody(
        name=name, points=X, masses=rng.uniform(0.1, 0.5, size=n), shapes=shapes, slopes=slopes,
        second=second + second.swapaxes(2, 3), second_slopes=second_slopes + second_slopes.swapaxes(2, 3),
        rotary=root @ root.swapaxes(1, 2), stiffness=10.0 * (stiffness @ stiffness.T + np.eye(m)), damping=damping,
        frames=(Frame(name="port", at=X[-1], rotation=random_rotation(rng)),),
    )  # fmt: skip


def random_beam(rng: np.random.Generator, name: str, damping: float = 0.0, root: str = "clamped") -> Beam:
    """Bending in one or two planes, with or without shear, torsion and extension; frames ``"tip"`` and ``"port"``."""
    length = float(rng.uniform(0.5, 2.0))
    planes = [("y",), ("z",), ("y", "z")][rng.integers(3)]
    return Beam(
        name=name, length=length, mass=float(rng.uniform(0.5, 3.0)), EI=tuple(rng.uniform(5.0, 50.0, size=2).tolist()),
        GA=float(rng.uniform(50.0, 200.0)) if rng.random() < 0.3 else None, GJ=float(rng.uniform(5.0, 20.0)),
        EA=float(rng.uniform(100.0, 500.0)), rotary=rng.uniform(0.05, 0.2, size=3), bending=planes,
        modes=int(rng.integers(1, 3)), torsion=int(rng.random() < 0.4), extension=int(rng.random() < 0.4), root=root,
        shapes="modes" if rng.random() < 0.7 else "polynomials", damping=damping,
        frames=(Frame(name="port", at=(length * rng.random(), *(0.2 * rng.normal(size=2))), rotation=random_rotation(rng)),),
    )  # fmt: skip


def with_flexible_bodies(
    rng: np.random.Generator, case: Case, *, share: float = 0.6, damping: float = 0.0, deflection: float = 0.1
) -> Case:
    """Return the same tree with a share of its bodies made flexible, and their outboard bodies moved to their frames.

    Modal coordinates and speeds are about `deflection`; the other draws of the case stay as they are. Beams are held
    at their clamped root, or float on a free joint with free ends.
    """
    bodies: dict[str, Any] = {}
    parts: list[Part] = []
    for part in case.system.parts:
        if rng.random() < share or (not bodies and part is case.system.parts[-1]):
            is_free = isinstance(part.joint, Free) and rng.random() < 0.5
            if rng.random() < 0.5:
                body: Any = random_beam(rng, part.name, damping, "free" if is_free else "clamped")
                part = part if is_free else replace(part, child_at=(0.0, 0.0, 0.0))
            else:
                body = random_modal_body(rng, part.name, damping)
            bodies[part.name] = body
            part = replace(part, body=body)
        parts.append(part)

    def moved(on: str) -> str:
        owner = on.split(".")[0]
        if owner not in bodies or (on == owner and rng.random() < 0.3):
            return on
        return f"{owner}.{rng.choice([frame.name for frame in bodies[owner].frames])}"

    parts = [replace(part, on=moved(part.on)) for part in parts]
    actuators = tuple(
        replace(item, on=moved(item.on)) if hasattr(item, "on") else item for item in case.system.actuators
    )
    names = [f"{name}.{mode}" for name, body in bodies.items() for mode in body.modal_names]
    q = {**case.q, **{name: deflection * float(rng.normal()) for name in names}}
    v = {**case.v, **{f"{name}_dot": deflection * float(rng.normal()) for name in names}}
    return Case(replace(case.system, parts=tuple(parts), actuators=actuators), q, v, case.u)
