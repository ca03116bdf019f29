"""Errors of constraints: how they decay with Baumgarte's terms, how they grow without, and sets that depend on each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from spacectl import (
    Baumgarte,
    EquationsOfMotion,
    JointTorque,
    Loop,
    Part,
    PointOnPlane,
    Revolute,
    RigidBody,
    SolverError,
    System,
    UniformGravity,
    diagnose_constraints,
    form_equations,
    library,
    make_consistent,
    rotation_about,
    simulate,
)
from spacectl.dynamics.constraints.projection import rank_jumps
from spacectl.model.library.rods import rod


def history(eom: Any, x0: np.ndarray, times: np.ndarray) -> np.ndarray:
    """States by another integrator, which knows nothing of constraints."""
    run = solve_ivp(
        lambda t, x: eom.x_dot(t, x, np.zeros(eom.n_u)),
        (0.0, times[-1]),
        x0,
        "DOP853",
        t_eval=times,
        rtol=1e-10,
        atol=1e-12,
    )
    return run.y.T


def test_errors_decay_as_baumgarte_says() -> None:
    """``g(t)`` is the solution of ``g'' + 2 alpha g' + beta^2 g = 0``, exactly, rotations at position level too."""
    alpha, beta = 6.0, 5.0
    for name, tilt in (("four_bar", 0.0), ("slider_crank", 0.02)):
        eom = form_equations(library.CONSTRAINED[name](), stabilization=Baumgarte(alpha=alpha, beta=beta))
        x0 = eom.state(eom.state() + 0.01 * np.cos(np.arange(eom.n_x)) + tilt * np.sin(np.arange(eom.n_x)))
        times = np.linspace(0.0, 0.4, 9)
        states = history(eom, x0, times)
        m = len(eom.position_rows)
        rows = np.array([eom.residual(t, x[: eom.n_q], x[eom.n_q :]) for t, x in zip(times, states, strict=True)])
        g0, r0 = rows[0, :m], rows[0, m:]
        w = np.sqrt(alpha**2 - beta**2)
        decay = np.exp(-alpha * times)[:, None]
        expected = decay * (np.cosh(w * times)[:, None] * g0 + np.sinh(w * times)[:, None] / w * (r0 + alpha * g0))
        np.testing.assert_allclose(rows[:, :m], expected, atol=1e-8)  # of the integrator
        assert np.max(np.abs(g0)) > 1e-3 and np.max(np.abs(rows[-1, :m])) < np.max(np.abs(rows[:, :m]))


def test_rules_of_speeds_decay_at_the_rate_alpha() -> None:
    eom = form_equations(library.skate(), stabilization=Baumgarte(alpha=4.0))
    x0 = eom.state(**{"ice.angle_dot": 1.0, "ice.y_dot": 0.2})
    times = np.linspace(0.0, 1.0, 5)
    rows = [eom.residual(t, x[:3], x[3:])[0] for t, x in zip(times, history(eom, x0, times), strict=True)]
    np.testing.assert_allclose(rows, 0.2 * np.exp(-4.0 * times), atol=1e-9)


def test_without_stabilisation_errors_grow_linearly() -> None:
    """``g'' = 0``: an error of the speeds grows with time, which is why `simulate` projects."""
    eom = form_equations(library.four_bar())
    x0 = eom.state() + np.array([0.0, 0.0, 0.0, 1e-3, 0.0, 0.0])
    times = np.linspace(0.0, 0.5, 6)
    rows = np.array([eom.residual(t, x[:3], x[3:]) for t, x in zip(times, history(eom, x0, times), strict=True)])
    np.testing.assert_allclose(rows[:, :2], times[:, None] * rows[0, 2:], atol=1e-9)
    sim = simulate(eom, x0=eom.state(), t_span=(0.0, 2.0), grid=41, rtol=1e-6, atol=1e-8)
    left = [np.max(np.abs(eom.residual(0.0, x[:3], x[3:]))) for x in np.asarray(sim.x)]
    assert (
        max(left) < 1e-6
    )  # kept by the projection although the tolerance is loose; interpolation between steps remains


def parallelogram(closure: str) -> System:
    """A coupler on three equal parallel cranks: the third holds what two hold already, but only where they are parallel."""
    coupler = RigidBody(name="coupler", mass=2.0, inertia=(0.1, 0.5, 0.5), com=(1.0, 0.0, 0.0))
    lean = rotation_about("z", 1.2)
    parts = [
        Part(rod("crank1", 1.0, 1.0), rotation=lean, joint=Revolute(name="pin1", axis="z")),
        Part(coupler, on="crank1.end", rotation=lean.T, joint=Revolute(name="hinge", axis="z")),
    ]
    loops: list[Any] = []
    for k in (2, 3):
        crank = rod(f"crank{k}", 1.0, 1.0)
        parts.append(Part(crank, at=(k - 1.0, 0.0, 0.0), rotation=lean, joint=Revolute(name=f"pin{k}", axis="z")))
        place = {"a": "coupler", "at_a": (k - 1.0, 0.0, 0.0), "b": f"crank{k}.end"}
        if closure == "planes":
            loops += [PointOnPlane(name=f"close{k}{e}", normal=e, **place) for e in "xy"]
        else:
            loops.append(Loop(name=f"close{k}", joint=Revolute(axis="z"), **place))
    return System(
        name="parallelogram", parts=tuple(parts), environment=UniformGravity(g=(0.0, -9.81, 0.0)),
        constraints=tuple(loops), actuators=(JointTorque(joint="pin1"),),
    )  # fmt: skip


@pytest.mark.parametrize("closure", ["planes", "bearings"])
def test_a_third_crank_changes_nothing(closure: str) -> None:
    """A pendulum by hand: the coupler does not turn, so that 2 T = (3 I + M l^2) w^2."""
    system = parallelogram(closure)
    for formulation in ("kane", "udwadia_phohomsiri", "artificial"):
        eom = form_equations(system, formulation=formulation)
        x = eom.state(**{"pin1_dot": 0.8, "hinge_dot": -0.8, "pin2_dot": 0.8, "pin3_dot": 0.8})
        report = diagnose_constraints(eom, 0.0, x)
        assert report.rank == 3 and report.contradictory == () and report.residual < 1e-12
        assert "not unique" in report.message and "contradict" not in report.message
        inertia = 3 * (1.0 / 3.0 + 1.0 / 6400.0) + 2.0  # rods a twentieth as thick as long
        expected = -(3 * 0.5 + 2.0) * 9.81 * np.cos(1.2) / inertia
        v_dot = eom.v_dot(0.0, x[: eom.n_q], x[eom.n_q :], [0.0])
        np.testing.assert_allclose(v_dot, expected * np.array([1.0, -1.0, 1.0, 1.0]), atol=1e-11)
    start = make_consistent(eom, eom.state(pin1=0.01, pin2=-0.02, hinge=0.01))
    assert start.residual < 1e-11
    sim = simulate(eom, x0=eom.state(), t_span=(0.0, 1.0), grid=11, rtol=1e-9, atol=1e-11)
    energies = [eom.energy(0.0, x[: eom.n_q], x[eom.n_q :]) for x in np.asarray(sim.x)]
    assert np.ptp(energies) < 1e-6


def bennett(*, rows: str) -> System:
    """Bennett's linkage: four bars in space that move only because lengths and twists are in proportion."""
    a, b, alpha = 1.0, 1.5, 0.5
    beta = float(np.arcsin(b * np.sin(alpha) / a))
    parts, on, twist = [], "world", 0.0
    for k, (length, after) in enumerate(((a, alpha), (b, beta), (a, alpha))):
        joint = Revolute(name=f"turn{k + 1}", axis="z")
        parts.append(Part(rod(f"bar{k + 1}", length, 1.0), on=on, rotation=rotation_about("x", twist), joint=joint))
        on, twist = f"bar{k + 1}.end", after
    place = {"a": "bar3.end", "rotation_a": rotation_about("x", alpha), "b": "world", "at_b": (-b, 0.0, 0.0)}
    whole = Loop(name="close", rotation_b=rotation_about("x", -beta), joint=Revolute(axis="z"), **place)
    few = tuple(PointOnPlane(name=f"close_{e}", normal=e, **place) for e in "xy")
    return System(
        name="bennett", parts=tuple(parts), environment=UniformGravity(g=(0.0, -5.0, -9.0)),
        constraints=(whole,) if rows == "all" else few,
    )  # fmt: skip


def other_angle(turn: float) -> float:
    """Bennett's relation of neighbouring angles."""
    a, b, alpha = 1.0, 1.5, 0.5
    beta = np.arcsin(b * np.sin(alpha) / a)
    return float(2.0 * np.arctan2(np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2), np.tan(turn / 2)))


def bennett_start(eom: EquationsOfMotion) -> tuple[np.ndarray, list[float]]:
    turn = 1.0
    posture = [turn, other_angle(turn), 2.0 * np.pi - turn, 0.7, 0.0, 0.0]
    return np.asarray(make_consistent(eom, posture, hold=("turn1", "turn1_dot")).x), posture


def test_a_linkage_of_special_proportions_needs_few_rows() -> None:
    """Five rows of rank two: right where they are met; two of them give the same motion, the others are met too."""
    whole, few = (form_equations(bennett(rows=rows)) for rows in ("all", "two"))
    x, posture = bennett_start(whole)
    np.testing.assert_allclose(x[:3], posture[:3], atol=1e-12)
    report = diagnose_constraints(whole, 0.0, x)
    assert report.rank == 2 and len(report.rows) == 5 and report.contradictory == ()
    np.testing.assert_allclose(few.residual(0.0, x[:3], x[3:]), 0.0, atol=1e-12)
    np.testing.assert_allclose(few.v_dot(0.0, x[:3], x[3:]), whole.v_dot(0.0, x[:3], x[3:]), atol=1e-10)
    sim = simulate(few, x0=x, t_span=(0.0, 0.5), grid=11, rtol=1e-9, atol=1e-11)
    for state in np.asarray(sim.x):
        assert (
            np.max(np.abs(whole.residual(0.0, state[:3], state[3:]))) < 1e-7
        )  # the rows that were left out are met too
    energies = [few.energy(0.0, state[:3], state[3:]) for state in np.asarray(sim.x)]
    assert np.ptp(energies) < 1e-6


@pytest.mark.parametrize("method", ["dop853", "adams", "radau"])
@pytest.mark.parametrize("tolerance", [1e-4, 1e-9])
def test_rank_that_changes_off_the_constraints_has_no_effect(method: str, tolerance: float) -> None:
    """All five rows, through postures where two of them are singular, at loose and tight tolerances; energy is kept."""
    whole, few = (form_equations(bennett(rows=rows)) for rows in ("all", "two"))
    x, _ = bennett_start(whole)
    assert rank_jumps(whole, 0.0, x) and not rank_jumps(few, 0.0, x)
    sim = simulate(whole, x0=x, t_span=(0.0, 4.2), grid=7, rtol=tolerance, atol=tolerance, method=method)
    assert sim.outcome.stats["position_residual"] < 1e-12 and sim.outcome.stats["speed_residual"] < 1e-12
    energies = [whole.energy(0.0, state[:3], state[3:]) for state in np.asarray(sim.x)]
    # 3 bars fall through about 10 J; a few dozen steps add their local errors, in rates up to 10 rad/s
    assert np.ptp(energies) < 1e3 * tolerance
    for state in np.asarray(sim.x):
        assert np.cos(other_angle(state[0]) - state[1]) == pytest.approx(1.0, abs=1e-12)
    before = simulate(
        few, x0=x, t_span=(0.0, 0.7), grid=2, rtol=1e-11, atol=1e-12
    )  # its two rows are singular at 0.75 s
    np.testing.assert_allclose(np.asarray(sim.x)[1], np.asarray(before.x)[1], atol=1e3 * tolerance)


def test_reference_projects_the_same_stages() -> None:
    eom = form_equations(bennett(rows="all"))
    x, _ = bennett_start(eom)
    runs = [
        simulate(eom, x0=x, t_span=(0.0, 0.5), grid=3, rtol=1e-6, atol=1e-8, driver=driver, tier=tier)
        for driver, tier in (("native", "native"), ("python", "vm"))
    ]
    assert runs[0].outcome.stats["n_steps"] == runs[1].outcome.stats["n_steps"]
    np.testing.assert_allclose(np.asarray(runs[0].x), np.asarray(runs[1].x), atol=1e-9)


def test_a_run_into_a_singularity_names_the_constraints() -> None:
    few = form_equations(bennett(rows="two"))
    x, _ = bennett_start(form_equations(bennett(rows="all")))
    with pytest.raises(SolverError, match=r"2 constraint equations, .* leverage"):
        simulate(few, x0=x, t_span=(0.0, 3.0), rtol=1e-12, atol=1e-13)
