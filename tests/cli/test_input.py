"""Input files that are no files: a command refuses them instead of waiting for ever."""

from __future__ import annotations

import contextlib
import io
import os
import threading
from pathlib import Path

import pytest

from spacectl.cli.main import run_command_line


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "PIPE.toml"],
        ["bench", "PIPE.json"],
        ["run", "TOY", "--out", "OUT", "--parameters", "PIPE.toml"],
        ["metrics", "--out", "OUT", "--against", "PIPE.toml"],
        ["report", "FOLDER"],
    ],
)
def test_a_pipe_is_refused_instead_of_waited_for(arguments: list[str], toy_study: Path, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for name in ("pipe.toml", "pipe.json", "folder/report.json.gz"):
        os.mkfifo(tmp_path / name)
    places = {"TOY": toy_study, "OUT": tmp_path / "out", "PIPE": tmp_path / "pipe", "FOLDER": tmp_path / "folder"}
    words = []
    for word in arguments:
        for key, place in places.items():
            word = word.replace(key, str(place))
        words.append(word)
    found: list[tuple[int, str]] = []

    def run() -> None:
        error = io.StringIO()
        with contextlib.redirect_stderr(error):
            found.append((run_command_line(words), error.getvalue()))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(30.0)
    assert found, "still waiting"
    assert found[0][0] == 2 and "it is a pipe, expected a regular file" in found[0][1]
