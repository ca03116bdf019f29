"""Plants faults one by one in a copy of the tree and runs the tests that must notice: ``python -m tests.mutants [ONLY]``.

The tree itself is never touched. Fails if a fault survives, or if the tests fail without one. ONLY selects the mutants
whose layer, place or tests contain it. Each processor works in a copy of its own; compiled libraries are shared.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from tests.mutants.anchors import ROOT, Mutant, mutate, source_of
from tests.mutants.catalogue import MUTANTS

_LEFT_OUT = (
    ".git", ".venv", "out", "build", "dist", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", "__pycache__",
)  # fmt: skip
_LONGEST = 600.0  # [s] of one run of tests; a fault that makes them hang is noticed
_ALL = 3600.0  # [s] of the run without a fault
# pytest's exit codes; larger ones mean that the tests did not run, negative ones that they crashed
_PASSED, _FAILED = 0, 1


def run_mutants(mutants: Sequence[Mutant]) -> int:
    """The number of faults that survive; -1 if tests fail without any."""
    with tempfile.TemporaryDirectory(prefix="spacectl-mutants-") as folder:
        copies: SimpleQueue[Path] = SimpleQueue()
        workers = os.cpu_count() or 1
        for k in range(workers):
            copy = Path(folder) / f"tree{k}"
            shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*_LEFT_OUT))
            copies.put(copy)
        files = sorted({file for mutant in mutants for file in _files(mutant)})
        print(f"{len(mutants)} planted faults; first {len(files)} test files without any ...", flush=True)
        code, said = _run_tests(copy, [*files, "-n", str(workers), "--dist", "loadfile"], Path(folder), _ALL)
        if code != _PASSED:
            print(said)
            print("the tests fail without a planted fault: repair them first")
            return -1

        def is_noticed(mutant: Mutant) -> bool:
            own = copies.get()
            try:
                return _is_noticed(mutant, own, Path(folder))
            finally:
                copies.put(own)

        with ThreadPoolExecutor(workers) as pool:
            noticed = list(pool.map(is_noticed, mutants))
    survivors = [mutant for mutant, is_seen in zip(mutants, noticed, strict=True) if not is_seen]
    print(f"{len(mutants) - len(survivors)} of {len(mutants)} planted faults were noticed")
    for mutant in survivors:
        print(f"  survived: {mutant.at}: {mutant.old} -> {mutant.new}   [{mutant.tests}]")
    return len(survivors)


def _files(mutant: Mutant) -> list[str]:
    return [f"tests/{name}" for name in mutant.tests.split()]


def _is_noticed(mutant: Mutant, copy: Path, folder: Path) -> bool:
    path = source_of(mutant, copy)
    sound, begin = path.read_bytes(), time.monotonic()
    path.write_text(mutate(mutant, copy), encoding="utf-8")
    try:
        code, said = _run_tests(copy, _files(mutant), folder)
    finally:
        path.write_bytes(sound)
    if code > _FAILED:
        print(said)
        raise SystemExit(f"{mutant.at}: the tests did not run (pytest ended with {code})")
    word = "noticed " if code else "SURVIVED"
    print(f"{word} {time.monotonic() - begin:6.1f} s  {mutant.at}: {mutant.old} -> {mutant.new}", flush=True)
    return code != _PASSED


def _run_tests(copy: Path, files: Sequence[str], folder: Path, longest: float = _LONGEST) -> tuple[int, str]:
    """Exit code and output of pytest in the copy, which keeps its libraries in a cache of its own."""
    environment = (
        os.environ
        | {
            "PYTHONPATH": str(copy),
            "PYTHONDONTWRITEBYTECODE": "1",  # a file that changes within its time stamp's grain would be taken for the old one
            "SPACECTL_CACHE": str(folder / "cache"),
            "SPACECTL_CFLAGS": "-Og",
        }
    )
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-m", "not slow", "-p", "no:cacheprovider", *files]
    try:
        done = subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, text=True, timeout=longest, check=False
        )
    except subprocess.TimeoutExpired:
        return _FAILED, f"the tests took longer than {longest:g} s"
    return done.returncode, done.stdout[-4000:] + done.stderr[-2000:]


def main(arguments: Sequence[str]) -> int:
    """Exit code: 0 if all selected faults are noticed."""
    only = arguments[0] if arguments else ""
    chosen = [item for item in MUTANTS if item.area == only] or [
        item for item in MUTANTS if only in f"{item.at} {item.tests}"
    ]
    if not chosen:
        print(
            f"no planted fault has {only!r} in its place or its tests; layers: {sorted({item.area for item in MUTANTS})}"
        )
        return 2
    return 1 if run_mutants(chosen) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
