"""Laws that invert the model: refused without authority, stopped where they lose it, by a measure that has no units."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from scipy.linalg import subspace_angles

from spacectl import (
    Artificial,
    ArtificialConstraintTracking,
    Beam,
    BodyForce,
    Constraint,
    FeedbackLinearization,
    Fixed,
    Frame,
    JointTorque,
    ModelError,
    ModifiedFeedbackLinearization,
    Part,
    Revolute,
    RigidBody,
    SolverError,
    System,
    design_pd,
    form_equations,
    library,
    limit_rate,
    make_consistent,
    make_law,
    saturate,
    simulate,
)
from spacectl.controllers.model_based.model_inverse import _independence, meet_rows
from spacectl.dynamics.constraints.authority import measure_authority

LOST = float(np.arccos(-2.0 / 3.0))  # elbow angle at which M12 = 1/3 + cos(q2) / 2 vanishes for uniform links


def rod(name):
    return RigidBody(name=name, mass=1.0, inertia=(0.0, 1.0 / 12.0, 1.0 / 12.0), com=(0.5, 0.0, 0.0))


def two_links(*, by=("elbow",), second=None, extra=(), limit=None):
    """Uniform links; a second one may be given."""
    parts = (
        Part(rod("upper"), joint=Revolute(name="shoulder", axis="z")),
        Part(second or rod("lower"), on="upper", at=(1.0, 0.0, 0.0), joint=Revolute(name="elbow", axis="z")),
        *extra,
    )
    return System(name="two links", parts=parts, actuators=tuple(JointTorque(joint=name, limit=limit) for name in by))


def balanced(inertia):
    """A wheel on the elbow: M12 = M22 = its inertia, M11 = 4/3 + inertia at every angle."""
    return RigidBody(name="lower", mass=1.0, inertia=(inertia, inertia, inertia))


LONE = Part(RigidBody(name="lone", mass=2.0, inertia=(1.0, 1.0, 1.0)), joint=Revolute(name="alone", axis="z"))


def test_a_speed_that_no_input_reaches_is_refused_by_name():
    eom = form_equations(two_links(extra=(LONE,)))
    with pytest.raises(
        ModelError, match=r"inputs 'elbow' have no authority over 'alone_dot': leverage 0 of 1"
    ) as caught:
        FeedbackLinearization(eom, frequency=1.0, speeds=("alone_dot",))
    assert "add actuators" in str(caught.value)
    both = form_equations(two_links(by=("shoulder", "elbow"), extra=(LONE,)))
    with pytest.raises(ModelError, match=r"no authority over 'alone_dot'"):
        FeedbackLinearization(both, frequency=1.0, speeds=("alone_dot", "elbow_dot"))
    # the absolute angle of a balanced wheel is moved by its own motor only
    wheel = form_equations(two_links(by=("shoulder", "elbow"), second=balanced(0.2)))
    angle = Constraint(name="angle", rule=lambda s: s["shoulder"] + s["elbow"], kind=Artificial(by=("shoulder",)))
    with pytest.raises(ModelError, match=r"inputs 'shoulder' have no authority over 'angle'.*Artificial\(by="):
        ArtificialConstraintTracking(wheel, constraints=(angle,))


@pytest.mark.parametrize("weight", ["identity", "inverse mass"])
def test_inputs_that_repeat_each_other_are_refused(weight):
    motors = (JointTorque(name="first", joint="elbow"), JointTorque(name="second", joint="elbow"))
    eom = form_equations(replace(two_links(), actuators=motors))
    with pytest.raises(ModelError, match=r"'first', 'second' have no authority.*omit one"):
        ModifiedFeedbackLinearization(eom, frequency=1.0, weight=weight)
    with pytest.raises(ModelError, match=r"'first', 'second' have no authority"):
        FeedbackLinearization(eom, frequency=1.0)


def test_little_authority_is_warned_about_and_too_little_refused():
    """Closed form: the cosine M12 / sqrt(M11 M22) = sqrt(I / (4/3 + I)) for a wheel of inertia I."""
    eom = form_equations(two_links(second=balanced(1e-4)))
    with pytest.warns(
        UserWarning, match=rf"little authority over 'shoulder_dot': leverage {np.sqrt(1e-4 / (4 / 3 + 1e-4)):.2g}"
    ):
        law = FeedbackLinearization(eom, frequency=1.0, speeds=("shoulder_dot",))
    assert np.all(np.isfinite(law(0.0, eom.state(shoulder=0.1))))
    tiny = form_equations(two_links(second=balanced(1e-7)))
    with pytest.raises(ModelError, match=r"leverage 0\.00027 of 1 .* at least 0\.001 is needed"):
        FeedbackLinearization(tiny, frequency=1.0, speeds=("shoulder_dot",))


def test_authority_is_the_smallest_cosine_and_independent_of_units_and_speeds():
    rng = np.random.default_rng(2)
    for m in (1, 3):
        A, C, E = rng.normal(size=(6, 6)), rng.normal(size=(m, 6)), rng.normal(size=(6, m))
        M = A @ A.T + 0.1 * np.eye(6)
        L = np.linalg.cholesky(M)
        expected = np.cos(np.max(subspace_angles(np.linalg.solve(L, C.T), np.linalg.solve(L, E))))
        assert measure_authority(M, C, E).value == pytest.approx(expected, rel=1e-9)
        T = rng.normal(size=(6, 6)) * 10.0 ** rng.uniform(-2, 2, size=6)  # other speeds, in other units
        R, S = (np.diag(10.0 ** rng.uniform(-4, 4, size=m)) for _ in range(2))
        other = measure_authority(T.T @ M @ T, R @ C @ T, T.T @ E @ S).value
        assert other == pytest.approx(expected, rel=1e-6)  # rounding times the condition of T' M T


@pytest.mark.parametrize("is_direct", [True, False])
def test_the_guard_in_a_law_is_the_mean_of_the_same_cosines(is_direct):
    """Compare with numpy's principal angles. Direct: two joints pushed, others eliminated; else forces on every speed."""
    eom = form_equations(replace(library.momentum_flyer(), constraints=()))
    x = np.asarray(eom.x_rest) + 0.0
    x[[eom.states.index("shoulder"), eom.states.index("elbow")]] = 0.7, -0.9
    M = eom.mass_matrix(0.0, x[: eom.n_q])
    C = np.eye(eom.n_v)[[eom.speeds.index("base.wz"), eom.speeds.index("elbow_dot")]]
    E = eom.input_map(0.0, x[: eom.n_q]) if is_direct else np.random.default_rng(1).normal(size=(eom.n_v, 2))
    y, square, side = meet(eom, M, C, E, [1.0, 2.0])
    np.testing.assert_allclose(C @ np.linalg.solve(M, E) @ y, [1.0, 2.0], rtol=1e-9)
    L = np.linalg.cholesky(M)
    cosines = np.cos(subspace_angles(np.linalg.solve(L, C.T), np.linalg.solve(L, E)))
    assert square == pytest.approx(2.0 / np.sum(cosines**-2.0), rel=1e-9)
    assert meet(eom, M, C[::-1], E, [2.0, 1.0])[2] * side < 0.0  # exchanged rows: the determinant is on the other side


def meet(eom, M, C, E, right):
    """Inputs, squared leverage and side as numbers; the mass matrix is an expression, so that nothing is constant."""
    mass = ca.SX.sym("M", eom.n_v, eom.n_v)
    y, squares, side = meet_rows(eom, mass, ca.SX.zeros(eom.n_v), ca.SX(ca.DM(C)), ca.SX(right), ca.SX(ca.DM(E)))
    y, square, side = ca.Function("meet", [mass], [y, squares[0], side])(M)
    return np.array(y).ravel(), float(square), float(side)


FLIGHTS = {
    "continuous": lambda law: law,
    "saturated": lambda law: saturate(law, 5.0),
    "rate limited": lambda law: limit_rate(law, 50.0, **({} if law.period else {"bandwidth": 100.0})),
}


@pytest.mark.parametrize("wrapper", FLIGHTS)
@pytest.mark.parametrize("period", [0.0, 0.01])
@pytest.mark.parametrize("limit", [None, 5.0])
def test_a_run_stops_by_name_where_authority_is_lost(wrapper, period, limit):
    """The elbow is thrown through the angle at which it cannot move the shoulder: no command is a number there."""
    eom = form_equations(two_links(limit=limit))
    bare = FeedbackLinearization(eom, frequency=1.0, speeds=("shoulder_dot",), period=period, name="inversion")
    law = FLIGHTS[wrapper](bare)
    x0 = eom.state(elbow=1.0, elbow_dot=0.5)
    with pytest.raises(
        SolverError, match=r"law 'inversion.* at t = 1\.\d+ s: inputs 'elbow' lost authority over 'shoulder_dot'"
    ) as caught:
        simulate(eom, law, x0=x0, t_span=(0.0, 20.0))
    sim = caught.value.partial
    assert np.all(np.isfinite(sim.x))
    # within the band of leverage 1e-3, or one sample behind the angle
    past = (sim["elbow"][-1] - LOST) / max(abs(sim["elbow_dot"][-1]), 1.0)
    assert -0.005 < past < 0.005 + period


def crank(lower_mass):
    """A crank of 1 m and a rod of 2 m, closed by a slide along x; a force pushes the slide."""
    lower = replace(rod("lower"), mass=lower_mass, inertia=tuple(lower_mass * np.array([0.0, 1.0, 1.0]) / 12.0))
    lower = replace(lower, frames=(Frame(name="end", at=(2.0, 0.0, 0.0)),))
    slide = Constraint(name="slide", rule=lambda s: s.position("lower.end")[1])
    push = BodyForce(name="push", on="lower.end", direction="x", axes="world")
    system = two_links(second=lower)
    return form_equations(replace(system, actuators=(push,), constraints=(slide,)))


@pytest.mark.parametrize("lower_mass", [1.0, 1e-6])
def test_a_crank_cannot_be_pushed_at_its_dead_centre(lower_mass):
    """Constraints leave one motion, so that inputs always push along it, with a moment arm that vanishes at the dead centre."""
    eom = crank(lower_mass)
    law = FeedbackLinearization(eom, frequency=1.0, speeds=("shoulder_dot",), reference={"shoulder": -1.0}, period=0.01)
    x0 = np.asarray(make_consistent(eom, eom.state(shoulder=1.0, elbow=-1.4), hold=("shoulder",)).x)
    assert np.all(np.isfinite(law(0.0, x0)))
    with pytest.raises(SolverError, match=r"inputs 'push' lost authority over 'shoulder_dot'") as caught:
        simulate(eom, law, x0=x0, t_span=(0.0, 10.0))
    assert abs(caught.value.partial["shoulder"][-1]) < 0.01  # one sample at 1 rad/s
    with pytest.raises(SolverError, match=r"inputs 'push' lost authority over 'shoulder_dot'"):
        law(0.0, make_consistent(eom, eom.state(shoulder=1e-7, elbow=-1.5e-7), hold=("shoulder",)).x)


def test_the_order_in_which_speeds_are_named_does_not_matter():
    eom = form_equations(two_links(by=("shoulder", "elbow")))
    x = eom.state(shoulder=0.3, elbow=-0.4)
    wanted = FeedbackLinearization(eom, frequency=1.0)(0.0, x)
    assert FeedbackLinearization(eom, frequency=1.0, speeds=eom.speeds[::-1])(0.0, x) == pytest.approx(wanted)


def test_the_law_itself_raises_where_it_is_singular():
    eom = form_equations(two_links())
    law = FeedbackLinearization(eom, frequency=1.0, speeds=("shoulder_dot",), reference={"shoulder": 0.5})
    with pytest.raises(SolverError, match="not finite for 'elbow' at t = 0 s: inputs 'elbow' lost authority"):
        law(0.0, eom.state(elbow=LOST))
    u = law(0.0, eom.state(elbow=LOST + 0.1))  # beyond it the law serves again: -M12 u = det M a with a = 0.5
    M = eom.mass_matrix(0.0, np.array([0.0, LOST + 0.1]))
    assert u == pytest.approx(-0.5 * np.linalg.det(M) / M[0, 1])


@pytest.mark.parametrize("period", [0.0, 0.01])
def test_tracking_stops_by_name_where_its_actuators_lose_the_constraint(period):
    eom = form_equations(two_links(by=("shoulder", "elbow")))
    still = Constraint(name="still", rule=lambda s: s["shoulder"], kind=Artificial(by=("elbow",)))
    pd = design_pd(eom, kp=0.0, kd=1.0, inputs=("shoulder",), period=period)
    law = ArtificialConstraintTracking(eom, constraints=(still,), others=pd, frequency=2.0)
    assert ("tracking.authority.side" in law.memory) == (period > 0.0)
    with pytest.raises(SolverError, match=r"inputs 'elbow' lost authority over 'still'"):
        simulate(eom, law, x0=eom.state(elbow=1.0, elbow_dot=0.5), t_span=(0.0, 20.0))


def test_a_command_that_is_infinite_is_not_taken_for_the_limit():
    eom = form_equations(two_links(limit=5.0))
    law = make_law(lambda s: 1.0 / s["shoulder"], name="inverse", states=eom.labels.x, inputs=eom.labels.u)
    for driver in ("native", "python"):
        with pytest.raises(
            SolverError, match="law 'inverse' commands a value that is not finite for 'elbow' at t = 0 s"
        ):
            simulate(eom, law, x0=eom.state(), t_span=(0.0, 1.0), driver=driver)


def test_a_law_with_one_entry_of_memory_can_be_wrapped():
    eom = form_equations(two_links())
    law = make_law(
        lambda s: (-s["sum"], s["elbow"]),
        name="integral",
        states=eom.labels.x,
        inputs=eom.labels.u,
        memory={"sum": 1.0},
    )
    assert saturate(law, 0.5)(0.0, eom.state()) == pytest.approx([-0.5])


def test_a_mode_is_reached_in_its_plane_only():
    """The torque about z moves the bending along y through inertia; that along z is not moved, only bent by its own spring."""
    hub = Part(RigidBody(name="hub", mass=50.0, inertia=(10.0, 10.0, 12.0)), joint=Revolute(name="turn", axis="z"))
    boom = Beam(name="boom", length=6.0, mass=3.0, EI=30.0, bending=("y", "z"))
    parts = (hub, Part(boom, on="hub", at=(0.5, 0.0, 0.0), joint=Fixed()))
    eom = form_equations(System(name="craft", parts=parts, actuators=(JointTorque(joint="turn"),)))
    _, along, across = eom.speeds
    law = FeedbackLinearization(eom, frequency=1.0, speeds=(along,))
    assert law.report(eom.state()).missed < 1e-12
    with pytest.raises(ModelError, match=f"inputs 'turn' have no authority over '{across}'"):
        FeedbackLinearization(eom, frequency=1.0, speeds=(across,))


@pytest.mark.parametrize("angle", [np.pi / 2, 0.5, 0.1])
def test_independence_of_two_rows_is_the_mean_of_their_squared_sines(angle: float) -> None:
    """For two unit rows at an angle the diagonal of the inverse Gram matrix is ``1 / sin^2``, twice."""
    rows = ca.SX(ca.DM([[1.0, 0.0, 0.0], [np.cos(angle), np.sin(angle), 0.0]]))
    found = _independence(rows, np.ones(2), 2, ca.SX(ca.DM.eye(3)))
    assert float(ca.DM(found)) == pytest.approx(np.sin(angle) ** 2, rel=1e-9)
