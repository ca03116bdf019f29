"""A result folder is complete or absent, and never takes the place of somebody else's files."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray

from spacectl.controllers.regulators.pd import design_pd
from spacectl.core.errors import ModelError
from spacectl.core.figure import Figure, Line, Panel
from spacectl.core.studies.study import StudyResult
from spacectl.dynamics.form import form_equations
from spacectl.model.library import pendulum
from spacectl.reports.folder import atomic
from spacectl.reports.folder.atomic import check_replaceable, complete_folder, file_hashes
from spacectl.reports.folder.folder import rebuild_report, write_study_folder
from spacectl.reports.folder.leftovers import OLD, process_mark
from spacectl.reports.page.summary import StudyRecord
from spacectl.simulation.events import Guard
from spacectl.simulation.load import load_simulation
from spacectl.simulation.run.simulate import simulate
from tests.reports.test_page import run_of

pytestmark = pytest.mark.usefixtures("unrendered_figures")
RENDERED = True  # into pages, which must come out equal when they are drawn again
RECORD = StudyRecord(name="demo", question="Does it work?")


def result_of(value: float) -> StudyResult:
    figure = Figure(name="line", title="Line", panels=[Panel(lines=[Line(x=[0.0, 1.0], y=[0.0, value])], y_label="y")])
    return StudyResult(
        metrics={"value": value}, simulations={"a": run_of(("q",)), "b": run_of(("q", "r"))}, figures=[figure]
    )


def test_everything_is_there_and_the_record_lists_it(tmp_path: Path) -> None:
    folder = write_study_folder(result_of(2.0), tmp_path / "deep" / "out", record=RECORD)
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    expected = {
        "metrics.json",
        "parameters.json",
        "result.nc",
        "report.html",
        "provenance.json",
        "report.json.gz",
        "figures/line.png",
        "figures/line.svg",
        "figures/line.pdf",
    }
    assert files == expected
    record = json.loads((folder / "provenance.json").read_text())
    assert set(record["files"]) == expected - {"provenance.json"}
    assert record["files"]["metrics.json"] == hashlib.sha256((folder / "metrics.json").read_bytes()).hexdigest()
    assert json.loads((folder / "metrics.json").read_text()) == {"value": 2.0}


def test_data_come_back_from_the_netcdf_groups(tmp_path: Path) -> None:
    folder = write_study_folder(result_of(2.0), tmp_path / "out", record=RECORD)
    with xarray.open_dataset(folder / "result.nc", group="b", engine="h5netcdf") as data:
        assert data["x"].sel(state="r").values[-1] == 1.0
        assert data.attrs["system"] == "q"
        assert np.array_equal(data["state_unit"].values, ["rad", "rad"])


def test_an_earlier_result_is_replaced_when_the_new_one_is_complete(tmp_path: Path) -> None:
    write_study_folder(result_of(1.0), tmp_path / "out", record=RECORD)
    write_study_folder(StudyResult(metrics={"value": 2.0}), tmp_path / "out", record=RECORD)
    assert json.loads((tmp_path / "out" / "metrics.json").read_text()) == {"value": 2.0}
    assert not (tmp_path / "out" / "figures").exists(), "nothing of the old result is left"
    assert [path.name for path in tmp_path.iterdir()] == ["out"], "no temporary folder stays"


def test_a_failure_leaves_the_earlier_result_and_nothing_else(tmp_path: Path) -> None:
    write_study_folder(result_of(1.0), tmp_path / "out", record=RECORD)
    bad = replace(result_of(2.0), simulations={"a/b": run_of(("q",))})
    with pytest.raises(ModelError, match="simulation name 'a/b'"):
        write_study_folder(bad, tmp_path / "out", record=RECORD)
    assert json.loads((tmp_path / "out" / "metrics.json").read_text()) == {"value": 1.0}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("kind", ["foreign", "added", "file", "link"])
def test_other_peoples_files_are_never_replaced(tmp_path: Path, kind: str) -> None:
    out = tmp_path / "out"
    if kind == "added":
        write_study_folder(result_of(1.0), out, record=RECORD)
    if kind in ("foreign", "added"):
        out.mkdir(exist_ok=True)
        (out / "thesis.txt").write_text("years of work")
    elif kind == "file":
        out.write_text("years of work")
    else:
        (tmp_path / "home").mkdir()
        out.symlink_to(tmp_path / "home")
    before = sorted(path.name for path in tmp_path.rglob("*"))
    with pytest.raises(ModelError, match="output '.*': it (contains 'thesis.txt'|is not a folder)"):
        write_study_folder(result_of(2.0), out, record=RECORD)
    assert sorted(path.name for path in tmp_path.rglob("*")) == before


def test_an_interrupt_while_writing_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), complete_folder(tmp_path / "out") as work:
        (work / "half").write_text("written")
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_the_current_folder_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError, match="current folder"):
        write_study_folder(result_of(1.0), Path("."), record=RECORD)


def test_the_top_of_the_file_system_is_refused() -> None:
    with pytest.raises(ModelError, match="root of the file system"):
        check_replaceable(Path("/"))


def test_simulations_come_back_from_their_groups_as_they_were(tmp_path: Path) -> None:
    eom = form_equations(pendulum())
    guard = Guard(name="half way", expression=lambda s: s["hinge"] - 0.15, is_terminal=False)
    sim = simulate(eom, design_pd(eom, kp=2.0, kd=1.0), x0={"hinge": 0.3}, t_span=(0.0, 1.0), guards=[guard])
    folder = write_study_folder(
        StudyResult(metrics={}, simulations={"first": sim, "second": run_of(("q",))}), tmp_path / "out", record=RECORD
    )
    back = load_simulation(folder / "result.nc", group="first")
    assert back.dataset.identical(sim.dataset)
    assert back.outcome == sim.outcome
    assert back.events == sim.events
    assert len(back.events) > 0
    with pytest.raises(ModelError, match="several simulations; name one by group=...: 'first', 'second'"):
        load_simulation(folder / "result.nc")
    with pytest.raises(ModelError, match="did you mean 'first'"):
        load_simulation(folder / "result.nc", group="frist")
    write_study_folder(StudyResult(metrics={}, simulations={"only": sim}), tmp_path / "one", record=RECORD)
    assert load_simulation(tmp_path / "one" / "result.nc").dataset.identical(sim.dataset)


def test_leftovers_of_killed_runs_go_and_everything_else_stays(tmp_path: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    machine = process_mark().split("-")[0]
    dead = tmp_path / f".out.{machine}-{int(ended.stdout)}.abcd1234.part"
    aged = tmp_path / ".out.abcd1234.part"
    kept = [
        tmp_path / f".out.{process_mark()}.abcd1234.part",  # of a process that runs
        tmp_path / f".out.00000000-{int(ended.stdout)}.abcd1234.part",  # of another machine
        tmp_path / ".out.abcd5678.part",  # without a mark, and young
        tmp_path / ".out.notes.part",
        tmp_path / ".other.abcd1234.part",
    ]
    for path in (dead, aged, *kept):
        path.mkdir()
        (path / "half").write_text("written")
    long_ago = time.time() - 2.0 * OLD
    for path in (aged, *kept[3:]):
        os.utime(path, (long_ago, long_ago))
    with complete_folder(tmp_path / "out") as work:
        (work / "whole").write_text("written")
    assert sorted(tmp_path.iterdir()) == sorted([*kept, tmp_path / "out"])


def test_an_interruption_while_a_page_is_drawn_again_leaves_the_old_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_study_folder(result_of(2.0), tmp_path / "out", record=RECORD)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        rebuild_report(folder)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def mounted(monkeypatch: pytest.MonkeyPatch, folder: Path, how: str) -> None:
    """Make a folder behave as a mount point: one that the system reports (``"reported"``), or one of the same disk."""
    rename = Path.rename

    def busy(self: Path, target: Path) -> Path:
        if self == folder:
            raise OSError(errno.EBUSY, "Device or resource busy", str(self))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", busy)
    if how == "reported":
        monkeypatch.setattr(os.path, "ismount", lambda path: Path(path) == folder)


@pytest.mark.parametrize("how", ["reported", "bound"])
def test_a_mount_point_is_filled_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    out = tmp_path / "disk"
    out.mkdir()
    (out / "lost+found").mkdir()
    mounted(monkeypatch, out, how)
    write_study_folder(result_of(1.0), out, record=RECORD, tables={"old.csv": "a"})
    write_study_folder(result_of(2.0), out, record=RECORD)
    assert json.loads((out / "metrics.json").read_text()) == {"value": 2.0}
    record = json.loads((out / "provenance.json").read_text())
    assert record["files"] == file_hashes(out) and "is_complete" not in record
    assert not (out / "old.csv").exists(), "what the new result does not have is gone"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["disk"]
    assert not [path for path in out.iterdir() if path.name.endswith(".part")]
    (out / "thesis.txt").write_text("years of work")
    with pytest.raises(ModelError, match="contains 'thesis.txt'"):
        write_study_folder(result_of(3.0), out, record=RECORD)


@pytest.mark.parametrize("files", [0, 1, 3])
def test_a_mount_point_that_is_filled_by_half_is_known_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: int
) -> None:
    out = tmp_path / "disk"
    out.mkdir()
    mounted(monkeypatch, out, "reported")
    write_study_folder(result_of(1.0), out, record=RECORD)
    move, moved = atomic._move, []

    def stop_later(file: Path, target: Path) -> None:
        if len(moved) > files:
            raise KeyboardInterrupt
        moved.append(target)
        move(file, target)

    monkeypatch.setattr(atomic, "_move", stop_later)
    with pytest.raises(KeyboardInterrupt):
        write_study_folder(result_of(2.0), out, record=RECORD)
    assert json.loads((out / "provenance.json").read_text())["files"] != file_hashes(out), "no complete result"
    monkeypatch.setattr(atomic, "_move", move)
    write_study_folder(result_of(3.0), out, record=RECORD)
    assert json.loads((out / "provenance.json").read_text())["files"] == file_hashes(out)


def test_a_page_drawn_again_does_not_validate_other_changed_files(tmp_path: Path) -> None:
    folder = write_study_folder(result_of(2.0), tmp_path / "out", record=RECORD)
    (folder / "metrics.json").write_text("{}")
    rebuild_report(folder)
    files, found = json.loads((folder / "provenance.json").read_text())["files"], file_hashes(folder)
    assert [name for name in files if files[name] != found[name]] == ["metrics.json"]


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty"])
def test_a_damaged_document_raises(tmp_path: Path, damage: str) -> None:
    folder = write_study_folder(result_of(2.0), tmp_path / "out", record=RECORD)
    data = bytearray((folder / "report.json.gz").read_bytes())
    if damage == "flipped":
        data[len(data) // 2] ^= 1
    (folder / "report.json.gz").write_bytes({"cut": data[: len(data) // 2], "empty": b""}.get(damage, data))
    with pytest.raises(ModelError, match=r"report.json.gz cannot be read .*run the study again"):
        rebuild_report(folder)
