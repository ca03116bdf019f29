"""The gallery runs all studies, reuses finished ones, continues after a failure, and reports everything on one page."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest

from spacectl.cli import gallery as cli_gallery
from spacectl.cli.main import run_command_line

pytestmark = pytest.mark.usefixtures("unrendered_figures")
PUBLISHED = """
    printed=(
        PublishedResult(what="ringing time <b>", source="handbook p. 1", printed=6.1, ours=3.0 / parameters.damping, unit="s",
                        within=0.05),
        PublishedResult(what="sign", source="handbook Eq 3", printed="plus", ours="minus", remark="misprint",
                        holds=parameters.damping < 0.0, criterion="damping below 0",
                        independent=parameters.damping < 0.0, independent_by="the same <i>"),
    ),
"""


@pytest.fixture
def studies(toy_study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a study that has published results, and one that fails."""
    folder = tmp_path / "here" / "studies"
    folder.mkdir(parents=True)
    for name in ("bad", "good"):
        shutil.copytree(toy_study, folder / name)
    good, bad = folder / "good" / "study.py", folder / "bad" / "study.py"
    imported = "from spacectl.core.studies.published import PublishedResult\nfrom spacectl.core.studies.study"
    text = good.read_text().replace("from spacectl.core.studies.study", imported)
    good.write_text(text.replace('notes=("The peer is not installed.",),', PUBLISHED))
    bad.write_text(bad.read_text().replace('trouble: str = "none"', 'trouble: str = "solver"'))
    monkeypatch.chdir(folder.parent)
    monkeypatch.setattr(
        cli_gallery, "list_studies", lambda: {name: folder / name / "study.py" for name in ("bad", "good")}
    )
    return folder


def test_a_failure_is_named_and_the_others_go_on(studies: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["gallery", "--out", "all", "--quick"]) == 1
    said = capsys.readouterr().out
    assert "[1/2] bad: FAILED: SolverError: the step became too small" in said
    assert "[2/2] good: done" in said
    page = Path("all/index.html").read_text(encoding="utf-8")
    for text in (
        "the step became too small",
        "ringing time &lt;b&gt;",
        "handbook p. 1",
        "agrees",
        "corrected",
        "\N{PLUS-MINUS SIGN} 5 %",
        "damping below 0",
        "independent: does not hold (the same &lt;i&gt;)",
        "data:image/png",
    ):
        assert text in page
    assert 'href="good/report.html"' in page
    assert "<script" not in page
    assert Path("all/good/report.html").is_file()
    assert not Path("all/bad").exists()


def test_finished_studies_are_reused_until_they_change(studies: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["gallery", "--out", "all", "--only", "good", "--json"]
    states = []
    for change in ("", "", "--quick", "# another\n"):
        if change.startswith("#"):
            file = studies / "good" / "study.py"
            file.write_text(file.read_text() + change)
        assert run_command_line([*command, *([change] if change.startswith("--") else [])]) == 0
        (row,) = json.loads(capsys.readouterr().out)["studies"]
        states.append(row["state"])
    assert states == ["done", "kept", "done", "done"]
    Path("all/good/report.json.gz").write_bytes(gzip.compress(b'{"format": 1}'))
    assert run_command_line(command) == 0
    assert json.loads(capsys.readouterr().out)["studies"][0]["state"] == "done", "of an older form: run again"
    data = bytearray(Path("all/good/result.nc").read_bytes())
    data[len(data) // 2] ^= 1
    Path("all/good/result.nc").write_bytes(data)
    assert run_command_line(command) == 0
    assert json.loads(capsys.readouterr().out)["studies"][0]["state"] == "done", "a damaged file: run again"
    assert run_command_line(command) == 0
    assert json.loads(capsys.readouterr().out)["studies"][0]["state"] == "kept"


def test_an_interrupt_leaves_finished_studies_and_a_page_that_says_what_is_missing(
    studies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {"good": studies / "good" / "study.py", "stopped": studies / "bad" / "study.py"}
    monkeypatch.setattr(cli_gallery, "list_studies", lambda: names)
    bad = names["stopped"]
    bad.write_text(bad.read_text().replace('trouble: str = "solver"', 'trouble: str = "interrupt"'))
    assert run_command_line(["gallery", "--out", "all"]) == 130
    assert "not run yet" in Path("all/index.html").read_text(encoding="utf-8")
    assert Path("all/good/report.html").is_file()
    assert sorted(path.name for path in Path("all").iterdir()) == ["good", "index.html"], "no leftovers"


def test_a_page_of_another_origin_is_not_overwritten(studies: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("all").mkdir()
    Path("all/index.html").write_text("<html>mine</html>")
    assert run_command_line(["gallery", "--out", "all"]) == 2
    assert "choose another folder" in capsys.readouterr().err
    assert run_command_line(["gallery", "--out", "all", "--only", "god"]) == 2
    assert "did you mean 'good'" in capsys.readouterr().err


def test_a_changed_case_is_not_judged_against_published_results(studies: Path) -> None:
    for value, is_judged in (("0.5", True), ("0.49", False)):
        assert (
            run_command_line(["run", str(studies / "good"), "--set", f"damping={value}", "--out", "one", "--quick"])
            == 0
        )
        page = Path("one/report.html").read_text(encoding="utf-8")
        assert (">agrees</span>" in page) is (">corrected</span>" in page) is is_judged
        assert ("this run changed damping" in page) is (">not comparable</span>" in page) is not is_judged


def test_a_diverged_simulation_is_shown_as_failed(studies: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = studies / "good" / "study.py"
    text = file.read_text().replace("Outcome(stats", "Outcome(status=Status.DIVERGED, message='guard lost', stats")
    file.write_text(text.replace("import Outcome", "import Outcome, Status"))
    assert run_command_line(["run", str(studies / "good"), "--out", "one", "--quick"]) == 0
    page = Path("one/report.html").read_text(encoding="utf-8")
    assert '<span class="status bad">diverged</span>' in page
    assert "simulation &#39;ringing&#39; diverged: guard lost" in page
    said = capsys.readouterr()
    assert "simulation 'ringing' diverged: guard lost" in said.out + said.err
