"""The direct construction against the shooting steps 1 to 5 of Sadigh (1995), section 8.2.2."""

from __future__ import annotations

import numpy as np
import pytest

from spacectl import ArcCurve, TaskPath, plan_phase_plane
from spacectl.planners.paths.dynamics import PathDynamics
from spacectl.planners.paths.limit_rows import form_rows
from spacectl.planners.paths.limits import as_limits
from spacectl.planners.paths.path import Path
from spacectl.planners.paths.solve import solve_path
from tests.planners.path_systems import AT, OUTPUTS, arm, line
from tests.planners.shooting import Shot, bounds_from, shoot


def shot(path: Path, n: int = 500) -> Shot:
    rows = form_rows(PathDynamics(arm(), solve_path(arm(), path), arm().p), as_limits(None))
    length = rows.dynamics.solved.length
    s = length * (0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, n + 1)))
    fine = np.linspace(0.0, length, 4001)
    return shoot(bounds_from(rows.evaluate(fine)[1], fine), s)


def test_one_switch() -> None:
    plan, found = plan_phase_plane(arm(), line()), shot(line())
    assert found.final_time == pytest.approx(plan.final_time, rel=5e-4)
    assert len(found.switches) == 1
    assert found.switches[0] == pytest.approx(plan.notes["switches"][0].s, abs=0.03)  # one cell of the shooting grid


def test_three_switches() -> None:
    curve = ArcCurve(start=(0.0, 15.0, 0.0), via=(4.0, 8.0, 0.0), end=(0.0, 3.0, 0.0))
    path = TaskPath(name="arc", curve=curve, outputs=OUTPUTS, at=AT)
    plan, found = plan_phase_plane(arm(), path), shot(path)
    turns = [item.s for item in plan.notes["switches"] if item.kind != "other limit"]
    assert len(found.switches) == len(turns) == 3
    assert found.final_time == pytest.approx(plan.final_time, rel=2e-3)  # the touch is found to a cell only
    assert found.switches == pytest.approx(turns, abs=0.1)
