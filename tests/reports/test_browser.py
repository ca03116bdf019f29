"""Reports in a real browser: nothing from outside, no complaints, live plots, and a replay whose beams bend."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spacectl import Simulation, form_equations, simulate
from spacectl.cli.main import run_command_line
from spacectl.core.studies.study import StudyResult
from spacectl.reports.page.page import write_report
from spacectl.reports.page.summary import StudyRecord
from spacectl.reports.scene.motion import deflection, find_motion
from tests.reports.browser import LARGEST, Seen, open_browser, open_page, play_report
from tests.reports.test_page import evil_report
from tests.reports.test_scene import flexible_arm

STUDY = "flexible_tracking"  #: the study whose report is opened in the slow test; it must have a flexible part
SCRUB = "value => { const s = document.getElementById('replay-scrub'); s.value = value; s.dispatchEvent(new Event('input')); }"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def flown() -> Simulation:
    eom = form_equations(flexible_arm())
    return simulate(eom, x0={"boom.eta1": 0.3}, u=[5.0, -2.0], t_span=(0.0, 2.0), grid=41, driver="python", rtol=1e-6)


@pytest.fixture(scope="module")
def report(flown: Simulation, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    result = StudyResult(metrics={"peak": 0.5}, simulations={"flown": flown})
    return write_report(result, path, record=StudyRecord(name="arm", question="Does it bend?"))


@pytest.fixture(scope="module")
def opened(browser: Any, report: Path) -> Iterator[Seen]:
    """The report, opened once: starting it is what takes time."""
    seen = open_page(browser, report)
    assert seen.wait("plots") == "ready"
    assert seen.wait("replay") == "ready"
    yield seen
    seen.page.close()


def test_names_with_markup_do_nothing(browser: Any, tmp_path: Path) -> None:
    path = evil_report(tmp_path / "evil.html")
    seen = open_page(browser, path)
    assert seen.wait("plots") == "ready"
    assert seen.wait("replay") == "none"
    seen.page.wait_for_timeout(200)
    assert seen.page.title() != "taken"
    assert "<script>" in seen.page.inner_text("body"), "the name is shown as it is"
    assert seen.page.locator(".js-plotly-plot a, .js-plotly-plot img").count() == 0
    seen.check(path)
    seen.page.close()


def test_controls_may_be_used_while_the_replay_loads(browser: Any, report: Path) -> None:
    """Scrubbing in the first moment, before the scene is there, raised an error once."""
    early = """addEventListener("DOMContentLoaded", () => {
        const touch = () => document.querySelectorAll("input[type=range]").forEach(
            item => item.dispatchEvent(new Event("input", {bubbles: true})));
        const timer = setInterval(() => {
            if (document.documentElement.dataset.replay) clearInterval(timer); else touch();
        }, 1);
    });"""
    context = browser.new_context()
    context.add_init_script(early)
    seen = open_page(context, report)
    assert seen.wait("replay") == "ready"
    seen.check(report)
    context.close()


def test_plots_switch_units_and_zoom_together(opened: Seen, report: Path) -> None:
    assert report.stat().st_size < LARGEST
    page = opened.page
    assert page.locator(".js-plotly-plot").count() == 3, "states, inputs, outputs"
    titles = "[...document.querySelectorAll('.js-plotly-plot')][0].layout.yaxis.title.text"
    assert "deg" in page.evaluate(titles)
    page.check("input[name=units][value=si]")
    page.wait_for_timeout(300)
    assert "rad" in page.evaluate(titles)
    page.evaluate("Plotly.relayout(document.querySelectorAll('.js-plotly-plot')[0], {'xaxis.range': [0.5, 1.0]})")
    page.wait_for_timeout(500)
    for k in range(3):
        assert page.evaluate(f"document.querySelectorAll('.js-plotly-plot')[{k}]._fullLayout.xaxis.range") == [0.5, 1.0]
    with page.expect_download() as download:
        page.click("button[data-download='metrics.json']")
    assert json.loads(Path(download.value.path()).read_text()) == {"peak": 0.5}
    opened.check(report)


def test_the_replay_bends_the_beam_as_the_model_does(opened: Seen, report: Path, flown: Simulation) -> None:
    """Corners that the browser draws, at times between samples, against the shapes of the beam."""
    page = opened.page
    assert page.evaluate("spacectlReplay.flexible()") == ["boom"]
    pictures, drawn = [], []
    for part in (0.0, 0.25, 0.6):
        page.evaluate(SCRUB, 1000 * part)
        page.wait_for_timeout(300)
        assert page.evaluate("spacectlReplay.time()") == pytest.approx(2.0 * part, abs=1e-6)
        drawn.append(np.array(page.evaluate("spacectlReplay.vertices('boom')")).reshape(-1, 3))
        pictures.append(page.locator("#replay-stage").screenshot())
    assert len(set(pictures)) == 3, "the picture moves"
    body, motion = flexible_arm().part("boom").body, find_motion(flown, most=100)
    shapes = body.shapes_at(np.array([4.0, 0.0, 0.0]))
    for corners, part in zip(drawn, (0.0, 0.25, 0.6), strict=True):
        eta = np.array([np.interp(2.0 * part, motion.t, motion.eta["boom"][:, k]) for k in range(2)])
        tip = np.array([4.0, 0.0, 0.0]) + deflection(shapes.Phi[None], shapes.G[None], eta[None])[0, 0]
        assert np.allclose(corners[-6:].mean(axis=0), tip, atol=1e-4), "16 bits, single precision"
    assert np.max(np.abs(drawn[0] - drawn[1])) > 0.05, "it really deforms"
    opened.check(report)


def test_a_narrow_or_dark_page_needs_no_sideways_scrolling(opened: Seen, report: Path) -> None:
    page = opened.page
    page.set_viewport_size({"width": 420, "height": 900})
    page.emulate_media(color_scheme="dark")
    page.wait_for_timeout(600)
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 29)"
    opened.check(report)


@pytest.mark.slow
def test_the_report_of_a_study_opens_plays_and_bends(browser: Any, tmp_path: Path) -> None:
    assert run_command_line(["run", STUDY, "--quick", "--out", str(tmp_path / "out")]) == 0
    play_report(browser, tmp_path / "out" / "report.html")
