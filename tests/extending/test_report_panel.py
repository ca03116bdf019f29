"""A panel that a user adds to a report: drawn, escaped, stored with the result, and never the end of a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spacectl import (
    Figure,
    Line,
    Panel,
    ReportPanel,
    Section,
    ShapeError,
    StudyResult,
    form_equations,
    library,
    simulate,
    write_report,
)
from spacectl.reports.folder.folder import read_document, rebuild_report, write_study_folder
from spacectl.reports.page.summary import StudyRecord


@dataclass(frozen=True, kw_only=True)
class EnergyPanel(ReportPanel):
    """Energy at the beginning and at the end of every simulation, and its history."""

    unit: str = "J"

    def show(self, result: StudyResult) -> Section:
        rows, lines = [], []
        for name, sim in result.simulations.items():
            energy = sim.equations.along("energy", sim.t, sim.x).reshape(-1)
            rows.append((name, float(energy[0]), float(energy[-1])))
            lines.append(Line(x=sim.t, y=energy, label=name))
        panel = Panel(lines=tuple(lines), y_label="energy", unit="J")
        return Section(
            title="Energy <budget>",
            text=("Without friction and inputs it stays as it is.",),
            columns=("simulation", f"begin [{self.unit}]", f"end [{self.unit}]"),
            rows=tuple(rows),
            figures=(Figure(name="energy_budget", title="Energy", panels=(panel,)),),
        )


class Broken(ReportPanel):
    def show(self, result: Any) -> Section:
        raise KeyError("no such thing")


@pytest.fixture(scope="module")
def swing():
    eom = form_equations(library.pendulum())
    return simulate(eom, None, x0=eom.state(hinge=0.5), t_span=(0.0, 1.0))


def test_a_panel_is_drawn_and_escaped(swing, tmp_path: Path) -> None:
    page = write_report(swing, tmp_path / "page.html", panels=(EnergyPanel(),)).read_text(encoding="utf-8")
    assert "Energy &lt;budget&gt;" in page and "Energy <budget>" not in page
    assert "begin [J]" in page and 'href="#panel-1"' in page


def test_a_panel_is_stored_with_the_result(swing, tmp_path: Path) -> None:
    result = StudyResult(metrics={"a": 1.0}, simulations={"swing": swing}, panels=(EnergyPanel(),))
    write_study_folder(result, tmp_path / "out", record=StudyRecord(name="swing"))
    (panel,) = read_document(tmp_path / "out")["panels"]
    energy = swing.equations.along("energy", swing.t, swing.x).reshape(-1)
    np.testing.assert_allclose(panel["rows"][0][1:], energy[[0, -1]], rtol=1e-12)
    rebuild_report(tmp_path / "out")
    assert "Energy &lt;budget&gt;" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_a_panel_that_fails_does_not_discard_the_result(swing, tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="report panel Broken: KeyError"):
        page = write_report(swing, tmp_path / "page.html", panels=(Broken(), EnergyPanel()))
    assert "This panel failed" in page.read_text(encoding="utf-8") and "begin [J]" in page.read_text(encoding="utf-8")


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(ShapeError, match="a row has 1 entries, expected 2"):
        Section(title="x", columns=("a", "b"), rows=((1.0,),))
