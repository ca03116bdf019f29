"""Writes a labelled dataset and its outcome to a netCDF file and reads it back; plain data only, no pickle."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import xarray

from spacectl.core.errors import ModelError
from spacectl.core.outcome import Outcome, Status

__all__ = ["read_dataset", "write_dataset"]

_OUTCOME = "outcome"


def write_dataset(dataset: xarray.Dataset, outcome: Outcome, path: Any) -> None:
    """Write to `path`: first beside it, then renamed into place, so that readers never see half a file."""
    target = Path(path)
    told = {"status": outcome.status.value, "message": outcome.message, "stats": dict(outcome.stats)}
    whole = dataset.assign_attrs({_OUTCOME: json.dumps(told)})
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


def read_dataset(path: Any) -> tuple[xarray.Dataset, Outcome]:
    """Read what `write_dataset` wrote.

    Raises
    ------
    ModelError
        If the file is not one of ours.
    """
    try:
        dataset = xarray.load_dataset(Path(path), engine="h5netcdf")
        told = json.loads(dataset.attrs.pop(_OUTCOME))
        outcome = Outcome(status=Status(told["status"]), message=str(told["message"]), stats=dict(told["stats"]))
    except FileNotFoundError:
        raise
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{path}: not a simulation that spacectl saved ({type(error).__name__}: {error})") from error
    attributes = {key: _plain(value) for key, value in dataset.attrs.items()}
    texts = {name: item.astype(str) for name, item in dataset.variables.items() if item.dtype.kind in "OTSU"}
    return dataset.assign({name: item for name, item in texts.items() if name in dataset.data_vars}).assign_coords(
        {name: item for name, item in texts.items() if name in dataset.coords}
    ).assign_attrs(attributes), outcome


def _plain(value: Any) -> Any:
    """Attributes as they were: numbers and texts instead of numpy scalars."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    return value
