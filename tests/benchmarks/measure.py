"""Times several ways to do the same work: warmed up, repetitions interleaved, medians and quartiles.

Turns statements or functions into `Timing`s whose k-th repetitions were taken next to each other, so that ratios of
two of them are not moved by what else the machine does.
"""

from __future__ import annotations

import math
import os
import platform
import time
import timeit
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from spacectl.codegen.compiler import find_compiler
from spacectl.core.provenance import versions

__all__ = ["FULL", "TINY", "Candidate", "Effort", "Timing", "describe_machine", "interleave", "load_average"]

Candidate = Callable[[], Any] | tuple[str, Mapping[str, Any]]  #: a function, or a statement with its names


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How long to measure, and at which sizes."""

    repetitions: int = 21
    slice_seconds: float = 0.02  # each repetition lasts at least this long, or is one call
    states: int = 1000  # in a native batch
    bodies: int = 200
    chains: tuple[int, ...] = (20, 50, 100, 200, 500, 1000)
    first_call_bodies: int = 100
    linear_joints: tuple[int, ...] = (7, 20, 50, 100, 200)
    gears: int = 20  # loops of the chains that are compared with a peer
    loops: tuple[int, ...] = (5, 10, 20, 50, 100, 200)
    duration: float = 10.0  # [s] of a closed loop
    campaign: int = 1000
    campaign_peers: int = 40  # simulations that the slow peers run; the rest is scaled
    campaign_sample: int = 8  # simulations on which the tolerances of a campaign are chosen
    workers: int = 2  # threads of ours, processes of the peers
    accuracy: float = 1e-6  # of a closed loop
    tolerances: tuple[float, ...] = tuple(10.0 ** -(k / 4) for k in range(12, 47))  # to choose from, loose to tight
    is_tiny: bool = False  # no repetitions where a process must be started


FULL = Effort()
TINY = Effort(
    repetitions=2, slice_seconds=1e-4, states=8, bodies=30, chains=(4, 8), first_call_bodies=30, linear_joints=(7,),
    gears=3, loops=(2, 4),
    duration=1.0, campaign=6, campaign_peers=2, campaign_sample=2, workers=1,
    tolerances=(1e-6, 1e-7, 1e-8, 1e-9, 1e-10), is_tiny=True,
)  # fmt: skip


@dataclass(frozen=True)
class Timing:
    """Seconds per call, one entry for each repetition.

    Parameters
    ----------
    name : str
        Who did the work.
    seconds : array, shape (repetitions,)
        Per call (or per unit of work).
    calls : int
        In each repetition.
    cpu_seconds : array, shape (repetitions,), optional
        Processor time of this process per call, all threads together.
    """

    name: str
    seconds: np.ndarray
    calls: int
    cpu_seconds: np.ndarray | None = None

    @property
    def median(self) -> float:
        """Median [s]."""
        return float(np.median(self.seconds))

    @property
    def quartiles(self) -> tuple[float, float]:
        """First and third quartile [s]."""
        low, high = np.percentile(self.seconds, [25.0, 75.0])
        return float(low), float(high)

    def per(self, units: int) -> Timing:
        """The same measurement per unit of work."""
        cpu = None if self.cpu_seconds is None else self.cpu_seconds / units
        return Timing(self.name, self.seconds / units, self.calls, cpu)


def interleave(
    candidates: Mapping[str, Candidate], effort: Effort, clock: Callable[[], float] = time.perf_counter
) -> dict[str, Timing]:
    """Measure all candidates in turn, `effort.repetitions` times.

    Each is called until it takes `effort.slice_seconds` (this warms it up), then each repetition runs that many calls
    of every candidate, in an order that turns by one place from repetition to repetition. Garbage is not collected
    meanwhile (as `timeit` does).
    """
    timers = {name: _timer(candidate, clock) for name, candidate in candidates.items()}
    calls = {name: _calibrate(timer, effort.slice_seconds) for name, timer in timers.items()}
    seconds: dict[str, list[float]] = {name: [] for name in timers}
    spent: dict[str, list[float]] = {name: [] for name in timers}
    names = list(timers)
    for k in range(effort.repetitions):
        turn = k % len(names)
        for name in names[turn:] + names[:turn]:
            begin = time.process_time()
            seconds[name].append(timers[name].timeit(calls[name]) / calls[name])
            spent[name].append((time.process_time() - begin) / calls[name])
    return {name: Timing(name, np.array(seconds[name]), calls[name], np.array(spent[name])) for name in names}


def _timer(candidate: Candidate, clock: Callable[[], float]) -> timeit.Timer:
    if isinstance(candidate, tuple):
        statement, names = candidate
        return timeit.Timer(statement, timer=clock, globals=dict(names))
    return timeit.Timer(candidate, timer=clock)


def _calibrate(timer: timeit.Timer, seconds: float) -> int:
    """Calls that last about `seconds`; the first call, which may prepare things, does not count."""
    timer.timeit(1)
    calls = 1
    while (elapsed := timer.timeit(calls)) < seconds:
        grow = seconds / max(elapsed, 1e-9)
        if grow < 1.5:
            break
        calls = max(calls + 1, math.ceil(calls * min(grow, 10.0)))
    return calls


def load_average() -> float:
    """Return that of the last minute; nan where the system does not report it."""
    try:
        return os.getloadavg()[0]
    except OSError:
        return float("nan")


def describe_machine() -> dict[str, str]:
    """Processor, compiler and versions of everything that is compared."""
    found = dict(versions())
    for name in ("pin", "mujoco"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    compiler = find_compiler()
    found["compiler"] = "none" if compiler is None else compiler.identity.split("\n")[0].split(" ", 2)[-1]
    found["processor"] = f"{_processor()}, {os.cpu_count()} cores"
    found["system"] = f"{platform.system()} {platform.machine()}"
    return found


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")
