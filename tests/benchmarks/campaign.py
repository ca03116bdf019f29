"""A thousand closed loops with different masses and starting states: native threads against processes of scipy.

Both sides have two workers. The peers' processes are started and warmed before the clock runs; they run fewer
simulations, and times are per simulation.
"""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np

from spacectl import simulate_many
from tests.benchmarks.closed_loop import find_tolerance, time_grid
from tests.benchmarks.measure import Candidate, Effort, interleave
from tests.benchmarks.report import Figure, Section
from tests.benchmarks.scipy_peer import continuous_run
from tests.benchmarks.systems import pin, pinocchio_model
from tests.benchmarks.tracking import Tracking, make_tracking
from tests.peers.layout import read_links

__all__ = ["Arm", "draw_runs", "measure_campaign", "our_campaign"]

OURS = ("adams", "rk45", "dop853")
PEERS = ("odeint (LSODA)", "solve_ivp LSODA")
MASSES = tuple(f"link{i + 1}" for i in range(7)) + ("payload",)

Runs = tuple[np.ndarray, np.ndarray]  #: starting states (n, 14) and masses (n, 8)


def draw_runs(loop: Tracking, n: int) -> Runs:
    """Starts within 0.1 rad and 0.1 rad/s of the reference; masses within 20 % of the arm's own."""
    rng = np.random.default_rng(1)
    own = np.array([float(loop.eom.parameters.get(f"{name}.mass")) for name in MASSES])
    return loop.x0 + rng.uniform(-0.1, 0.1, (n, 14)), own * rng.uniform(0.8, 1.2, (n, len(own)))


def our_campaign(loop: Tracking, runs: Runs, grid: np.ndarray, method: str, tol: float, threads: int = 2) -> np.ndarray:
    """States of all runs at the grid, shape (n, n_t, 14)."""
    x0, masses = runs
    p = np.repeat(np.asarray(loop.eom.p)[None, :], len(x0), axis=0)
    for k, name in enumerate(MASSES):
        p[:, loop.eom.parameters.where(f"{name}.mass")] = masses[:, k : k + 1]
    batch = simulate_many(
        loop.eom, loop.continuous, x0=x0, p=p, t_span=(0.0, float(grid[-1])), grid=grid, rtol=tol, atol=tol,
        method=method, threads=threads,
    )  # fmt: skip
    return batch.x


class Arm:
    """The arm in Pinocchio with masses that can be changed in place; one for each process."""

    def __init__(self, duration: float):
        self.loop, self.grid = make_tracking("soft"), time_grid(duration)
        self.model = pinocchio_model(self.loop.eom.system)
        self.links = read_links(self.loop.eom.system, rings=False)

    def run(self, method: str, x0: np.ndarray, masses: np.ndarray, tol: float) -> np.ndarray:
        """States at the grid, shape (n_t, 14)."""
        inertias = [pin.Inertia(m, link.com, link.inertia) for m, link in zip(masses, self.links, strict=True)]
        block = self.links[-1]  # the payload, fixed to the last link
        carried = pin.SE3(block.R_PJ, block.p_PJ).act(inertias.pop())
        inertias[-1] = inertias[-1] + carried
        for joint, inertia in enumerate(inertias, start=1):
            self.model.inertias[joint] = inertia
        return continuous_run(method, self.loop, self.model, x0, self.grid)(tol)


_arm: list[Arm] = []  # of this process


def _start(duration: float) -> None:
    _arm.append(Arm(duration))


def _work(task: tuple[str, np.ndarray, np.ndarray, float]) -> np.ndarray:
    return _arm[0].run(*task)


def measure_campaign(effort: Effort) -> Section:
    """Simulations per second, ours in threads against processes of scipy with Pinocchio."""
    loop, grid = make_tracking("soft"), time_grid(effort.duration)
    n, few, workers = effort.campaign, effort.campaign_peers, effort.workers
    section = Section(
        "Campaign",
        f"{n} simulations of {effort.duration:g} s (continuous law, soft gains) with different masses and starting "
        f"states, largest error <= {effort.accuracy:g} on {effort.campaign_sample} of them; {workers} threads against "
        f"{workers} processes, which run {few} of them. Times are per simulation.",
    )
    runs = draw_runs(loop, n)
    with _start_processes(effort) as pool:

        def ours(method: str, count: int, tol: float) -> np.ndarray:
            return our_campaign(loop, (runs[0][:count], runs[1][:count]), grid, method, tol, workers)

        def peers(method: str, count: int, tol: float) -> np.ndarray:
            tasks = [(method, x0, masses, tol) for x0, masses in zip(runs[0][:count], runs[1][:count], strict=True)]
            return np.array(list(pool.map(_work, tasks, chunksize=max(count // (4 * workers), 1))))

        truth = ours("dop853", effort.campaign_sample, 1e-13)
        candidates: dict[str, Candidate] = {}
        counts = {**{f"simulate_many {name}": n for name in OURS}, **{f"processes, {name}": few for name in PEERS}}
        for title, count in counts.items():
            call, method = (ours, title.split()[-1]) if count == n else (peers, title.removeprefix("processes, "))
            found = find_tolerance(partial(call, method, effort.campaign_sample), truth, effort)
            if found is None:
                raise RuntimeError(f"{title}: no tolerance reaches {effort.accuracy:g}")
            what = f"{title}: error at tolerance {found[0]:.1e}"
            section.figures.append(Figure(what=what, value=found[1], goal=effort.accuracy))
            candidates[title] = partial(call, method, count, found[0])
        quick = Effort(repetitions=min(effort.repetitions, 7), slice_seconds=0.0)
        times = {name: timing.per(counts[name]) for name, timing in interleave(candidates, quick).items()}
    best = min((times[f"simulate_many {name}"] for name in OURS), key=lambda timing: timing.median)
    for name in PEERS:
        section.add("per simulation", best, times[f"processes, {name}"], goal=20.0)
    for name, timing in times.items():
        rate = 1.0 / timing.median
        section.figures.append(Figure(what=f"{name}: simulations", value=rate, unit="per second", is_timed=True))
    return section.finish()


def _start_processes(effort: Effort) -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(effort.workers, context, initializer=_start, initargs=(effort.duration,))
