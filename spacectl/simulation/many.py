"""`simulate_many`: the same closed loop from many starting states and with many parameters, natively in threads.

One loop for each thread is built as for `simulate`; the C driver then goes from run to run without Python.
"""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from spacectl.core.errors import ModelError, ShapeError, SolverError
from spacectl.core.outcome import Status
from spacectl.dynamics.equations import EquationsOfMotion
from spacectl.simulation.arguments import check_state
from spacectl.simulation.closed_loop import build_run
from spacectl.simulation.driver import DONE, GUARD, LIMIT, NativeLoop, load_driver
from spacectl.simulation.events import Guard
from spacectl.simulation.functions import CALLBACK, NONE, Tier
from spacectl.simulation.many_result import SimulationBatch, build_batch
from spacectl.simulation.run import Run

__all__ = ["simulate_many"]

_CHUNK = 32  # runs between two looks at the keyboard


class _Many(ctypes.Structure):
    """``sc_many`` of many.h."""

    _fields_ = [("n_p", ctypes.c_longlong)] + [
        (name, ctypes.c_void_p)
        for name in (
            "x0",
            "z0",
            "u0",
            "p",
            "u_low",
            "u_high",
            "prepare_plant",
            "prepare_sensors",
            "prepare_guards",
            "prepare_project",
            "prepare_kinks",
            "terminal",
            "out_x",
            "out_z",
            "out_u",
            "out_u_commanded",
            "t_end",
            "status",
            "rows",
            "counts",
        )  # fmt: skip
    ]


def simulate_many(
    eom: EquationsOfMotion,
    law: Any = None,
    *,
    t_span: Any,
    x0: Any,
    p: Any = None,
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
        Starting states.
    p : array (n, n_p), sequence of mappings of changes, mapping of names to values for each run, or None
        Run-time parameters of each run: ``[{"boom.EI": 1e4}, {"boom.EI": 2e4}]`` or ``{"boom.EI": [1e4, 2e4]}``.
    tier : {"native", "data-driven"}
        Native code for this structure, or the sweep that serves every tree (then all runs share one p).
    threads : int, optional
        Default: one for each core.

    Returns
    -------
    SimulationBatch
        Histories ``x(run, time, state)`` and ``u``, and how each run ended.

    Raises
    ------
    ModelError, ShapeError
        If the arguments do not fit, or the law is a Python function.
    SolverError
        If there is no compiler.
    """
    begin = time.perf_counter()
    states, numbers = _states(eom, x0), _parameters(eom, p)  # the numbers are checked by the threads
    n = max(len(states), 1 if numbers is None else len(numbers))
    states = _rows(states, n, "x0")
    numbers = None if numbers is None else _rows(numbers, n, "p")
    if tier not in ("native", "data-driven"):
        raise ModelError(
            f"simulate_many: tier is {tier!r}, expected 'native' or 'data-driven'; use simulate for the others"
        )
    count = max(1, min(threads or os.cpu_count() or 1, n))

    def build() -> Run:
        return build_run(
            eom, law, t_span=t_span, x0=states[0], grid=grid, u=u, guards=guards, rtol=rtol, atol=atol, method=method,
            max_step=max_step, max_steps=max_steps, stops=stops, p=None if numbers is None else numbers[0],
            driver="native", tier=tier, project=project, begin=begin,
        )  # fmt: skip

    runs = [build() for _ in range(count)]
    _check_native(runs[0], numbers is not None)
    results = _results(runs[0], n)
    low, high = _limits(eom, numbers, n)
    terminal = np.array([int(guard.is_terminal) for guard in guards], dtype=np.int64)
    shared = {"x0": states, "u_low": low, "u_high": high, "terminal": terminal, **results}
    if numbers is not None:
        shared["p"] = numbers
    chunks = [(first, min(first + _CHUNK, n)) for first in range(0, n, _CHUNK)]
    workers = [_Worker(run, shared, 0 if numbers is None else numbers.shape[1]) for run in runs]
    if count == 1:
        for chunk in chunks:
            workers[0](*chunk)
    else:
        with ThreadPoolExecutor(count) as pool:
            idle = list(workers)

            def work(chunk: tuple[int, int]) -> None:
                worker = idle.pop()
                try:
                    worker(*chunk)
                finally:
                    idle.append(worker)

            try:
                list(pool.map(work, chunks))
            except BaseException:  # wrong numbers, or Ctrl-C: what waits is not begun any more
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    _clear_rest(results)
    codes = {DONE: Status.OK, GUARD: Status.EVENT, LIMIT: Status.LIMIT}
    status = [codes.get(int(code), Status.FAILED) for code in results["status"]]
    return build_batch(runs[0], results, status, numbers, time.perf_counter() - begin)


class _Worker:
    """One thread's loop."""

    def __init__(self, run: Run, shared: Mapping[str, np.ndarray], n_p: int):
        if not isinstance(run.loop, NativeLoop):
            raise SolverError(
                "simulate_many needs the compiled driver; install a C compiler or the extra spacectl[compiler]"
            )
        self.run, self.loop = run, run.loop
        self._keep = {**shared, "z0": run.data.z.copy(), "u0": run.data.u_commanded.copy()}
        addresses = {name: array.ctypes.data for name, array in self._keep.items()}
        data = run.data
        prepare = {
            f"prepare_{name}": getattr(data, name).prepare
            for name in ("plant", "sensors", "guards", "project", "kinks")
        }
        self._many = _Many(n_p=n_p, **addresses, **prepare)
        self._fresh = self.loop.copy_struct()
        self._library = load_driver()

    def __call__(self, first: int, last: int) -> None:
        """Check the numbers of the runs first..last-1 and make the runs."""
        for row in self._keep["p"][first:last] if "p" in self._keep else ():
            self.run.eom.check_parameters(row)
        self._library.sc_run_many(
            self.loop.address, ctypes.addressof(self._fresh), ctypes.addressof(self._many), first, last
        )


def _check_native(run: Run, varies: bool) -> None:
    data = run.data
    for name in ("plant", "law", "sensors", "guards", "project"):
        if getattr(data, name).kind == CALLBACK:
            raise ModelError(
                f"simulate_many: the {name} is a Python function; write the law as a ControlLaw, or use simulate"
            )
    if varies and data.guards.kind != NONE and not data.guards.prepare:
        raise ModelError("simulate_many: guards on reactions serve one p; use simulate for each")
    if varies and data.kinks.kind != NONE and not data.kinks.prepare:
        raise ModelError("simulate_many: the kinks of the elements serve one p with this tier; use simulate for each")
    if varies and not data.plant.prepare:
        raise ModelError(
            "simulate_many: different p need unrolled native code (tier='native', few speeds); use simulate"
        )


def _results(run: Run, n: int) -> dict[str, np.ndarray]:
    data = run.data
    rows = data.n_grid + 1
    sizes = {"out_x": data.n_x, "out_z": data.n_z, "out_u": data.n_u, "out_u_commanded": data.n_u}
    arrays: dict[str, np.ndarray] = {name: np.empty((n, rows, size)) for name, size in sizes.items()}
    arrays["t_end"] = np.zeros(n)
    arrays["status"], arrays["rows"] = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    arrays["counts"] = np.zeros((n, 4), dtype=np.int64)
    return arrays


def _clear_rest(results: Mapping[str, np.ndarray]) -> None:
    """Rows that a run has not reached are not numbers."""
    rest = np.arange(results["out_x"].shape[1]) >= results["rows"][:, None]
    for name in ("out_x", "out_z", "out_u", "out_u_commanded"):
        results[name][rest] = np.nan


def _states(eom: EquationsOfMotion, x0: Any) -> np.ndarray:
    if isinstance(x0, Mapping) or (not isinstance(x0, Sequence) and np.ndim(x0) == 1):
        return check_state(eom, x0)[None, :]
    return np.array([check_state(eom, row) for row in x0]).reshape(-1, eom.n_x)


def _parameters(eom: EquationsOfMotion, p: Any) -> np.ndarray | None:
    if p is None:
        return None
    size = len(eom.parameters)
    if isinstance(p, np.ndarray) and p.ndim == 2 and p.shape[1] == size:
        return np.ascontiguousarray(p, dtype=float)
    rows = [eom.parameters.check(row) for row in (_runs(eom, p) if isinstance(p, Mapping) else p)]
    return np.array(rows, dtype=float).reshape(-1, size)


def _runs(eom: EquationsOfMotion, p: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Named changes of each run from names with values for all runs; a single value serves all of them."""
    known = eom.parameters
    depths = {
        name: np.ndim(known.physical.value(name)) if known.is_physical(name) else len(known.shape(name)) for name in p
    }
    series = {name: list(value) for name, value in p.items() if np.ndim(value) == depths[name] + 1}
    n = max((len(values) for values in series.values()), default=1)
    for name, values in series.items():
        if len(values) != n:
            raise ShapeError(
                f"simulate_many: parameter '{name}' has {len(values)} values, another one {n}; give one a run"
            )
    return [{name: series[name][k] if name in series else value for name, value in p.items()} for k in range(n)]


def _limits(eom: EquationsOfMotion, numbers: np.ndarray | None, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest inputs of each run, shape (n, n_u)."""
    rows = numbers
    if numbers is not None:
        names = [name for name in eom.parameters.names if name.endswith(".limit")]
        used = [numbers[:, eom.parameters.where(name)] for name in names]
        rows = numbers if any(np.any(columns != columns[:1]) for columns in used) else numbers[:1]
    limits = [eom.limits(row) for row in (rows if rows is not None else [None])]
    low, high = (np.array([pair[k] for pair in limits]).reshape(len(limits), eom.n_u) for k in (0, 1))
    return _rows(low, n, "limits"), _rows(high, n, "limits")


def _rows(array: np.ndarray, n: int, what: str) -> np.ndarray:
    if len(array) not in (1, n) or n == 0:
        raise ShapeError(
            f"simulate_many: {len(array)} rows of {what} for {n} runs; give one row for all or one for each"
        )
    return np.ascontiguousarray(np.broadcast_to(array, (n, array.shape[1])))
