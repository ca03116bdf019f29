"""The C compiler of this machine, and C sources of Python packages.

`find_compiler` finds and identifies the compiler. `run_compiler` compiles source texts in a folder into a
shared library there. `library.py` caches and verifies the libraries.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from spacectl.core.errors import SolverError

__all__ = ["Compiler", "c_source", "find_compiler", "run_compiler"]

_TIME_LIMIT = 900.0  # [s] for one compiler run

# bind calls inside a library to its own functions, even if the C library exports one of that name
_OWN_NAMES = ("-Wl,-Bsymbolic",) if sys.platform.startswith("linux") else ()

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Compiler:
    """A C compiler: its command and its identity (path and version)."""

    command: tuple[str, ...]
    identity: str


def find_compiler() -> Compiler | None:
    """Return the C compiler of this machine: ``$CC`` (one program name), cc, gcc, clang, or the `ziglang` package; or None."""
    return _find_compiler(os.environ.get("CC", "").strip(), os.environ.get("PATH", os.defpath))


@cache
def _find_compiler(wanted: str, path: str) -> Compiler | None:
    """Search once for a given ``$CC`` and ``$PATH``."""
    if wanted and shutil.which(wanted, path=path) is None:
        _log.warning("CC=%s is not a program that can be found; looking for cc, gcc, clang", wanted)
    for program in (wanted, "cc", "gcc", "clang"):
        found = shutil.which(program, path=path) if program else None
        if found is not None:
            return _identified((found,))
    if importlib.util.find_spec("ziglang") is not None:
        return _identified((sys.executable, "-m", "ziglang", "cc"))
    return None


@cache
def _identified(command: tuple[str, ...]) -> Compiler:
    try:
        found = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=60.0, check=False)
        version = found.stdout + found.stderr
    except (OSError, subprocess.TimeoutExpired) as error:
        version = f"no version ({error})"
    return Compiler(command, f"{command} {os.path.realpath(command[0])} {version}")


def run_compiler(
    compiler: Compiler, folder: Path, texts: Mapping[str, str], *, name: str, flags: tuple[str, ...], target: str
) -> None:
    """Write the sources into `folder` and compile those ending in .c into the shared library `target` there.

    Raises
    ------
    SolverError
        If the compiler cannot run or fails; the message contains the first lines of its output.
    """
    for file_name, text in texts.items():
        (folder / file_name).write_text(text, encoding="utf-8")
    files = sorted(file_name for file_name in texts if file_name.endswith(".c"))
    command = [*compiler.command, *flags, "-shared", "-fPIC", *_OWN_NAMES, "-o", target, *files, "-lm"]
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=_TIME_LIMIT, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SolverError(f"library '{name}': the compiler {compiler.command[0]} could not run: {error}") from error
    if done.returncode != 0 or not (folder / target).is_file():
        how = f"was killed by signal {-done.returncode}" if done.returncode < 0 else f"ended with {done.returncode}"
        message = "\n".join((done.stderr or done.stdout).strip().splitlines()[:8]) or "(it printed nothing)"
        raise SolverError(f"library '{name}': the compiler {' '.join(compiler.command)} {how}:\n{message}")


@cache
def c_source(package: str, *names: str) -> str:
    """Return the concatenated text of C files of a package.

    Parameters
    ----------
    package : str
        Dotted name of the package that owns the files, such as ``"spacectl.dynamics.recursion"``.
    *names : str
        File names, such as ``"factor.h"``.
    """
    return "\n".join((files(package) / name).read_text(encoding="utf-8") for name in names)
