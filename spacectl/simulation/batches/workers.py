"""Threads of `simulate_many`: each has its own loop and takes the next runs when it is idle.

The C driver checks the flag `stop` twenty times a second, so that an interrupt ends all runs.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

import numpy as np

from spacectl.core.errors import SolverError
from spacectl.simulation.driver.native_loop import NativeLoop, load_driver
from spacectl.simulation.run.run import Run

__all__ = ["Worker", "run_in_threads"]

_CHUNK = 32  # largest number of runs that a thread takes at a time
_POLL_INTERVAL = 0.2  # [s] between two checks for Ctrl-C on platforms where waiting cannot be interrupted

#: Functions with terms that depend on the parameters of each run
_FUNCTIONS = ("plant", "law", "sensors", "guards", "project", "kinks")
_ARRAYS = (
    "x0", "z0", "u0", "p", "law_p", "atol", "u_low", "u_high", *(f"prepare_{name}" for name in _FUNCTIONS), "terminal", "stop",
    "out_x", "out_z", "out_u", "out_u_commanded", "t_end", "status", "rows", "counts",
)  # fmt: skip


class _Many(ctypes.Structure):
    """Mirror the struct ``sc_many`` of many.h."""

    _fields_ = [(name, ctypes.c_longlong) for name in ("n_p", "n_law_p")] + [
        (name, ctypes.c_void_p) for name in _ARRAYS
    ]


class Worker:
    """Advance the runs of one thread.

    Parameters
    ----------
    run : Run
        Run of this thread, not shared.
    shared : mapping of str to array
        Fields of ``sc_many``: inputs and results of all runs, and the flag ``stop``.

    Raises
    ------
    SolverError
        If there is no compiled driver.
    """

    def __init__(self, run: Run, shared: Mapping[str, np.ndarray]):
        if not isinstance(run.loop, NativeLoop):
            raise SolverError(
                "simulate_many needs the compiled driver; install a C compiler or the extra spacectl[compiler]"
            )
        self._run, self._loop = run, run.loop
        self._arrays = {**shared, "z0": run.data.z.copy(), "u0": run.data.u_commanded.copy()}
        addresses = {name: array.ctypes.data for name, array in self._arrays.items()}
        sizes = {f"n_{name}": shared[name].shape[1] for name in ("p", "law_p") if name in shared}
        prepare = {f"prepare_{name}": getattr(run.data, name).prepare for name in _FUNCTIONS}
        self._many = _Many(**sizes, **addresses, **prepare)
        self._initial = self._loop.copy_struct()
        self._library = load_driver()
        if self._library.sc_many_size() != ctypes.sizeof(_Many):
            raise SolverError("the compiled driver and Python disagree about the layout of many.h on this machine")

    def __call__(self, first: int, last: int) -> None:
        """Simulate the runs first..last-1 until the flag ``stop`` is set."""
        self._library.sc_run_many(
            self._loop.address, ctypes.addressof(self._initial), ctypes.addressof(self._many), first, last
        )


def run_in_threads(workers: Sequence[Worker], n: int, check: Callable[[int, int], None], stop: np.ndarray) -> None:
    """Simulate n runs; ``check(first, last)`` is called in this thread before the runs first..last-1 are started.

    Checks do not wait for runs. An exception in this thread (from a check or Ctrl-C) stops all active runs.
    """
    idle = list(workers)
    size = max(1, min(_CHUNK, -(-n // len(workers))))

    def work(first: int, last: int) -> None:
        worker = idle.pop()
        try:
            worker(first, last)
        finally:
            idle.append(worker)

    with ThreadPoolExecutor(len(workers)) as pool:
        try:
            waiting = set()
            for first in range(0, n, size):
                last = min(first + size, n)
                check(first, last)
                waiting.add(pool.submit(work, first, last))
            while waiting:
                done, waiting = wait(waiting, timeout=_POLL_INTERVAL, return_when=FIRST_EXCEPTION)
                for item in done:
                    item.result()
        except BaseException:
            stop[0] = 1
            pool.shutdown(wait=False, cancel_futures=True)
            raise
