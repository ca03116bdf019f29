"""A sweep is a table, figures and a report; one bad value does not lose the others."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from spacectl.cli.main import run_command_line
from spacectl.cli.points import PointJournal
from spacectl.cli.sweep import parse_values
from spacectl.core.errors import ModelError

pytestmark = pytest.mark.usefixtures("unrendered_figures")
ROOT = Path(__file__).resolve().parents[2]


def test_values_are_lists_or_ranges() -> None:
    assert parse_values("a", "1, 2,5") == ["1", "2", "5"]
    assert parse_values("a", "0:1:3") == [0.0, 0.5, 1.0]
    assert parse_values("a", "rod,ball") == ["rod", "ball"]
    assert parse_values("a", "0:1:3", is_text=True) == ["0:1:3"]
    for text in ("", "0:1:x", "0:1:0", "0:inf:3", "0:1:1000000000000"):
        with pytest.raises(ModelError, match="--over"):
            parse_values("a", text)


def test_a_sweep_writes_a_table_and_a_report(
    toy_study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    command = ["sweep", str(toy_study), "--out", str(out), "--over", "damping=0.5,0,1", "--quick", "--json"]
    assert run_command_line(command) == 1, "one value has no sense"
    report = json.loads(capsys.readouterr().out)
    assert [row["metrics"].get("ringing_time") for row in report["rows"]] == [6.0, None, 3.0]
    assert "expected a positive number" in report["rows"][1]["error"]
    with (out / "sweep.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["damping"] for row in rows] == ["0.5", "0.0", "1.0"]
    assert rows[2]["ringing_time"] == "3.0"
    page = (out / "report.html").read_text(encoding="utf-8")
    for text in ("ringing time over damping", "damping = 0.0", "expected a positive number"):
        assert text in page
    assert json.loads((out / "metrics.json").read_text())["damping"] == [0.5, 1.0]


def test_a_sweep_writes_the_requested_metrics_as_columns(
    toy_study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["sweep", str(toy_study), "--out", str(tmp_path / "out"), "--over", "damping=0.5,0,1", "--quick"]
    assert run_command_line([*command, "--metric", "ringing_time"]) == 1
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["damping", "ringing_time"]
    assert [line.split()[:2] for line in (lines[0], lines[2])] == [["0.5", "6"], ["1", "3"]]
    assert "failed" in lines[1]


def test_parameters_are_combined_or_taken_together(
    toy_study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = ["--over", "damping=1,2", "--over", "trouble=none,warning", "--json", "--metric", "ringing_time"]
    assert run_command_line(["sweep", str(toy_study), "--out", str(tmp_path / "a"), *both]) == 0
    assert len(json.loads(capsys.readouterr().out)["rows"]) == 4
    assert run_command_line(["sweep", str(toy_study), "--out", str(tmp_path / "b"), *both, "--together"]) == 0
    assert len(json.loads(capsys.readouterr().out)["rows"]) == 2
    assert run_command_line(["sweep", str(toy_study), "--out", str(tmp_path / "c"), "--over", "dampin=1"]) == 2
    assert "did you mean 'damping'" in capsys.readouterr().err
    assert not (tmp_path / "c").exists()


STUDY = """
import os, signal, time
from dataclasses import dataclass
from pathlib import Path
from spacectl.core.studies.study import Study, StudyResult

@dataclass(frozen=True)
class P:
    word: str = "a"
    trouble: str = "none"
    where: str = "."

def run(p, *, quick, progress):
    with (Path(p.where) / "log").open("a") as file:
        file.write(p.word + "\\n")
    if p.word == "bad":
        if p.trouble == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if p.trouble == "terminate":
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(30.0)
        if p.trouble != "none":
            raise {"eof": EOFError, "type": TypeError, "interrupt": KeyboardInterrupt, "memory": MemoryError}[p.trouble]("no")
    late = {"late": 1.0} if p.word != "1e3" else {}
    return StudyResult(metrics={"length": len(p.word), "word": p.word, **late})

STUDY = Study(question="?", parameters=P(), run=run)
"""


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    (tmp_path / "words.py").write_text(STUDY)
    return ["sweep", str(tmp_path / "words.py"), "--out", str(tmp_path / "out"), "--over", "word=01,bad,1e3",
            "--set", f"where={tmp_path}"]  # fmt: skip


def sweep_elsewhere(command: list[str]) -> subprocess.CompletedProcess[str]:
    start = [sys.executable, "-c", "from spacectl.cli.main import main; main()", *command]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(start, env=environment, capture_output=True, text=True, timeout=50, check=False)


def test_texts_stay_texts(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line([*words, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["metrics"]["word"] for row in rows] == ["01", "bad", "1e3"]
    assert [row["parameters"]["word"] for row in rows] == ["01", "bad", "1e3"]
    assert json.loads((tmp_path / "out" / "provenance.json").read_text())["over"] == {"word": ["01", "bad", "1e3"]}
    assert not (tmp_path / "out" / "points.jsonl").exists(), "a complete sweep needs no journal"


@pytest.mark.parametrize(
    ("trouble", "message"), [("eof", "EOFError: no"), ("type", "TypeError"), ("memory", "MemoryError")]
)
def test_any_exception_of_a_point_leaves_the_others(
    words: list[str], tmp_path: Path, trouble: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line([*words, "--set", f"trouble={trouble}", "--json"]) == 1
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["metrics"].get("length") for row in rows] == [2, None, 3]
    assert message in rows[1]["error"] and message in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_a_sweep_whose_points_all_fail_is_written_too(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [item.replace("01,bad,1e3", "bad") for item in words]
    assert run_command_line([*command, "--set", "trouble=type"]) == 1
    assert "failed: TypeError: no" in capsys.readouterr().out
    assert "TypeError: no" in (tmp_path / "out" / "sweep.csv").read_text()


@pytest.mark.parametrize(("trouble", "code"), [("interrupt", 130), ("terminate", 143), ("kill", -9)])
def test_finished_points_are_not_run_again(
    words: list[str], tmp_path: Path, trouble: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    done = sweep_elsewhere([*words, "--set", f"trouble={trouble}"])
    assert done.returncode == code, done.stderr
    if trouble != "kill":
        assert done.stderr == "spacectl: interrupted; finished points are kept, run it again to continue\n"
    lines = (tmp_path / "out" / "points.jsonl").read_text().splitlines()
    assert [json.loads(line)["metrics"] for line in lines[1:]] == [{"length": 2, "word": "01", "late": 1.0}]
    with (tmp_path / "out" / "points.jsonl").open("a") as file:
        file.write('{"parameters": {"wo')  # as if killed while writing
    assert sweep_elsewhere([*words, "--set", f"trouble={trouble}"]).returncode == code
    assert (tmp_path / "log").read_text().split() == ["01", "bad", "bad"], "the first point was not run again"
    assert run_command_line(words) == 0, "another setting: all points are run"
    assert (tmp_path / "log").read_text().split() == ["01", "bad", "bad", "01", "bad", "1e3"]


def test_names_and_sizes_are_checked_before_the_first_run(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = words[:4]
    many = ",".join(map(str, range(101)))
    for extra, message in (
        (["--over", "word=a,b", "--set", "word=c"], "both by --set and by --over"),
        (["--over", f"word={many}", "--over", f"trouble={many}"], "10201 runs; expected up to 10000"),
        (["--over", "wrod=1:2:3"], "did you mean 'word'"),
        (["--over", "word=a", "--over", "word=b"], "--over 'word=b': 'word' is given twice"),
    ):
        assert run_command_line([*base, *extra]) == 2
        assert message in capsys.readouterr().err
    assert not (tmp_path / "log").exists() and not (tmp_path / "out").exists()


def test_a_wrong_metric_is_reported_after_one_point_which_is_stored(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line([*words, "--metric", "lenght"]) == 2
    assert "did you mean 'length'" in capsys.readouterr().err
    assert (tmp_path / "log").read_text().split() == ["01"]
    assert run_command_line([*words, "--metric", "length"]) == 0
    assert (tmp_path / "log").read_text().split() == ["01", "bad", "1e3"], "the first point was kept"


def test_a_metric_that_a_later_point_lacks_does_not_end_the_sweep(words: list[str], tmp_path: Path) -> None:
    assert run_command_line([*words, "--metric", "late"]) == 0
    with (tmp_path / "out" / "sweep.csv").open() as file:
        assert [row["late"] for row in csv.DictReader(file)] == ["1.0", "1.0", ""]


def test_a_point_that_failed_is_run_again(tmp_path: Path) -> None:
    good, bad = ({"parameters": {"mass": mass}, "error": error} for mass, error in ((1.0, ""), (2.0, "too heavy")))
    with PointJournal(tmp_path / "out", "sweep of masses") as journal:
        journal.add(good)
        journal.add(bad)
    with PointJournal(tmp_path / "out", "sweep of masses") as journal:
        assert len(journal) == 2
        assert journal.find({"mass": 1.0}) == good
        assert journal.find({"mass": 2.0}) is None and journal.find({"mass": 3.0}) is None
