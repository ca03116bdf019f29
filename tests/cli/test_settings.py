"""Parameters from a file, requirements, machine-readable answers, and reports drawn again from a stored result."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from spacectl.cli.lookup import match_units, stated_units
from spacectl.cli.main import run_command_line
from spacectl.cli.settings import parse_settings, read_settings
from spacectl.core.errors import ModelError
from spacectl.reports.folder.atomic import RECORD, file_hashes

pytestmark = pytest.mark.usefixtures("unrendered_figures")
RENDERED = True  # into pages, which must come out equal when they are drawn again


def file_of(folder: Path, text: str) -> Path:
    file = folder / "numbers.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_file_changes_parameters_and_the_command_line_wins(tmp_path: Path) -> None:
    file = file_of(tmp_path, 'requirements = ["a <= 1"]\n[parameters]\nmass = 2\nname = "x"\nsizes = [1, 2]\n')
    settings = read_settings(["mass=5"], file=file, require=["b > 2"])
    assert settings.changes == {"mass": "5", "name": "x", "sizes": [1, 2]}
    assert [str(item) for item in settings.requirements] == ["a <= 1.0", "b > 2.0"]
    assert settings.origin == {"name": "numbers.toml", "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mass = 2", "unknown entry 'mass'.*below a line \\[parameters\\]"),
        ("[parameter]\nmass = 2", "unknown entry 'parameter'; did you mean 'parameters'"),
        ("mass 2", "not TOML"),
        ("parameters = 3", "must be a table"),
        ('requirements = "a <= 1"', "must be a list of texts"),
        ('study = "other"', "it is for the study 'other', not for 'toy'"),
    ],
)
def test_a_faulty_file_raises_with_the_remedy(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=message):
        read_settings(file=file_of(tmp_path, text), study="toy")


def test_a_run_takes_a_file_and_records_it(toy_study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = file_of(tmp_path, 'study = "toy"\nrequirements = ["ringing_time <= 3"]\n[parameters]\ndamping = 1.5\n')
    out = tmp_path / "out"
    assert run_command_line(["run", str(toy_study), "--out", str(out), "-p", str(file), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["metrics"]["ringing_time"] == 2.0
    assert report["requirements"] == [{"requirement": "ringing_time <= 3.0", "is_met": True, "reason": ""}]
    record = json.loads((out / RECORD).read_text())
    assert record["changed"] == {"damping": 1.5}
    assert record["parameter_file"]["name"] == "numbers.toml"
    assert "1 of 1 requirement met" in (out / "report.html").read_text(encoding="utf-8")


def test_an_unmet_requirement_leaves_the_result_and_its_own_code(
    toy_study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    asked = ["--require", "ringing_time<=3", "--require", "ringing_tim <= 3"]
    assert run_command_line(["run", str(toy_study), "--out", str(out), *asked]) == 3
    said = capsys.readouterr().out
    assert "FAIL: ringing_time <= 3.0" in said
    assert "did you mean 'ringing_time'" in said
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "0 of 2 requirements met" in page
    assert page.count(">fail</span>") == 2


def test_a_report_is_drawn_again_from_the_folder_alone(
    toy_study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run_command_line(["run", str(toy_study), "--out", str(out)]) == 0
    before = (out / "report.html").read_text(encoding="utf-8")
    (out / "report.html").write_text("gone")
    assert run_command_line(["report", str(out)]) == 0
    assert (out / "report.html").read_text(encoding="utf-8") == before, "the same page, to the byte"
    assert run_command_line(["report", str(out), "--require", "ringing_time > 100"]) == 3
    assert "fail</span>" in (out / "report.html").read_text(encoding="utf-8")
    assert json.loads((out / RECORD).read_text())["files"] == file_hashes(out)
    assert run_command_line(["run", str(toy_study), "--out", str(out)]) == 0, "it may still be replaced"
    assert run_command_line(["report", str(tmp_path / "nothing")]) == 2
    assert "no result here" in capsys.readouterr().err


def test_the_list_is_also_for_machines(
    toy_study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "studies").mkdir()
    toy_study.rename(tmp_path / "studies" / "toy")
    monkeypatch.chdir(tmp_path)
    assert run_command_line(["list", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["toy"]["question"] == "How long does it ring?"
    assert rows["toy"]["parameters"] == {"damping": 0.5, "trouble": "none"}


def test_units_are_read_from_lists_and_patterns_of_the_readme(tmp_path: Path) -> None:
    file = tmp_path / "study.py"
    file.write_text("class Parameters:\n    mass: float = 2.0  # [kg]\n", encoding="utf-8")
    (tmp_path / "model.py").write_text("class Other:\n    length: float = 2.0  # [m]\n", encoding="utf-8")
    text = "`poles_k1`, `poles_k5` [rad/s] (a, b), `travel_k*` [m], `decay`,\n`share` [1]"
    (tmp_path / "README.md").write_text(text, encoding="utf-8")
    units = match_units(stated_units(file), ["travel_k25", "unknown"])
    expected = {"mass": "kg", "length": "m", "poles_k1": "rad/s", "poles_k5": "rad/s", "travel_k25": "m", "decay": "1"}
    assert expected.items() <= units.items()
    assert "unknown" not in units


def test_a_parameter_is_set_once() -> None:
    with pytest.raises(ModelError, match="'mass' is given twice; keep one"):
        parse_settings(["mass=1", "length=2", "mass=3"])
