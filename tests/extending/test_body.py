"""Bodies that are defined outside the package, in one class each: a rigid one, one with sloshing fuel, one of two lumps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spacectl import (
    BodyForce,
    CircularOrbit,
    Frame,
    Free,
    JointForce,
    JointSpring,
    JointTorque,
    ModelError,
    Part,
    Position,
    Prismatic,
    Revolute,
    RigidBody,
    System,
    UniformGravity,
    find_locked_frequencies,
    find_operating_point,
    form_equations,
    linearize,
    load_system,
    make_consistent,
    save_system,
    simulate,
    write_report,
)
from spacectl.core.array import as_array
from spacectl.model import files
from spacectl.model.bodies.base.body import Body
from spacectl.model.bodies.base.flexible import FlexibleBody
from spacectl.model.bodies.base.modal_integrals import ModalPoints
from spacectl.model.description import Number, always, set_field
from spacectl.model.files import register
from spacectl.spatial.backend import matrix, vector


@dataclass(frozen=True, kw_only=True)
class Ball(Body):
    """A homogeneous ball whose centre is `height` above its frame."""

    name: str
    mass: float
    radius: float
    height: float = 0.0
    frames: tuple[Frame, ...] = ()

    def numbers(self) -> dict[str, Number]:
        own = {"mass": always(self.mass), "radius": always(self.radius), "height": always(self.height)}
        return {**own, **self.frame_numbers()}

    def mass_properties(self, n: Mapping[str, Any]) -> tuple[Any, Any, Any]:
        J = 0.4 * n["mass"] * n["radius"] * n["radius"]
        zero = 0.0 * J
        return (
            n["mass"],
            vector(zero, zero, n["height"] + zero),
            matrix([[J, zero, zero], [zero, J, zero], [zero, zero, J]]),
        )


@dataclass(frozen=True, kw_only=True)
class Tank(FlexibleBody):
    """A rigid tank with a mass of fuel that sloshes along its y axis on a spring: one mode.

    Parameters
    ----------
    dry, fuel : float
        Masses [kg]; the tank's centre is at its frame.
    inertia : tuple of 3 float
        Of the dry tank [kg m^2].
    place : tuple of 3 float
        Of the fuel at rest [m].
    spring : float
        [N/m].
    """

    name: str
    dry: float
    fuel: float
    inertia: Any
    place: Any
    spring: float
    damping: Any = 0.0
    frames: tuple[Frame, ...] = ()

    def __post_init__(self) -> None:
        for key in ("inertia", "place"):
            set_field(self, key, as_array(getattr(self, key), (3,), f"{self._what}: {key}"))
        super().__post_init__()

    def own_material(self) -> ModalPoints:
        places = [np.zeros(3), np.asarray(self.place), *(np.asarray(frame.at) for frame in self.frames)]
        X, Phi = np.array(places), np.zeros((len(places), 3, 1))
        Phi[1, 1, 0] = 1.0
        rotary = np.zeros((len(places), 3, 3))
        rotary[0] = np.diag(self.inertia)
        return ModalPoints(X, np.array([self.dry, self.fuel, *(0.0 for _ in self.frames)]), Phi, rotary=rotary)

    @property
    def elasticity(self) -> np.ndarray:
        return np.array([[self.spring]])


@dataclass(frozen=True, kw_only=True)
class Lumps(FlexibleBody):
    """Two masses on a massless cantilever along x that bends in y: two modes, the displacements of the masses."""

    name: str
    masses: tuple[float, float]
    stiffness: float
    damping: Any = 0.0
    frames: tuple[Frame, ...] = ()

    @property
    def modal_labels(self) -> tuple[tuple[str, str], ...]:
        return (("middle", "m"), ("tip", "m"))

    @property
    def modal_names(self) -> tuple[str, ...]:
        return ("middle", "tip")

    def own_material(self) -> ModalPoints:
        X, Phi, Psi = np.array([[0.5, 0, 0], [1.0, 0, 0]]), np.zeros((2, 3, 2)), np.zeros((2, 3, 2))
        Phi[0, 1, 0] = Phi[1, 1, 1] = 1.0
        Psi[0, 2], Psi[1, 2] = (0.0, 1.0), (-2.0, 2.0)
        return ModalPoints(X, np.array(self.masses), Phi, Psi)

    @property
    def elasticity(self) -> np.ndarray:
        return self.stiffness * np.array([[16.0, -5.0], [-5.0, 2.0]])


TANK = Tank(name="tank", dry=5.0, fuel=2.0, inertia=(0.4, 0.5, 0.6), place=(0.1, 0.0, 0.3), spring=40.0, damping=0.02,
            frames=(Frame(name="nozzle", at=(0.0, 0.0, -0.5)),))  # fmt: skip
RATE = 2.0 * 0.02 * np.sqrt(40.0 * 2.0)  # damping of the spring [N s/m]


def with_tank() -> System:
    """A tank on a hinge, with a link on its nozzle."""
    link = RigidBody(name="link", mass=1.0, inertia=(0.05, 0.06, 0.02), com=(0.0, 0.1, -0.3))
    parts = (
        Part(TANK, joint=Revolute(name="hinge", axis=(0.6, 0.0, 0.8))),
        Part(link, on="tank.nozzle", joint=Revolute(name="gimbal", axis="x")),
    )
    motors = (
        JointTorque(joint="hinge"),
        JointTorque(joint="gimbal"),
        BodyForce(on="tank.nozzle", direction=(0, 1, 0), name="jet"),
    )
    sensors = (Position(name="nozzle", on="tank.nozzle"),)
    return System(name="tank", parts=parts, environment=UniformGravity(), actuators=motors, sensors=sensors)


def as_parts() -> System:
    """The same from known bodies: the fuel as a point mass on a prismatic joint with a spring."""
    dry = RigidBody(name="tank", mass=5.0, inertia=(0.4, 0.5, 0.6), frames=TANK.frames)
    fuel = RigidBody(name="fuel", mass=2.0, inertia=(0, 0, 0))
    first, second = with_tank().parts
    parts = (
        replace(first, body=dry),
        Part(fuel, on="tank", at=TANK.place, joint=Prismatic(name="slosh", axis="y")),
        second,
    )
    spring = JointSpring(name="surface", joint="slosh", stiffness=40.0, damping=RATE)
    return replace(with_tank(), parts=parts, elements=(spring,))


@pytest.mark.parametrize("formulation", ["kane", "articulated", "embedded", "udwadia_phohomsiri", "auto"])
def test_sloshing_fuel_moves_as_a_mass_on_a_spring(formulation: str) -> None:
    eom, other = form_equations(with_tank(), formulation=formulation), form_equations(as_parts(), formulation="kane")
    assert eom.coordinates == ("hinge", "tank.eta1", "gimbal") and other.coordinates == ("hinge", "slosh", "gimbal")
    rng = np.random.default_rng(0)
    for _ in range(4):
        q, v, u = 0.5 * rng.normal(size=3), rng.normal(size=3), rng.normal(size=3)
        expected = other.v_dot(0.0, q, v, u)
        np.testing.assert_allclose(eom.v_dot(0.0, q, v, u), expected, rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(eom.compiled().v_dot(0.0, q, v, u), expected, rtol=1e-11, atol=1e-11)
        x = np.r_[q, v]
        np.testing.assert_allclose(eom.outputs(0.0, x, u), other.outputs(0.0, x, u), atol=1e-13)
        assert eom.energy(0.0, q, v) == pytest.approx(other.energy(0.0, q, v), rel=1e-12)
        np.testing.assert_allclose(eom.reactions(0.0, q, v, u), other.reactions(0.0, q, v, u)[[0, 2]], atol=1e-10)


def test_in_an_orbit_gravity_pulls_its_fuel_too() -> None:
    def orbiting(system: System) -> System:
        parts = tuple(replace(part, on="orbit") if part.on == "world" else part for part in system.parts)
        return replace(system, environment=CircularOrbit(rate=0.3), parts=parts)

    ours, other = orbiting(with_tank()), orbiting(as_parts())
    q, v, u = np.array([0.4, 0.1, -0.6]), np.array([0.2, -0.3, 0.5]), np.zeros(3)
    expected = form_equations(other).v_dot(0.0, q, v, u)
    for formulation in ("kane", "articulated", "embedded"):
        eom = form_equations(ours, formulation=formulation)
        np.testing.assert_allclose(eom.v_dot(0.0, q, v, u), expected, rtol=1e-11, atol=1e-12)


def test_its_linearisation_agrees_with_central_differences_and_its_frequency_with_the_spring() -> None:
    eom, h = form_equations(with_tank()), 1e-6
    x, u = np.array([0.3, 0.05, -0.4, 0.2, 0.1, -0.3]), np.array([0.1, 0.2, -0.1])
    columns = [(eom.x_dot(0.0, x + d, u) - eom.x_dot(0.0, x - d, u)) / (2.0 * h) for d in h * np.eye(6)]
    np.testing.assert_allclose(linearize(eom, x, u, check=False).A, np.array(columns).T, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(find_locked_frequencies(eom), [np.sqrt(40.0 / 2.0)], rtol=1e-12)
    balanced = find_operating_point(eom, q={"hinge": 0.3, "gimbal": 0.1})
    assert np.max(np.abs(eom.x_dot(0.0, balanced.x, balanced.u))) < 1e-9


def test_it_runs_natively_and_by_the_machine_and_is_reported(tmp_path: Path) -> None:
    eom = form_equations(with_tank())
    x0 = eom.state(hinge=0.5, gimbal=0.3)
    runs = {
        tier: simulate(eom, x0=x0, t_span=(0.0, 1.0), tier=tier, rtol=1e-10, atol=1e-12) for tier in ("native", "vm")
    }
    np.testing.assert_allclose(runs["native"].x[-1], runs["vm"].x[-1], atol=1e-9)
    write_report(runs["native"], tmp_path / "run.html")
    assert "tank, 7 kg, 1 mode" in (tmp_path / "run.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("formulation", ["kane", "articulated", "embedded"])
def test_a_body_of_two_lumps_vibrates_as_its_matrices_say(formulation: str) -> None:
    body = Lumps(name="mast", masses=(2.0, 1.0), stiffness=30.0)
    eom = form_equations(System(name="mast", parts=(Part(body),)), formulation=formulation)
    assert eom.coordinates == ("mast.middle", "mast.tip")
    eta = np.array([0.01, -0.02])
    # without base motion only the second-order slices differ from M eta_ddot = -K eta: none have rotary inertia here
    np.testing.assert_allclose(
        eom.v_dot(0.0, eta, np.zeros(2)), -body.elasticity @ eta / np.array([2.0, 1.0]), rtol=1e-11
    )
    squares = np.linalg.eigvals(np.diag([0.5, 1.0]) @ body.elasticity)
    np.testing.assert_allclose(find_locked_frequencies(eom), np.sort(np.sqrt(squares)), rtol=1e-12)


def ball_arm(ball: Body) -> System:
    arm = RigidBody(name="arm", mass=1.0, inertia=(0.1, 0.1, 0.02), com=(0.0, 0.0, -0.5))
    parts = (Part(ball, joint=Free(name="ball")), Part(arm, on="ball.side", joint=Revolute(name="pin", axis="y")))
    return System(name="ball", parts=parts, environment=UniformGravity(), actuators=(JointTorque(joint="pin"),))


SIDE = (Frame(name="side", at=(0.3, 0.0, 0.1)),)
BALL = Ball(name="ball", mass=4.0, radius=0.3, height=0.1, frames=SIDE)
KNOWN = RigidBody(name="ball", mass=4.0, inertia=(0.144, 0.144, 0.144), com=(0.0, 0.0, 0.1), frames=SIDE)


@pytest.mark.parametrize("formulation", ["kane", "articulated", "embedded", "multipliers"])
def test_a_rigid_body_of_its_own_class_is_served_everywhere(formulation: str, tmp_path: Path) -> None:
    more: dict[str, Any] = {"coordinates": "absolute"} if formulation == "multipliers" else {"formulation": formulation}
    system = replace(ball_arm(BALL), actuators=()) if "coordinates" in more else ball_arm(BALL)
    known = replace(ball_arm(KNOWN), actuators=system.actuators)
    eom, other = form_equations(system, **more), form_equations(known, **more)
    rng, u = np.random.default_rng(1), np.full(eom.n_u, 0.4)
    x = np.asarray(eom.state())
    if "coordinates" in more:
        x = np.asarray(make_consistent(eom, x).x)
    else:
        x[eom.n_q :] = rng.normal(size=eom.n_v)
    np.testing.assert_allclose(eom.x_dot(0.0, x, u), other.x_dot(0.0, x, u), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(eom.compiled().x_dot(0.0, x, u), other.x_dot(0.0, x, u), rtol=1e-11, atol=1e-11)
    sim = simulate(eom, x0=x, u=u, t_span=(0.0, 0.2)) if eom.n_u else simulate(eom, x0=x, t_span=(0.0, 0.2))
    write_report(sim, tmp_path / "run.html")
    assert "ball: rigid, 4 kg" in (tmp_path / "run.html").read_text(encoding="utf-8")


def test_long_chains_of_it_go_through_the_native_sweeps() -> None:
    def chain(make: Any) -> System:
        names = ["world", *(f"b{k}" for k in range(30))]
        parts = tuple(Part(make(name), on=on, at=(0.0, 0.0, -1.0), joint=Revolute(axis="y"))
                      for on, name in zip(names, names[1:], strict=False))  # fmt: skip
        return System(name="chain", parts=parts, environment=UniformGravity())

    ours = form_equations(chain(lambda name: Ball(name=name, mass=1.0, radius=0.2, height=-0.4)))
    other = form_equations(chain(lambda name: RigidBody(name=name, mass=1.0, inertia=[0.016] * 3, com=(0, 0, -0.4))))
    assert ours.compiled().kind == "data-driven"
    x = 0.1 * np.random.default_rng(2).normal(size=ours.n_x)
    np.testing.assert_allclose(ours.compiled().x_dot(0.0, x), other.x_dot(0.0, x), rtol=1e-9, atol=1e-9)


def test_its_numbers_vary_without_another_build() -> None:
    eom = form_equations(ball_arm(BALL))
    larger = ball_arm(replace(BALL, radius=0.5, height=-0.1))
    x = np.asarray(eom.state(**{"pin": 0.3, "pin_dot": 1.0}))
    np.testing.assert_allclose(
        eom.x_dot(0.0, x, [0.2], eom.parameters_of(larger)),
        form_equations(larger).x_dot(0.0, x, [0.2]),
        rtol=1e-12,
        atol=1e-13,
    )


@pytest.mark.parametrize(("system", "kind"), [(ball_arm(BALL), Ball), (with_tank(), Tank)], ids=["Ball", "Tank"])
def test_files_need_the_class_registered(
    system: System, kind: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "system.toml"
    with pytest.raises(ModelError, match=rf"call spacectl.register\({kind.__name__}\)"):
        save_system(system, path)
    monkeypatch.setattr(files, "KINDS", dict(files.KINDS))
    register(kind)
    assert load_system(save_system(system, path)) == system


def test_what_cannot_be_right_is_explained() -> None:
    with pytest.raises(ModelError, match="stiffness is not positive"):
        replace(TANK, spring=-1.0)
    with pytest.raises(ModelError, match="expected a body"):
        Part(JointForce(joint="x"))  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="'ball' is not flexible"):
        _ = BALL.flexible
