"""Sadigh (1995), chapters 3 and 7: natural and artificial constraints of two-link arms, and the matrices of the new method."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from spacectl import (
    Artificial,
    BodyForce,
    Constraint,
    Free,
    Part,
    PointOnPlane,
    RigidBody,
    System,
    constraint_force_terms,
    form_equations,
    library,
    make_consistent,
    simulate,
)
from tests.oracles import exact
from tests.oracles.exact import Angle

ARTIFICIAL = [name for name, make in library.CONSTRAINED.items() if not all(c.is_natural for c in make().constraints)]


def consistent(eom: Any, seed: int, t: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.asarray(make_consistent(eom, eom.state(eom.state() + 0.2 * rng.standard_normal(eom.n_x)), t=t).x)


# -- the published equations, exactly


def exact_parameters(eom: Any, mass: Fraction, length: Fraction, payload: Fraction) -> list[Fraction]:
    """Run-time numbers of a two-link arm as fractions."""
    third = mass * length * length / 12
    known = {
        "payload.mass": [payload],
        **{f"link{i}.mass": [mass] for i in (1, 2)},
        **{f"link{i}.com": [length / 2, 0, 0] for i in (1, 2)},
        **{f"link{i}.inertia": [0, third, third, 0, 0, 0] for i in (1, 2)},
        **{f"link{i}.tip.at": [length, 0, 0] for i in (1, 2)},
    }
    values: list[Fraction] = []
    for name in eom.parameters.names:
        entries = np.ravel(np.asarray(eom.parameters.get(name)))
        values += [Fraction(v) for v in known[name]] if name in known else [Fraction(float(v)) for v in entries]
    return values


def solve_exactly(
    eom: Any, angles: list[Angle], speeds: list[Fraction], tau: Fraction, p: list[Fraction]
) -> list[Fraction]:
    """(v_dot, multiplier) of ``M v_dot = f + E lam``, ``J v_dot = gamma`` as one augmented system, in fractions."""
    _, M, f, J, gamma, E = exact.evaluate(eom.functions["terms"], [Fraction(0)], angles, speeds, [tau], p)
    n, m = len(f), len(gamma)
    A = [[*M[i], *(-E[i][j] for j in range(m))] for i in range(n)] + [[*J[k], *[Fraction(0)] * m] for k in range(m)]
    return exact.solve(A, [row[0] for row in (*f, *gamma)])


def fractions(rng: np.random.Generator, n: int) -> list[Fraction]:
    """Positive and negative numbers near one."""
    return [Fraction(int(a), int(b)) for a, b in zip(rng.integers(-40, 40, n), rng.integers(20, 60, n), strict=True)]


@pytest.mark.parametrize("prescribed", ["angles", "tip"])
def test_eqs_7_4_and_7_5_hold_exactly(prescribed: str) -> None:
    """In rational numbers at 60 random points, more than the degree of any numerator: identities, not approximations."""
    eom = form_equations(library.line_arm(prescribed=prescribed))
    rng = np.random.default_rng(0)
    for _ in range(60):
        s, u_1, tau_1 = fractions(rng, 3)
        m, l, M = (abs(value) + Fraction(1, 7) for value in fractions(rng, 3))
        q_1 = Angle.of(s)
        if prescribed == "tip" and q_1.cos == 0:
            continue
        # published angles are from the X axis, ours relative: elbow = q2 - q1 = -2 q1
        p = exact_parameters(eom, m, l, M)
        u1_dot, _, tau_2 = solve_exactly(eom, [q_1, -(q_1 + q_1)], [u_1, -2 * u_1], tau_1, p)
        double = q_1 + q_1
        assert m * l**2 * u1_dot == tau_1  # Eq 7.5
        half = Fraction(1, 2)
        law = (double.cos * (half + M / m) - (M / m + Fraction(1, 3))) * tau_1
        assert tau_2 == law - l**2 * u_1**2 * double.sin * (m / 2 + M)  # Eq 7.4


def test_eq_7_6_is_the_unconstrained_arm() -> None:
    """In angles from the X axis: our relative angles with q2 = q1 + elbow, torques as published."""
    eom = form_equations(library.line_arm(), active=())
    rng = np.random.default_rng(1)
    m, l, M = 1.0, 1.0, 0.5
    alpha = (m / 2 + M) * l**2
    for _ in range(5):
        q_1, q_2, u_1, u_2, tau_1, tau_2 = rng.standard_normal(6)
        mass = np.array(
            [[(4 * m / 3 + M) * l**2, alpha * np.cos(q_1 - q_2)], [alpha * np.cos(q_1 - q_2), (m / 3 + M) * l**2]]
        )
        side = [tau_1 - tau_2 - alpha * u_2**2 * np.sin(q_1 - q_2), tau_2 + alpha * u_1**2 * np.sin(q_1 - q_2)]
        published = np.linalg.solve(mass, side)
        v_dot = eom.v_dot(0.0, [q_1, q_2 - q_1], [u_1, u_2 - u_1], [tau_1, tau_2])
        np.testing.assert_allclose([v_dot[0], v_dot[0] + v_dot[1]], published, rtol=1e-12, atol=1e-13)


def test_eqs_3_7_and_3_8_hold_exactly_and_differ() -> None:
    """Guides: 4 m l^2 / 3. Elbow motor: the same less its torque, which makes 4/3 + cos(q1) / 2 of it."""
    natural, artificial = (form_equations(library.level_arm(kept=kept)) for kept in ("natural", "artificial"))
    guided = form_equations(library.level_arm(kept="natural"), formulation="multipliers")
    rng = np.random.default_rng(2)
    for _ in range(40):
        s, u_1, tau_1 = fractions(rng, 3)
        m, l = (abs(value) + Fraction(1, 7) for value in fractions(rng, 2))
        q_1 = Angle.of(s)
        p = exact_parameters(natural, m, l, Fraction(0))
        _, M, f, J, gamma, E = exact.evaluate(
            guided.functions["terms"], [Fraction(0)], [q_1, -q_1], [u_1, -u_1], [tau_1, Fraction(0)], p
        )
        rows = [[*M[i], -E[i][0]] for i in range(2)] + [[*J[0], Fraction(0)]]
        u1_dot = exact.solve(rows, [f[0][0], f[1][0], gamma[0][0]])[0]
        assert 4 * m * l**2 / 3 * u1_dot == tau_1  # Eq 3.7
        u1_dot, _, tau_2 = solve_exactly(artificial, [q_1, -q_1], [u_1, -u_1], tau_1, p)
        assert 4 * m * l**2 / 3 * u1_dot == tau_1 - tau_2  # Eq 3.8
        assert m * l**2 * (Fraction(4, 3) + q_1.cos / 2) * u1_dot == tau_1 + m * l**2 / 2 * q_1.sin * u_1**2
    # and by numbers: the inertia that the shoulder's motor feels
    x = np.array([0.6, -0.6, 0.0, 0.0])
    inertia = {kept: 1.0 / eom.v_dot(0.0, x[:2], x[2:], u)[0] for kept, eom, u in (
        ("natural", natural, [1.0, 0.0]), ("artificial", artificial, [1.0]))}  # fmt: skip
    assert inertia["natural"] == pytest.approx(4.0 / 3.0, rel=1e-13)
    assert inertia["artificial"] == pytest.approx(4.0 / 3.0 + 0.5 * np.cos(0.6), rel=1e-13)


# -- the method of section 3.5, its appendices, and the form that section 9.2 leaves open


@pytest.mark.parametrize("name", ARTIFICIAL)
def test_modified_partial_velocities_give_the_motion_and_the_forces(name: str) -> None:
    """Sadigh (1995), Eqs 3.9-3.35 step by step, for rigid, flexible and mixed systems."""
    eom = form_equations(library.CONSTRAINED[name]())
    t = 0.4
    x, u = consistent(eom, 1, t), np.random.default_rng(3).standard_normal(eom.n_u)
    q, v = x[: eom.n_q], x[eom.n_q :]
    _, M, f, J, gamma, E = eom.call("terms", t, q, v, u)
    f, gamma = f.reshape(-1), gamma.reshape(-1)
    terms = constraint_force_terms(eom, t, x)
    others = [eom.speeds.index(name) for name in terms.independent]
    places = [eom.speeds.index(name) for name in terms.dependent]
    rest = np.zeros(eom.n_v)
    rest[places] = np.linalg.solve(J[:, places], gamma)  # v_dot = A_c u1_dot + rest
    violating = np.zeros((eom.n_v, len(gamma)))
    violating[places] = np.linalg.inv(J[:, places])
    size = np.max(np.abs(E))
    np.testing.assert_allclose(terms.modified.T @ E, 0.0, atol=1e-12 * size)  # Eq 3.10, Appendix A
    np.testing.assert_allclose(J @ terms.A_c, 0.0, atol=1e-12 * np.max(np.abs(J)))
    np.testing.assert_allclose(J @ violating, np.eye(len(gamma)), atol=1e-12)  # Eq B6: each violates one constraint
    assert np.linalg.cond(np.hstack([terms.A_c, violating])) < 1e4  # Appendix B: independent equations, all of them
    np.testing.assert_allclose(terms.T_prime, violating.T @ E, atol=1e-13 * size)  # Eq 3.17
    inertia = terms.modified.T @ M @ terms.A_c  # Eq 3.29
    u1_dot = np.linalg.solve(inertia, terms.modified.T @ (f - M @ rest))  # Eq 3.28
    v_dot = eom.v_dot(t, q, v, u)
    np.testing.assert_allclose(u1_dot, v_dot[others], atol=1e-11 * np.max(np.abs(v_dot)))
    forces = np.linalg.solve(terms.T_prime, violating.T @ (M @ v_dot - f))  # Eq 3.35
    np.testing.assert_allclose(forces, eom.multipliers(t, q, v, u), atol=1e-10 * np.max(np.abs(forces)))
    # Kane's equations alone are one force short (Eq 3.13), with it they hold
    short = terms.A_c.T @ (M @ v_dot - f)
    np.testing.assert_allclose(short, terms.T_tilde @ forces, atol=1e-10 * np.max(np.abs(f) + 1.0))
    # the Lagrange form: one augmented, unsymmetric system
    m = len(gamma)
    whole = np.linalg.solve(np.block([[M, -E], [J, np.zeros((m, m))]]), np.concatenate([f, gamma]))
    np.testing.assert_allclose(whole[: eom.n_v], v_dot, atol=1e-10 * np.max(np.abs(v_dot)))
    np.testing.assert_allclose(whole[eom.n_v :], forces, atol=1e-9 * np.max(np.abs(forces)))


def test_natural_constraints_reduce_the_method_to_kanes() -> None:
    """Their forces do not contribute: T_tilde vanishes and nothing is modified (Sadigh 1995, section 3.6.1)."""
    eom = form_equations(library.slider_crank(), formulation="artificial")
    terms = constraint_force_terms(eom, 0.0, consistent(eom, 2))
    np.testing.assert_allclose(terms.T_tilde, 0.0, atol=1e-13)
    np.testing.assert_allclose(terms.modified, terms.A_c, atol=1e-12)


def test_mixed_constraints_push_each_in_its_own_way() -> None:
    """Rail: a force across it that does no work. Wrist: a torque within the arm, which appears in the joint."""
    eom = form_equations(library.guided_arm())
    x, u = consistent(eom, 4), np.array([0.7, -0.3])
    q, v = x[:3], x[3:]
    lam = dict(zip(eom.constraint_rows, eom.multipliers(0.0, q, v, u), strict=True))
    held = eom.reactions(0.0, q, v, u)
    np.testing.assert_allclose(
        held[:, 2], [0.7, -0.3, lam["level"]], rtol=1e-11
    )  # each joint passes its motor's torque
    # the same motion and forces from the open arm with the rail's force and the wrist's torque put on
    push = BodyForce(name="rail_force", on="link3.tip", direction="y", axes="world")
    free = replace(eom.system, constraints=(), actuators=(*eom.system.actuators, push))
    arm = form_equations(free)
    command = [0.7, -0.3, lam["level"], lam["rail"]]
    np.testing.assert_allclose(arm.v_dot(0.0, q, v, command), eom.v_dot(0.0, q, v, u), atol=1e-11)
    np.testing.assert_allclose(arm.reactions(0.0, q, v, command), held, atol=1e-11)


def test_a_force_on_a_body_can_keep_a_constraint() -> None:
    """A thruster-like force off the centre keeps a point on a plane: it pushes, and it turns the body."""
    body = RigidBody(name="body", mass=2.0, inertia=(0.3, 0.4, 0.5))
    push = BodyForce(name="push", on="body", direction="z", at=(0.2, 0.1, 0.0), axes="body")
    keep = PointOnPlane(name="plane", b="body", at_b=(0.5, 0.0, 0.0), kind=Artificial(by=("push",)))
    eom = form_equations(
        System(name="s", parts=(Part(body, joint=Free(name="base")),), actuators=(push,), constraints=(keep,))
    )
    x = consistent(eom, 5)
    lam = eom.multipliers(0.0, x[:7], x[7:])
    open_loop = form_equations(replace(eom.system, constraints=()))
    np.testing.assert_allclose(open_loop.v_dot(0.0, x[:7], x[7:], lam), eom.v_dot(0.0, x[:7], x[7:]), atol=1e-12)
    np.testing.assert_allclose(eom.reactions(0.0, x[:7], x[7:]), 0.0, atol=1e-12)  # a free joint passes nothing


# -- motions


def test_the_arm_stays_on_its_line_and_the_replayed_torque_only_without_errors() -> None:
    """Eq 7.4 as an open-loop law: exact on the model, but nothing draws an error back."""
    eom = form_equations(library.line_arm())
    plant = form_equations(replace(library.line_arm(), constraints=()))
    start = np.asarray(make_consistent(eom, eom.state(shoulder=0.9, elbow=-1.8)).x)

    def drive(t: float, x: Any) -> Any:
        return [-2.0 * (x[0] - 0.3) - 1.5 * x[2]]

    sim = simulate(eom, drive, x0=start, t_span=(0.0, 3.0), grid=61, rtol=1e-10, atol=1e-12)
    q = np.asarray(sim.x)[:, :2]
    np.testing.assert_allclose(np.sin(q[:, 0]) + np.sin(q[:, 0] + q[:, 1]), 0.0, atol=1e-9)

    def law(t: float, x: Any) -> Any:
        tau_1 = drive(t, x)[0]
        c, s = np.cos(2 * x[0]), np.sin(2 * x[0])
        return [tau_1, (c * 1.0 - (0.5 + 1.0 / 3.0)) * tau_1 - x[2] ** 2 * s * 1.0]  # m = l = 1, M = 0.5

    def open_by(first: np.ndarray) -> np.ndarray:
        run = simulate(plant, law, x0=first, t_span=(0.0, 3.0), grid=61, rtol=1e-10, atol=1e-12)
        angles = np.asarray(run.x)[:, :2]
        return np.abs(np.sin(angles[:, 0]) + np.sin(angles[:, 0] + angles[:, 1]))

    assert np.max(open_by(start)) < 1e-7  # errors of the integrator, which the law does not reject
    disturbed = open_by(start + np.array([0.0, 0.0, 0.0, 1e-3]))
    assert disturbed[-1] > 1e-3 and disturbed[-1] > 0.9 * np.max(disturbed)  # and it is still leaving


def test_a_flexible_arm_keeps_its_tip_on_the_line() -> None:
    """The beams vibrate, the wrist makes up for it (Sadigh 1995, section 7.3.2)."""
    eom = form_equations(library.flexible_line_arm())
    start = eom.state(shoulder=0.7, elbow=-1.4, wrist=0.7, **{"link1.eta1": 0.01})
    x0 = np.asarray(make_consistent(eom, start, hold=("shoulder", "elbow")).x)

    def drive(t: float, x: Any) -> Any:
        return [-120.0 * (x[0] - 0.5) - 22.0 * x[5], -80.0 * (x[2] + 1.0) - 16.0 * x[7]]

    assert eom.speeds[0] == "shoulder_dot" and eom.speeds[2] == "elbow_dot"
    sim = simulate(eom, drive, x0=x0, t_span=(0.0, 0.5), grid=26, rtol=1e-8, atol=1e-10)
    left = [np.max(np.abs(eom.residual(0.0, x[: eom.n_q], x[eom.n_q :]))) for x in np.asarray(sim.x)]
    assert max(left) < 1e-8
    assert np.ptp(sim["link1.eta1"]) > 1e-3  # it does bend


def test_rules_of_outputs_can_be_enforced_too() -> None:
    """A prescribed path of the tip as a rule of time, kept by both motors: computed torque."""
    path = Constraint(
        name="path",
        rule=lambda s: [s.position("link2.tip")[0] - 1.2 - 0.2 * s.t, s.position("link2.tip")[1] - 0.5],
        kind=Artificial(by=("shoulder", "elbow")),
    )
    eom = form_equations(replace(library.level_arm(), constraints=(path,)))
    x = np.asarray(make_consistent(eom, eom.state(shoulder=-0.4, elbow=1.5)).x)
    tau = eom.multipliers(0.0, x[:2], x[2:])
    arm = form_equations(replace(library.level_arm(), constraints=()))
    v_dot = arm.v_dot(0.0, x[:2], x[2:], tau)
    np.testing.assert_allclose(v_dot, eom.v_dot(0.0, x[:2], x[2:]), atol=1e-12)
    assert eom.n_u == 0 and eom.constraint_inputs == ("shoulder", "elbow")
