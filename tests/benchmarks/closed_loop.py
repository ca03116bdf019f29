"""Closed loops of ten seconds: ours all native against scipy with Pinocchio, each at its loosest sufficient tolerance.

The reference is our loop at 1e-13, checked against DOP853 with Pinocchio at 1e-12; errors are the largest difference
of any state at 200 times. The time is that of the whole `simulate` call, labels and results included.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import numpy as np

from spacectl import simulate
from spacectl.codegen.binding import Tier
from spacectl.core.control_law import ControlLaw
from spacectl.simulation.driver.methods.tableau import METHODS
from tests.benchmarks.measure import Candidate, Effort, Timing, interleave
from tests.benchmarks.report import Figure, Section
from tests.benchmarks.scipy_peer import PEERS, Run, continuous_run, sampled_run
from tests.benchmarks.systems import pinocchio_model
from tests.benchmarks.tracking import Tracking, make_tracking, slowest_peak_rate

__all__ = ["find_tolerance", "measure_closed_loop", "measure_sampled_loop", "our_run", "time_grid"]

AGREEMENT = 1e-9  # of two references at 1e-12: their local errors, grown over some thousand steps


def measure_closed_loop(effort: Effort) -> Section:
    """Continuous law, both sets of gains."""
    section = Section(
        "Closed loop, continuous law",
        f"7-joint arm on a fixed base, PD law, {effort.duration:g} s, largest error at the grid <= {effort.accuracy:g}; "
        "every candidate at the loosest tolerance (rtol = atol, quarter decades) that reaches it. "
        "The goal stands at the soft gains, which the 100 Hz law can use as well; the firm ones make a stiff loop.",
    )
    for name, goal in (("soft", 10.0), ("firm", None)):
        loop = make_tracking(name)
        _measure(section, loop, loop.continuous, continuous_run, effort, goal)
    return section.finish()


def measure_sampled_loop(effort: Effort) -> Section:
    """The same law at 100 Hz with a zero-order hold."""
    section = Section(
        "Closed loop, law sampled at 100 Hz",
        f"As before, {effort.duration:g} s, with the law sampled and held; scipy integrates between samples. The firm "
        "gains are unstable at 100 Hz.",
    )
    loop = make_tracking("soft")
    _measure(section, loop, loop.sampled, sampled_run, effort, 4.0)
    return section.finish()


def time_grid(duration: float) -> np.ndarray:
    """200 times in ten seconds, all of them samples of the 100 Hz law."""
    return 0.05 * np.arange(1, round(20 * duration) + 1)


def our_run(loop: Tracking, law: ControlLaw, grid: np.ndarray, method: str, tier: Tier) -> Run:
    """Tolerance -> states at the grid."""
    span = (0.0, float(grid[-1]))

    def run(tol: float) -> np.ndarray:
        simulation = simulate(
            loop.eom, law, x0=loop.x0, t_span=span, grid=grid, rtol=tol, atol=tol, method=method, tier=tier
        )
        return simulation.x

    return run


def find_tolerance(run: Run, truth: np.ndarray, effort: Effort) -> tuple[float, float] | None:
    """The loosest tolerance that reaches the accuracy, with its error; None if none does."""
    for tol in effort.tolerances:
        error = float(np.max(np.abs(run(tol) - truth)))
        if error <= effort.accuracy:
            return tol, error
    return None


def _measure(
    section: Section,
    loop: Tracking,
    law: ControlLaw,
    peer_run: Callable[..., Run],
    effort: Effort,
    goal: float | None,
) -> None:
    grid, model = time_grid(effort.duration), pinocchio_model(loop.eom.system)
    truth = our_run(loop, law, grid, "dop853", "native")(1e-13)
    check = peer_run(PEERS[0], loop, model, loop.x0, grid)(1e-12)
    what = f"{loop.name}: reference at 1e-13 against DOP853 + Pinocchio at 1e-12"
    section.figures.append(Figure(what=what, value=float(np.max(np.abs(check - truth))), goal=AGREEMENT))
    rate = slowest_peak_rate(grid, truth)
    if rate <= 0.5:
        raise AssertionError(f"{loop.name}: a joint stays below 0.5 rad/s for a second (peak {rate:.2f} rad/s)")
    what = f"{loop.name}: smallest peak rate of any joint in any second"
    section.figures.append(Figure(what=what, value=rate, unit="rad/s"))
    tiers: tuple[Tier, ...] = tuple(tier for tier in get_args(Tier) if tier in ("native", "data-driven"))
    ours = {f"simulate {name}, {tier}": our_run(loop, law, grid, name, tier) for name in METHODS for tier in tiers}
    peers = {name: peer_run(name, loop, model, loop.x0, grid) for name in PEERS}
    candidates: dict[str, Candidate] = {}
    for name, run in {**ours, **peers}.items():
        found = find_tolerance(run, truth, effort)
        if found is None:
            section.notes.append(f"{loop.name}: {name} does not reach {effort.accuracy:g} at any tolerance.")
            continue
        candidates[name] = ("run(tol)", {"run": run, "tol": found[0]})
        what = f"{loop.name}: {name}: error at tolerance {found[0]:.1e}"
        section.figures.append(Figure(what=what, value=found[1], goal=effort.accuracy))
    short = time_grid(effort.duration) * 1e-9
    idle = our_run(loop, law, short, "dop853", "native")
    candidates["fixed"] = ("run(1e-6)", {"run": idle})
    times = interleave(candidates, effort)
    _judge(section, loop.name, times, [name for name in times if name in ours], goal)
    fixed = 1e3 * times["fixed"].median
    what = f"{loop.name}: fixed cost of a simulate call"
    section.figures.append(Figure(what=what, value=fixed, unit="ms", is_timed=True))


def _judge(section: Section, name: str, times: dict[str, Timing], ours: list[str], goal: float | None) -> None:
    """Compare our fastest with every peer; the goal refers to the fastest of `solve_ivp`, as most users call it."""
    best = min((times[item] for item in ours), key=lambda timing: timing.median)
    peers = sorted((times[item] for item in PEERS if item in times), key=lambda timing: timing.median)
    usual = next(timing for timing in peers if timing.name.startswith("solve_ivp"))
    for timing in peers:
        section.add(f"{name} gains", best, timing, goal if timing in (peers[0], usual) else None)
    for item in ours:
        if times[item] is not best:
            section.add(f"{name} gains, our other methods", times[item], usual)
