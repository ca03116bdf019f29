"""A sweep is a table, figures and a report; one bad value does not lose the others."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from spacectl.cli import run_command_line
from spacectl.cli_sweep import parse_values
from spacectl.core.errors import ModelError


def test_values_are_lists_or_ranges() -> None:
    assert parse_values("a", "1, 2,5") == [1.0, 2.0, 5.0]
    assert parse_values("a", "0:1:3") == [0.0, 0.5, 1.0]
    assert parse_values("a", "rod,ball") == ["rod", "ball"]
    for text in ("", "0:1:x"):
        with pytest.raises(ModelError, match="--over"):
            parse_values("a", text)


def test_a_sweep_writes_a_table_and_a_report(
    toy_study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    command = ["sweep", str(toy_study), "--out", str(out), "--over", "damping=0.5,0,1", "--quick", "--json"]
    assert run_command_line(command) == 1, "one value has no sense"
    told = json.loads(capsys.readouterr().out)
    assert [row["metrics"].get("ringing_time") for row in told["rows"]] == [6.0, None, 3.0]
    assert "expected a positive number" in told["rows"][1]["error"]
    with (out / "sweep.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["damping"] for row in rows] == ["0.5", "0.0", "1.0"]
    assert rows[2]["ringing_time"] == "3.0"
    page = (out / "report.html").read_text(encoding="utf-8")
    for text in ("ringing time over damping", "damping = 0.0", "expected a positive number"):
        assert text in page
    assert json.loads((out / "metrics.json").read_text())["damping"] == [0.5, 1.0]


def test_a_sweep_tells_what_was_asked_for_in_columns(
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
