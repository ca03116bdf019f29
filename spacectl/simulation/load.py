"""Read simulations from files."""

from __future__ import annotations

from typing import Any

from spacectl.core.errors import ModelError
from spacectl.simulation.results.files import read_dataset
from spacectl.simulation.results.simulation import Simulation
from spacectl.simulation.stages.result import StagedSimulation

__all__ = ["load_simulation"]


def load_simulation(path: Any, group: str | None = None) -> Simulation:
    """Read a file of `Simulation.save`, or one simulation from the ``result.nc`` of a study.

    Parameters
    ----------
    path : path
        Path of the netCDF file.
    group : str, optional
        Name of the simulation in a file with several; not needed if there is only one.

    Raises
    ------
    ModelError
        If spacectl did not write the file, if it contains a batch, or if `group` names none of several simulations.
    """
    dataset, outcome = read_dataset(path, group)
    if "run" in dataset.dims:
        raise ModelError(
            f"{path}: it holds a batch of {dataset.sizes['run']} runs, not a single simulation; use load_batch"
        )
    return (StagedSimulation if "stage_name" in dataset else Simulation)(dataset, outcome)
