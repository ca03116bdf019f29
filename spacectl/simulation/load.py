"""Reads simulations back from files."""

from __future__ import annotations

from typing import Any

from spacectl.core.errors import ModelError
from spacectl.simulation.results.files import read_dataset
from spacectl.simulation.results.simulation import Simulation
from spacectl.simulation.stages.result import StagedSimulation

__all__ = ["load_simulation"]


def load_simulation(path: Any, group: str | None = None) -> Simulation:
    """Read a simulation that `Simulation.save` wrote, or one of those in the ``result.nc`` of a study.

    Parameters
    ----------
    path : path
        The netCDF file.
    group : str, optional
        Name of the simulation in a file of several; not needed where there is one.

    Raises
    ------
    ModelError
        If the file is not one of ours, holds a batch, or holds several simulations and `group` names none of them.
    """
    dataset, outcome = read_dataset(path, group)
    if "run" in dataset.dims:
        raise ModelError(
            f"{path}: it holds a batch of {dataset.sizes['run']} runs, not a single simulation; use load_batch"
        )
    return (StagedSimulation if "stage_name" in dataset else Simulation)(dataset, outcome)
