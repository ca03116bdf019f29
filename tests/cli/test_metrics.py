"""`spacectl metrics` collects what all studies find, keeps what is done, and lists what differs from another file."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from spacectl.cli import gallery as cli_gallery
from spacectl.cli.main import run_command_line
from spacectl.core.errors import ModelError
from spacectl.reports.folder.metric_files import compare_metrics, read_metrics


@pytest.fixture
def studies(toy_study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a study that works and one that fails."""
    folder = tmp_path / "here" / "studies"
    folder.mkdir(parents=True)
    for name in ("bad", "good"):
        shutil.copytree(toy_study, folder / name)
    bad = folder / "bad" / "study.py"
    bad.write_text(bad.read_text().replace('trouble: str = "none"', 'trouble: str = "solver"'))
    monkeypatch.chdir(folder.parent)
    monkeypatch.setattr(
        cli_gallery, "list_studies", lambda: {name: folder / name / "study.py" for name in ("bad", "good")}
    )
    return folder


def test_both_forms_are_collected_and_a_failure_is_recorded(studies: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["metrics", "--out", "m.json"]) == 1
    assert "[full 1/2] bad: FAILED: SolverError" in capsys.readouterr().out
    found = read_metrics(Path("m.json"))
    assert set(found["good"]) == {"quick", "full"} and found["good"]["full"]["metrics"]
    assert found["bad"]["quick"]["error"].startswith("SolverError")


def test_finished_studies_are_reused_until_their_code_changes(
    studies: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["metrics", "--out", "m.json", "--form", "quick", "--only", "good"]
    assert run_command_line(command) == 0
    capsys.readouterr()
    assert run_command_line(command) == 0
    assert "good: kept" in capsys.readouterr().out
    file = studies / "good" / "study.py"
    file.write_text(file.read_text() + "\n# another line\n")
    assert run_command_line(command) == 0
    assert "good: kept" not in capsys.readouterr().out


def test_differences_from_another_file_are_listed(studies: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["metrics", "--out", "m.json", "--form", "quick", "--only", "good"]
    run_command_line(command)
    data = json.loads(Path("m.json").read_text())
    metrics = data["studies"]["good"]["quick"]["metrics"]
    name = next(key for key, value in metrics.items() if isinstance(value, float) and abs(value) > 1e-3)
    metrics[name] *= 1.01
    Path("other.json").write_text(json.dumps(data))
    capsys.readouterr()
    assert run_command_line([*command, "--against", "other.json"]) == 0
    said = capsys.readouterr().out
    assert f"good [quick] {name}:" in said and "1 metrics differ" in said


def test_digits_that_are_not_shown_and_rounding_do_not_count_as_changes() -> None:
    def entry(**metrics: object) -> dict[str, object]:
        return {"s": {"quick": {"metrics": metrics}}}

    before = entry(time=1.0, error=1e-14, gone=1.0, verdict=True, rows=[1.0, 2.0])
    after = entry(time=1.0 + 1e-12, error=3e-14, new=2.0, verdict=False, rows=[1.0, 2.5])
    kinds = {change.name: change.kind for change in compare_metrics(before, after)}
    assert kinds == {"error": "noise", "gone": "gone", "new": "new", "verdict": "changed", "rows": "changed"}
    assert not compare_metrics(before, before)
    assert not compare_metrics(before, {})


@pytest.mark.parametrize("text", ["{}", "[1]", "no json", '{"kind": "spacectl metrics 1", "studies": {"a": {"b": 1}}}'])
def test_another_kind_of_file_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "m.json"
    file.write_text(text)
    with pytest.raises(ModelError, match="is not one that `spacectl metrics` wrote"):
        read_metrics(file)
    with pytest.raises(ModelError, match=r"none.json.*write it with `spacectl metrics`"):
        read_metrics(tmp_path / "none.json")
