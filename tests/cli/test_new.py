"""What `spacectl new` writes runs at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from spacectl.cli.main import run_command_line

ROOT = Path(__file__).resolve().parents[2]


def test_a_new_study_runs_and_its_metrics_have_units(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_command_line(["new", "study", "ringing"]) == 0
    assert "spacectl run ringing --out out/ringing" in capsys.readouterr().out
    asked = ["--require", "peak_torque <= 30", "--require", "late_deflection <= 0.05"]
    assert run_command_line(["run", "ringing", "--out", "out/ringing", "--quick", *asked]) == 0
    said = capsys.readouterr().out
    assert "peak_deflection" in said
    assert "late_deflection" in said
    metrics = json.loads(Path("out/ringing/metrics.json").read_text())
    assert abs(metrics["final_error"]) < 0.01
    assert 0.0 < metrics["late_deflection"] < metrics["peak_deflection"]
    page = Path("out/ringing/report.html").read_text(encoding="utf-8")
    for text in ("boom: beam", 'id="replay-stage"', "2 of 2 requirements met"):
        assert text in page
    assert run_command_line(["new", "study", "ringing"]) == 2
    assert "exists already" in capsys.readouterr().err


def test_a_new_model_runs_and_its_file_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["new", "model", "arm", "--into", str(tmp_path)]) == 0
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "arm.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "arm.html").stat().st_size > 1_000_000
    assert run_command_line(["check", str(tmp_path / "arm.toml")]) == 0
    assert run_command_line(["bench", str(tmp_path / "arm.toml"), "--seconds", "0.1", "--json"]) == 0
    assert '"linearisation"' in capsys.readouterr().out


def test_written_files_are_reported_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for kind in ("study", "model"):
        assert run_command_line(["new", kind, "ringing", "--into", str(tmp_path), "--json"]) == 0
        report = json.loads(capsys.readouterr().out)
        assert all(Path(file).is_file() for file in report["files"])
        assert report["next"].split()[0] in ("spacectl", "python")


@pytest.mark.parametrize("name", ["2fast", "a-b", "class", "../up", ""])
def test_names_that_python_cannot_import_are_refused(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["new", "study", name]) == 2
    assert "name" in capsys.readouterr().err
