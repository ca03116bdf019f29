"""Flexible trees against Lagrange's equations of their points, which know nothing of spacectl and drop nothing.

Kinetic energy of second order in (eta, eta_dot) makes equations that are exact at eta = eta_dot = 0 and, for small
deflections, rates and accelerations of the modes, right to first order: the difference falls like the square.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from spacectl import (
    AngularVelocity,
    Beam,
    CentralGravity,
    CircularOrbit,
    Free,
    FreeSpace,
    ModalBody,
    Part,
    Position,
    Revolute,
    RigidBody,
    System,
    UniformGravity,
    form_equations,
)
from spacectl.model.environment import Environment
from spacectl.model.joints import Spherical
from tests.dynamics.flexible.strategies import random_beam, random_modal_body, with_flexible_bodies
from tests.oracles.flexible import flexible_cloud
from tests.oracles.flexible.flexible_points import slope
from tests.peers.point_cloud_peer import read_gravity
from tests.strategies import random_tree

SIZES = np.array([0.01, 0.005])  # of eta, eta_dot, eta_ddot: small, so that light trees keep M definite


def read(system: System) -> list[dict[str, Any]]:
    """The parts as the dicts of the reference; rows as in ``system.tree``."""
    names = [part.name for part in system.tree]
    bodies = []
    for part in system.tree:
        owner, _, frame = part.on.partition(".")
        joint, kind = part.joint, type(part.joint).__name__
        axes: tuple[Any, ...] = ()
        if kind in ("Revolute", "Prismatic", "Cylindrical"):
            axes = (np.asarray(joint.axis),)
        elif kind == "Universal":
            axes = (np.asarray(joint.first), np.asarray(joint.second))
        elif kind == "Planar":
            k = "xyz".index(joint.normal)
            axes = tuple(np.eye(3)[[(k + 1) % 3, (k + 2) % 3, k]])
        body: dict[str, Any] = {
            "parent": names.index(owner) if owner in names else -1, "kind": kind, "axes": axes,
            "R_PJ": np.asarray(part.rotation), "p_PJ": np.asarray(part.at),
            "R_BF": np.asarray(part.child_rotation), "p_BF": np.asarray(part.child_at),
        }  # fmt: skip
        if frame:
            body |= _seat(system.part(owner).body, frame, body)
        if isinstance(part.body, RigidBody):
            body |= {"mass": part.body.mass, "com": np.asarray(part.body.com), "inertia": np.asarray(part.body.inertia)}
        else:
            body["flex"] = vars(part.body.material)
        bodies.append(body)
    return bodies


def seat_of(body: Beam | ModalBody, frame: str) -> dict[str, np.ndarray]:
    """A frame of a flexible body: its place, rotation and shapes."""
    found = next(item for item in body.frames if item.name == frame)
    shapes = body.shapes_at(np.asarray(found.at))
    return {"at": np.asarray(found.at), "R": np.asarray(found.rotation), **vars(shapes)}


def _seat(parent: Any, frame: str, body: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(parent, RigidBody):
        return {"seat": seat_of(parent, frame)}
    found = next(item for item in parent.frames if item.name == frame)
    R = np.asarray(found.rotation)
    return {"R_PJ": R @ body["R_PJ"], "p_PJ": np.asarray(found.at) + R @ body["p_PJ"]}


class Comparison:
    """A system in both worlds, at states scaled in the modes."""

    def __init__(self, system: System, seed: int):
        self.system, self.bodies = system, read(system)
        self.eom = form_equations(system, formulation="kane")
        rng = np.random.default_rng(seed)
        self.q, self.v, self.v_dot = (
            rng.normal(size=self.eom.n_q),
            rng.normal(size=self.eom.n_v),
            rng.normal(size=self.eom.n_v),
        )
        for k in self.eom.quaternions:
            self.q[k : k + 4] /= np.linalg.norm(self.q[k : k + 4])
        self.modal_q = np.array([".eta" in name for name in self.eom.coordinates])
        self.modal_v = np.array([".eta" in name for name in self.eom.speeds])

    def at(self, size: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        scale = lambda values, modal: np.where(modal, size * values, values)  # noqa: E731
        return scale(self.q, self.modal_q), scale(self.v, self.modal_v), scale(self.v_dot, self.modal_v)

    def reference(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """M and ``h - Q + K eta + D eta_dot`` of the points."""
        own, eta, start = [], [], 0
        for part in self.system.tree:
            n, m = len(part.joint.coordinates), getattr(part.body, "n_modes", 0)
            own.append(q[start : start + n])
            eta.append(q[start + n : start + n + m])
            start += n + m
        found = flexible_cloud.equations(self.bodies, own, eta, v, read_gravity(self.system))
        h = found["h"] - found["Q"]
        h[self.modal_v] += np.concatenate(
            [part.body.elasticity @ item for part, item in zip(self.system.tree, eta, strict=True) if item.size]
        )
        rates = np.split(v[self.modal_v], np.cumsum([item.size for item in eta if item.size])[:-1])
        bodies = [part.body for part in self.system.tree if getattr(part.body, "n_modes", 0)]
        h[self.modal_v] += np.concatenate(
            [body.damping_matrix @ rate for body, rate in zip(bodies, rates, strict=True)]
        )
        return found["M"], h

    def difference(self, size: float) -> float:
        """Of v_dot, for forces that make the reference move with v_dot: ``|v_dot - M^-1 (tau - h)|``."""
        q, v, v_dot = self.at(size)
        M, h = self.reference(q, v)
        tau = M @ v_dot + h
        found = np.linalg.solve(self.eom.mass_matrix(0.0, q), tau - self.eom.bias(0.0, q, v))
        return float(np.max(np.abs(found - v_dot)))

    def at_rest(self) -> float:
        """Relative difference of v_dot without other forces, all deflections and their rates zero."""
        q, v, _ = self.at(0.0)
        M, h = self.reference(q, v)
        expected = np.linalg.solve(M, -h)
        return float(
            np.max(np.abs(self.eom.v_dot(0.0, q, v, np.zeros(self.eom.n_u)) - expected)) / np.max(np.abs(expected))
        )


def random_system(seed: int, environment: str) -> System:
    rng = np.random.default_rng(seed)
    case = random_tree(rng, bodies=2 + seed % 2, free_bases=seed % 2, environment=environment)
    system = with_flexible_bodies(rng, case, damping=0.02).system
    return System(name="cloud", parts=system.parts, environment=system.environment)


def chain(environment: Environment) -> System:
    """A beam on a hinge, a shell on a ball joint at its tip, a rigid load on the shell."""
    rng = np.random.default_rng(8)
    parts = (
        Part(random_beam(rng, "beam"), joint=Revolute(name="hinge", axis="y"), at=(0.3, -0.2, 0.5)),
        Part(random_modal_body(rng, "shell"), on="beam.port", joint=Spherical(name="ball"), child_at=(0.2, 0.1, 0.0)),
        Part(
            RigidBody(name="load", mass=2.0, inertia=(0.3, 0.4, 0.5), com=(0.1, 0.2, 0.3)),
            on="shell.port",
            at=(0.1, 0, 0),
        ),
    )
    return System(name="chain", parts=parts, environment=environment)


ENVIRONMENTS = [FreeSpace(), UniformGravity(g=(1.0, -2.0, 3.0)), CircularOrbit(rate=0.7)]


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda item: type(item).__name__)
def test_a_chain_meets_its_points(environment: Environment) -> None:
    pair = Comparison(chain(environment), 1)
    assert pair.at_rest() < 1e-9  # stencils of the reference, 2e-11 of each term, amplified by the condition of M
    errors = [pair.difference(size) for size in SIZES]
    assert slope(SIZES, errors) > 1.8  # the square, less what the cube adds at the largest size


@pytest.mark.parametrize("seed", range(8))
def test_random_trees_meet_their_points(seed: int) -> None:
    pair = Comparison(random_system(seed, ("FreeSpace", "UniformGravity", "CircularOrbit")[seed % 3]), seed)
    assert pair.at_rest() < 1e-7  # as above, with condition numbers up to 1e4
    assert slope(SIZES, [pair.difference(size) for size in SIZES]) > 1.8


def test_central_gravity_meets_the_points_from_afar() -> None:
    """The field is of second order in size / distance: what it misses acts on the modes like the square of that."""
    shell = replace(random_modal_body(np.random.default_rng(2), "shell"), rotary=None)
    errors = []
    for distance in (250.0, 500.0):
        part = Part(shell, joint=Free(name="base"), at=(0.0, distance, 0.0))
        far = System(name="far", parts=(part,), environment=CentralGravity(mu=4.0 * distance**2))
        errors.append(Comparison(far, 3).at_rest())
    assert errors[1] < 1e-5  # points 2 m from the centre: (2 / 500)^2 of 4 m/s^2, in shapes of order one
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.05)


def test_without_second_order_shapes_the_difference_is_of_first_order() -> None:
    """What early linearisation loses: a spinning beam whose shortening is left out."""
    beam = Beam(name="beam", length=2.0, mass=3.0, EI=50.0, modes=2)
    points = beam.material
    blind = ModalBody(
        name="beam", points=points.X, masses=points.mass, shapes=points.Phi, slopes=points.Psi, rotary=points.rotary,
        stiffness=beam.elasticity,
    )  # fmt: skip
    joint = Revolute(name="hinge", axis="y")
    true = Comparison(System(name="true", parts=(Part(beam, joint=joint),)), 1)
    lost = Comparison(System(name="lost", parts=(Part(blind, joint=joint),)), 1)
    lost.bodies = true.bodies
    assert slope(SIZES, [true.difference(size) for size in SIZES]) > 1.8
    assert slope(SIZES, [lost.difference(size) for size in SIZES]) == pytest.approx(1.0, abs=0.1)


def test_frames_are_where_the_points_say() -> None:
    """Places differ by the cube only: frames turn by true rotations, by another formula than the exponential here."""
    system = chain(FreeSpace())
    sensors = (Position(name="p", on="shell.port"), AngularVelocity(name="w", on="shell.port"))
    system = System(name="chain", parts=system.parts, sensors=sensors)
    pair = Comparison(system, 5)
    seat = seat_of(system.part("shell").body, "port")
    m = system.part("beam").body.n_modes
    errors = []
    for size in SIZES:
        q, v, _ = pair.at(size)
        own, eta = [q[:1], q[1 + m : 5 + m], q[:0]], [q[1 : 1 + m], q[5 + m :], q[:0]]
        _, place = flexible_cloud.frame_pose(pair.bodies, own, eta, 1, seat)
        errors.append(np.max(np.abs(pair.eom.outputs(0.0, np.r_[q, v], np.zeros(0))[:3] - place)))
    assert slope(SIZES, errors) > 2.8
