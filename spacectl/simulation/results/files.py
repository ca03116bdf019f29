"""Writes a labelled dataset and its outcome to a netCDF file and reads it back; plain data only, no pickle."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import re
import stat
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spacectl.core.errors import ModelError, unknown_name
from spacectl.core.limits import regular_file
from spacectl.core.outcome import Outcome, Status
from spacectl.simulation.results.seal import SEAL, dataset_sha256, seal_dataset

if TYPE_CHECKING:
    import xarray

__all__ = ["outcome_attribute", "read_dataset", "write_dataset"]

_OUTCOME = "outcome"
_STALE = 24 * 3600.0  # [s] after which an unfinished file of any process counts as abandoned


def outcome_attribute(outcome: Outcome) -> dict[str, str]:
    """The attribute that keeps an outcome with its dataset; `read_dataset` needs it."""
    entries = {"status": outcome.status.value, "message": outcome.message, "stats": dict(outcome.stats)}
    return {_OUTCOME: json.dumps(entries)}


def write_dataset(dataset: xarray.Dataset, outcome: Outcome, path: Any) -> None:
    """Write to `path`: first beside it, then renamed into place, so that readers never see half a file.

    What a killed process left beside the same `path` is removed.
    """
    target = Path(path)
    _remove_stale(target)
    whole = seal_dataset(dataset.assign_attrs(outcome_attribute(outcome)))
    handle, aside = tempfile.mkstemp(prefix=_aside(target), suffix=".part", dir=target.parent)
    os.close(handle)
    try:
        whole.to_netcdf(aside, engine="h5netcdf")
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(aside, 0o666 & ~mask)
        os.replace(aside, target)
    finally:
        Path(aside).unlink(missing_ok=True)


def _aside(target: Path, process: str = "") -> str:
    """How the names of unfinished files begin: target, process, machine (a folder may be shared between several)."""
    machine = hashlib.sha256(platform.node().encode()).hexdigest()[:8]
    return f".{target.name}.{process or os.getpid()}-{machine}."


def _remove_stale(target: Path) -> None:
    """Remove unfinished files of `target` whose process is gone, or that are a day old; not links, not other files."""
    ours = re.compile(re.escape(_aside(target, "PROCESS")).replace("PROCESS", r"(\d+)") + r".*\.part")
    anyone = re.compile(re.escape(f".{target.name}.") + r"\d+-[0-9a-f]{8}\..*\.part")
    with contextlib.suppress(OSError):  # a missing folder is reported below
        for left in target.parent.iterdir():
            if not anyone.fullmatch(left.name):
                continue
            with contextlib.suppress(OSError):  # another process was first
                status, here = left.lstat(), ours.fullmatch(left.name)
                is_gone = here is not None and not _is_running(int(here[1]))
                if stat.S_ISREG(status.st_mode) and (is_gone or time.time() - status.st_mtime > _STALE):
                    left.unlink()


def _is_running(process: int) -> bool:
    """Whether there is such a process; where that cannot be asked without harm, assume so."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)  # sends nothing
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def read_dataset(path: Any, group: str | None = None) -> tuple[xarray.Dataset, Outcome]:
    """Read what `write_dataset` wrote, or one group of a study's ``result.nc``.

    Raises
    ------
    ModelError
        If the file is not one of ours or damaged, has no such group, or has several and none is named.
    """
    try:
        chosen = _choose_group(path, group)
        import xarray

        dataset = xarray.load_dataset(Path(path), engine="h5netcdf", group=chosen)
        seal = dataset.attrs.pop(SEAL, None)  # files of earlier versions have none
        if seal is not None and str(seal) != dataset_sha256(dataset):
            raise ModelError(f"{path}: damaged: its content is not what was written (sha256 differs); run it again")
        summary = json.loads(dataset.attrs.pop(_OUTCOME))
        outcome = Outcome(
            status=Status(summary["status"]), message=str(summary["message"]), stats=dict(summary["stats"])
        )
    except (FileNotFoundError, ModelError):
        raise
    except Exception as error:  # a damaged file makes the libraries below raise nearly anything
        raise ModelError(f"{path}: not a simulation that spacectl saved ({type(error).__name__}: {error})") from error
    attributes = {key: _plain(value) for key, value in dataset.attrs.items()}
    texts = {name: item.astype(str) for name, item in dataset.variables.items() if item.dtype.kind in "OTSU"}
    return dataset.assign({name: item for name, item in texts.items() if name in dataset.data_vars}).assign_coords(
        {name: item for name, item in texts.items() if name in dataset.coords}
    ).assign_attrs(attributes), outcome


def _choose_group(path: Any, group: str | None) -> str | None:
    """The group to read; None for a file that holds one simulation without a group."""
    import h5netcdf

    with h5netcdf.File(regular_file(path), "r") as file:
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
