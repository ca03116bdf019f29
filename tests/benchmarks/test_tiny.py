"""A small run of every benchmark: ours and the peers agree, and tables are written. Nothing here depends on speed."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest

from spacectl import simulate
from spacectl.codegen import compiler as compiling
from spacectl.codegen.binding import Tier
from tests.benchmarks.__main__ import ITEMS, main
from tests.benchmarks.campaign import draw_runs, our_campaign
from tests.benchmarks.closed_loop import time_grid
from tests.benchmarks.measure import TINY, Effort, Timing, describe_machine, interleave
from tests.benchmarks.report import Section, compare, write_report
from tests.benchmarks.systems import mujoco, pin
from tests.benchmarks.tracking import Tracking, make_tracking

pytestmark = pytest.mark.skipif(sys.platform == "win32" and pin is None, reason="Pinocchio has no package for Windows")


@pytest.fixture(scope="module")
def loop() -> Tracking:
    return make_tracking("soft")


def test_peers_are_installed() -> None:
    assert pin is not None and mujoco is not None, "install spacectl[crosscheck]"


SLOW = ("model_laws", "wrappers", "flexible_plan")  # many structures to compile; a whole plan


@pytest.mark.parametrize(
    "name", [pytest.param(item, marks=pytest.mark.slow) if item in SLOW else item for item in ITEMS]
)
def test_item_runs_and_agrees_with_its_peers(name: str, tmp_path: Path) -> None:
    section = ITEMS[name](TINY)
    wrong = [figure for figure in section.figures if figure.is_met is False and not figure.is_timed]
    assert wrong == []
    assert section.notes == []  # nobody missed the accuracy
    assert all(math.isfinite(row.ratio) and row.ratio > 0.0 for row in section.comparisons)
    page, data = write_report(tmp_path, [section], describe_machine())
    read = json.loads(data.read_text(encoding="utf-8"))["sections"][0]
    assert len(read["comparisons"]) == len(section.comparisons) and len(read["figures"]) == len(section.figures)
    text = page.read_text(encoding="utf-8")
    assert section.title in text and all(row.peer.name in text for row in section.comparisons)


def test_all_tiers_give_the_same_trajectory(loop: Tracking) -> None:
    grid = time_grid(1.0)
    tiers: tuple[Tier, ...] = ("vm", "native", "data-driven", "callback")
    runs = {
        tier: simulate(loop.eom, loop.continuous, x0=loop.x0, t_span=(0.0, 1.0), grid=grid, tier=tier).x
        for tier in tiers
    }
    for tier in tiers[1:]:
        # the same steps at tolerance 1e-9; only rounding differs, which this stable loop does not amplify
        assert np.max(np.abs(runs[tier] - runs["vm"])) < 1e-10


def test_campaign_compiles_nothing_for_new_masses(loop: Tracking, monkeypatch: pytest.MonkeyPatch) -> None:
    grid, runs = time_grid(0.2), draw_runs(loop, 4)
    our_campaign(loop, (runs[0][:1], runs[1][:1]), grid, "rk45", 1e-6)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the compiler was called")

    monkeypatch.setattr(compiling.subprocess, "run", refuse)
    x = our_campaign(loop, runs, grid, "rk45", 1e-6)
    assert np.min(np.ptp(x[:, -1], axis=0)) > 1e-3  # the runs differ, so masses and starts were used


def test_ratio_is_paired_by_repetition() -> None:
    ours, peer = Timing("a", np.array([1.0, 2.0, 4.0]), 1), Timing("b", np.array([3.0, 6.0, 12.0]), 1)
    row = compare("work", ours, peer, goal=3.0)
    assert (row.ratio, row.quartiles, row.is_met) == (3.0, (3.0, 3.0), True)
    assert compare("work", ours, peer, goal=3.1).is_met is False


def test_every_candidate_is_measured_equally_often() -> None:
    seen: list[str] = []
    effort = Effort(repetitions=3, slice_seconds=0.0)  # one call in each repetition
    times = interleave({"a": lambda: seen.append("a"), "b": ("seen.append('b')", {"seen": seen})}, effort)
    assert [(timing.seconds.size, timing.calls) for timing in times.values()] == [(3, 1), (3, 1)]
    assert seen[-6:] == ["a", "b", "b", "a", "a", "b"]  # the order turns


def test_command_line_writes_what_was_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["--tiny", "--only", "linear", "--out", str(tmp_path / "bench")])
    assert "Linearisation" in capsys.readouterr().out
    assert sorted(path.name for path in (tmp_path / "bench").iterdir()) == ["bench.json", "bench.md", "history.jsonl"]


def test_command_line_refuses_an_unknown_item(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--only", "nonsense"])
    message = capsys.readouterr().err
    assert "nonsense" in message and "campaign" in message


def test_page_marks_goals_that_are_missed(tmp_path: Path) -> None:
    section = Section("title", "statement.")
    section.add("work", Timing("ours", np.ones(2), 1), Timing("peer", np.full(2, 1.5), 1), goal=2.0)
    page, _ = write_report(tmp_path, [section.finish()], {})
    assert "| >= 2 | NO |" in page.read_text(encoding="utf-8")
