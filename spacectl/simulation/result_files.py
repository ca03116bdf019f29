"""Writes a labelled dataset and its outcome to a netCDF file and reads it back; plain data only, no pickle."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import h5netcdf
import numpy as np
import xarray

from spacectl.core.errors import ModelError, unknown_name
from spacectl.core.outcome import Outcome, Status

__all__ = ["outcome_attribute", "read_dataset", "write_dataset"]

_OUTCOME = "outcome"


def outcome_attribute(outcome: Outcome) -> dict[str, str]:
    """The attribute that keeps an outcome with its dataset; `read_dataset` needs it."""
    told = {"status": outcome.status.value, "message": outcome.message, "stats": dict(outcome.stats)}
    return {_OUTCOME: json.dumps(told)}


def write_dataset(dataset: xarray.Dataset, outcome: Outcome, path: Any) -> None:
    """Write to `path`: first beside it, then renamed into place, so that readers never see half a file."""
    target = Path(path)
    whole = dataset.assign_attrs(outcome_attribute(outcome))
    handle, aside = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    os.close(handle)
    try:
        whole.to_netcdf(aside, engine="h5netcdf")
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(aside, 0o666 & ~mask)
        os.replace(aside, target)
    finally:
        Path(aside).unlink(missing_ok=True)


def read_dataset(path: Any, group: str | None = None) -> tuple[xarray.Dataset, Outcome]:
    """Read what `write_dataset` wrote, or one group of a study's ``result.nc``.

    Raises
    ------
    ModelError
        If the file is not one of ours, has no such group, or has several and none is named.
    """
    try:
        chosen = _choose_group(path, group)
        dataset = xarray.load_dataset(Path(path), engine="h5netcdf", group=chosen)
        told = json.loads(dataset.attrs.pop(_OUTCOME))
        outcome = Outcome(status=Status(told["status"]), message=str(told["message"]), stats=dict(told["stats"]))
    except (FileNotFoundError, ModelError):
        raise
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{path}: not a simulation that spacectl saved ({type(error).__name__}: {error})") from error
    attributes = {key: _plain(value) for key, value in dataset.attrs.items()}
    texts = {name: item.astype(str) for name, item in dataset.variables.items() if item.dtype.kind in "OTSU"}
    return dataset.assign({name: item for name, item in texts.items() if name in dataset.data_vars}).assign_coords(
        {name: item for name, item in texts.items() if name in dataset.coords}
    ).assign_attrs(attributes), outcome


def _choose_group(path: Any, group: str | None) -> str | None:
    """The group to read; None for a file that holds one simulation without a group."""
    with h5netcdf.File(Path(path), "r") as file:
        groups = sorted(file.groups)
        if group is None and (_OUTCOME in file.attrs or not groups):
            return None
    if group is None and len(groups) > 1:
        listed = ", ".join(f"'{name}'" for name in groups)
        raise ModelError(f"{path}: it holds several simulations; name one by group=...: {listed}")
    if group is not None and group not in groups:
        raise ModelError(f"{path}: {unknown_name('group', group, groups)}")
    return group or groups[0]


def _plain(value: Any) -> Any:
    """Attributes as they were: numbers and texts instead of numpy scalars."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    return value
