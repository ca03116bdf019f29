"""Check the arguments of `simulate_many` and convert them to arrays with one row per run; errors name the run."""

from __future__ import annotations

import ctypes
import os
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from spacectl.codegen.binding import Tier
from spacectl.codegen.bound_function import BoundFunction
from spacectl.core.control_law import ControlLaw
from spacectl.core.errors import ModelError, ShapeError
from spacectl.core.noise_seed import check_seed, is_noisy, reseed
from spacectl.dynamics.closing.weak_loops import singular_loop
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.simulation.driver.native_loop import bind_plant
from spacectl.simulation.run.arguments import check_constraints, check_rates, check_state

__all__ = [
    "StartChecker",
    "check_threads",
    "law_parameters",
    "limits_of",
    "parameters_of",
    "repeat_rows",
    "seeds_of",
    "states_of",
]


def states_of(eom: EquationsOfMotion, x0: Any) -> np.ndarray:
    """Return the initial states, shape (n, n_x); one row if one state is given for all runs."""
    is_one = x0 is None or isinstance(x0, Mapping) or not hasattr(x0, "__iter__")
    if is_one or all(not isinstance(row, Mapping) and np.ndim(row) == 0 for row in x0):
        return check_state(eom, x0)[None, :]
    rows = []
    for k, row in enumerate(x0):
        try:
            rows.append(check_state(eom, row))
        except ModelError as error:
            raise type(error)(f"simulate_many: run {k}: {error}") from error
    return np.array(rows).reshape(-1, eom.n_x)


def parameters_of(eom: EquationsOfMotion, p: Any) -> np.ndarray | None:
    """Return the run-time parameters, shape (n, n_p), not yet checked; None for those of the system."""
    if p is None:
        return None
    size = len(eom.parameters)
    if isinstance(p, np.ndarray) and p.ndim == 2 and p.shape[1] == size:
        return np.ascontiguousarray(p, dtype=float)
    if not hasattr(p, "__iter__"):
        raise ModelError(f"simulate_many: p is {p!r}, expected changes of named parameters for each run, or an array")
    rows = []
    for k, row in enumerate(_changes(eom, p) if isinstance(p, Mapping) else p):
        try:
            rows.append(eom.parameters.check(row))
        except ModelError as error:
            raise type(error)(f"simulate_many: run {k}: {error}") from error
    return np.array(rows, dtype=float).reshape(-1, size)


def _changes(eom: EquationsOfMotion, p: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the named changes of each run from names with values for all runs; a single value applies to all of them."""
    own = eom.parameters
    depths = {name: np.ndim(own.physical.value(name)) if own.is_physical(name) else len(own.shape(name)) for name in p}
    series = {name: list(value) for name, value in p.items() if np.ndim(value) == depths[name] + 1}
    n = max((len(values) for values in series.values()), default=1)
    for name, values in series.items():
        if len(values) != n:
            raise ShapeError(
                f"simulate_many: parameter '{name}' has {len(values)} values, another one {n}; give one per run"
            )
    return [{name: series[name][k] if name in series else value for name, value in p.items()} for k in range(n)]


def seeds_of(law: Any, seed: Any, n: int) -> np.ndarray | None:
    """Return the seed of each run, shape (n,): as given, or n words of numpy's `SeedSequence` from one seed.

    Word k of a sequence does not depend on n, so that a longer batch begins with the runs of a shorter one.
    """
    noisy = isinstance(law, ControlLaw) and is_noisy(law)
    if seed is None:
        if noisy and n > 1:
            warnings.warn(
                f"simulate_many: law '{law.name}' has noise, and all {n} runs draw the same; pass seed= to draw different "
                "noise in each run",
                stacklevel=3,
            )
        return None
    if not noisy:
        raise ModelError(
            "simulate_many: seed is given, but the law has no noise; wrap it by add_noise, or leave seed out"
        )
    if np.ndim(seed) == 0:
        check_seed(seed, "simulate_many")
        if seed < 0:
            raise ModelError(
                f"simulate_many: seed is {seed}, expected 0 or a positive whole number, or one for each run"
            )
        return np.random.SeedSequence(int(seed)).generate_state(n, np.uint64).astype(np.int64) & np.int64(2**63 - 1)
    seeds = [check_seed(item, f"simulate_many: run {k}") for k, item in enumerate(seed)]
    if len(seeds) != n:
        raise ShapeError(f"simulate_many: {len(seeds)} seeds for {n} runs; give one seed, or one for each run")
    return np.array(seeds, dtype=np.int64)


def law_parameters(law: Any, seeds: np.ndarray | None) -> np.ndarray | None:
    """Return the parameters of the law in each run, one row per run; None if they are the same in all runs."""
    return None if seeds is None else np.array([reseed(law, int(seed)).p for seed in seeds], dtype=float)


def limits_of(eom: EquationsOfMotion, parameters: np.ndarray | None, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and upper limits of the inputs in each run, shape (n, n_u)."""
    rows = parameters
    if parameters is not None:
        names = [name for name in eom.parameters.names if name.endswith(".limit")]
        used = [parameters[:, eom.parameters.where(name)] for name in names]
        rows = parameters if any(np.any(columns != columns[:1]) for columns in used) else parameters[:1]
    limits = [eom.limits(row) for row in (rows if rows is not None else [None])]
    low, high = (np.array([pair[k] for pair in limits]).reshape(len(limits), eom.n_u) for k in (0, 1))
    return repeat_rows(low, n, "limits"), repeat_rows(high, n, "limits")


def repeat_rows(array: np.ndarray, n: int, what: str) -> np.ndarray:
    """Return one row for each run, from one row for all runs or one for each."""
    if len(array) not in (1, n) or n == 0:
        raise ShapeError(
            f"simulate_many: {len(array)} rows of {what} for {n} runs; give one row for all or one for each"
        )
    return np.ascontiguousarray(np.broadcast_to(array, (n, array.shape[1])))


def check_threads(threads: Any) -> int:
    """Return the number of threads; None means one per core."""
    if threads is None:
        return os.cpu_count() or 1
    if not isinstance(threads, (int, np.integer)) or isinstance(threads, bool) or threads < 1:
        raise ModelError(f"simulate_many: threads is {threads!r}, expected a whole number of 1 or more, or None")
    return int(threads)


class StartChecker:
    """Check the start of each run as `simulate` does: parameters, constraints, accelerations, singular configurations.

    Parameters
    ----------
    eom : EquationsOfMotion
        The plant.
    tier : str
        How the right-hand side is evaluated.
    t : float
        Start time of all runs [s].
    states : array, shape (n, n_x)
        Initial states.
    parameters : array, shape (n, n_p), optional
        Run-time parameters.
    """

    def __init__(self, eom: EquationsOfMotion, tier: Tier, t: float, states: np.ndarray, parameters: np.ndarray | None):
        self._eom, self._t, self._states, self._parameters = eom, t, states, parameters
        self._tier = tier
        self._plant: BoundFunction | None = None
        self.singular: set[int] = set()  #: runs that start in a singular position

    def __call__(self, first: int, last: int) -> None:
        """Check the runs first..last-1; raise an error that names the run."""
        for k in range(first, last):
            try:
                self._check(k)
            except ModelError as error:
                raise type(error)(f"simulate_many: run {k}: {error}") from error

    def _check(self, k: int) -> None:
        eom, x = self._eom, self._states[k]
        p = np.array(eom.p) if self._parameters is None else self._parameters[k]
        if self._parameters is not None:
            eom.check_parameters(p)
        check_constraints(eom, self._t, x, p)
        check_rates(eom, self._plant_for(p), self._t, x, p)
        if singular_loop(eom, self._t, x, p) is not None:
            self.singular.add(k)

    def _plant_for(self, p: np.ndarray) -> BoundFunction:
        """Return the right-hand side for the parameters p, separate from those of the runs, which may be active."""
        if self._plant is None:
            self._plant = bind_plant(self._eom, self._tier, p)
        elif self._parameters is not None and self._plant.prepare:
            prepare = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(self._plant.prepare)
            prepare(p.ctypes.data, self._plant.w.ctypes.data)
        return self._plant

    def warn_of_singular(self) -> None:
        """Warn once about all runs that start in a singular configuration."""
        if self.singular:
            listed = ", ".join(map(str, sorted(self.singular)[:6])) + (", ..." if len(self.singular) > 6 else "")
            warnings.warn(
                f"simulate_many: {len(self.singular)} of {len(self._states)} runs of system '{self._eom.system.name}' start in a "
                f"singular position (runs {listed}): rounding errors decide which branch of motion they follow; start beside "
                "it, for example at make_consistent(eom, x0, hold=(...)) with another value of a joint",
                stacklevel=3,
            )
