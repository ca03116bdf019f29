"""Studies run through the command line: two quickly in the ordinary tests, all of them, also in full, in the slow ones."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from subprocess import run
from sys import executable

import pytest

from spacectl.cli.lookup import load_study, match_units
from spacectl.cli.main import run_command_line

ROOT = Path(__file__).resolve().parents[2]
STUDIES = sorted(file.parent for file in (ROOT / "studies").glob("*/study.py"))
#: Through the command line in the ordinary tests; tests/studies runs every study quickly, without drawing it
IN_EVERY_RUN = ("free_flyer_arm", "two_bar_linkage")
QUICK = [study if study.name in IN_EVERY_RUN else pytest.param(study, marks=pytest.mark.slow) for study in STUDIES]


def test_there_is_a_study() -> None:
    assert STUDIES


def run_and_read(study: Path, out: Path, *options: str) -> dict[str, object]:
    assert run_command_line(["run", str(study), "--out", str(out), *options]) == 0
    assert (out / "report.html").stat().st_size > 0
    metrics: dict[str, object] = json.loads((out / "metrics.json").read_text())
    assert metrics, "a study without metrics answers nothing"
    return metrics


def require_units(study: Path, metrics: dict[str, object]) -> None:
    units = match_units(load_study(study / "study.py").units, metrics)
    silent = [name for name in metrics if name not in units]
    assert not silent, f"README.md: list `{silent[:1]}` with its unit, as `name` [unit]"


@pytest.mark.parametrize("study", QUICK, ids=[study.name for study in STUDIES])
def test_a_quick_run_succeeds_and_its_metrics_are_explained(study: Path, tmp_path: Path) -> None:
    require_units(study, run_and_read(study, tmp_path / "out", "--quick"))


@pytest.mark.slow
@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_a_full_run_succeeds_with_at_least_the_same_metrics(study: Path, tmp_path: Path) -> None:
    quick = run_and_read(study, tmp_path / "quick", "--quick")
    full = run_and_read(study, tmp_path / "full")
    assert not set(quick) - set(full), "the full form has all metrics of the quick one, and perhaps more cases"
    require_units(study, full)


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_a_study_explains_itself(study: Path) -> None:
    loaded = load_study(study / "study.py")
    readme = (study / "README.md").read_text(encoding="utf-8")
    assert loaded.study.question.endswith("?")
    for heading in ("**Question.**", "**Method.**"):
        assert heading in readme


@pytest.mark.slow
def test_the_wheel_ships_studies_templates_and_sources(tmp_path: Path) -> None:
    done = run(
        [executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(tmp_path), str(ROOT)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("spacectl-*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    for study in STUDIES:
        assert f"spacectl/_studies/{study.name}/study.py" in names
    for pattern in ("*.c", "*.h", "*.html", "*.css", "*.js", "*.txt"):
        for file in (ROOT / "spacectl").rglob(pattern):
            assert file.relative_to(ROOT).as_posix() in names
