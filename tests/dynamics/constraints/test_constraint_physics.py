"""What constraints may and may not do: work, momentum, and motions with known solutions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
import pytest

from spacectl import Constraint, Revolute, form_equations, library, make_consistent, simulate


def consistent(eom: Any, seed: int = 0, spread: float = 0.2, t: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.asarray(make_consistent(eom, eom.state(eom.state() + spread * rng.standard_normal(eom.n_x)), t=t).x)


def rate_of(eom: Any, function: str, x: np.ndarray, u: np.ndarray, t: float = 0.0) -> np.ndarray:
    """Exact rate of a function of (t, q, v) along the motion."""
    n_q = eom.n_q
    q, v = x[:n_q], x[n_q:]
    q_dot, v_dot = eom.call("q_dot", t, q, v)[0].reshape(-1), eom.v_dot(t, q, v, u)
    outputs = {"energy": ("kinetic", "potential"), "momentum": ("momentum",)}[function]
    total = 0.0
    for output in outputs:
        by_q, by_v = (eom.jacobian(function, output, argument, t, q, v) for argument in ("q", "v"))
        total = total + by_q @ q_dot + by_v @ v_dot
    return np.asarray(total)


@pytest.mark.parametrize("name", library.CONSTRAINED)
def test_energy_changes_by_the_power_of_inputs(name: str) -> None:
    """Natural constraints at rest do no work; motors that keep constraints do, and it is theirs."""
    eom = form_equations(library.CONSTRAINED[name]())
    t = 0.4
    x, u = consistent(eom, 1, t=t), np.random.default_rng(2).standard_normal(eom.n_u)
    q, v = x[: eom.n_q], x[eom.n_q :]
    lam = eom.multipliers(t, q, v, u)
    _, _, _, J, _, E = eom.call("terms", t, q, v, u)
    artificial = {c.name for c in eom.system.constraints if not c.is_natural}
    keeps = [k for k, row in enumerate(eom.constraint_rows) if row.split(".")[0] in artificial]
    by_inputs = v @ eom.input_map(t, q) @ u + v @ E[:, keeps] @ lam[keeps]
    natural = [k for k in range(len(lam)) if k not in keeps]
    size = np.sum(np.abs(v) @ np.abs(E) * np.abs(lam)) + np.abs(v) @ np.abs(eom.bias(t, q, v)) + 1.0
    np.testing.assert_allclose(v @ J[natural].T @ lam[natural], 0.0, atol=1e-11 * size)  # J v = 0 to 1e-12
    loss = _damping(eom, q, v)
    assert rate_of(eom, "energy", x, u, t)[0] == pytest.approx(by_inputs - loss, abs=1e-10 * size)


def _damping(eom: Any, q: np.ndarray, v: np.ndarray) -> float:
    """Power lost in the damping of beams: twice Rayleigh's function, from the part of h that is odd in the rates."""
    rates = [k for k, name in enumerate(eom.speeds) if ".eta" in name]
    if not rates:
        return 0.0
    only = np.zeros(eom.n_v)
    only[rates] = 1.0
    odd = 0.5 * (eom.bias(0.0, q, v * only) - eom.bias(0.0, q, -v * only))
    return float((v * only) @ odd)


def test_a_constraint_that_moves_does_work() -> None:
    """A pendulum on a hinge whose angle follows a clock: power of the constraint is its torque times the clock's rate."""
    rule = Constraint(name="clock", rule=lambda s: s["hinge"] - 0.5 * ca.sin(2.0 * s.t))
    system = replace(library.pendulum(), constraints=(rule,))
    t = 0.3
    for formulation in ("kane", "multipliers", "udwadia_phohomsiri", "artificial"):
        eom = form_equations(system, formulation=formulation)
        x = np.asarray(make_consistent(eom, eom.state(), t=t).x)
        assert x == pytest.approx([0.5 * np.sin(0.6), np.cos(0.6)], abs=1e-12)
        lam = eom.multipliers(t, x[:1], x[1:], [0.7])
        inertia, weight = 1.0 / 3.0, 0.5 * float(np.linalg.norm(system.environment.g))
        by_hand = inertia * -2.0 * np.sin(0.6) + weight * np.sin(x[0]) - 0.7
        assert lam == pytest.approx([by_hand], abs=1e-12)
        power = rate_of(eom, "energy", x, np.array([0.7]), t)[0]
        assert power == pytest.approx((lam[0] + 0.7) * np.cos(0.6), abs=1e-12)
        # and the joint's own prescribed motion is the same thing said otherwise
        hinge = Revolute(name="hinge", axis="y", prescribed=lambda s: 0.5 * ca.sin(2.0 * s.t))
        moved = replace(library.pendulum(), parts=(replace(system.parts[0], joint=hinge),), actuators=())
        reference = form_equations(moved)
        wrench = reference.reactions(t, [], [])
        np.testing.assert_allclose(eom.reactions(t, x[:1], x[1:], [0.7]), wrench, atol=1e-11)


def test_loops_within_a_system_keep_its_momentum() -> None:
    eom = form_equations(library.two_arm_flyer(rate=0.0))
    x, u = consistent(eom, 3), np.random.default_rng(4).standard_normal(eom.n_u)
    rate = rate_of(eom, "momentum", x, u)
    np.testing.assert_allclose(rate, 0.0, atol=1e-11 * np.max(np.abs(eom.mass_matrix(0.0, x[: eom.n_q]))))
    grounded = form_equations(library.four_bar())
    y = consistent(grounded, 3)
    assert np.max(np.abs(rate_of(grounded, "momentum", y, np.zeros(1)))) > 1.0  # which a loop to the ground does not


def test_skate_on_an_incline_follows_the_known_curve() -> None:
    """It turns steadily and does not run down: x = g sin(slope) / (2 w^2) sin(w t)^2, and y drifts across the slope."""
    slope, w = 0.3, 1.7
    eom = form_equations(library.skate(slope=slope))
    start = eom.state(**{"ice.angle_dot": w})
    sim = simulate(eom, x0=start, t_span=(0.0, 4.0), grid=81, rtol=1e-11, atol=1e-13)
    g = 9.81 * np.sin(slope)
    t = np.asarray(sim.t)
    np.testing.assert_allclose(sim["ice.angle"], w * t, atol=1e-9)
    np.testing.assert_allclose(sim["ice.x"], g / (2 * w**2) * np.sin(w * t) ** 2, atol=1e-8)  # tolerance times length
    np.testing.assert_allclose(sim["ice.y"], g / (2 * w**2) * (w * t - 0.5 * np.sin(2 * w * t)), atol=1e-8)
    assert sim.x[-1] @ sim.x[-1] > 1.0


@pytest.mark.parametrize(("factor", "falls"), [(1.15, False), (0.85, True)])
def test_a_rolling_disc_stands_above_its_critical_speed(factor: float, falls: bool) -> None:
    """An upright thin disc is stable if (rolling speed)^2 > g r / 3 (Routh)."""
    radius = 0.3
    eom = form_equations(library.rolling_disc(radius=radius))
    spin = factor * np.sqrt(float(np.linalg.norm(eom.system.environment.g)) / (3.0 * radius))
    lean = 1e-4
    start = eom.state(**{"base.qx": lean / 2, "base.wy": spin, "base.x_dot": spin * radius})
    x0 = np.asarray(make_consistent(eom, start, hold=("base.wy",)).x)
    sim = simulate(eom, x0=x0, t_span=(0.0, 4.0), grid=81, rtol=1e-10, atol=1e-12)
    leans = np.array([eom.placements(0.0, state[:7])[0][7] for state in sim.x])  # entry (3, 2) of the rotation
    energies = [eom.energy(0.0, state[:7], state[7:]) for state in sim.x]
    assert np.ptp(energies) < 1e-7 * energies[0]
    largest = np.max(np.abs(leans))
    assert largest > 0.02 if falls else largest < 10 * lean
    residual = max(np.max(np.abs(eom.residual(0.0, state[:7], state[7:]))) for state in sim.x)
    assert residual < 1e-8


def test_four_bar_swings_with_the_energy_it_has() -> None:
    """Released at rest, simulated by every formulation: the same motion, constant energy, closed loop."""
    finals = []
    for formulation in ("kane", "multipliers", "udwadia_phohomsiri", "artificial"):
        eom = form_equations(library.four_bar(), formulation=formulation)
        sim = simulate(eom, x0=eom.state(), t_span=(0.0, 1.0), grid=21, rtol=1e-10, atol=1e-12)
        energies = [eom.energy(0.0, x[:3], x[3:]) for x in sim.x]
        assert np.ptp(energies) < 1e-8 * (1.0 + np.max(np.abs(energies)))
        assert max(np.max(np.abs(eom.residual(0.0, x[:3], x[3:]))) for x in sim.x) < 1e-8
        finals.append(np.asarray(sim.x[-1]))
    for other in finals[1:]:
        np.testing.assert_allclose(other, finals[0], atol=1e-7)


@pytest.mark.parametrize("name", ["rolling_disc", "two_arm_flyer"])
def test_the_joint_of_a_free_body_transmits_no_wrench(name: str) -> None:
    """What rolling and grasping push on is all there is: nothing is left over for the joint that ties to nothing."""
    eom = form_equations(library.CONSTRAINED[name]())
    x, u = consistent(eom, 5), np.random.default_rng(1).standard_normal(eom.n_u)
    held = eom.reactions(0.0, x[: eom.n_q], x[eom.n_q :], u)
    size = np.max(np.abs(eom.mass_matrix(0.0, x[: eom.n_q]) @ eom.v_dot(0.0, x[: eom.n_q], x[eom.n_q :], u)))
    np.testing.assert_allclose(held[0], 0.0, atol=1e-11 * (1.0 + size))
