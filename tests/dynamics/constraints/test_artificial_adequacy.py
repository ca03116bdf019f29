"""Contribution, adequacy and redundancy of constraint forces (Sadigh 1995, section 3.6), and an invariant test of authority."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from spacectl import (
    Artificial,
    Constraint,
    JointTorque,
    ModelError,
    SolverError,
    check_adequacy,
    constraint_force_terms,
    form_equations,
    library,
    make_consistent,
    simulate,
)

LOST = float(np.arccos(-2.0 / 3.0))  # elbow angle at which M12 = m l^2 (1/3 + cos(q2) / 2) vanishes for uniform links


def bent(angles: Any) -> np.ndarray:
    states = np.zeros((len(angles), 4))
    states[:, 1] = angles
    return states


def test_a_torque_that_prescribes_its_own_joint_does_not_contribute() -> None:
    """Sadigh (1995), section 3.4: the shoulder's torque is needed, but is not seen in the equation of the second link."""
    eom = form_equations(library.prescribed_arm(by="shoulder"))
    x = np.array([0.0, 0.8, 0.0, 0.5])
    terms = constraint_force_terms(eom, 0.0, x)
    assert terms.dependent == ("shoulder_dot",) and terms.T_tilde == pytest.approx(np.zeros((1, 1)))
    report = check_adequacy(eom, 0.0, x)
    assert report.contributing == () and report.is_adequate and "well" in report.message
    level = form_equations(library.level_arm())
    assert check_adequacy(level, 0.0, level.state()).contributing == ("elbow",)


def test_section_3_6_depends_on_the_speeds_and_the_singular_value_does_not() -> None:
    """First link prescribed by the elbow: T' = 0 for relative speeds, although only one posture is lost."""
    eom = form_equations(library.prescribed_arm(by="elbow"))
    for angle in (0.0, 1.0, 2.0, 3.0):
        terms = constraint_force_terms(eom, 0.0, bent([angle])[0], dependent=("shoulder_dot",))
        assert terms.T_prime == pytest.approx(np.zeros((1, 1)), abs=1e-14)
    # absolute angles as speeds, w1 = v1, w2 = v1 + v2: the elbow pushes -1 on the first, so T' = -1 everywhere
    Y = np.array([[1.0, 0.0], [1.0, 1.0]])
    q = np.array([0.0, 1.0])
    _, M, _, J, _, E = eom.call("terms", 0.0, q, np.zeros(2), np.zeros(1))
    J_w, E_w, M_w = J @ np.linalg.inv(Y), np.linalg.inv(Y).T @ E, np.linalg.inv(Y).T @ M @ np.linalg.inv(Y)
    assert J_w[0] == pytest.approx([1.0, 0.0]) and E_w[0] == pytest.approx([-1.0])  # T' = E_w of the dependent speed
    here, there = J @ np.linalg.solve(M, E), J_w @ np.linalg.solve(M_w, E_w)
    np.testing.assert_allclose(here, there, rtol=1e-13)  # the gain is the same


def test_the_elbow_loses_the_first_link_at_one_angle_only() -> None:
    eom = form_equations(library.prescribed_arm(by="elbow"))
    angles = np.linspace(0.0, np.pi, 361)
    report = check_adequacy(eom, angles, bent(angles))
    assert abs(angles[int(np.argmin(report.leverage))] - LOST) < np.pi / 360
    k = int(np.searchsorted(angles, LOST))
    assert not report.is_adequate and report.worst == pytest.approx(LOST, abs=np.pi / 360)
    assert f"between t = {angles[k - 1]:g} s and {angles[k]:g} s" in report.message
    assert "'elbow' loses its authority over 'program'" in report.message
    # closed forms: J M^-1 B_c = -M12 / det M, and the leverage is the cosine M12 / sqrt(M11 M22) in the metric of M^-1
    c = np.cos(angles)
    M11, M12, M22 = 5.0 / 3.0 + c, 1.0 / 3.0 + 0.5 * c, np.full_like(c, 1.0 / 3.0)
    np.testing.assert_allclose(report.gain, np.abs(M12) / (M11 * M22 - M12**2), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(report.leverage, np.abs(M12) / np.sqrt(M11 * M22), rtol=1e-10, atol=1e-12)
    near = check_adequacy(eom, [0.0], bent([1.0]))
    assert near.is_adequate and near.contributing == ("elbow",)
    exactly = check_adequacy(eom, 0.0, bent([LOST])[0])
    assert not exactly.is_adequate and "cannot maintain 'program' at any time shown" in exactly.message
    with pytest.raises(SolverError, match="'elbow' cannot maintain"):
        eom.v_dot(0.0, [0.0, LOST], [0.0, 0.0], [0.0])


def test_low_authority_is_reported_and_increases_the_inputs_accordingly() -> None:
    eom = form_equations(library.prescribed_arm(by="elbow"))
    report = check_adequacy(eom, 0.0, bent([LOST + 0.01])[0])
    assert report.is_adequate and "with little authority" in report.message
    strong = check_adequacy(eom, 0.0, bent([0.5])[0])
    far, near = (eom.multipliers(0.0, [0.0, angle], [0.0, 0.0], [0.0])[0] for angle in (0.5, LOST + 0.01))
    # at rest the program needs a fixed acceleration of the first link: the torque is that over the gain
    assert far * strong.gain[0] == pytest.approx(near * -report.gain[0], rel=1e-9)


def test_redundant_forces_are_named() -> None:
    """Two motors on one joint for two conditions: one repeats the other, and the other condition is left alone."""
    base = library.level_arm()
    both = Constraint(name="both", rule=lambda s: [s["shoulder"], s["elbow"]], kind=Artificial(by=("elbow", "second")))
    system = replace(base, actuators=(*base.actuators, JointTorque(name="second", joint="elbow")), constraints=(both,))
    eom = form_equations(system)
    report = check_adequacy(eom, 0.0, eom.state())
    assert report.redundant == ("elbow", "second") and not report.is_adequate
    assert "'elbow', 'second' have the same effect on 'both'" in report.message
    terms = constraint_force_terms(eom, 0.0, eom.state())
    assert np.linalg.matrix_rank(terms.T_prime) == 1  # Sadigh (1995), section 3.6.4: dependent columns
    with pytest.raises(SolverError, match="'elbow', 'second' cannot maintain"):
        eom.v_dot(0.0, [0.0, 0.0], [0.0, 0.0], [0.0])


def test_natural_constraints_beside_are_taken_into_account() -> None:
    """The wrist of the guided arm: leverage with the rail is that of the arm reduced by hand to what the rail allows."""
    eom = form_equations(library.guided_arm())
    x = np.asarray(make_consistent(eom, eom.state(shoulder=0.4, elbow=-0.7, wrist=0.2)).x)
    report = check_adequacy(eom, 0.0, x)
    _, M, _, J, _, E = eom.call("terms", 0.0, x[:3], x[3:], np.zeros(2))
    row = {name: k for k, name in enumerate(eom.constraint_rows)}
    free = np.linalg.svd(J[[row["rail"]]])[2][1:].T  # speeds along the rail
    M_r, J_r, B_r = free.T @ M @ free, J[[row["level"]]] @ free, free.T @ E[:, [row["level"]]]
    gain = abs(float((J_r @ np.linalg.solve(M_r, B_r))[0, 0]))
    size = np.sqrt((J_r @ np.linalg.solve(M_r, J_r.T))[0, 0] * (B_r.T @ np.linalg.solve(M_r, B_r))[0, 0])
    assert report.gain[0] == pytest.approx(gain, rel=1e-10)
    assert report.leverage[0] == pytest.approx(gain / size, rel=1e-10)


def test_along_a_simulated_motion() -> None:
    eom = form_equations(library.line_arm())
    start = np.asarray(make_consistent(eom, eom.state(shoulder=0.9, elbow=-1.8)).x)
    sim = simulate(eom, u=[-0.4], x0=start, t_span=(0.0, 1.5), grid=31, rtol=1e-9, atol=1e-11)
    report = check_adequacy(eom, sim.t, sim.x)
    assert len(report.leverage) == 31 and report.is_adequate and np.all(np.asarray(report.leverage) <= 1.0 + 1e-12)


def test_wrong_use_is_refused() -> None:
    natural = form_equations(library.four_bar())
    with pytest.raises(ModelError, match="no constraint of 'four-bar' is artificial"):
        check_adequacy(natural, 0.0, natural.state())
    eom = form_equations(library.level_arm())
    with pytest.raises(ModelError, match="shape"):
        check_adequacy(eom, [0.0, 1.0], eom.state())
    with pytest.raises(ModelError, match="unknown speed 'elbow'"):
        constraint_force_terms(eom, 0.0, eom.state(), dependent=("elbow",))
    with pytest.raises(ModelError, match="2 dependent speeds for 1 constraint equations"):
        constraint_force_terms(eom, 0.0, eom.state(), dependent=("elbow_dot", "shoulder_dot"))
    prescribed = form_equations(library.prescribed_arm())
    with pytest.raises(SolverError, match="do not determine elbow_dot"):
        constraint_force_terms(prescribed, 0.0, prescribed.state(), dependent=("elbow_dot",))
