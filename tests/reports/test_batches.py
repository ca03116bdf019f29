"""A page about a batch: ranges over the runs, and tables of all histories and of the runs."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from spacectl import (
    ModelError,
    SimulationBatch,
    design_pd,
    form_equations,
    library,
    load_batch,
    load_simulation,
    simulate,
    simulate_many,
    write_report,
)
from spacectl.core.studies.study import StudyResult
from spacectl.reports.folder.folder import write_study_folder
from spacectl.reports.page.document import build_document
from spacectl.reports.page.histories import RUNS, batch_figures
from spacectl.reports.page.summary import StudyRecord


@pytest.fixture(scope="module")
def batch() -> SimulationBatch:
    eom = form_equations(library.planar_arm())
    law = design_pd(eom, kp=20.0, kd=3.0)
    x0 = 0.5 * np.random.default_rng(0).standard_normal((RUNS + 2, 4))
    return simulate_many(eom, law, x0=x0, t_span=(0.0, 1.0), grid=11)


def test_a_batch_has_a_page(batch: SimulationBatch, tmp_path: Path) -> None:
    page = write_report(batch, tmp_path / "batch.html").read_text(encoding="utf-8")
    for text in (batch.dataset.attrs["system"], "8 ok", "Range and median over 8 runs", "simulation_runs.csv"):
        assert text in page


def test_figures_show_the_range_and_the_median(batch: SimulationBatch) -> None:
    states, inputs = batch_figures(batch.dataset)
    assert (states.name, inputs.name) == ("states", "inputs")
    panel = states.panels[1]
    assert (panel.y_label, panel.unit, len(panel.lines)) == ("joint2", "rad", 1)
    np.testing.assert_array_equal(np.asarray(panel.regions[0].low), batch["joint2"].min(axis=0))
    np.testing.assert_array_equal(np.asarray(panel.regions[0].high), batch["joint2"].max(axis=0))
    np.testing.assert_array_equal(np.asarray(panel.lines[0].y), np.median(batch["joint2"], axis=0))


def test_a_run_that_ended_early_counts_up_to_its_end(batch: SimulationBatch) -> None:
    data = batch.dataset.isel(run=slice(0, 2)).copy(deep=True)
    data["x"].values[0, 5:] = np.nan
    panel = batch_figures(data)[0].panels[0]
    assert [len(line.x) for line in panel.lines] == [11, 5, 11], "median, run 0, run 1"
    np.testing.assert_array_equal(np.asarray(panel.lines[0].y)[5:], data["x"].values[1, 5:, 0])


def test_tables_hold_all_runs(batch: SimulationBatch) -> None:
    result = StudyResult(metrics={}, simulations={"campaign": batch})
    histories, runs = build_document(result, StudyRecord(name="campaign"))["histories"]
    rows = list(csv.DictReader(io.StringIO(histories["csv"])))
    assert len(rows) == histories["rows"] == histories["all"] == 8 * 11
    row = rows[3 * 11 + 4]
    assert (row["run"], float(row["time [s]"])) == ("3", pytest.approx(0.4))
    assert float(row["x: joint2 [rad]"]) == pytest.approx(batch.x[3, 4, 1], rel=1e-8)
    ends = list(csv.DictReader(io.StringIO(runs["csv"])))
    assert [item["status"] for item in ends] == ["ok"] * 8
    assert float(ends[5]["x_end: joint1 [rad]"]) == pytest.approx(batch.x_end[5, 0], rel=1e-8)


def test_a_study_may_keep_a_batch(batch: SimulationBatch, tmp_path: Path) -> None:
    one = simulate(form_equations(library.planar_arm()), t_span=(0.0, 0.1), grid=3)
    result = StudyResult(metrics={}, simulations={"campaign": batch, "one": one})
    folder = write_study_folder(result, tmp_path / "out", record=StudyRecord(name="study"))
    again = load_batch(folder / "result.nc", group="campaign")
    np.testing.assert_array_equal(again.x, batch.x)
    assert again.status == batch.status
    assert "result.nc" in json.loads((folder / "provenance.json").read_text())["files"]
    with pytest.raises(ModelError, match="single simulation, not a batch"):
        load_batch(folder / "result.nc", group="one")
    with pytest.raises(ModelError, match="batch"):
        load_simulation(folder / "result.nc", group="campaign")
