"""A planner that a user writes: its `Plan` is replayed, tracked and reported as those of our planners are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from spacectl import (
    Arc,
    EquationsOfMotion,
    Outcome,
    Plan,
    StudyResult,
    Trajectory,
    design_pd,
    form_equations,
    library,
    replay,
    simulate,
    write_report,
)


def plan_cosine(eom: EquationsOfMotion, goal: dict[str, float], *, duration: float, points: int = 401) -> Plan:
    """Rest to rest along ``q = goal (1 - cos(pi t / T)) / 2``, with the inputs of inverse dynamics."""
    t = np.linspace(0.0, duration, points)
    phase, rate = np.pi * t / duration, np.pi / duration
    ends = eom.labels.q.vector(goal)
    q = 0.5 * ends * (1.0 - np.cos(phase))[:, None]
    v = 0.5 * rate * ends * np.sin(phase)[:, None]
    v_dot = 0.5 * rate**2 * ends * np.cos(phase)[:, None]
    efforts = [
        eom.mass_matrix(time, place) @ change + eom.bias(time, place, speed)
        for time, place, speed, change in zip(t, q, v, v_dot, strict=True)
    ]
    u = np.linalg.solve(eom.input_map(0.0, q[0]), np.array(efforts).T).T
    low, high = eom.limits()
    excess = float(np.max(np.maximum(u - high, low - u)))
    return Plan(
        name="cosine",
        x=Trajectory(t=t, values=np.hstack([q, v]), labels=eom.labels.x),
        u=Trajectory(t=t, values=u, labels=eom.labels.u),
        arcs=(Arc(begin=0.0, end=duration, limit="none: half a cosine"),),
        outcome=Outcome() if excess <= 0.0 else Outcome(status="limit", message=f"an input exceeds its limit by {excess:.3g}"),
        notes={"duration": duration},
    )  # fmt: skip


@pytest.fixture(scope="module")
def eom() -> EquationsOfMotion:
    return form_equations(library.planar_arm())


@pytest.fixture(scope="module")
def plan(eom: EquationsOfMotion) -> Plan:
    return plan_cosine(eom, dict(zip(eom.coordinates, (0.8, -0.5), strict=True)), duration=2.0)


def test_a_replay_arrives(eom: EquationsOfMotion, plan: Plan) -> None:
    flight = replay(eom, plan)
    np.testing.assert_allclose(flight.x[-1], [0.8, -0.5, 0.0, 0.0], atol=1e-4)  # inputs between knots are interpolated


def test_a_law_tracks_it_from_a_wrong_start(eom: EquationsOfMotion, plan: Plan) -> None:
    reference = Trajectory(t=plan.x.t, values=np.asarray(plan.x.values)[:, :2], labels=eom.labels.q)
    law = design_pd(eom, kp=400.0, kd=80.0, reference=reference)
    sim = simulate(eom, law, x0=eom.state(**{eom.coordinates[0]: 0.05}), t_span=(0.0, 4.0))
    assert np.abs(np.asarray(sim.x)[-1, :2] - [0.8, -0.5]).max() < 0.05


def test_its_page_shows_arcs_and_outcome(eom: EquationsOfMotion, plan: Plan, tmp_path: Path) -> None:
    page = write_report(StudyResult(metrics={}, plans={"cosine": plan}), tmp_path / "plan.html").read_text(
        encoding="utf-8"
    )
    assert "none: half a cosine" in page and "found" in page
