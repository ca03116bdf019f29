"""Straight and elastic tethers: against Newton's law for the line's elements, conservation laws, and each other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
import pytest

from spacectl import (
    Beam,
    Cartesian,
    CircularOrbit,
    ElasticTether,
    Frame,
    Free,
    FreeSpace,
    Guard,
    JointForce,
    ModelError,
    Part,
    Revolute,
    RigidBody,
    SolverError,
    Spherical,
    System,
    Tether,
    UniformGravity,
    find_tension,
    form_equations,
    linearize,
    modes,
    simulate,
    watch_stretch,
)
from tests.oracles.mechanics import tether as oracle

RATE = 0.4


def wavy(s: Any) -> Any:
    return 10.0 + 0.7 * s.t + ca.sin(s.t)


def point(name: str, mass: float) -> RigidBody:
    return RigidBody(name=name, mass=mass, inertia=(0.0, 0.0, 0.0))


def mother_part() -> Part:
    body = RigidBody(
        name="mother",
        mass=50.0,
        inertia=(3.0, 4.0, 5.0),
        com=(0.1, 0.2, 0.0),
        frames=(Frame(name="boom", at=(1.0, 0.2, 0.3)),),
    )
    return Part(body, joint=Free(name="base"))


def satellite_part(**place: Any) -> Part:
    return Part(RigidBody(name="satellite", mass=5.0, inertia=(1.0, 2.0, 2.5), com=(0.2, 0.0, 0.1)), **place)


def straight(density: float, *, environment: Any = None, length: Any = 10.0, **options: Any) -> System:
    line = Tether(
        name="line",
        on="mother.boom",
        at=(0.2, 0.1, 0.0),
        density=density,
        spool=40.0 if density else None,
        length=length,
        **options,
    )
    return System(
        name="straight",
        environment=environment or FreeSpace(),
        parts=(mother_part(), satellite_part(on="line", at=(0.1, 0.0, 0.0), joint=Spherical(name="swivel"))),
        elements=(line,),
        actuators=(JointForce(joint="line.length"),) if options.get("is_reeled") else (),
    )


def elastic(masses: int, *, environment: Any = None, length: Any = 3.0, damping: float = 0.0) -> System:
    line = ElasticTether(
        name="line",
        on="mother.boom",
        at=(0.2, 0.1, 0.0),
        to="satellite",
        to_at=(0.1, 0.1, 0.3),
        density=0.3 if masses else 0.0,
        masses=masses,
        stiffness=20.0,
        damping=damping,
        spool=40.0 if masses else None,
        length=length,
    )
    return System(
        name="elastic",
        environment=environment or FreeSpace(),
        parts=(mother_part(), satellite_part(at=(9.0, 1.0, 1.0), joint=Free(name="far"))),
        elements=(line,),
    )


SYSTEMS = {
    "massless, constant": straight(0.0),
    "massless, prescribed": straight(0.0, length=wavy),
    "massless, reeled": straight(0.0, is_reeled=True),
    "massive, constant": straight(0.3),
    "massive, prescribed": straight(0.3, length=wavy),
    "massive, reeled": straight(0.3, is_reeled=True),
    "string": elastic(0, length=wavy),
    "elastic, constant": elastic(3, damping=0.5),
    "elastic, prescribed": elastic(3, length=wavy, damping=0.5),
    "elastic, one mass": elastic(1, length=wavy),
}


def random_state(eom: Any, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return eom.state(np.asarray(eom.x_rest) + 0.3 * rng.normal(size=eom.n_x)), rng.normal(size=eom.n_u)


def rate_of(function: Any, eom: Any, t: float, x: np.ndarray, x_dot: np.ndarray, h: float = 1e-5) -> np.ndarray:
    """Central difference of a function of (t, q, v) along the motion."""
    ahead, behind = x + h * x_dot, x - h * x_dot
    after = function(t + h, ahead[: eom.n_q], ahead[eom.n_q :])
    return (np.asarray(after) - np.asarray(function(t - h, behind[: eom.n_q], behind[eom.n_q :]))) / (2.0 * h)


@pytest.mark.parametrize("environment", [FreeSpace(), CircularOrbit(rate=RATE)], ids=["free", "orbit"])
@pytest.mark.parametrize("name", SYSTEMS)
def test_formulations_agree_and_momentum_is_conserved(name: str, environment: Any) -> None:
    system = replace(SYSTEMS[name], environment=environment)
    kane, recursion = (form_equations(system, formulation=key) for key in ("kane", "articulated"))
    x, u = random_state(kane)
    x_dot = kane.x_dot(0.3, x, u)
    scale = max(1.0, float(np.max(np.abs(x_dot))))
    np.testing.assert_allclose(recursion.x_dot(0.3, x, u), x_dot, rtol=0, atol=1e-12 * scale)  # rounding
    if isinstance(environment, FreeSpace):
        # momentum of order 100 over h = 1e-5: rounding 1e-9; truncation h^2 times third derivatives
        np.testing.assert_allclose(rate_of(recursion.momentum, recursion, 0.3, x, x_dot), 0.0, atol=3e-6)


@pytest.mark.parametrize("name", ["massless, constant", "massive, constant", "string"])
def test_energy_is_conserved_in_orbit_at_constant_length(name: str) -> None:
    system = replace(SYSTEMS[name], environment=CircularOrbit(rate=RATE))
    if name == "string":
        system = elastic(3, environment=CircularOrbit(rate=RATE))
    eom = form_equations(system)
    x, u = random_state(eom)
    assert abs(rate_of(eom.energy, eom, 0.0, x, eom.x_dot(0.0, x, u))) < 1e-5  # truncation, as above


def test_power_of_the_reel_is_that_of_the_tension_and_of_the_mass_flow() -> None:
    """dE/dt = u L_dot + 1/2 density L_dot^3: the drum gives each element of line its speed."""
    eom = form_equations(SYSTEMS["massive, reeled"])
    x, u = random_state(eom)
    speed = x[eom.states.index("line.length_dot")]
    power = rate_of(eom.energy, eom, 0.0, x, eom.x_dot(0.0, x, u))
    assert power == pytest.approx(u[0] * speed + 0.5 * 0.3 * speed**3, abs=1e-6)


@pytest.mark.parametrize("length_dot", [0.8, -0.8])
def test_massive_line_agrees_with_newtons_law_for_its_elements(length_dot: float) -> None:
    """Planar, in orbit, mother free: tension just outside the drum, mother's and line's acceleration."""
    line = Tether(
        name="line",
        on="mother",
        joint=Revolute(axis="z"),
        density=0.4,
        spool=60.0,
        length=lambda s: 20.0 + length_dot * s.t + 0.15 * s.t**2,
    )
    system = System(
        name="planar",
        environment=CircularOrbit(rate=RATE),
        parts=(Part(point("mother", 30.0), joint=Cartesian()), Part(point("satellite", 4.0), on="line")),
        elements=(line,),
    )
    eom = form_equations(system)
    named = {"mother.x": 1.0, "mother.y": -2.0, "mother.x_dot": 0.4, "mother.y_dot": 0.3, "line": 0.7, "line_dot": 0.25}
    x = eom.state(**named)
    t = 0.5
    x_dot = dict(zip(eom.states, eom.x_dot(t, x), strict=True))
    a, angle_ddot, tension = oracle.accelerations(
        mother=30.0,
        satellite=4.0,
        density=0.4,
        spool=60.0,
        rate=RATE,
        position=np.array([1.0, -2.0]),
        velocity=np.array([0.4, 0.3]),
        angle=0.7,
        angle_dot=0.25,
        length=(20.0 + length_dot * t + 0.15 * t**2, length_dot + 0.3 * t, 0.3),
    )
    found = [x_dot["mother.x_dot"], x_dot["mother.y_dot"], x_dot["line_dot"]]
    np.testing.assert_allclose(found, [*a, angle_ddot], rtol=1e-11)  # rounding of a 5 x 5 solution
    assert find_tension(eom, "line", [t], [x])[0, 0] == pytest.approx(tension, rel=1e-10)


def test_a_reel_force_accelerates_satellite_and_deployed_line_alike() -> None:
    """From a fixed drum: (m + density L) L_ddot = -T(0), whatever L_dot; the energy it takes is 1/2 density L_dot^3."""
    line = Tether(name="line", on="world", length=20.0, density=0.4, is_reeled=True)
    parts = (Part(point("satellite", 4.0), on="line"),)
    eom = form_equations(System(name="s", parts=parts, elements=(line,), actuators=(JointForce(joint="line.length"),)))
    for speed in (0.0, 3.0, -3.0):
        x = eom.state(**{"line.length": 30.0, "line.length_dot": speed})
        rate = dict(zip(eom.states, eom.x_dot(0.0, x, [-7.0]), strict=True))
        assert rate["line.length_dot"] == pytest.approx(-7.0 / (4.0 + 0.4 * 30.0), rel=1e-12)
        assert find_tension(eom, "line", [0.0], [x], u=[[-7.0]])[0, 0] == pytest.approx(7.0, rel=1e-12)


@pytest.mark.parametrize("speed", [0.8, -0.8])
def test_elastic_line_too_gives_its_mother_the_tension_less_the_mass_flow(speed: float) -> None:
    line = ElasticTether(
        name="line",
        on="mother",
        to="satellite",
        length=lambda s: 20.0 + speed * s.t,
        density=0.4,
        masses=5,
        stiffness=300.0,
        spool=60.0,
    )
    parts = tuple(Part(point(name, mass), joint=Cartesian()) for name, mass in (("mother", 30.0), ("satellite", 4.0)))
    eom = form_equations(System(name="s", parts=parts, elements=(line,)))
    start, end, drift = np.zeros(3), np.array([0.0, 21.0, 0.0]), np.array([0.3, -0.1, 0.2])
    stretch = 21.0 / 20.0
    out = speed * stretch * np.array([0.0, 1.0, 0.0])  # line leaves the drum stretched as it is
    ends = {
        f"{name}.{a}{s}": w[k]
        for name, p, v in (("mother", start, drift), ("satellite", end, drift + out))
        for k, a in enumerate("xyz")
        for s, w in (("", p), ("_dot", v))
    }
    x = eom.state(**ends, **line.straight(start, end, start_rate=drift, end_rate=drift + out))
    rate = dict(zip(eom.states, eom.x_dot(0.0, x), strict=True))
    tension = find_tension(eom, "line", [0.0], [x])[0]
    np.testing.assert_allclose(tension, 300.0 * 0.05, rtol=1e-12)
    felt = (30.0 + 0.4 * 40.0) * np.array([rate[f"mother.{a}_dot"] for a in "xyz"])
    np.testing.assert_allclose(felt, [0.0, tension[0] - 0.4 * speed**2 * stretch, 0.0], rtol=0, atol=1e-12)


def test_small_librations_are_sqrt_3_and_2_times_the_orbital_rate() -> None:
    line = Tether(name="line", on="orbit", length=500.0)
    system = System(
        name="dumb-bell",
        environment=CircularOrbit(rate=1e-3),
        parts=(Part(point("satellite", 500.0), on="line"),),
        elements=(line,),
    )
    eom = form_equations(system)
    frequency = np.sort(np.asarray(modes(linearize(eom, eom.state())).frequency))
    np.testing.assert_allclose(frequency / 1e-3, [np.sqrt(3.0), 2.0], rtol=1e-12)


@pytest.mark.parametrize("c", [-0.22, 0.5])
def test_exponential_reeling_holds_its_angle_with_the_poles_of_the_closed_form(c: float) -> None:
    line = Tether(name="line", on="orbit", length=lambda s: 500.0 * ca.exp(c * 1e-3 * s.t))
    system = System(
        name="reeled",
        environment=CircularOrbit(rate=1e-3),
        parts=(Part(point("satellite", 500.0), on="line"),),
        elements=(line,),
    )
    eom = form_equations(system)
    x = eom.state(**{"line.first": 0.5 * np.arcsin(-4.0 * c / 3.0)})
    assert np.max(np.abs(eom.x_dot(0.0, x))) < 1e-20  # 1e-6 rad/s^2 times rounding
    poles = np.linalg.eigvals(np.asarray(linearize(eom, x).A)) / 1e-3
    for pole in oracle.pumped_pendulum_poles(c):
        assert np.min(np.abs(poles - pole)) < 1e-10


def test_elastic_line_turns_into_the_straight_one_with_more_masses() -> None:
    """Deployment in orbit; the difference of the satellite's angle falls with the square of the number of masses."""

    def length(s: Any) -> Any:
        return 200.0 * ca.exp(0.3e-3 * s.t)

    def differences(masses: int) -> float:
        parts = (Part(point("satellite", 500.0), joint=Cartesian()),)
        line = ElasticTether(
            name="line",
            on="orbit",
            to="satellite",
            density=0.05,
            masses=masses,
            stiffness=5e4,
            damping=1e3,
            length=length,
        )
        eom = form_equations(System(name="e", environment=CircularOrbit(rate=1e-3), parts=parts, elements=(line,)))
        e = np.array([np.cos(0.2), np.sin(0.2), 0.0])
        speed = 0.06 * e
        ends = {f"satellite.{a}{s}": w[k] for k, a in enumerate("xyz") for s, w in (("", 200.0 * e), ("_dot", speed))}
        x0 = {**ends, **line.straight(np.zeros(3), 200.0 * e, end_rate=speed)}
        sim = simulate(eom, x0=x0, t_span=(0.0, 1500.0), rtol=1e-8, atol=1e-9)
        return float(np.max(np.abs(np.arctan2(sim["satellite.y"], sim["satellite.x"]) - reference)))

    parts = (Part(point("satellite", 500.0), on="line"),)
    line = Tether(name="line", on="orbit", density=0.05, length=length)
    eom = form_equations(System(name="s", environment=CircularOrbit(rate=1e-3), parts=parts, elements=(line,)))
    reference = simulate(eom, x0={"line.first": 0.2}, t_span=(0.0, 1500.0), rtol=1e-10, atol=1e-12)["line.first"]
    one, two = differences(1), differences(2)
    assert two < 2e-4
    assert one / two == pytest.approx(4.0, rel=0.25)  # stretch and bow add a little that does not fall


def test_slack_string_lets_go_and_snaps_with_its_energy() -> None:
    """Thrown towards the drum: free until it flies out on the other side, then caught; nothing is lost."""
    parts = (Part(point("satellite", 2.0), joint=Cartesian()),)
    line = ElasticTether(name="line", on="world", to="satellite", length=1.0, stiffness=50.0)
    eom = form_equations(System(name="s", parts=parts, elements=(line,)))
    watch = Guard(name="taut", expression=watch_stretch(eom, "line"), direction=1)
    x0 = {"satellite.x": 0.6, "satellite.y": 0.1, "satellite.x_dot": -1.0}
    sim = simulate(eom, x0=x0, t_span=(0.0, 3.0), guards=[watch])
    assert sim.t[-1] == pytest.approx(0.6 + np.sqrt(1.0 - 0.01), abs=1e-9)  # straight and free until then
    assert np.all(find_tension(eom, "line", sim.t[:-1], sim.x[:-1]) == 0.0)
    after = simulate(eom, x0=sim.x[-1], t_span=(0.0, 6.0), rtol=1e-11, atol=1e-12)
    pull = find_tension(eom, "line", after.t, after.x)
    assert np.max(pull) > 1.0 and np.min(pull) == 0.0
    energy = eom.along("energy", after.t, after.x).ravel()
    assert np.ptp(energy) < 1e-8  # tolerance over the kinks where it becomes taut and slack


def test_elastic_line_can_end_on_a_flexible_body() -> None:
    """The force on a beam's tip bends it: same accelerations in both formulations, momentum and energy kept."""
    beam = Beam(name="mast", length=4.0, mass=3.0, EI=50.0, bending=("y", "z"), modes=2)
    line = ElasticTether(name="line", on="mast.tip", at=(0.0, 0.1, 0.2), to="satellite", length=2.0, stiffness=30.0)
    parts = (mother_part(), Part(beam, on="mother", joint=Revolute(name="hinge", axis="z")))
    far = satellite_part(at=(9.0, 1.0, 1.0), joint=Free(name="far"))
    system = System(name="mast", parts=(*parts, far), elements=(line,))
    kane, recursion = (form_equations(system, formulation=key) for key in ("kane", "articulated"))
    x = kane.state(np.asarray(kane.x_rest) + 0.05 * np.random.default_rng(3).normal(size=kane.n_x))
    x_dot = kane.x_dot(0.0, x)
    np.testing.assert_allclose(
        recursion.x_dot(0.0, x), x_dot, rtol=0, atol=1e-10 * np.max(np.abs(x_dot))
    )  # cond(M) 1e3
    assert find_tension(kane, "line", [0.0], [x])[0, 0] > 1.0
    np.testing.assert_allclose(rate_of(kane.momentum, kane, 0.0, x, x_dot), 0.0, atol=1e-6)
    assert abs(rate_of(kane.energy, kane, 0.0, x, x_dot)) < 1e-6


def test_several_tethers_hold_one_platform() -> None:
    """Three strings pull a body up against gravity with a third of its weight each."""
    platform = RigidBody(name="platform", mass=3.0, inertia=(1.0, 1.0, 2.0))
    corners = [(np.cos(a), np.sin(a), 0.0) for a in 2.0 * np.pi * np.arange(3) / 3.0]
    lines = tuple(
        ElasticTether(name=f"line{k}", on="world", at=c, to="platform", to_at=c, length=2.0, stiffness=100.0)
        for k, c in enumerate(corners)
    )
    parts = (Part(platform, joint=Free(name="base")),)
    eom = form_equations(
        System(name="hung", environment=UniformGravity(g=(0.0, 0.0, -10.0)), parts=parts, elements=lines)
    )
    x = eom.state(**{"base.z": -2.0 * (1.0 + 10.0 / 100.0)})
    assert np.max(np.abs(eom.x_dot(0.0, x))) < 1e-12
    for line in lines:
        assert find_tension(eom, line.name, [0.0], [x])[0, 0] == pytest.approx(10.0, rel=1e-12)


def test_a_line_reeled_in_past_its_shortest_length_or_off_its_spool_ends_the_run_with_its_name() -> None:
    parts = (Part(point("satellite", 5.0), on="line"),)
    line = Tether(name="line", on="orbit", length=lambda s: 100.0 - 0.3 * s.t)
    eom = form_equations(System(name="s", environment=CircularOrbit(rate=1e-3), parts=parts, elements=(line,)))
    with pytest.raises(SolverError, match="tether 'line' is reeled in to 0.1 m"):
        simulate(eom, t_span=(0.0, 1000.0))
    out = Tether(name="line", on="mother", density=0.1, spool=120.0, length=lambda s: 100.0 + 0.3 * s.t)
    mother = Part(point("mother", 50.0), joint=Cartesian())
    eom = form_equations(System(name="s", parts=(mother, *parts), elements=(out,)))
    with pytest.raises(SolverError, match="tether 'line' is fully deployed"):
        simulate(eom, t_span=(0.0, 1000.0))


def test_tiers_run_the_same_motion_of_a_reeled_line() -> None:
    eom = form_equations(elastic(2, length=wavy, damping=0.5))
    x0 = random_state(eom)[0]
    runs = [
        simulate(eom, x0=x0, t_span=(0.0, 0.01), grid=5, tier=tier, rtol=1e-9, atol=1e-11) for tier in ("vm", "native")
    ]
    # the order of roundings differs; too short for a string to become slack or taut, where steps could differ
    np.testing.assert_allclose(runs[0].x, runs[1].x, rtol=0, atol=1e-11)


def test_tension_names_what_it_does_not_know() -> None:
    eom = form_equations(SYSTEMS["massless, constant"])
    with pytest.raises(ModelError, match="find_tension: unknown tether or spring 'rope'"):
        find_tension(eom, "rope", [0.0], [eom.state()])
    with pytest.raises(ModelError, match="is straight and does not stretch"):
        watch_stretch(eom, "line")
