"""Lists the files whose functions run in one call chain: ``python -m tests.package.visited_files [rigid|flexible]``.

The chain is form_equations, find_operating_point, linearize, design_lqr, simulate, write_report. It runs twice: the first run
of a process also visits every registered kind, from which the shared native steps are generated; the second is what a reader
of one call follows.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
import tempfile
from pathlib import Path
from types import FrameType
from typing import Any

import spacectl
from spacectl import System, library

ROOT = Path(spacectl.__file__).parent
CHAINS = {"rigid": library.planar_arm, "flexible": library.flexible_four_bar}


def run_chain(system: System, folder: Path) -> None:
    """From a description to a report of the closed loop."""
    eom = spacectl.form_equations(system)
    point = spacectl.find_operating_point(eom)
    law = spacectl.design_lqr(spacectl.linearize(eom, point), Q=1.0, R=1.0)
    simulation = spacectl.simulate(eom, law, x0=point.x, t_span=(0.0, 0.1))
    spacectl.write_report(simulation, folder / "report.html")


def visited_files(system: System) -> set[str]:
    """Python files of the package whose functions run, relative to its folder; imports do not count."""
    for module in pkgutil.walk_packages(spacectl.__path__, "spacectl."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    seen: set[str] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            seen.add(frame.f_code.co_filename)

    with tempfile.TemporaryDirectory() as folder:
        sys.setprofile(note)
        try:
            run_chain(system, Path(folder))
        finally:
            sys.setprofile(None)
    found = {Path(name) for name in seen if name.endswith(".py")}
    return {path.relative_to(ROOT).as_posix() for path in found if path.is_relative_to(ROOT)}


def main(names: list[str]) -> None:
    """Print the numbers and, by folder, the files of the second run."""
    for name in names or list(CHAINS):
        system = CHAINS[name]()
        first, second = visited_files(system), visited_files(system)
        print(f"{name}: {len(first)} files in the first run of a process, {len(second)} in the second")
        for folder in sorted({str(Path(file).parent) for file in second}):
            print(f"  {folder}: {', '.join(sorted(Path(f).stem for f in second if str(Path(f).parent) == folder))}")


if __name__ == "__main__":
    main(sys.argv[1:])
