"""From a description to the first call: a fresh Python process forms a long chain and calls it once.

Run with the libraries of all models in the cache (the usual case), and with an empty cache (once per machine).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from tests.benchmarks.measure import Effort
from tests.benchmarks.report import Figure, Section

__all__ = ["measure_first_call"]

AGREEMENT = 1e-9  # [rad/s^2], rates near 1: rounding times the condition number of M, about 1e5
PARTS = {
    "import": "import", "form_and_call": "form_equations and the first x_dot", "compiled": "compiled() and its first x_dot",
    "whole": "whole process",
}  # fmt: skip
ROOT = Path(__file__).resolve().parents[2]
CHILD = """
import json, sys, time
begin = time.perf_counter()
import numpy as np
from spacectl import form_equations, library
imported = time.perf_counter()
n = int(sys.argv[1])
eom = form_equations(library.chain(n))
rate = eom.x_dot(0.0, np.full(2 * n, 0.1), np.zeros(n))
called = time.perf_counter()
compiled = eom.compiled()
again = compiled.x_dot(0.0, np.full(2 * n, 0.1), np.zeros(n))
end = time.perf_counter()
print(json.dumps({
    "import": imported - begin, "form_and_call": called - imported, "compiled": end - called, "kind": compiled.kind,
    "difference": float(np.max(np.abs(again - rate))),
}))
"""


def measure_first_call(effort: Effort) -> Section:
    """Seconds from the start of Python to the first x_dot, with a warm and an empty cache."""
    n = effort.first_call_bodies
    section = Section(
        f"Build and first call, {n} bodies",
        "A fresh Python process: import, form_equations, the first x_dot, then compiled() and its first x_dot.",
    )
    warm = [_run(n, None) for _ in range(1 if effort.is_tiny else 6)][-5:]  # the first one fills the cache
    kinds = {"warm cache": warm}
    if not effort.is_tiny:
        with tempfile.TemporaryDirectory() as folder:
            kinds["empty cache (compiles the library of steps, once per machine)"] = [_run(n, folder)]
    for name, runs in kinds.items():
        for part in ("import", "form_and_call", "compiled", "whole"):
            value = float(np.median([run[part] for run in runs]))
            what, goal = f"{name}: {PARTS[part]}", 5.0 if part == "whole" else None
            section.figures.append(Figure(what=what, value=value, unit="s", goal=goal, is_timed=True))
        difference = max(run["difference"] for run in runs)
        section.figures.append(Figure(what=f"{name}: compiled() against x_dot", value=difference, goal=AGREEMENT))
    return section.finish()


def _run(n: int, cache: str | None) -> dict[str, float]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    if cache is not None:
        environment["SPACECTL_CACHE"] = cache
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(n)], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"the first call of {n} bodies failed:\n{done.stderr}")
    whole = time.perf_counter() - begin
    return {**json.loads(done.stdout), "whole": whole}
