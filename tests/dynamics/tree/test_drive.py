"""Drives in the equations: against closed forms, a two-link arm with rotors derived by hand, and conserved quantities."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from spacectl import (
    Drive,
    JointTorque,
    Part,
    Prismatic,
    Revolute,
    RigidBody,
    System,
    find_operating_point,
    form_equations,
    linearize,
    modes,
    simulate,
)

J_LOAD, J_MOTOR, RATIO, STIFFNESS = 3.0, 2e-4, 80.0, 900.0


def load_with(joint=None, **changes) -> System:
    """One body on one driven joint; its inertia about the joint is J_LOAD (its mass, on a slide)."""
    link = RigidBody(name="load", mass=J_LOAD, inertia=(J_LOAD, J_LOAD, J_LOAD))
    given = {"joint": "axis", "ratio": RATIO, "rotor_inertia": J_MOTOR, "stiffness": STIFFNESS, **changes}
    return System(
        name="load",
        parts=(Part(link, joint=joint or Revolute(name="axis", axis="z")),),
        elements=(Drive(**given),),
        actuators=(JointTorque(joint="axis.motor"),),
    )


def two_link(elements: tuple[Drive, ...]) -> System:
    """Planar arm: links of 1.2 m and 0.8 m."""
    upper = RigidBody(name="upper", mass=4.0, inertia=(0.01, 0.5, 0.5), com=(0.6, 0.0, 0.0))
    lower = RigidBody(name="lower", mass=2.5, inertia=(0.01, 0.2, 0.2), com=(0.4, 0.0, 0.0))
    return System(
        name="two links",
        parts=(
            Part(upper, joint=Revolute(name="shoulder", axis="z")),
            Part(lower, on="upper", at=(1.2, 0.0, 0.0), joint=Revolute(name="elbow", axis="z")),
        ),
        elements=elements,
        actuators=(JointTorque(joint="shoulder.motor"), JointTorque(joint="elbow.motor")),
    )


MOTORS = ((100.0, 3e-4), (60.0, 5e-4))  # ratio, rotor inertia


def drives(**laws) -> tuple[Drive, ...]:
    names = ("shoulder", "elbow")
    given = {"stiffness": 1e4, **laws}
    return tuple(Drive(joint=n, ratio=r, rotor_inertia=J, **given) for n, (r, J) in zip(names, MOTORS, strict=True))


def arm_by_hand(q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """M and h of the same arm with rigid gears, from Lagrange's equations on paper.

    The second rotor rides on the first link: it turns at ``q1_dot + r2 q2_dot``, so it adds J2, J2 r2 and J2 r2^2.
    """
    (m1, c1, I1, L1), (m2, c2, I2) = (4.0, 0.6, 0.5, 1.2), (2.5, 0.4, 0.2)
    (r1, J1), (r2, J2) = MOTORS
    a, b = I2 + m2 * c2**2, m2 * L1 * c2
    links = np.array([
        [I1 + m1 * c1**2 + m2 * L1**2 + a + 2.0 * b * np.cos(q[1]), a + b * np.cos(q[1])],
        [a + b * np.cos(q[1]), a],
    ])  # fmt: skip
    rotors = np.array([[J1 * r1**2 + J2, J2 * r2], [J2 * r2, J2 * r2**2]])
    s = b * np.sin(q[1])
    return links + rotors, np.array([-s * (2.0 * v[0] * v[1] + v[1] ** 2), s * v[0] ** 2])


@pytest.mark.parametrize("formulation", ["kane", "articulated"])
@pytest.mark.parametrize(
    ("joint", "changes", "ratio"),
    [
        (None, {}, RATIO),
        (None, {"side": "motor", "stiffness": STIFFNESS / RATIO**2}, RATIO),
        (None, {"ratio": -RATIO}, -RATIO),
        (Prismatic(name="axis", axis=(0.6, 0.8, 0.0)), {}, RATIO),
    ],
    ids=["output side", "motor side", "reversing", "prismatic"],
)
def test_two_inertia_frequency(formulation: str, joint, changes, ratio: float) -> None:
    eom = form_equations(load_with(joint, **changes), formulation=formulation)
    found = modes(linearize(eom, find_operating_point(eom)))
    expected = np.sqrt(STIFFNESS * (1.0 / J_LOAD + 1.0 / (ratio**2 * J_MOTOR)))
    assert found.frequency[-1] == pytest.approx(expected, rel=1e-12)  # eigenvalues of a 4 x 4 matrix
    assert np.max(found.frequency[:-1]) < 1e-6 * expected  # the rest: both turn together
    shape = found.shapes[-1][:2]
    assert shape[1] / shape[0] == pytest.approx(-J_LOAD / (ratio * J_MOTOR), rel=1e-9)  # no momentum in the mode


def test_two_inertias_swing_as_the_closed_form_says() -> None:
    eom = form_equations(load_with())
    frequency = np.sqrt(STIFFNESS * (1.0 / J_LOAD + 1.0 / (RATIO**2 * J_MOTOR)))
    sim = simulate(eom, x0={"axis": 0.01}, t_span=(0.0, 2.0), rtol=1e-11, atol=1e-13)
    share = (1.0 / J_LOAD) / (1.0 / J_LOAD + 1.0 / (RATIO**2 * J_MOTOR))
    expected = 0.01 * (1.0 - share * (1.0 - np.cos(frequency * sim.t)))
    np.testing.assert_allclose(sim["axis"], expected, atol=1e-10)  # the integrator's tolerance over 12 periods


def test_rigid_gears_give_the_arm_with_reflected_inertia() -> None:
    rng = np.random.default_rng(3)
    G = np.vstack([np.eye(2), np.diag([r for r, _ in MOTORS])])  # (q, v) of all from (q, v) of the joints
    for formulation in ("kane", "articulated"):
        eom = form_equations(two_link(drives(damping=5.0)), formulation=formulation)
        for _ in range(5):
            q, v = rng.standard_normal(2), rng.standard_normal(2)
            M, h = arm_by_hand(q, v)
            np.testing.assert_allclose(G.T @ eom.mass_matrix(0.0, G @ q) @ G, M, rtol=1e-13)
            np.testing.assert_allclose(G.T @ eom.bias(0.0, G @ q, G @ v), h, atol=1e-12)
    missed = arm_by_hand(np.zeros(2), np.zeros(2))[0][0, 1] - eom.mass_matrix(0.0, np.zeros(4))[0, 1]
    assert missed == pytest.approx(60.0 * 5e-4)  # what "ratio^2 J on the diagonal" leaves out


def test_stiff_drives_move_like_rigid_gears_with_an_error_that_falls_as_one_over_stiffness() -> None:
    torque = np.array([0.06, -0.03])  # at the motors

    def by_hand(t: float, y: np.ndarray) -> np.ndarray:
        M, h = arm_by_hand(y[:2], y[2:])
        ratios = np.array([r for r, _ in MOTORS])
        return np.concatenate([y[2:], np.linalg.solve(M, ratios * torque * np.sin(t) - h)])

    reference = solve_ivp(by_hand, (0.0, 3.0), np.zeros(4), "DOP853", rtol=1e-11, atol=1e-13).y[:2, -1]
    errors = []
    for stiffness in (1e4, 1e5, 1e6):
        damping = 2e-3 * stiffness  # the same decay time, so that the quasi-static error remains
        eom = form_equations(two_link(drives(stiffness=stiffness, damping=damping)))
        sim = simulate(
            eom, lambda t, x: torque * np.sin(t), t_span=(0.0, 3.0), method="radau", rtol=1e-9, atol=1e-12, tier="vm"
        )
        errors.append(np.max(np.abs(sim.x[-1, :2] - reference)))
    assert errors[-1] < 1e-5 * np.max(np.abs(reference))
    # next term: 1 / stiffness^2, and the oscillation left at the lowest stiffness
    np.testing.assert_allclose(np.divide(errors[:-1], errors[1:]), 10.0, rtol=0.1)


def test_numbers_change_at_run_time_as_if_they_had_been_built_in() -> None:
    eom = form_equations(two_link(drives(damping=5.0)))
    x, u = eom.state(0.3 * np.random.default_rng(2).standard_normal(8)), np.array([0.3, 0.1])
    q, v = x[:4], x[4:]
    p = eom.parameters.vector(
        {
            "shoulder_drive.stiffness": 3e4,
            "elbow_drive.ratio": 75.0,
            "shoulder_motor.spin_inertia": 1e-3,
            "elbow_drive.damping": 9.0,
        }
    )
    names = ("shoulder", "elbow")
    built = two_link(
        (
            Drive(joint=names[0], ratio=100.0, rotor_inertia=1e-3, stiffness=3e4, damping=5.0),
            Drive(joint=names[1], ratio=75.0, rotor_inertia=5e-4, stiffness=1e4, damping=9.0),
        )
    )
    assert built.structure_hash() == eom.system.structure_hash()
    np.testing.assert_allclose(eom.v_dot(0.0, q, v, u, p=p), form_equations(built).v_dot(0.0, q, v, u), rtol=1e-13)
