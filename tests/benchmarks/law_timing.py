"""What the benchmarks of laws have in common: a law in the native loop against a peer in Python, and against no law.

Times are those of the processor, which other work on the machine changes least; ratios are paired by repetition.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from spacectl import ControlLaw, EquationsOfMotion, simulate
from tests.benchmarks.measure import Effort, interleave
from tests.benchmarks.report import Figure, Section

__all__ = ["FASTER", "LOOSE", "PEER_REPETITIONS", "SLOWER", "Peer", "time_against_open_loop", "time_against_peer"]

LOOSE: dict[str, Any] = {"rtol": 1e-2, "atol": 1e3}  #: tolerances that never bind: steps are as long as allowed
PEER_REPETITIONS = 5  #: a peer takes seconds a run
SLOWER = 2.0  #: goal: a closed loop takes at most so many times the open loop
FASTER = 10.0  #: goal: required speed-up relative to the peer, whose `eom.x_dot` is native too for plain trees

Peer = Callable[[float], Callable[[], Any]]  #: longest step -> one run


def time_against_peer(
    section: Section,
    name: str,
    eom: EquationsOfMotion,
    law: ControlLaw,
    options: dict[str, Any],
    peer: Peer,
    effort: Effort,
    steps: Sequence[int],
    *,
    peer_name: str,
    goal: float | None = FASTER,
) -> None:
    """Runs of several lengths in equal steps, ours and the peer's."""
    duration = options["t_span"][1] - options["t_span"][0]
    few = replace(effort, repetitions=min(effort.repetitions, PEER_REPETITIONS))
    for count in steps:
        step = duration / count
        mine = {**options, "max_step": step, **LOOSE}
        times = interleave(
            {"simulate": lambda mine=mine: simulate(eom, law, **mine), peer_name: peer(step)}, few, time.process_time
        )
        section.add(f"{name}, {count} steps", times["simulate"], times[peer_name], goal)


def time_against_open_loop(
    section: Section,
    name: str,
    eom: EquationsOfMotion,
    law: ControlLaw,
    closed: dict[str, Any],
    opened: dict[str, Any],
    effort: Effort,
) -> None:
    """Two runs with as many steps, one without the law."""
    counts = [simulate(eom, item, **how).outcome.stats["n_steps"] for item, how in ((law, closed), (None, opened))]
    what = f"{name}: steps of the closed loop over those of the open loop"
    section.figures.append(Figure(what=what, value=counts[0] / counts[1], goal=1.1))
    times = interleave(
        {"closed": lambda: simulate(eom, law, **closed), "open": lambda: simulate(eom, **opened)},
        effort,
        time.process_time,
    )
    ratio = float(np.median(times["closed"].seconds / times["open"].seconds))
    what = f"{name}: time of the closed loop over that of the open loop"
    section.figures.append(Figure(what=what, value=ratio, goal=SLOWER, is_timed=True))
