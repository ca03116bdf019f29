"""Impulses at capture and impact: closed forms, momentum, energy, and what cannot be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacectl import (
    Artificial,
    Constraint,
    FreeSpace,
    JointForce,
    ModelError,
    Part,
    PointOnPlane,
    Prismatic,
    RigidBody,
    SolverError,
    System,
    find_impulse,
    form_equations,
    make_consistent,
)
from spacectl.dynamics.formulations.switching import active_numbers
from tests.simulation.staged_systems import ball, sliders, two_bodies

SLIDERS, BODIES = sliders(), two_bodies()
HELD = form_equations(BODIES.system, active=("latch",))


def latched_start(rng):
    """Two bodies that touch at the latch in any pose, with any speeds."""
    x = np.concatenate([rng.normal(size=14), rng.normal(size=12)])
    x[7:14] = x[:7]  # near enough for Newton's method
    q = np.array(make_consistent(HELD, x, hold=tuple(HELD.states[:7])).x)[:14]
    return np.concatenate([q, x[14:]])


def test_plastic_central_capture_loses_half_mu_v_squared():
    m_1, m_2, v = 2.0, 3.0, 0.7
    jump = find_impulse(SLIDERS, SLIDERS.state(left_x_dot=v), active=("hook",))
    mu = m_1 * m_2 / (m_1 + m_2)
    assert jump.energy_loss == pytest.approx(0.5 * mu * v**2, rel=1e-14)
    assert jump.impulses == {"hook": pytest.approx(mu * v, rel=1e-14)}
    np.testing.assert_allclose(jump.x[2:], m_1 * v / (m_1 + m_2), rtol=1e-14)
    np.testing.assert_allclose(jump.momentum_change, 0.0, atol=1e-15)


@given(st.integers(0, 2**31))
def test_capture_in_space_conserves_momentum_and_meets_the_latch(seed):
    x = latched_start(np.random.default_rng(seed))
    jump = find_impulse(BODIES, x, active=("latch",))
    p = active_numbers(BODIES, ("latch",))
    after = np.asarray(jump.x)
    size = np.max(np.abs(BODIES.momentum(0.0, x[:14], x[14:]))) + np.max(np.abs(x[14:])) * 4.5
    np.testing.assert_allclose(jump.momentum_change, 0.0, atol=1e-13 * size)  # a few hundred roundings
    assert np.max(np.abs(BODIES.residual(0.0, after[:14], after[14:], p)[6:])) < 1e-12 * (1.0 + np.max(np.abs(x)))
    assert jump.energy_loss >= -1e-12
    # independent solution: the loss of a plastic capture is the kinetic energy of the change
    dv = after[14:] - x[14:]
    M = BODIES.mass_matrix(0.0, x[:14])
    assert jump.energy_loss == pytest.approx(0.5 * dv @ M @ dv, rel=1e-9, abs=1e-12)


def test_jump_is_that_of_a_very_strong_short_force():
    """Acceleration under the latch's multipliers alone, integrated over an instant, gives the same direction of impulse."""
    x = latched_start(np.random.default_rng(3))
    jump = find_impulse(BODIES, x, active=("latch",))
    M, J = BODIES.mass_matrix(0.0, x[:14]), BODIES.call("constraints", 0.0, x[:14], x[14:])[2][:6]
    push = np.array([jump.impulses[row] for row in BODIES.constraint_rows[:6]])
    np.testing.assert_allclose(M @ (np.asarray(jump.x)[14:] - x[14:]), J.T @ push, atol=1e-12)


@pytest.mark.parametrize("restitution", [0.0, 0.4, 1.0])
def test_contact_separates_with_restitution_times_the_approach_speed(restitution):
    eom = ball()
    jump = find_impulse(eom, eom.state(height_dot=-3.0), contacts=("floor",), restitution=restitution)
    assert jump.x[1] == pytest.approx(3.0 * restitution, abs=1e-15)
    assert jump.impulses["floor"] == pytest.approx(2.0 * 3.0 * (1.0 + restitution), rel=1e-14)
    assert jump.energy_loss == pytest.approx(0.5 * 2.0 * 9.0 * (1.0 - restitution**2), abs=1e-12)


def test_contact_that_opens_already_gives_no_impulse():
    eom = ball()
    jump = find_impulse(eom, eom.state(height_dot=2.0), contacts=("floor",), restitution=0.5)
    assert jump.x[1] == 2.0
    assert jump.impulses["floor"] == 0.0


def row_of_masses(n: int):
    """Masses on one line; contact k between mass k and k + 1."""
    bodies = [RigidBody(name=f"m{k}", mass=1.0 + k, inertia=(1.0, 1.0, 1.0)) for k in range(n)]
    contacts = [PointOnPlane(name=f"c{k}", a=f"m{k}", b=f"m{k + 1}", normal="x") for k in range(n - 1)]
    return form_equations(
        System(
            name="row",
            environment=FreeSpace(),
            parts=tuple(Part(body, joint=Prismatic(name=f"x{k}", axis="x")) for k, body in enumerate(bodies)),
            constraints=tuple(contacts),
        ),
        switchable=True,
    )


ROW = row_of_masses(4)


@given(st.integers(0, 2**31), st.floats(0.0, 1.0))
def test_several_contacts_push_only_and_do_not_approach_afterwards(seed, restitution):
    v = np.random.default_rng(seed).normal(size=4)
    jump = find_impulse(ROW, np.concatenate([np.zeros(4), v]), contacts=("c0", "c1", "c2"), restitution=restitution)
    assert np.min(np.diff(np.asarray(jump.x)[4:])) >= -1e-8
    assert min(jump.impulses.values()) >= -1e-15
    np.testing.assert_allclose(jump.momentum_change, 0.0, atol=1e-12)
    assert jump.energy_loss >= -1e-12


@given(st.integers(0, 2**31))
def test_plastic_impact_is_complementary(seed):
    """Impulse not negative, relative speed not negative, one of both zero: the conditions of the least change."""
    v = np.random.default_rng(seed).normal(size=4)
    jump = find_impulse(ROW, np.concatenate([np.zeros(4), v]), contacts=("c0", "c1", "c2"))
    after, push = np.diff(np.asarray(jump.x)[4:]), np.array(list(jump.impulses.values()))
    assert np.all(push >= 0.0) and np.all(after >= -1e-13)
    np.testing.assert_allclose(push * after, 0.0, atol=1e-12)


def test_contradictory_speeds_are_an_error_that_names_the_rows():
    x = SLIDERS.state(left_x_dot=0.1)
    with pytest.raises(SolverError, match="contradict each other.*hook"):
        find_impulse(SLIDERS, x, active=("hook", "wall", "rail"))


def test_artificial_constraints_give_no_impulse():
    body = [RigidBody(name=name, mass=1.0, inertia=(1.0, 1.0, 1.0)) for name in ("a", "b")]
    system = System(
        name="driven",
        environment=FreeSpace(),
        parts=tuple(Part(item, joint=Prismatic(name=f"{item.name}_x", axis="x")) for item in body),
        actuators=(JointForce(joint="a_x", name="motor"),),
        constraints=(
            Constraint(name="hook", rule=lambda s: s["b_x"] - s["a_x"]),
            Constraint(name="servo", rule=lambda s: s["a_x"] - 0.5 * s.t, kind=Artificial(by=("motor",))),
        ),
    )
    eom = form_equations(system, switchable=True)
    with pytest.raises(SolverError, match="artificial constraint servo is off by 0.25"):
        find_impulse(eom, eom.state(a_x_dot=0.5), active=("hook", "servo"))
    held = find_impulse(eom, eom.state(a_x_dot=0.5, b_x_dot=0.5), active=("hook", "servo"))
    np.testing.assert_allclose(held.x[2:], 0.5, rtol=1e-15)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"active": ("hok",)}, "did you mean 'hook'"),
        ({"contacts": ("hook",), "restitution": 1.5}, "restitution is 1.5"),
        ({"active": ("hook",), "contacts": ("hook",)}, "both active and a contact"),
    ],
)
def test_bad_arguments_are_refused(options, words):
    with pytest.raises(ModelError, match=words):
        find_impulse(SLIDERS, SLIDERS.state(), **options)


def test_equations_that_cannot_switch_are_refused_with_the_cure():
    eom = form_equations(SLIDERS.system)
    with pytest.raises(ModelError, match="switchable=True"):
        find_impulse(eom, eom.state(), active=("hook",))
