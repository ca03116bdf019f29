"""Simulate the same closed loop from many initial states and with many parameters, natively in threads.

One loop per thread is built as for `simulate`; the C driver then advances from run to run without Python. `arguments` checks
the arguments, `workers` has the threads.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from spacectl.codegen.binding import Tier
from spacectl.codegen.bound_function import CALLBACK, NONE
from spacectl.core.errors import ModelError
from spacectl.core.outcome import Status
from spacectl.dynamics.waist.equations import EquationsOfMotion, require_equations
from spacectl.simulation.batches.arguments import (
    StartChecker,
    check_threads,
    law_parameters,
    limits_of,
    parameters_of,
    repeat_rows,
    seeds_of,
    states_of,
)
from spacectl.simulation.batches.result import SimulationBatch, build_batch
from spacectl.simulation.batches.workers import Worker, run_in_threads
from spacectl.simulation.driver.native_loop import DIVERGED, DONE, GUARD, LIMIT, SLICE
from spacectl.simulation.events import Guard
from spacectl.simulation.run.arguments import check_atol, check_span, require_room, rounding_floor
from spacectl.simulation.run.run import Run
from spacectl.simulation.run.simulate import build_run

__all__ = ["simulate_many"]


def simulate_many(
    eom: EquationsOfMotion,
    law: Any = None,
    *,
    t_span: Any,
    x0: Any,
    p: Any = None,
    seed: Any = None,
    grid: Any = None,
    u: Any = None,
    guards: Sequence[Guard] = (),
    rtol: float = 1e-9,
    atol: Any = 1e-9,
    method: str = "dop853",
    max_step: float = np.inf,
    max_steps: int = 10_000_000,
    stops: Any = (),
    tier: Tier = "native",
    project: bool = True,
    threads: int | None = None,
) -> SimulationBatch:
    """Simulate many runs of one closed loop; nothing is compiled between them.

    Parameters
    ----------
    eom, law, t_span, grid, u, guards, rtol, atol, method, max_step, max_steps, stops, project
        As for `simulate`.
    x0 : array (n, n_x), sequence of mappings, or one state for all
        Initial states.
    p : array (n, n_p), sequence of mappings of changes, mapping of names to values for each run, or None
        Run-time parameters of each run: ``[{"boom.EI": 1e4}, {"boom.EI": 2e4}]`` or ``{"boom.EI": [1e4, 2e4]}``.
    seed : int or sequence of int, optional
        Seeds of the noise (`add_noise`): one for each run, or one from which numpy's `SeedSequence` derives them. Run k equals
        ``simulate`` with ``reseed(law, batch.seeds[k])``. Without seeds all runs have the same noise, that of the law.
    tier : {"native", "data-driven"}
        Native code for this structure, or the native sweep for any tree, with which all runs share one p.
    threads : int, optional
        Number of threads; default: one per core.

    Returns
    -------
    SimulationBatch
        Histories ``x(run, time, state)`` and ``u``, and how each run ended.

    Raises
    ------
    ModelError, ShapeError
        If arguments are invalid, or the law is a Python function. Each initial state is checked as by `simulate`; the message
        names the number of the run.
    SolverError
        If there is no compiler.
    KeyboardInterrupt
        On Ctrl-C. Its ``partial`` is the batch so far, with finished runs; the others have the status ``interrupted``.
    """
    begin = time.perf_counter()
    require_equations(eom, "simulate_many")
    if tier not in ("native", "data-driven"):
        raise ModelError(
            f"simulate_many: tier is {tier!r}, expected 'native' or 'data-driven'; use simulate for the others"
        )
    states, parameters = states_of(eom, x0), parameters_of(eom, p)
    counts = [len(states), *(len(item) for item in (parameters, seed) if item is not None and np.ndim(item) > 0)]
    n = max(counts)
    states = repeat_rows(states, n, "x0")
    parameters = None if parameters is None else repeat_rows(parameters, n, "p")
    seeds = seeds_of(law, seed, n)
    check = StartChecker(eom, tier, check_span(t_span)[0], states, parameters)
    check(0, 1)  # the loops are built from the first run

    def build() -> Run:
        return build_run(
            eom, law, t_span=t_span, x0=states[0], grid=grid, u=u, guards=guards, rtol=rtol, atol=atol, method=method,
            max_step=max_step, max_steps=max_steps, stops=stops, p=None if parameters is None else parameters[0],
            driver="native", tier=tier, project=project, begin=begin,
        )  # fmt: skip

    runs = [build() for _ in range(min(check_threads(threads), n))]
    run = runs[0]
    _check_native(run, parameters is not None)
    require_room(run.data.n_grid, run.data.n_x + run.data.n_z + 2 * run.data.n_u, n)
    results = _results(run, n)
    shared = {
        **results,
        **_inputs(run, states, parameters, law_parameters(law, seeds)),
        "atol": _tolerances(run, states, atol, rtol),
        "stop": np.zeros(1, dtype=np.int64),
    }
    workers = [Worker(item, shared) for item in runs]

    def finish() -> SimulationBatch:
        return build_batch(run, results, _statuses(results), parameters, seeds, time.perf_counter() - begin)

    try:
        run_in_threads(workers, n, check, shared["stop"])
    except KeyboardInterrupt as interrupt:
        interrupt.partial = finish()  # type: ignore[attr-defined]
        raise
    check.warn_of_singular()
    return finish()


def _inputs(
    run: Run, states: np.ndarray, parameters: np.ndarray | None, law_p: np.ndarray | None
) -> dict[str, np.ndarray]:
    """Return the data that differ between the runs, with the field names of many.h."""
    low, high = limits_of(run.eom, parameters, len(states))
    terminal = np.array([int(guard.is_terminal) + int(guard.is_failure) for guard in run.guards], dtype=np.int64)
    varied = {name: item for name, item in (("p", parameters), ("law_p", law_p)) if item is not None}
    return {"x0": states, "u_low": low, "u_high": high, "terminal": terminal, **varied}


def _tolerances(run: Run, states: np.ndarray, atol: Any, rtol: float) -> np.ndarray:
    """Return the absolute tolerances of each run, shape (n, n_s), not below the rounding errors of its initial state."""
    n_x = run.data.n_x
    rows = np.tile(check_atol(atol, rtol, n_x, run.data.n_s - n_x)[0], (len(states), 1))
    floors = np.array([rounding_floor(run.eom, x) for x in states])
    rows[:, :n_x] = np.maximum(rows[:, :n_x], floors)
    return rows


def _statuses(results: dict[str, np.ndarray]) -> list[Status]:
    """Return the status of each run; copy ``x_end`` from the row after the records, and set records not reached to NaN."""
    rows = results["rows"]
    results["x_end"] = results["out_x"][np.arange(rows.size), rows]
    results["x_end"][np.isnan(results["t_end"])] = np.nan  # never started
    rest = np.arange(results["out_x"].shape[1]) >= rows[:, None]
    for name in ("out_x", "out_z", "out_u", "out_u_commanded"):
        results[name][rest] = np.nan
    codes = {
        DONE: Status.OK, GUARD: Status.EVENT, DIVERGED: Status.DIVERGED, LIMIT: Status.LIMIT, SLICE: Status.INTERRUPTED,
    }  # fmt: skip
    return [codes.get(int(code), Status.FAILED) for code in results["status"]]


def _check_native(run: Run, varies: bool) -> None:
    data = run.data
    for name in ("plant", "law", "sensors", "guards", "project"):
        if getattr(data, name).kind == CALLBACK:
            raise ModelError(
                f"simulate_many: the {name} is a Python function; write the law as a ControlLaw, or use simulate"
            )
    if varies and data.guards.kind != NONE and not data.guards.prepare:
        raise ModelError("simulate_many: guards on reactions support one p only; use simulate for each")
    if varies and data.kinks.kind != NONE and not data.kinks.prepare:
        raise ModelError(
            "simulate_many: with this tier the kinks of the elements support one p only; use simulate for each"
        )
    if varies and not data.plant.prepare:
        raise ModelError(
            "simulate_many: different p need unrolled native code (tier='native', few speeds); use simulate"
        )


def _results(run: Run, n: int) -> dict[str, np.ndarray]:
    """Allocate the arrays of the results; a run that is never started has the status interrupted and no rows."""
    data = run.data
    rows = data.n_grid + 1
    sizes = {"out_x": data.n_x, "out_z": data.n_z, "out_u": data.n_u, "out_u_commanded": data.n_u}
    arrays: dict[str, np.ndarray] = {name: np.empty((n, rows, size)) for name, size in sizes.items()}
    arrays["t_end"] = np.full(n, np.nan)
    arrays["status"], arrays["rows"] = np.full(n, SLICE, dtype=np.int64), np.zeros(n, dtype=np.int64)
    arrays["counts"] = np.zeros((n, 4), dtype=np.int64)
    return arrays
