"""Minimum time of the flexible arm of Sadigh (1995), section 8.3 (5 coordinates), in a fresh process: from nothing, and warm.

Cold is everything behind the equations: the rigid plan that it starts from, the forming of the flow, the search. Warm is the
same maneuver with 20 kg more of payload, from the first plan.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.measure import Effort
from tests.benchmarks.report import Figure, Section

__all__ = ["measure_flexible_plan"]

GOALS = {"cold": 20.0, "warm": 3.0}  # [s]
REFLOWN = 1e-6  # of the range of each state
ROOT = Path(__file__).resolve().parents[2]
CHILD = """
import json, sys, time
from dataclasses import replace
import numpy as np
from spacectl import Condition, LineCurve, Problem, TaskPath, form_equations, library, plan_bang_bang, replay, solve_path

cells = int(sys.argv[1])
eom, rigid = (form_equations(library.retrieval_arm(flexible=kind)) for kind in (True, False))
line = TaskPath(
    name="line", curve=LineCurve(start=(0.0, 15.0, 0.0), end=(0.0, 3.0, 0.0)),
    outputs=("payload.x", "payload.y", "attitude.s3"), at={"shoulder": 1.175, "elbow": 0.79, "wrist": 1.175},
)
solved = solve_path(rigid, line)
q = solved.evaluate([0.0, solved.length]).q
start, end = (dict(zip(rigid.coordinates, map(float, row))) for row in (q[0], q[-1]))
held = Condition(name="attitude", rule=lambda s: s.output("attitude.s3"))
problem = Problem(
    eom=eom, start=start, end=dict.fromkeys(eom.states, 0.0) | end, path=(held,), duration=(5.0, 100.0), name="retrieval"
)
begin = time.perf_counter()
plan = plan_bang_bang(problem, cells=cells)
cold = time.perf_counter() - begin
heavier = replace(problem, eom=form_equations(library.retrieval_arm(flexible=True, payload_mass=4020.0)), p=None)
begin = time.perf_counter()
other = plan_bang_bang(heavier, guess=plan, cells=cells)
warm = time.perf_counter() - begin
flight = replay(eom, plan)
size = np.ptp(np.asarray(flight.x), axis=0)
off = np.abs(np.asarray(flight.x)[-1] - [problem.end[name][0] for name in eom.states]) / size
print(json.dumps({"cold": cold, "warm": warm, "time": plan.final_time, "other": other.final_time, "off": float(off.max())}))
"""


def measure_flexible_plan(effort: Effort) -> Section:
    """Seconds to a plan, cold and warm, and how well it is flown again."""
    cells = 400 if effort.is_tiny else 1500
    section = Section(
        f"Minimum time of the flexible retrieval arm, {cells} cells",
        "Five coordinates, attitude of the payload held, all torques limited; a fresh process each.",
    )
    kinds: dict[str, str | None] = {"warm library cache": None}
    if not effort.is_tiny:
        _run(cells, None)  # fills the cache
        kinds["empty library cache"] = "empty"
    for name, kind in kinds.items():
        with tempfile.TemporaryDirectory() as folder:
            found = _run(cells, None if kind is None else folder)
        for part, goal in GOALS.items():
            what = f"{name}: {part} plan"
            section.figures.append(Figure(what=what, value=found[part], unit="s", goal=goal, is_timed=True))
        section.figures.append(Figure(what=f"{name}: duration of the maneuver", value=found["time"], unit="s"))
        section.figures.append(Figure(what=f"{name}: end when flown again", value=found["off"], goal=REFLOWN))
    return section.finish()


def _run(cells: int, cache: str | None) -> dict[str, float]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    if cache is not None:
        environment["SPACECTL_CACHE"] = cache
    command = [sys.executable, "-c", CHILD, str(cells)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"the plan of the flexible arm failed:\n{done.stderr}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found
