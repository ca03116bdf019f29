"""``python -m spacectl`` and ``python -m spacectl.cli`` are the command line; nothing ends a command without a line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from spacectl.cli.main import run_command_line

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("module", ["spacectl", "spacectl.cli"])
def test_the_module_is_the_command(module: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", module, "check", "nowhere.toml"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=50, check=False)
    assert done.returncode == 2
    assert "nowhere.toml" in done.stderr


STUDY = """
from dataclasses import dataclass
from spacectl.core.studies.study import Study

class Odd(BaseException):
    pass

@dataclass(frozen=True)
class P:
    mass: float = 1.0

def run(p, *, quick, progress):
    raise Odd("past every handler")

STUDY = Study(question="?", parameters=P(), run=run)
"""


def test_an_exception_past_every_handler_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "odd.py").write_text(STUDY)
    assert run_command_line(["run", str(tmp_path / "odd.py"), "--out", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert "unexpected Odd: past every handler" in said
    assert "Traceback" not in said
