"""The native kernels compared with their reference implementation and with brute force."""

from __future__ import annotations

import numpy as np
import pytest

from spacectl import draw_phase_plane, plan_phase_plane, plan_reachability
from spacectl.core.errors import ModelError
from spacectl.planners.paths.dynamics import PathDynamics
from spacectl.planners.paths.limit_rows import form_rows
from spacectl.planners.paths.limits import as_limits
from spacectl.planners.paths.solve import solve_path
from spacectl.planners.phase_plane import grid as phase_grid
from spacectl.planners.phase_plane import reference as phase_reference
from spacectl.planners.phase_plane.reference import phase_library
from tests.planners.path_systems import arm, line, random_spline, seven_joints

pytestmark = pytest.mark.skipif(phase_library() is None, reason="no compiler")


def grid(n: int = 60) -> phase_grid.PhaseGrid:
    path = random_spline(3)
    rows = form_rows(PathDynamics(seven_joints(), solve_path(seven_joints(), path), seven_joints().p), as_limits(None))
    return phase_grid.form_grid(rows, n, (True, True))


def test_the_reference_gives_the_same_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    native = plan_phase_plane(arm(), line(), points=80)
    monkeypatch.setattr(phase_grid, "phase_library", lambda: None)
    reference = plan_phase_plane(arm(), line(), points=80)
    assert reference.final_time == pytest.approx(native.final_time, rel=1e-13)
    assert np.allclose(np.asarray(reference.u.values), np.asarray(native.u.values), rtol=1e-9, atol=1e-9)


def test_limit_curves_of_kernel_reference_and_brute_force() -> None:
    rows = grid().node[::12]
    native, reference = phase_grid.find_limit_curve(rows), phase_reference.limit_curve(rows)
    for a, b in zip(native, reference, strict=True):
        assert np.allclose(a, b, rtol=1e-13)
    A, B, C, D = (rows[:, :, i] for i in range(4))
    for factor, is_feasible in ((0.999, True), (1.001, False)):
        y = (factor * native[1])[:, None]
        rest = B * y**2 + C * y + D
        with np.errstate(divide="ignore"):
            high = np.min(np.where(A > 0.0, -rest / A, np.inf), axis=1)
            low = np.max(np.where(A < 0.0, -rest / A, -np.inf), axis=1)
        assert np.all((low <= high) == is_feasible)


def test_integration_of_kernel_and_reference() -> None:
    cells, cap = grid(), np.minimum(grid().limit_curve[1], 1e6) ** 2
    for start, direction in ((0, 1), (len(cap) - 1, -1), (30, 1), (30, -1)):
        x0 = 0.0 if start != 30 else 0.3 * float(cap[30])
        curve = cells.integrate(start, x0, direction, cap)
        x, free, row = np.full(len(cap), np.inf), np.full(len(cap), np.inf), np.full(len(cap), -1, dtype=np.int32)
        last, stop, stop_row = phase_reference.integrate(
            cells.s, cells.node, cells.middle, cap, start, x0, direction, 1e-9, x, free, row
        )
        assert (stop, stop_row) == (curve.stop, curve.stop_row)
        assert last == (curve.last if direction > 0 else curve.first)
        span = slice(curve.first, curve.last + 1)
        assert np.allclose(x[span], curve.x[span], rtol=1e-12) and np.array_equal(row[span], curve.row[span])


@pytest.mark.parametrize("m", [1, 3])
def test_steps_of_kernel_and_twin_for_rows_of_every_kind(m: int) -> None:
    """Rows with friction and with either sign of every coefficient, little and much inertia: both branches, both roots."""
    rng, n = np.random.default_rng(m), 2000
    s = np.concatenate([[0.0], np.cumsum(rng.uniform(0.01, 0.1, n - 1))])
    node, middle = (rng.standard_normal((k, m, 4)) for k in (n, n - 1))
    scale = 10.0 ** rng.uniform(-3.0, 1.0, (n, m))
    node[:, :, 0] *= scale
    middle[:, :, 0] *= scale[1:]
    cells = phase_grid.PhaseGrid(None, s, np.zeros(n, dtype=int), node, middle, np.zeros(n, dtype=bool))  # type: ignore[arg-type]
    x = rng.uniform(0.0, 4.0, n) ** 2
    native, reference = cells.check(x), phase_reference.check(s, node, middle, x)
    for a, b in zip(native[:2], reference[:2], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
    for a, b in zip(native[2:], reference[2:], strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_figure_shows_the_region_and_the_switch() -> None:
    plan = plan_phase_plane(arm(), line(), points=100)
    figure = draw_phase_plane(plan, s_unit="m")
    panel = figure.panels[0]
    assert [region.label for region in panel.regions] == ["not feasible"]
    assert {"plan", "switch"} <= {item.label for item in panel.lines}
    with pytest.raises(ModelError, match="no phase plane"):
        draw_phase_plane(plan_reachability(arm(), line(), points=50))
