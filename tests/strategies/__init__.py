"""Random but physically valid bodies, joints, trees, environments, states and inputs.

`random_tree` is a plain seeded generator; the hypothesis strategies draw a seed and sizes and call it, so that
examples are quick to make and shrink towards few bodies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from spacectl.model.actuators import Actuator, BodyForce, BodyTorque, JointForce, JointTorque, ReactionWheel, Thruster
from spacectl.model.bodies.rigid import Frame, RigidBody
from spacectl.model.description import direction
from spacectl.model.environment import CentralGravity, CircularOrbit, Environment, FreeSpace, UniformGravity
from spacectl.model.joints import JOINTS, Joint
from spacectl.model.part import Part
from spacectl.model.system import System

__all__ = [
    "ENVIRONMENT_KINDS",
    "KINDS",
    "Case",
    "cases",
    "environments",
    "first_of",
    "joints",
    "random_body",
    "random_environment",
    "random_joint",
    "random_rotation",
    "random_tree",
    "rigid_bodies",
]

KINDS = ("Fixed", "Revolute", "Prismatic", "Universal", "Cylindrical", "Spherical", "Planar", "Free")
ENVIRONMENT_KINDS = ("FreeSpace", "UniformGravity", "CircularOrbit", "CentralGravity")
FAR = 80.0  # [m] distance of root attachments from the centre of CentralGravity, well above the size of a tree


def first_of(seeds: range, few: int) -> list[Any]:
    """Seeds for `parametrize`, all but the first few of them marked as slow: `make test-all` draws them all."""
    return [*seeds[:few], *(pytest.param(seed, marks=pytest.mark.slow) for seed in seeds[few:])]


@dataclass(frozen=True)
class Case:
    """A system, a state by coordinate and speed names, and inputs by input names."""

    system: System
    q: Mapping[str, float]
    v: Mapping[str, float]
    u: Mapping[str, float]

    def vectors(self, eom: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q, v, u in the order of the equations."""
        q = np.array([self.q[name] for name in eom.coordinates])
        v = np.array([self.v[name] for name in eom.speeds])
        return q, v, np.array([self.u[name] for name in eom.inputs])


def random_direction(rng: np.random.Generator) -> Any:
    """A unit vector; half of them along a named axis."""
    if rng.random() < 0.5:
        return str(rng.choice(["x", "y", "z", "-x", "-y", "-z"]))
    vector = rng.normal(size=3)
    return vector / np.linalg.norm(vector)


def random_quaternion(rng: np.random.Generator) -> np.ndarray:
    """Scalar first, uniform over rotations, both signs."""
    quaternion = rng.normal(size=4)
    return quaternion / np.linalg.norm(quaternion)


def random_rotation(rng: np.random.Generator) -> Any:
    """None, an exact matrix of quarter turns, a general matrix or a quaternion."""
    kind = rng.integers(4)
    if kind == 0:
        return None
    if kind == 1:
        signs = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]])
        return np.roll(np.eye(3), int(rng.integers(3)), axis=0) * signs[rng.integers(4)]
    quaternion = random_quaternion(rng)
    return quaternion if kind == 2 else Rotation.from_quat(np.roll(quaternion, -1)).as_matrix()


def random_place(rng: np.random.Generator) -> np.ndarray:
    """A point near the origin [m]; some are the origin, some lie on an axis."""
    kind = rng.integers(4)
    point = rng.normal(size=3)
    return point * 0.0 if kind == 0 else point * np.eye(3)[rng.integers(3)] if kind == 1 else point


def random_body(rng: np.random.Generator, name: str) -> RigidBody:
    """Mass 0.3 to 5 kg, any centre of mass, second moments of 0.05 to 0.5 times the mass, and perhaps a frame."""
    mass = float(10.0 ** rng.uniform(-0.5, 0.7))
    second = mass * rng.uniform(0.05, 0.5, size=3)
    R = Rotation.from_quat(random_quaternion(rng)).as_matrix() if rng.random() < 0.7 else np.eye(3)
    inertia = R @ np.diag(np.sum(second) - second) @ R.T
    frames = (Frame(name="port", at=random_place(rng), rotation=random_rotation(rng)),) if rng.random() < 0.4 else ()
    return RigidBody(name=name, mass=mass, inertia=0.5 * (inertia + inertia.T), com=random_place(rng), frames=frames)


def random_joint(rng: np.random.Generator, kind: str, name: str = "") -> Joint:
    """A joint of the named kind with random or axis-aligned axes."""
    if kind == "Universal":
        while True:
            first, second = random_direction(rng), random_direction(rng)
            a, b = direction(first, "first"), direction(second, "second")
            if np.linalg.norm(np.cross(a, b)) > 0.3:  # far from parallel: the mass matrix stays well conditioned
                return JOINTS[kind](name=name, first=first, second=second)  # type: ignore[call-arg]
    if kind == "Planar":
        return JOINTS[kind](name=name, normal=str(rng.choice(["x", "y", "z"])))  # type: ignore[call-arg]
    if kind in ("Revolute", "Prismatic", "Cylindrical"):
        return JOINTS[kind](name=name, axis=random_direction(rng))  # type: ignore[call-arg]
    return JOINTS[kind](name=name)


def random_environment(rng: np.random.Generator, kind: str) -> Environment:
    """Numbers of order one; the centre of attraction makes about 0.1 m/s^2 at the distance `FAR`."""
    if kind == "UniformGravity":
        return UniformGravity(g=rng.normal(size=3) * 5.0)
    if kind == "CircularOrbit":
        rate = float(rng.uniform(0.1, 1.0))
        return CircularOrbit(rate=rate) if rng.random() < 0.5 else CircularOrbit(period=2.0 * np.pi / rate)
    if kind == "CentralGravity":
        return CentralGravity(mu=float(rng.uniform(0.05, 0.2)) * FAR**2)
    return FreeSpace()


def random_tree(
    rng: np.random.Generator,
    *,
    bodies: int,
    free_bases: int = 1,
    environment: str = "FreeSpace",
    kinds: Sequence[str] = KINDS,
    floating: bool = False,
) -> Case:
    """A tree with branches, random placements on both sides of every joint, actuators, a state and inputs.

    Parameters
    ----------
    bodies : int
        Number of rigid bodies (wheels come on top).
    free_bases : int
        Number of first bodies that move freely relative to the root; 0: the first one has another joint on the root.
    environment : str
        One of `ENVIRONMENT_KINDS`.
    kinds : sequence of str
        Joint kinds of the remaining bodies.
    floating : bool
        Nothing pushes from outside: only free bases on the root, and only actuators between bodies, and wheels.
    """
    moving = [kind for kind in kinds if kind != "Fixed"]
    free_bases = min(max(free_bases, int(floating)), bodies)
    parts: list[Part] = []
    for i in range(bodies):
        kind = "Free" if i < free_bases else str(rng.choice(moving if i == 0 else list(kinds)))
        on = "world" if i < max(free_bases, 1) else _random_parent(rng, parts, floating)
        at = random_place(rng)
        if on == "world" and environment == "CentralGravity":
            at = at + FAR * np.eye(3)[rng.integers(3)]
        name = f"b{i}"
        joint = random_joint(rng, kind, f"j{i}" if rng.random() < 0.7 else "")
        part = Part(
            random_body(rng, name), on=on, at=at, rotation=random_rotation(rng), joint=joint,
            child_at=random_place(rng), child_rotation=random_rotation(rng),
        )  # fmt: skip
        parts.append(part)
    actuators = random_actuators(rng, parts, floating)
    system = System(
        name="random tree", parts=tuple(parts), environment=random_environment(rng, environment), actuators=actuators
    )
    return random_state(rng, system)


def _random_parent(rng: np.random.Generator, parts: Sequence[Part], floating: bool) -> str:
    """Half chains, half branches, a few more attachments to the root; on the body or on its frame."""
    draw = rng.random()
    if draw < 0.05 and not floating:
        return "world"
    part = parts[-1] if draw < 0.5 else parts[int(rng.integers(len(parts)))]
    return f"{part.name}.port" if part.body.frames and rng.random() < 0.7 else part.name


def random_actuators(rng: np.random.Generator, parts: Sequence[Part], internal: bool) -> tuple[Actuator, ...]:
    """About two joints in three are driven; up to two wheels; one body in five is pushed or twisted."""
    found: list[Actuator] = []
    for part in parts:
        speeds = part.joint.speeds
        if not speeds or rng.random() < 0.33 or (internal and part.on == "world"):
            continue
        suffix, unit = speeds[rng.integers(len(speeds))]
        component = suffix[1:] if suffix.startswith(".") else ""
        driver = JointTorque if unit == "rad/s" else JointForce
        found.append(driver(joint=part.joint_name, component=component, limit=50.0))
    for i, part in enumerate(parts):
        on = f"{part.name}.port" if part.body.frames and rng.random() < 0.5 else part.name
        kind = rng.integers(20)
        along, at = random_direction(rng), random_place(rng)
        axes = str(rng.choice(["body", "world"]))
        if kind == 0 and not internal:
            found.append(BodyForce(name=f"force{i}", on=on, direction=along, at=at, axes=axes))
        elif kind == 1 and not internal:
            found.append(BodyTorque(name=f"torque{i}", on=on, direction=along, axes=axes))
        elif kind == 2 and not internal:
            found.append(Thruster(name=f"jet{i}", on=on, direction=along, at=at, limit=10.0))
        elif kind == 3 and sum(isinstance(item, ReactionWheel) for item in found) < 2:
            inertia = np.asarray(part.body.inertia)  # type: ignore[union-attr]
            thinnest = 0.5 * np.trace(inertia) - np.max(np.linalg.eigvalsh(inertia))  # smallest second moment
            spin = float(thinnest * rng.uniform(0.1, 0.8))  # a real ring of that inertia fits into the body
            found.append(ReactionWheel(name=f"wheel{i}", on=on, axis=along, inertia=spin))
    return tuple(found[k] for k in rng.permutation(len(found)))


def random_state(rng: np.random.Generator, system: System) -> Case:
    """Coordinates and speeds of order one, unit quaternions, inputs of a few newtons."""
    q: dict[str, float] = {}
    v: dict[str, float] = {}
    for part in system.tree:
        values = rng.normal(size=len(part.joint.coordinates))
        if part.joint.quaternion_at is not None:
            values[0:4] /= np.linalg.norm(values[0:4])
        names = [part.joint_name + suffix for suffix, _ in part.joint.coordinates]
        q.update(zip(names, values.tolist(), strict=True))
        v.update((part.joint_name + suffix, float(rng.normal())) for suffix, _ in part.joint.speeds)
    u = {item.input_name: float(rng.uniform(0.0, 5.0)) for item in system.actuators}
    u.update({name: -value for name, value in u.items() if rng.random() < 0.5 and not name.startswith("jet")})
    return Case(system, q, v, u)


_SEEDS = st.integers(0, 2**32 - 1)


def rigid_bodies(name: str = "body") -> st.SearchStrategy[RigidBody]:
    """Valid rigid bodies."""
    return _SEEDS.map(lambda seed: random_body(np.random.default_rng(seed), name))


def joints(kinds: Sequence[str] = KINDS) -> st.SearchStrategy[Joint]:
    """Joints of the given kinds."""
    kind = st.sampled_from(list(kinds))
    return st.builds(lambda name, seed: random_joint(np.random.default_rng(seed), name, "j"), kind, _SEEDS)


def environments(kinds: Sequence[str] = ENVIRONMENT_KINDS) -> st.SearchStrategy[Environment]:
    """Environments of the given kinds."""
    kind = st.sampled_from(list(kinds))
    return st.builds(lambda name, seed: random_environment(np.random.default_rng(seed), name), kind, _SEEDS)


@st.composite
def cases(
    draw: st.DrawFn, *, max_bodies: int = 30, kinds: Sequence[str] = KINDS,
    environment_kinds: Sequence[str] = ENVIRONMENT_KINDS, floating: bool = False,
) -> Case:  # fmt: skip
    """Trees with state and inputs; they shrink towards one body in free space."""
    bodies = draw(st.integers(1, max_bodies))
    return random_tree(
        np.random.default_rng(draw(_SEEDS)),
        bodies=bodies,
        free_bases=draw(st.integers(0, min(bodies, 3))),
        environment=draw(st.sampled_from(list(environment_kinds))),
        kinds=kinds,
        floating=floating,
    )
