"""The command line: what it writes, what it says, and its exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from spacectl import __version__
from spacectl.cli.main import run_command_line
from spacectl.model.files import save_system
from spacectl.model.library import free_flyer_arm

ROOT = Path(__file__).resolve().parents[2]


def test_a_run_writes_a_complete_folder(toy_study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert run_command_line(["run", str(toy_study), "--out", str(out)]) == 0
    assert json.loads((out / "metrics.json").read_text())["ringing_time"] == 6.0
    assert json.loads((out / "parameters.json").read_text()) == {"damping": 0.5, "trouble": "none"}
    provenance = json.loads((out / "provenance.json").read_text())
    assert provenance["study"] == "toy"
    assert provenance["changed"] == {}
    for name in ("report.html", "result.nc", "figures/angle.png", "figures/angle.svg"):
        assert (out / name).stat().st_size > 0
    said = capsys.readouterr()
    assert "ringing_time = 6 s" in said.out
    assert f"report: {out / 'report.html'}" in said.out
    assert "note: The peer is not installed." in said.err


def test_set_and_quick_change_the_result(toy_study: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert (
        run_command_line(["run", str(toy_study / "study.py"), "--out", str(out), "--quick", "--set", "damping=1.5"])
        == 0
    )
    metrics = json.loads((out / "metrics.json").read_text())
    assert metrics["ringing_time"] == 2.0
    assert metrics["is_quick"] is True
    assert json.loads((out / "provenance.json").read_text())["changed"] == {"damping": 1.5}
    assert "changed from 0.5" in (out / "report.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["run", "TOY", "--out", "OUT", "--set", "damping=-1"], 2, "damping is -1 1/s, expected a positive number"),
        (
            ["run", "TOY", "--out", "OUT", "--set", "dampin=1"],
            2,
            "study 'toy': unknown parameter 'dampin'; did you mean 'damping'",
        ),
        (
            ["run", "TOY", "--out", "OUT", "--set", "damping=soft"],
            2,
            "parameter 'damping': cannot read 'soft' as float",
        ),
        (["run", "TOY", "--out", "OUT", "--set", "damping"], 2, "expected name=value"),
        (["run", "TOY", "--out", "OUT", "--set", "damping=1", "--set", "damping=2"], 2, "given twice"),
        (["run", "no_such_study", "--out", "OUT"], 2, "unknown study 'no_such_study'"),
        (["run", "TOY"], 2, "--out"),
        (["run", "TOY", "--out", "OUT", "--fast"], 2, "--fast"),
        (["fly"], 2, "No such command 'fly'"),
        (["check", "OUT.toml"], 2, "cannot be read"),
        (["run", "TOY", "--out", "/"], 2, "output '/': it is the root of the file system"),
        (["run", "TOY", "--out", "OUT", "--set", "trouble=solver"], 1, "the step became too small"),
        (
            ["run", "TOY", "--out", "OUT", "--set", "trouble=bug"],
            1,
            "unexpected KeyError: 'nobody expected this' (study.py, line",
        ),
        (["run", "TOY", "--out", "OUT", "--set", "trouble=interrupt"], 130, "interrupted"),
        (["run", "TOY", "--out", "OUT", "--set", "trouble=end"], 1, "unexpected EOFError: half a file (study.py, line"),
        (
            ["run", "TOY", "--out", "OUT", "--require", "final_angle <= inf"],
            2,
            "the bound is inf, expected a finite number",
        ),
        (
            ["run", "TOY", "--out", "OUT", "--require", "final_angle <= nan"],
            2,
            "the bound is nan, expected a finite number",
        ),
    ],
)
def test_a_failure_is_one_line_and_leaves_nothing(
    arguments: list[str], code: int, message: str, toy_study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [word.replace("TOY", str(toy_study)).replace("OUT", str(tmp_path / "out")) for word in arguments]
    assert run_command_line(words) == code
    said = capsys.readouterr()
    assert message in said.err
    assert len(said.err.strip().splitlines()) == 1, said.err
    assert "Traceback" not in said.err
    assert said.out == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["toy"]


def test_debug_adds_the_traceback(toy_study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        run_command_line(["run", str(toy_study), "--out", str(tmp_path / "out"), "--set", "trouble=bug", "--debug"])
        == 1
    )
    assert "Traceback" in capsys.readouterr().err


def test_a_failed_run_keeps_the_earlier_result(toy_study: Path, tmp_path: Path) -> None:
    run = ["run", str(toy_study), "--out", str(tmp_path / "out")]
    assert run_command_line(run) == 0
    before = (tmp_path / "out" / "provenance.json").read_bytes()
    assert run_command_line([*run, "--set", "trouble=solver"]) == 1
    assert (tmp_path / "out" / "provenance.json").read_bytes() == before


def test_warnings_are_printed_and_in_the_report(
    toy_study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["run", str(toy_study), "--out", str(tmp_path / "out"), "--set", "trouble=warning"]) == 0
    assert "warning: the <b>peer</b> is not installed" in capsys.readouterr().err
    assert "the &lt;b&gt;peer&lt;/b&gt; is not installed" in (tmp_path / "out" / "report.html").read_text()


def test_a_foreign_folder_is_refused_before_the_study_runs(
    toy_study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.txt").write_text("years of work")
    assert run_command_line(["run", str(toy_study), "--out", str(out), "--set", "trouble=bug"]) == 2
    assert "thesis.txt" in capsys.readouterr().err
    assert (out / "thesis.txt").read_text() == "years of work"


def test_names_are_looked_up_in_the_studies_folder_first(
    toy_study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "studies").mkdir()
    toy_study.rename(tmp_path / "studies" / "free_flyer_arm")
    monkeypatch.chdir(tmp_path)
    assert run_command_line(["list"]) == 0
    assert "free_flyer_arm How long does it ring?" in " ".join(capsys.readouterr().out.split())
    assert run_command_line(["run", "free_flyer_arm", "--out", "out"]) == 0
    assert json.loads(Path("out/metrics.json").read_text())["ringing_time"] == 6.0


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1\n", "has no STUDY"),
        ("import no_such_module\n", "cannot be loaded (ModuleNotFoundError"),
        ("def\n", "cannot be loaded (SyntaxError"),
        ("raise SystemExit(3)\n", "ends the program when it is loaded (SystemExit: 3)"),
    ],
)
def test_a_broken_study_is_named_and_hides_no_other(
    source: str,
    message: str,
    toy_study: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    broken = tmp_path / "studies" / "broken"
    broken.mkdir(parents=True)
    (broken / "study.py").write_text(source)
    toy_study.rename(tmp_path / "studies" / "toy")
    monkeypatch.chdir(tmp_path)
    assert run_command_line(["run", "broken", "--out", "out"]) == 2
    assert message in capsys.readouterr().err
    assert run_command_line(["list"]) == 0
    assert "How long does it ring?" in capsys.readouterr().out


def test_check_prints_names_units_and_limits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = save_system(free_flyer_arm(), tmp_path / "arm.toml")
    assert run_command_line(["check", str(file)]) == 0
    said = capsys.readouterr().out
    for text in (
        "free-flyer arm: 9 bodies",
        "coordinates q (14)",
        "base.qw",
        "speeds v (13)",
        "inputs u (7)",
        "from −200 to 200",
    ):
        assert text in said


def test_check_reports_the_same_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = save_system(free_flyer_arm(), tmp_path / "arm.toml")
    assert run_command_line(["check", str(file), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["bodies"], len(report["coordinates"]), len(report["speeds"]), len(report["inputs"])) == (
        9,
        14,
        13,
        7,
    )
    assert report["inputs"][0]["limit"] == [-200.0, 200.0]
    assert report["coordinates"][0] == {"name": "base.qw", "unit": "1"}


def test_check_names_the_faulty_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = save_system(free_flyer_arm(), tmp_path / "arm.toml")
    file.write_text(file.read_text().replace("mass = 50.0", "mass = -50.0"))
    assert run_command_line(["check", str(file)]) == 2
    assert "body 'payload': mass is -50 kg, expected a positive number or 0" in capsys.readouterr().err


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["--version"]) == 0
    assert capsys.readouterr().out == f"spacectl {__version__}\n"
    for arguments in ([], ["--help"], ["run", "--help"]):
        assert run_command_line(arguments) == 0
        assert "Usage: spacectl" in capsys.readouterr().out


def _listen_to_interrupts() -> None:
    """A shell starts background jobs with SIGINT ignored, and their children inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_real_process_with_its_code_and_no_leftovers(
    sent: signal.Signals, code: int, tmp_path: Path
) -> None:
    study = tmp_path / "wait.py"
    study.write_text(
        "import time\nfrom dataclasses import dataclass\nfrom pathlib import Path\nfrom spacectl import Study\n\n"
        "@dataclass(frozen=True)\nclass P:\n    seconds: float = 60.0\n\n"
        "def run(p, *, quick, progress):\n    Path('started').touch()\n    time.sleep(p.seconds)\n\n"
        "STUDY = Study(question='?', parameters=P(), run=run)\n"
    )
    command = [sys.executable, "-c", "from spacectl.cli.main import main; main()", "run", "wait.py", "--out", "out"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True, preexec_fn=_listen_to_interrupts
    )
    deadline = time.monotonic() + 30.0
    while not (tmp_path / "started").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(sent)
    _, said = process.communicate(timeout=30)
    assert process.returncode == code, said
    assert said == "spacectl: interrupted; nothing was written\n"
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob(".out*"))


@pytest.mark.parametrize("disposition", [signal.SIG_DFL, signal.SIG_IGN])
def test_an_interrupt_inside_a_destructor_is_not_lost(disposition: signal.Handlers, tmp_path: Path) -> None:
    """Python drops what a destructor raises; without a repetition the run would sleep its full minute.

    Where SIGINT is ignored (a background job of a shell), the repetition must not rely on it.
    """
    study = tmp_path / "wait.py"
    study.write_text(
        "import os, signal, time\nfrom dataclasses import dataclass\nfrom spacectl import Study\n\n"
        "@dataclass(frozen=True)\nclass P:\n    seconds: float = 60.0\n\n"
        "class Late:\n    def __del__(self):\n        os.kill(os.getpid(), signal.SIGTERM)\n        time.sleep(0.01)\n\n"
        "def run(p, *, quick, progress):\n    late = Late()\n    del late\n    time.sleep(p.seconds)\n\n"
        "STUDY = Study(question='?', parameters=P(), run=run)\n"
    )
    command = [sys.executable, "-c", "from spacectl.cli.main import main; main()", "run", "wait.py", "--out", "out"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=50, check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, disposition),
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (143, "spacectl: interrupted; nothing was written\n")
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".py"] in ([], ["__pycache__"])
