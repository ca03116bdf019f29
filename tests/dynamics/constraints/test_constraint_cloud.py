"""Constrained systems against a cloud of point masses under Gauss's principle: no formula and no code is shared."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from spacectl import BodyForce, Loop, Part, Revolute, form_equations, library, make_consistent, rotation_about
from spacectl.dynamics.reactions.wrenches import find_constraint_wrenches
from spacectl.model.system import System
from tests.oracles.mechanics import constrained_cloud, point_cloud
from tests.oracles.mechanics.constrained_cloud import meeting, on_plane, rolls
from tests.peers.layout import read_links, read_loads
from tests.peers.point_cloud_peer import read_bodies, read_gravity

AXES = np.eye(3)


def consistent(eom: Any, seed: int, spread: float = 0.2) -> np.ndarray:
    """A random state that meets the constraints, near rest."""
    rng = np.random.default_rng(seed)
    start = eom.state(eom.state() + spread * rng.standard_normal(eom.n_x))
    return np.asarray(make_consistent(eom, start).x)


class Cloud:
    """A system at a state, as the reference sees it."""

    def __init__(self, eom: Any, x: np.ndarray, u: np.ndarray):
        self.eom, self.x, self.u = eom, x, u
        system = eom.system
        links = read_links(system, rings=True)
        named = eom.named(x)
        self.bodies, self.gravity = read_bodies(links), read_gravity(system)
        self.q = [np.array([named[name] for name in link.coordinates]) for link in links]
        self.speeds = [name for link in links for name in link.speeds]
        self.v = np.array([named[name] for name in self.speeds])
        self.loads = read_loads(system, dict(zip(eom.inputs, u.tolist(), strict=True)))
        self.tau = np.array([self.loads.tau.get(name, 0.0) for name in self.speeds])
        self.index = {part.name: i for i, part in enumerate(system.tree)}

    def accelerations(self, **conditions: Any) -> np.ndarray:
        found = constrained_cloud.accelerations(self.bodies, self.q, self.v, self.gravity, tau=self.tau, **conditions)
        order = [self.speeds.index(name) for name in self.eom.speeds]
        return found[order]

    def open_by(self, **conditions: Any) -> float:
        return float(np.max(np.abs(constrained_cloud.residuals(self.bodies, self.q, self.v, **conditions))))


def end_of(system: System, body: str) -> np.ndarray:
    return np.asarray(system.part(body).body.frames[0].at)


def pin(system: System, cloud: Cloud, where: Any) -> tuple[Any, ...]:
    """The rocker's end is at its pivot."""
    return (meeting(-1, where, cloud.index["rocker"], end_of(system, "rocker")),)


def slide(cloud: Cloud, where: Any) -> tuple[Any, ...]:
    """The block's origin and two more points of it stay on lines along x."""
    k, place = cloud.index["block"], np.asarray(where)
    rows = []
    for point in (np.zeros(3), AXES[0], AXES[1]):
        rows += [on_plane(-1, place + point, place + point + AXES[j], k, point) for j in (1, 2)]
    return tuple(rows)


def conditions(name: str, system: System, cloud: Cloud) -> dict[str, Any]:
    """Each closure said again with marked points."""
    if name in ("four_bar", "redundant_four_bar"):
        return {"holds": pin(system, cloud, (2.0, 0.0, 0.0))}
    if name == "spatial_four_bar":
        ends = [(cloud.index[body], end_of(system, body)) for body in ("rocker", "coupler")]
        return {"holds": (meeting(*ends[0], *ends[1]),)}
    if name == "slider_crank":
        return {"holds": slide(cloud, system.constraints[0].at_a)}
    if name == "two_arm_flyer":
        hand = (cloud.index["right_fore"], end_of(system, "right_fore"))
        return {"holds": (meeting(*hand, cloud.index["bar"], (0.0, -1.0, 0.0)),)}
    # the height follows from not slipping in any direction, but only at the level of rates
    radius = 0.3

    def touches(place: Any, move: Any) -> Any:
        axis = place(0, (0.0, 1.0, 0.0)) - place(0, (0.0, 0.0, 0.0))
        return (place(0, (0.0, 0.0, 0.0))[..., 2] - radius * np.sqrt(1.0 - axis[..., 2] ** 2))[..., None]

    return {"holds": (touches,), "slides": (rolls(0, radius),)}


SYSTEMS = ("four_bar", "redundant_four_bar", "spatial_four_bar", "slider_crank", "two_arm_flyer", "rolling_disc")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", SYSTEMS)
def test_accelerations_are_those_of_least_constraint(name: str, seed: int) -> None:
    system = library.CONSTRAINED[name]()
    if name == "redundant_four_bar":  # the reference knows of no motor in a loop
        system = replace(system, actuators=system.actuators[:1])
    eom = form_equations(system)
    x, u = consistent(eom, seed), np.random.default_rng(seed).standard_normal(eom.n_u)
    cloud = Cloud(eom, x, u)
    marks = conditions(name, system, cloud)
    assert cloud.open_by(**marks) < 1e-10  # the same conditions are met; velocities by an eighth-order stencil
    v_dot = eom.v_dot(0.0, x[: eom.n_q], x[eom.n_q :], u)
    # second differences of positions: rounding 1e-15 over the squared step (0.05 / sum of speeds)^2, times conditioning
    np.testing.assert_allclose(cloud.accelerations(**marks), v_dot, atol=1e-8 * np.max(np.abs(v_dot)))


@pytest.mark.parametrize("seed", range(2))
def test_reactions_in_tree_and_loop_are_those_of_newtons_law(seed: int) -> None:
    """The pin's force from the cloud, put on the open chain as an outer force, gives the other joints' wrenches."""
    base = library.four_bar()
    push = BodyForce(name="push", on="coupler", direction=(0.6, 0.8, 0.0), at=(0.3, 0.0, 0.0), axes="world")
    eom = form_equations(replace(base, actuators=(*base.actuators, push)), formulation="multipliers")
    x, u = consistent(eom, seed), np.array([0.7, 0.0])
    cloud = Cloud(eom, x, u)
    marks = conditions("four_bar", eom.system, cloud)
    v_dot = cloud.accelerations(**marks)
    force = constrained_cloud.closing_forces(
        cloud.bodies, cloud.q, cloud.v, v_dot, cloud.gravity, tau=cloud.tau, holds=marks["holds"]
    )
    expected = point_cloud.reactions(
        cloud.bodies, cloud.q, cloud.v, v_dot, cloud.gravity,
        forces=[(cloud.index["rocker"], end_of(eom.system, "rocker"), force, "world")],
    )  # fmt: skip
    found = eom.reactions(0.0, x[:3], x[3:], u)
    np.testing.assert_allclose(found, expected, atol=1e-7 * np.max(np.abs(expected)))  # second differences, as above
    wrenches = find_constraint_wrenches(eom, 0.0, x, u)
    total = wrenches["pin_x"][3:] + wrenches["pin_y"][3:]  # in axes of the rocker
    R = eom.placements(0.0, x[:3])[-1][:9].reshape(3, 3)
    np.testing.assert_allclose(R @ total, force, atol=1e-7 * np.max(np.abs(force)))
    # a pushed coupler changes the wrenches by exactly what Newton's law asks for: all joints together hold the system
    pushed = eom.reactions(0.0, x[:3], x[3:], [0.7, 2.0]) - found
    assert np.max(np.abs(pushed)) > 0.1


@pytest.mark.parametrize("axis", ["x", (0.36, 0.48, 0.8)])
def test_a_loop_askew_in_space_has_the_same_motion(axis: Any) -> None:
    """Rows that hold nothing are rounding there, not zero; they must not be scaled up and taken for constraints."""
    flat = replace(library.redundant_four_bar(), environment=library.rolling_disc().environment)
    R = rotation_about(axis, 0.9)
    crank, *others = flat.parts
    turned_g = R @ np.asarray(flat.environment.g)
    loop = flat.constraints[0]
    turned = replace(
        flat,
        environment=replace(flat.environment, g=turned_g),
        parts=(Part(crank.body, rotation=R @ np.asarray(crank.rotation), joint=crank.joint), *others),
        constraints=(
            Loop(name="bearing", b=loop.b, at_a=R @ np.asarray(loop.at_a), rotation_a=R, joint=Revolute(axis="z")),
        ),
    )
    results = []
    for system in (flat, turned):
        for formulation in ("kane", "udwadia_phohomsiri", "artificial"):
            eom = form_equations(system, formulation=formulation)
            x = consistent(eom, 4)
            results.append(eom.v_dot(0.0, x[:3], x[3:], [0.3, -0.8]))
    for other in results[1:]:
        np.testing.assert_allclose(other, results[0], atol=1e-11 * np.max(np.abs(results[0])))  # rounding


def test_a_motor_in_the_loop_is_the_same_motor_in_the_tree() -> None:
    """The linkage opened at its other end: motor and reactions change places, the motion does not."""
    eom = form_equations(library.redundant_four_bar())
    x, u = consistent(eom, 2), np.array([0.4, 1.3])
    v_dot = eom.v_dot(0.0, x[:3], x[3:], u)
    lone = form_equations(replace(library.four_bar(), actuators=library.four_bar().actuators))
    power = u[0] * x[3] + u[1] * (x[3] + x[4] + x[5])  # the bearing turns by the sum of the three angles
    M, h = eom.mass_matrix(0.0, x[:3]), eom.bias(0.0, x[:3], x[3:])
    assert x[3:] @ (M @ v_dot + h) == pytest.approx(power, rel=1e-10)  # all other efforts do no work
    wrench = find_constraint_wrenches(eom, 0.0, x, u)["bearing"]
    assert wrench[2] == pytest.approx(u[1], rel=1e-12)  # its moment about the bearing's axis is the motor's
    held = eom.reactions(0.0, x[:3], x[3:], u)
    np.testing.assert_allclose(held[:, 2], [u[0], 0.0, 0.0], atol=1e-10)  # the tree's pins pass motors' torques only
    assert np.max(np.abs(lone.v_dot(0.0, x[:3], x[3:], u[:1]) - v_dot)) > 1e-3
