"""Report of a `SimulationBatch`: the range of each signal over the runs, and a table of the runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl.core.figure import Figure, Line, Panel, Region

__all__ = ["batch_figures", "is_batch", "run_columns"]

SIGNALS = 12  # of one figure; the data have all
RUNS = 6  # drawn one by one, if there are no more

_FIGURES = (
    ("x", "state", "states", "States"),
    ("u", "input", "inputs", "Inputs"),
    ("z", "memory", "memory", "Memory of the law"),
)


def is_batch(data: Any) -> bool:
    """Return whether a dataset holds many runs."""
    return "run" in data.dims


def batch_figures(data: Any) -> tuple[Figure, ...]:
    """Each state, input and memory over time: its range and median over the runs, and the runs if they are few.

    A run that ended early counts up to its end.

    Parameters
    ----------
    data : xarray.Dataset
        Of a `SimulationBatch`.
    """
    found = []
    for letter, dimension, name, title in _FIGURES:
        if letter not in data or not data[letter].size:
            continue
        values = data[letter].transpose("run", "time", dimension).values
        names = [str(item) for item in data[dimension].values]
        units = [str(item) for item in data[f"{dimension}_unit"].values]
        t = np.asarray(data["time"].values, dtype=float)
        drawn = [_panel(t, values[:, :, i], names[i], units[i]) for i in range(min(len(names), SIGNALS))]
        panels = tuple(panel for panel in drawn if panel is not None)
        left = f" The first {SIGNALS} of {len(names)} are shown." if len(names) > SIGNALS else ""
        if panels:
            caption = f"Range and median over {len(values)} runs.{left}"
            found.append(Figure(name=name, title=title, panels=panels, caption=caption))
    return tuple(found)


def _panel(t: np.ndarray, values: np.ndarray, name: str, unit: str) -> Panel | None:
    """One signal; values have shape (n_runs, n_t)."""
    known = np.isfinite(values)
    kept = np.any(known, axis=0)
    if not kept.any():
        return None
    x, picked = t[kept], np.where(known, values, np.nan)[:, kept]
    lines = [Line(x=x, y=np.nanmedian(picked, axis=0), label="median")]
    if 1 < len(values) <= RUNS:
        for k, row in enumerate(values):
            if known[k].any():
                lines.append(Line(x=t[known[k]], y=row[known[k]], label=f"run {k}", style="dotted"))
    region = Region(x=x, low=np.nanmin(picked, axis=0), high=np.nanmax(picked, axis=0), label="range of the runs")
    return Panel(lines=tuple(lines), y_label=name, unit=unit, regions=(region,))


def run_columns(data: Any) -> tuple[list[str], list[Any]]:
    """Return titles and columns of a table with one row a run: status, end, seed, counts, the state at the end."""
    titles, columns = ["run"], [data["run"].values]
    for name, item in data.data_vars.items():
        if item.dims == ("run",):
            unit = f" [{item.attrs['units']}]" if "units" in item.attrs else ""
            titles.append(f"{name}{unit}")
            columns.append(item.values)
    if "x_end" in data:
        ends = data["x_end"].transpose("run", "state").values
        units = data["state_unit"].values
        titles += [f"x_end: {key} [{unit}]" for key, unit in zip(data["state"].values, units, strict=True)]
        columns += list(ends.T)
    return titles, columns
