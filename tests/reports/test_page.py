"""The report is one offline file, shows what it was given, and nothing in a name can act."""

from __future__ import annotations

import re
from dataclasses import dataclass, make_dataclass
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import xarray

from spacectl.controllers.regulators.pd import design_pd
from spacectl.core.errors import ModelError
from spacectl.core.figure import Figure, Line, Panel
from spacectl.core.outcome import Outcome, Status
from spacectl.core.studies.study import StudyResult
from spacectl.dynamics.form import form_equations
from spacectl.model.library import pendulum
from spacectl.reports.page.page import write_report
from spacectl.reports.page.summary import EVENTS_SHOWN, StudyRecord, event_rows
from spacectl.simulation.events import Guard
from spacectl.simulation.run.simulate import simulate

EVIL = "<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\"> {{ 7 * 7 }} '\"&"


@dataclass(frozen=True)
class Run:
    dataset: xarray.Dataset
    outcome: Outcome


def run_of(names: tuple[str, ...], message: str = "done") -> Run:
    t = np.linspace(0.0, 1.0, 5)
    data = xarray.Dataset(
        {"x": (("time", "state"), np.outer(t, np.ones(len(names))))},
        coords={"time": t, "state": list(names), "state_unit": ("state", ["rad"] * len(names))},
        attrs={"system": names[0]},
    )
    return Run(data, Outcome(status=Status.LIMIT, message=message, stats={names[0]: 3}))


class Elements(HTMLParser):
    """All elements with their attributes, and the text outside style."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._in_style = False  # or in a script
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self._in_style = tag in ("style", "script")

    def handle_endtag(self, tag: str) -> None:
        self._in_style = False

    def handle_data(self, data: str) -> None:
        self.text += "" if self._in_style else data


def evil_report(path: Path) -> Path:
    line = Line(x=[0.0, 1.0], y=[0.0, 1.0], label=EVIL)
    figure = Figure(name="evil", title=EVIL, caption=EVIL, panels=[Panel(lines=[line], y_label=EVIL, title=EVIL)])
    kind = make_dataclass("P", [("text", str, EVIL)], frozen=True)
    result = StudyResult(
        metrics={EVIL: EVIL}, simulations={EVIL: run_of((EVIL,), EVIL)}, figures=[figure], notes=[EVIL]
    )
    record = StudyRecord(
        name=EVIL, question=EVIL, parameters=kind(), defaults=kind("x"), warnings=(EVIL,), provenance={EVIL: EVIL}
    )
    return write_report(result, path, record=record)


def test_names_cannot_inject_anything(tmp_path: Path) -> None:
    text = evil_report(tmp_path / "evil.html").read_text(encoding="utf-8")
    page = Elements(text)
    (allowed,) = re.findall(r"script-src 'nonce-([0-9a-f]+)'", text)
    scripts = [attributes for tag, attributes in page.found if tag == "script"]
    assert [item.get("nonce") for item in scripts if "type" not in item] == [allowed], "one script of our own"
    assert all(item["type"] == "application/octet-stream" for item in scripts if "type" in item), "the others are data"
    assert "taken" not in "".join(re.findall(r"<script[^>]*>(.*?)</script>", text, re.DOTALL))
    assert not [name for _, attributes in page.found for name in attributes if name.startswith("on")]
    assert page.text.count("{{ 7 * 7 }}") >= 8, "the text itself is shown, unchanged"
    assert all(
        (attributes.get("src") or "").startswith("data:image/") for tag, attributes in page.found if tag == "img"
    )


def test_the_page_loads_no_external_resources(tmp_path: Path) -> None:
    text = write_report(run_of(("elbow",)), tmp_path / "r.html").read_text(encoding="utf-8")
    page = Elements(text)
    assert "link" not in {tag for tag, _ in page.found}
    for tag, attributes in page.found:
        for name in ("src", "href", "action"):
            assert (attributes.get(name) or "data:").startswith(("data:", "#")), (tag, attributes)
    style = text[text.index("<style>") : text.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    assert "default-src 'none'" in text


def test_a_simulation_is_drawn_with_its_outcome(tmp_path: Path) -> None:
    page = Elements(
        write_report(run_of(("elbow", "wrist"), "ran out of steps"), tmp_path / "r.html").read_text(encoding="utf-8")
    )
    assert [tag for tag, _ in page.found].count("img") == 1
    for text in ("Elbow", "limit", "ran out of steps", "0 … 1 s"):
        assert text in page.text


def test_metrics_parameters_and_changes_are_shown(tmp_path: Path) -> None:
    kind = make_dataclass("P", [("mass", float, 2.0), ("count", int, 3)], frozen=True)
    record = StudyRecord(
        name="lift_off",
        question="How?",
        parameters=kind(4.0),
        defaults=kind(),
        is_quick=True,
        units={"mass": "kg", "tilt": "rad"},
    )
    page = Elements(
        write_report(StudyResult(metrics={"tilt": 0.5}), tmp_path / "r.html", record=record).read_text(encoding="utf-8")
    )
    for text in ("Lift off", "How?", "Quick run", "28.65 deg", "changed from 2", "kg", "tilt"):
        assert text in page.text


def test_anything_else_is_refused_with_a_cure(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="got a dict, expected a Simulation, a SimulationBatch or a StudyResult"):
        write_report({}, tmp_path / "r.html")
    with pytest.raises(ModelError, match="cannot be written"):
        write_report(StudyResult(metrics={}), tmp_path / "nowhere" / "r.html")


def test_a_real_simulation_is_reported(tmp_path: Path) -> None:
    eom = form_equations(pendulum())
    sim = simulate(eom, design_pd(eom, kp=2.0, kd=1.0), x0={"hinge": 0.3}, t_span=(0.0, 1.0))
    page = Elements(write_report(sim, tmp_path / "r.html").read_text(encoding="utf-8"))
    assert [tag for tag, _ in page.found].count("img") == 2, "states and inputs"
    model = ("revolute joint 'hinge'", "Equations of motion")
    for text in ("Pendulum", "ok", "0 … 1 s", "rtol", "steps", sim.outcome.message, *model):
        assert text in page.text


def test_events_are_listed_with_guard_and_time(tmp_path: Path) -> None:
    eom = form_equations(pendulum())
    guard = Guard(name="half <way>", expression=lambda s: s["hinge"] - 0.15, is_terminal=False)
    sim = simulate(eom, x0={"hinge": 0.3}, t_span=(0.0, 1.0), guards=[guard])
    page = Elements(write_report(sim, tmp_path / "r.html").read_text(encoding="utf-8"))
    assert len(sim.events) == 1
    for text in ("Events", "half <way>", f"{sim.events[0].time:.6g}"):
        assert text in page.text


def test_every_table_scrolls_by_itself_on_a_narrow_screen(tmp_path: Path) -> None:
    text = evil_report(tmp_path / "r.html").read_text(encoding="utf-8")
    assert ".wide { overflow-x: auto; }" in text
    assert text.count("<table") == text.count('<div class="wide"><table') >= 4


def test_a_long_list_of_events_is_cut() -> None:
    count = EVENTS_SHOWN + 3
    data = xarray.Dataset({"event_time": ("event", np.arange(1.0 * count)), "event_name": ("event", ["hit"] * count)})
    rows = event_rows({"run": Run(data, Outcome())})
    assert len(rows) == EVENTS_SHOWN + 1
    assert rows[-1].remark == "and 3 more"
