"""`SimulationBatch`: labelled results of many runs of one closed loop."""

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
    """Hold the histories of many runs over one time grid.

    Parameters
    ----------
    dataset : xarray.Dataset
        ``x(run, time, state)``, ``u(run, time, input)``, ``u_commanded`` and ``z``; NaN after the end of a run that
        stopped early; ``status(run)``, ``t_end(run)`` (NaN if it never started), ``x_end(run, state)``, counts,
        ``p(run, parameter)``, and ``seed(run)`` if each run has its own noise; for constrained systems ``residual_end(run)``,
        the largest constraint residual at the end; for flexible systems ``theory_error(run)``, the largest estimated error of
        the theory of small deflections.
    outcome : Outcome
        Number of runs with each status, and the computing time.
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
        """State at the end of each run, shape (n_runs, n_x)."""
        return self.dataset["x_end"].values

    @property
    def status(self) -> tuple[Status, ...]:
        """Status of each run."""
        return tuple(Status(str(word)) for word in self.dataset["status"].values)

    @property
    def seeds(self) -> tuple[int, ...] | None:
        """Seed of the noise of each run; None if all runs have the noise of the law, or none."""
        if "seed" not in self.dataset:
            return None
        return tuple(int(item) for item in self.dataset["seed"].values)

    def __getitem__(self, name: str) -> np.ndarray:
        """Return the histories of a named state or input, shape (n_runs, n_t)."""
        for letter, dimension in (("x", "state"), ("u", "input")):
            if dimension in self.dataset.coords and name in self.dataset[dimension].values:
                return self.dataset[letter].sel({dimension: name}).values
        raise KeyError(name)

    def save(self, path: Any) -> None:
        """Write a netCDF file; `load_batch` reads it."""
        write_dataset(self.dataset, self.outcome, path)


def load_batch(path: Any, *, group: str | None = None) -> SimulationBatch:
    """Read a file of `SimulationBatch.save`, or one batch from the ``result.nc`` of a study.

    Parameters
    ----------
    path : path
        Path of the netCDF file.
    group : str, optional
        Name of the batch in a file with several.

    Raises
    ------
    ModelError
        If spacectl did not write the file, or it contains a single simulation.
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
    """Label the arrays that the driver has computed."""
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
    """Check the validity of all runs together: saturated inputs, straight tethers in compression."""
    t, n_t = np.asarray(run.data.grid), run.data.n_grid
    x, u, commanded = (results[name][:, :n_t] for name in ("out_x", "out_u", "out_u_commanded"))
    reached = np.minimum(results["rows"], n_t)
    own = np.asarray(run.eom.p)
    recorded = [(k, int(n), own if p is None else p[k]) for k, n in enumerate(reached) if n > 1]
    found: dict[str, float] = {}
    if np.any((u != commanded) & np.isfinite(u)):  # skip the check of many runs if no limit was reached
        found |= judge_saturation(run.eom, [(t[:n], commanded[k, :n], row) for k, n, row in recorded])
    if run.eom.system.elements:
        found |= warn_if_pushing(run.eom, [(t[:n], x[k, :n], u[k, :n], row) for k, n, row in recorded])
    return found


def _overall(status: Sequence[Status]) -> Status:
    """Return the status of a batch: interrupted if any run was interrupted, else failed if any run was no success."""
    if Status.INTERRUPTED in status:
        return Status.INTERRUPTED
    return Status.OK if all(item in (Status.OK, Status.EVENT) for item in status) else Status.FAILED


def _residuals(run: Run, t: np.ndarray, x: np.ndarray, p: np.ndarray | None) -> np.ndarray:
    """Return the largest constraint residual at the end of each run."""
    parameters = np.broadcast_to(run.p, (len(t), run.p.size)) if p is None else p
    found = [constraint_residuals(run.eom, t[k : k + 1], x[k : k + 1], parameters[k]) for k in range(len(t))]
    return np.array([max(item.values(), default=np.nan) for item in found])
