"""`SimulationBatch`: the labelled results of many runs of one closed loop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.core.outcome import Outcome, Status
from spacectl.simulation.results.doubts import (
    constraint_residuals,
    judge_saturation,
    theory_errors,
    warn_beyond_theory,
    warn_if_pushing,
)
from spacectl.simulation.results.files import read_dataset, write_dataset
from spacectl.simulation.run.run import Run

if TYPE_CHECKING:
    import xarray

__all__ = ["SimulationBatch", "build_batch", "load_batch"]


@dataclass(frozen=True, eq=False, repr=False)
class SimulationBatch:
    """Histories of many runs over one time grid.

    Parameters
    ----------
    dataset : xarray.Dataset
        ``x(run, time, state)``, ``u(run, time, input)``, ``u_commanded`` and ``z``; NaN behind the end of a run that
        stopped early; ``status(run)``, ``t_end(run)`` (NaN if it never began), ``x_end(run, state)``, counts,
        ``p(run, parameter)``, and ``seed(run)`` where runs draw their own noise; of
        constrained systems ``residual_end(run)``, the largest constraint residual there; of flexible ones
        ``theory_error(run)``, the largest estimated error of the theory of small deflections.
    outcome : Outcome
        How many runs ended in which way, and the time they took.
    """

    dataset: xarray.Dataset
    outcome: Outcome

    def __repr__(self) -> str:
        return (
            f"<SimulationBatch of '{self.dataset.attrs.get('system', '')}': {self.n_runs} runs, {self.outcome.message}>"
        )

    @property
    def n_runs(self) -> int:
        """Number of runs."""
        return int(self.dataset.sizes["run"])

    @property
    def t(self) -> np.ndarray:
        """Times [s], shape (n_t,)."""
        return self.dataset["time"].values

    @property
    def x(self) -> np.ndarray:
        """States, shape (n_runs, n_t, n_x)."""
        return self.dataset["x"].values

    @property
    def u(self) -> np.ndarray:
        """Inputs after the limits, shape (n_runs, n_t, n_u)."""
        return self.dataset["u"].values

    @property
    def x_end(self) -> np.ndarray:
        """State where each run ended, shape (n_runs, n_x)."""
        return self.dataset["x_end"].values

    @property
    def status(self) -> tuple[Status, ...]:
        """How each run ended."""
        return tuple(Status(str(word)) for word in self.dataset["status"].values)

    @property
    def seeds(self) -> tuple[int, ...] | None:
        """Seed of the noise of each run; None if the law's own noise was drawn, or there is none."""
        if "seed" not in self.dataset:
            return None
        return tuple(int(item) for item in self.dataset["seed"].values)

    def __getitem__(self, name: str) -> np.ndarray:
        """Histories of a named state or input, shape (n_runs, n_t)."""
        for letter, dimension in (("x", "state"), ("u", "input")):
            if dimension in self.dataset.coords and name in self.dataset[dimension].values:
                return self.dataset[letter].sel({dimension: name}).values
        raise KeyError(name)

    def save(self, path: Any) -> None:
        """Write a netCDF file; `load_batch` reads it back."""
        write_dataset(self.dataset, self.outcome, path)


def load_batch(path: Any, *, group: str | None = None) -> SimulationBatch:
    """Read a batch that `SimulationBatch.save` wrote, or one of a study's ``result.nc``.

    Parameters
    ----------
    path : path
        The netCDF file.
    group : str, optional
        Name of the batch in a file that holds several.

    Raises
    ------
    ModelError
        If the file is not one of ours or holds a single simulation.
    """
    dataset, outcome = read_dataset(path, group)
    if "run" not in dataset.dims:
        raise ModelError(f"{path}: it holds a single simulation, not a batch; use load_simulation")
    return SimulationBatch(dataset, outcome)


def build_batch(
    run: Run,
    results: dict[str, np.ndarray],
    status: Sequence[Status],
    p: np.ndarray | None,
    seeds: np.ndarray | None,
    seconds: float,
) -> SimulationBatch:
    """Label the arrays that the driver has filled."""
    labels, data = run.eom.labels, run.data
    n_runs, n_t = len(status), data.n_grid
    coords: dict[str, Any] = {"run": np.arange(n_runs), "time": ("time", data.grid, {"units": "s"})}
    variables: dict[str, Any] = {
        "status": ("run", np.array([item.value for item in status])),
        "t_end": ("run", results["t_end"], {"units": "s"}),
    }
    for letter, dimension, names in (
        ("x", "state", labels.x),
        ("u", "input", labels.u),
        ("u_commanded", "input", labels.u),
        ("z", "memory", run.bound.memory),
    ):
        if len(names):
            variables[letter] = (("run", "time", dimension), results[f"out_{letter}"][:, :n_t])
            coords[dimension] = list(names.names)
            coords[f"{dimension}_unit"] = (dimension, list(names.units))
    if len(labels.x):
        ends = results["x_end"]
        variables["x_end"] = (("run", "state"), ends)
        if run.eom.constraint_rows:
            variables["residual_end"] = ("run", _residuals(run, results["t_end"], ends, p))
    for k, name in enumerate(("n_steps", "n_rejected", "n_right_sides", "n_law_calls")):
        variables[name] = ("run", results["counts"][:, k])
    if p is not None:
        variables["p"] = (("run", "parameter"), p)
    if seeds is not None:
        variables["seed"] = ("run", seeds)
    errors = [
        theory_errors(run.eom, history, None if p is None else p[k])
        for k, history in enumerate(results["out_x"][:, :n_t])
    ]
    if any(errors):
        variables["theory_error"] = ("run", np.array([max(item.values(), default=np.nan) for item in errors]))
        bodies = dict.fromkeys(name for item in errors for name in item)
        worst = {name: max(item.get(name, 0.0) for item in errors) for name in bodies}
        warn_beyond_theory(run.eom, worst)
    doubts = _doubts(run, results, p)
    counts = Counter(item.value for item in status)
    message = ", ".join(f"{number} {word}" for word, number in sorted(counts.items()))
    totals = {
        name: int(results["counts"][:, k].sum()) for k, name in enumerate(("n_steps", "n_rejected", "n_right_sides"))
    }
    outcome = Outcome(status=_overall(status), message=message, stats={**totals, **doubts, "seconds": seconds})
    import xarray

    return SimulationBatch(xarray.Dataset(variables, coords, run.attributes), outcome)


def _doubts(run: Run, results: dict[str, np.ndarray], p: np.ndarray | None) -> dict[str, float]:
    """What makes results doubtful, over all runs together: saturated inputs, straight tethers in compression."""
    t, n_t = np.asarray(run.data.grid), run.data.n_grid
    x, u, commanded = (results[name][:, :n_t] for name in ("out_x", "out_u", "out_u_commanded"))
    reached = np.minimum(results["rows"], n_t)
    own = np.asarray(run.eom.p)
    kept = [(k, int(n), own if p is None else p[k]) for k, n in enumerate(reached) if n > 1]
    found: dict[str, float] = {}
    if np.any((u != commanded) & np.isfinite(u)):  # else no limit has acted, in thousands of runs maybe
        found |= judge_saturation(run.eom, [(t[:n], commanded[k, :n], row) for k, n, row in kept])
    if run.eom.system.elements:
        found |= warn_if_pushing(run.eom, [(t[:n], x[k, :n], u[k, :n], row) for k, n, row in kept])
    return found


def _overall(status: Sequence[Status]) -> Status:
    """The status of a batch: interrupted if some run was, else failed if some run was not a success."""
    if Status.INTERRUPTED in status:
        return Status.INTERRUPTED
    return Status.OK if all(item in (Status.OK, Status.EVENT) for item in status) else Status.FAILED


def _residuals(run: Run, t: np.ndarray, x: np.ndarray, p: np.ndarray | None) -> np.ndarray:
    """Largest constraint residual where each run ended."""
    numbers = np.broadcast_to(run.p, (len(t), run.p.size)) if p is None else p
    found = [constraint_residuals(run.eom, t[k : k + 1], x[k : k + 1], numbers[k]) for k in range(len(t))]
    return np.array([max(item.values(), default=np.nan) for item in found])
