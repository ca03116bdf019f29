"""Figures that follow from results: states, inputs and outputs of a `Simulation`, ranges of a `SimulationBatch`.

Only the labelled dataset is read: ``x(time, state)``, ``u(time, input)``, ``u_commanded``, ``y(time, output)`` and
``z(time, memory)``. Where a limit is active, the command is drawn dashed beside the input.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl.core.figure import Figure, Line, Panel, Region

__all__ = ["batch_figures", "is_batch", "run_columns", "simulation_figures"]

SIGNALS = 12  # largest number in one figure; the data have all
RUNS = 6  # largest number of runs drawn one by one

_FIGURES = (
    ("x", "state", "states", "States"),
    ("u", "input", "inputs", "Inputs"),
    ("z", "memory", "memory", "Memory of the law"),
)


def is_batch(data: Any) -> bool:
    """Return whether a dataset contains many runs."""
    return "run" in data.dims


def batch_figures(data: Any) -> tuple[Figure, ...]:
    """Return each state, input and memory over time: its range and median over the runs, and the runs if they are few.

    A run that ended early is included up to its end.

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
    """Return the panel of one signal; values have shape (n_runs, n_t)."""
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
    """Return titles and columns of a table with one row per run: status, end, seed, counts, final state."""
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


LINES_IN_A_PANEL = 7  # as many as there are colours
QUANTITIES = {
    "rad": "angle", "m": "position", "rad/s": "angular rate", "m/s": "speed", "1": "quaternion or ratio", "N m": "torque",
    "N": "force", "m/s^2": "acceleration", "rad/s^2": "angular acceleration", "J": "energy",
}  # fmt: skip


def simulation_figures(simulation: Any) -> tuple[Figure, ...]:
    """Return the figures of states, inputs, outputs and the law's memory that a simulation has.

    Parameters
    ----------
    simulation : Simulation
        Any object with a ``dataset`` in the form of those of `simulate` and `simulate_many`.
    """
    data = simulation.dataset
    if is_batch(data):
        return batch_figures(data)
    figures = (
        _figure(data, "x", "states", "States"),
        _figure(data, "u", "inputs", "Inputs", commanded="u_commanded"),
        _figure(data, "y", "outputs", "Outputs"),
        _figure(data, "z", "memory", "Memory of the law"),
    )
    return tuple(figure for figure in figures if figure is not None)


def _figure(data: Any, variable: str, name: str, title: str, commanded: str = "") -> Figure | None:
    if variable not in data or data[variable].size == 0:
        return None
    values = data[variable].transpose("time", ...)
    dimension = str(values.dims[1])
    names = [str(item) for item in data[dimension].values]
    groups: dict[str, list[int]] = {}
    for i, unit in enumerate(_units(data, dimension, len(names))):
        groups.setdefault(unit, []).append(i)
    t = np.asarray(data["time"].values, dtype=float)
    wanted = data[commanded].transpose("time", ...).values if commanded and commanded in data else None
    panels = []
    for unit, group in groups.items():
        for picked in _share_out(group, names):
            lines = _lines(t, values.values, names, picked, wanted)
            if lines:
                panels.append(Panel(lines=lines, y_label=QUANTITIES.get(unit, ""), unit=unit))
    return Figure(name=name, title=title, panels=tuple(panels)) if panels else None


def _share_out(group: list[int], names: list[str]) -> list[list[int]]:
    """Divide entries of one unit among panels; keep those of one joint (``base.qw``, ...) together."""
    blocks: list[list[int]] = []
    for i in group:
        owner, dot, _ = names[i].rpartition(".")
        is_same = bool(blocks) and bool(dot) and names[blocks[-1][-1]].rpartition(".")[0] == owner
        if is_same and len(blocks[-1]) < LINES_IN_A_PANEL:
            blocks[-1].append(i)
        else:
            blocks.append([i])
    panels: list[list[int]] = []
    for block in blocks:
        if panels and len(panels[-1]) + len(block) <= LINES_IN_A_PANEL:
            panels[-1] += block
        else:
            panels.append(block)
    return panels


def _lines(
    t: np.ndarray, values: np.ndarray, names: list[str], picked: list[int], wanted: np.ndarray | None
) -> tuple[Line, ...]:
    lines: list[Line] = []
    for i in picked:
        good = np.isfinite(values[:, i])
        if good.any():
            lines.append(Line(x=t[good], y=values[good, i], label=names[i]))
        if wanted is not None:
            known = np.isfinite(wanted[:, i])
            differs = known & (
                np.abs(wanted[:, i] - values[:, i]) > 1e-12 * np.nanmax(np.abs(values[:, i]), initial=1e-300)
            )
            if differs.any():
                lines.append(Line(x=t[known], y=wanted[known, i], label=f"{names[i]} (commanded)", style="dashed"))
    return tuple(lines)


def _units(data: Any, dimension: str, count: int) -> list[str]:
    key = f"{dimension}_unit"
    return [str(unit) for unit in data[key].values] if key in data.coords else ["1"] * count
