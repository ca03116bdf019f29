"""Drives that lose energy or not: power balance of every law, conserved momentum, friction, stiction and backlash."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from spacectl import (
    Beam,
    CircularOrbit,
    Drive,
    Free,
    Friction,
    HardeningSpring,
    JointTorque,
    Part,
    Prismatic,
    Revolute,
    RigidBody,
    Stiction,
    System,
    find_operating_point,
    form_equations,
    linearize,
    rotation_about,
    simulate,
)
from tests.dynamics.tree.test_drive import J_LOAD, J_MOTOR, RATIO, STIFFNESS, load_with


def spatial(flexible: bool = False, **laws) -> System:
    """A free body with three driven joints about skew axes, one of them on a turned frame and one sliding."""
    base = RigidBody(name="base", mass=40.0, inertia=(5.0, 6.0, 7.0, 0.2, -0.3, 0.1))
    link = RigidBody(name="link", mass=6.0, inertia=(0.3, 0.9, 0.8), com=(0.5, 0.1, 0.0))
    boom = Beam(
        name="boom", length=3.0, mass=4.0, EI=800.0, GJ=300.0, rotary=(0.02, 0.0, 0.0), bending=("y", "z"), torsion=1
    )
    rod = RigidBody(name="boom", mass=4.0, inertia=(0.06, 3.0, 3.0), com=(1.5, 0.0, 0.0))
    tool = RigidBody(name="tool", mass=2.0, inertia=(0.2, 0.3, 0.25), com=(0.1, 0.2, 0.3))
    given = {"rotor_inertia": 0.02, "stiffness": 300.0, **laws}
    return System(
        name="spatial",
        parts=(
            Part(base, joint=Free(name="base")),
            Part(
                link,
                on="base",
                at=(0.4, 0.1, 0.2),
                rotation=rotation_about("x", 0.7),
                joint=Revolute(name="first", axis=(0.6, 0.0, 0.8)),
            ),
            Part(boom if flexible else rod, on="link", at=(1.0, 0.0, 0.0), joint=Revolute(name="second", axis="y")),
            Part(tool, on="boom.tip" if flexible else "boom", joint=Prismatic(name="third", axis=(0.0, 0.6, 0.8))),
        ),
        elements=tuple(
            Drive(joint=name, ratio=r, **given) for name, r in (("first", 5.0), ("second", -4.0), ("third", 6.0))
        ),
        actuators=tuple(JointTorque(joint=f"{name}.motor") for name in ("first", "second", "third")),
    )


LAWS = {
    "linear": {"damping": 2.0},
    "cubic": {"cubic": 400.0},
    "hardening": {"stiffness": 0.0, "spring": HardeningSpring(quadratic=70.0, corner=0.3, slope=90.0)},
    "function": {"stiffness": 0.0, "spring": lambda d: 50.0 * ca.sinh(2.0 * d), "side": "motor"},
    "gap": {"backlash": 0.2, "damping": 3.0},
    "smooth gap": {"backlash": 0.2, "backlash_smoothing": 0.02, "damping": 3.0},
    "friction": {"friction": Friction(coulomb=0.5, viscous=0.1, speed=0.05), "joint_friction": Friction(viscous=0.7)},
    "stiction": {"friction": Stiction(static=0.5, coulomb=0.3, viscous=0.1, stribeck=0.5, stick=0.05)},
}


def state(eom, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return eom.state(eom.state() + 0.3 * rng.standard_normal(eom.n_x))


@pytest.mark.parametrize("flexible", [False, True], ids=["rigid", "flexible"])
@pytest.mark.parametrize("law", LAWS)
def test_both_formulations_agree_and_power_is_balanced(law: str, flexible: bool) -> None:
    system = spatial(flexible, **LAWS[law])
    kane, articulated = (form_equations(system, formulation=name) for name in ("kane", "articulated"))
    energy = kane.functions["energy"]
    q, v, p, t = ca.SX.sym("q", kane.n_q), ca.SX.sym("v", kane.n_v), ca.SX.sym("p", kane.p.size), ca.SX.sym("t")
    kinetic, potential = energy(t, q, v, p)
    total = kinetic + potential
    slope = ca.Function("slope", [q, v, p], [ca.gradient(total, ca.vertcat(q, v))])
    for seed in range(3):
        x = state(kane, seed)
        u = np.random.default_rng(seed).standard_normal(3)
        q_now, v_now = x[: kane.n_q], x[kane.n_q :]
        a = kane.v_dot(0.0, q_now, v_now, u)
        # two eliminations of the same mass matrix, of condition 1e5 at most
        np.testing.assert_allclose(articulated.v_dot(0.0, q_now, v_now, u), a, rtol=1e-9, atol=1e-9 * np.max(np.abs(a)))
        gradient, rate = slope(q_now, v_now, kane.p).full().ravel(), kane.x_dot(0.0, x, u)
        gained = float(gradient @ rate)
        given = float(u @ [v_now[kane.speeds.index(f"{name}.motor_dot")] for name in ("first", "second", "third")])
        lost = dissipation(system, kane, x)
        scale = abs(given) + abs(lost) + np.abs(gradient) @ np.abs(rate)
        assert gained == pytest.approx(given - lost, abs=1e-11 * scale)  # rounding of the sum
        assert lost >= 0.0


def dissipation(system: System, eom, x: np.ndarray) -> float:
    """Power lost in gears and bearings [W], written out again."""
    named, lost = eom.named(x), 0.0
    for item in system.elements:
        q, g = named[item.joint], named[item.motor]
        q_dot, g_dot = named[f"{item.joint}_dot"], named[f"{item.motor}_dot"]
        r = item.ratio
        d, d_dot = (g / r - q, g_dot / r - q_dot) if item.side == "output" else (g - r * q, g_dot - r * q_dot)
        if item.backlash and not item.backlash_smoothing:
            d_dot *= abs(d) > item.backlash / 2.0
        elif item.backlash:
            e, b = item.backlash_smoothing, item.backlash / 2.0
            d_dot *= 1.0 + 0.5 * ((d - b) / np.hypot(d - b, e) - (d + b) / np.hypot(d + b, e))
        lost += item.damping * d_dot**2
        for law, rate in ((item.friction, g_dot), (item.joint_friction, q_dot)):
            if isinstance(law, Friction):
                lost += law.coulomb * np.tanh(rate / law.speed) * rate + law.viscous * rate**2
            elif isinstance(law, Stiction):
                level = law.coulomb + (law.static - law.coulomb) * np.exp(-((rate / law.stribeck) ** 2))
                lost += level * np.tanh(rate / law.stick) * rate + law.viscous * rate**2
    return lost


@pytest.mark.parametrize("flexible", [False, True], ids=["rigid", "flexible"])
def test_momentum_of_a_free_flyer_is_conserved_and_energy_without_losses(flexible: bool) -> None:
    eom = form_equations(spatial(flexible, cubic=400.0))
    x0 = state(eom, 4)
    n_q = eom.n_q

    def kept(x: np.ndarray) -> np.ndarray:
        return eom.momentum(0.0, x[:n_q], x[n_q:])

    sim = simulate(eom, x0=x0, u=[0.4, -0.2, 0.3], t_span=(0.0, 2.0), rtol=1e-11, atol=1e-12)
    assert np.max(np.abs(sim["first.motor_dot"])) > 1.0  # the rotors turn, on axes that turn
    scale = np.max(np.abs(kept(x0)))
    np.testing.assert_allclose(kept(sim.x[-1]), kept(x0), atol=1e-8 * scale)  # drift at the tolerance, summed
    free = simulate(eom, x0=x0, t_span=(0.0, 2.0), rtol=1e-11, atol=1e-12)
    energies = [eom.energy(0.0, x[:n_q], x[n_q:]) for x in (x0, free.x[-1])]
    assert energies[1] == pytest.approx(energies[0], rel=1e-8)


def test_in_an_orbit_the_rotor_also_turns_with_the_frame() -> None:
    link = RigidBody(name="load", mass=J_LOAD, inertia=(J_LOAD, J_LOAD, J_LOAD))
    system = System(
        name="in orbit",
        environment=CircularOrbit(rate=0.2),
        parts=(Part(link, on="orbit", joint=Revolute(name="axis", axis="x")),),
        elements=(Drive(joint="axis", ratio=RATIO, rotor_inertia=J_MOTOR, stiffness=STIFFNESS),),
    )
    kane, articulated = (form_equations(system, formulation=name) for name in ("kane", "articulated"))
    q, v = np.array([0.3, 20.0]), np.array([0.1, -3.0])
    np.testing.assert_allclose(articulated.v_dot(0.0, q, v, []), kane.v_dot(0.0, q, v, []), rtol=1e-12)


def test_coulomb_friction_stops_the_motor_and_viscous_friction_slows_it_exponentially() -> None:
    whole = J_MOTOR + J_LOAD / RATIO**2  # felt by the motor when both turn together
    start = {"axis_dot": 0.1, "axis.motor_dot": 0.1 * RATIO}
    damping = 2.0 * np.sqrt(STIFFNESS * J_MOTOR * RATIO**2)
    coulomb = 2e-3
    stop = whole * 0.1 * RATIO / coulomb
    dry = form_equations(load_with(damping=damping, friction=Friction(coulomb=coulomb, speed=1e-3)))
    sim = simulate(dry, x0=start, t_span=(0.0, 2.0 * stop), method="radau", rtol=1e-9, atol=1e-11, grid=401)
    half = sim.t < 0.9 * stop
    line = 0.1 * RATIO * (1.0 - sim.t / stop)
    # the gear twists by coulomb ratio / stiffness at the start and then stays so: a transient of a few percent
    np.testing.assert_allclose(sim["axis.motor_dot"][half], line[half], atol=0.03 * 0.1 * RATIO)
    assert np.max(np.abs(sim["axis.motor_dot"][sim.t > 1.2 * stop])) < 1e-3
    viscous = 2e-4
    wet = form_equations(load_with(damping=damping, friction=Friction(viscous=viscous)))
    sim = simulate(wet, x0=start, t_span=(0.0, 4.0), method="radau", rtol=1e-9, atol=1e-11)
    matrix = linearize(wet, find_operating_point(wet)).A
    slow = -min(abs(np.linalg.eigvals(matrix)), key=lambda pole: abs(pole - viscous / whole))
    late = sim.t > 2.0
    slopes = np.diff(np.log(sim["axis.motor_dot"][late])) / np.diff(sim.t[late])
    np.testing.assert_allclose(slopes, slow, rtol=1e-4)  # the fast mode has died out by then
    assert slow == pytest.approx(-viscous / whole, rel=0.01)  # elasticity shifts it by (rate / frequency)^2


def test_stiction_holds_below_break_away_and_slides_above() -> None:
    law = Stiction(static=0.5, coulomb=0.3, stribeck=0.1, stick=1e-6)
    eom = form_equations(load_with(damping=20.0, friction=law))
    for share, is_held in ((0.95, True), (1.05, False)):
        sim = simulate(eom, u=[share * law.static], t_span=(0.0, 4.0), method="radau", rtol=1e-8, atol=1e-12)
        moved = abs(sim["axis.motor"][-1])
        creep = law.stick * np.arctanh(0.95) * 4.0
        assert moved < 1.01 * creep if is_held else moved > 1e4 * creep
    # let go: once it moves, friction is at the lower level
    late = sim.t > 3.0
    rate = np.polyfit(sim.t[late], sim["axis.motor_dot"][late], 1)[0]
    expected = (1.05 * law.static - law.coulomb) / (J_MOTOR + J_LOAD / RATIO**2)
    assert rate == pytest.approx(expected, rel=1e-3)


def test_inside_the_gap_motor_and_load_do_not_interact() -> None:
    eom = form_equations(load_with(backlash=0.02, damping=30.0))
    sim = simulate(
        eom, x0={"axis.motor": -0.008 * RATIO, "axis.motor_dot": 0.1}, t_span=(0.0, 10.0), u=[0.0], max_step=0.05
    )
    inside = np.abs(sim["axis.motor"] / RATIO - sim["axis"]) < 0.00999
    first = np.argmin(inside) if not inside.all() else len(inside)
    assert first > 100
    np.testing.assert_allclose(sim["axis"][:first], 0.0, atol=1e-15)
    np.testing.assert_allclose(sim["axis.motor_dot"][:first], 0.1, rtol=1e-12)
