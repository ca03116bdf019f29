"""Write a labelled dataset and its outcome to a netCDF file and read it back, with a checksum; plain data only, no pickle.

The checksum is stored as an attribute. It covers names, dimensions, kinds and values of all variables and coordinates, and all
attributes, in a form that is independent of the file format, so that reading detects a modified file.
"""

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
from spacectl.core.input_checks import regular_file
from spacectl.core.outcome import Outcome, Status

if TYPE_CHECKING:
    import xarray

__all__ = ["SEAL", "dataset_sha256", "outcome_attribute", "read_dataset", "seal_dataset", "write_dataset"]

SEAL = "content_sha256"  #: name of the attribute with the checksum


def seal_dataset(dataset: xarray.Dataset) -> xarray.Dataset:
    """Return the dataset with the checksum of its content as an attribute."""
    return dataset.assign_attrs({SEAL: dataset_sha256(dataset)})


def dataset_sha256(dataset: xarray.Dataset) -> str:
    """Return the SHA-256 checksum of the content, without the checksum attribute."""
    digest = hashlib.sha256(_attributes(dataset.attrs))
    for name in sorted(map(str, dataset.variables)):
        item = dataset.variables[name]
        values = np.asarray(item.values)
        is_text = values.dtype.kind in "OSTU"
        kind = "text" if is_text else values.dtype.kind
        digest.update(json.dumps([name, list(item.dims), list(values.shape), kind]).encode())
        digest.update(_attributes(item.attrs))
        digest.update(_bytes(values, is_text))
    return digest.hexdigest()


def _bytes(values: np.ndarray, is_text: bool) -> bytes:
    if is_text:
        return json.dumps([str(item) for item in values.reshape(-1)]).encode()
    wide = {"f": "<f8", "i": "<i8", "u": "<u8"}.get(values.dtype.kind, values.dtype.str)
    return np.ascontiguousarray(values, dtype=wide).tobytes()


def _attributes(attributes: Any) -> bytes:
    """Return the attributes as text; a file does not distinguish a number from a list with one entry."""
    plain = {
        str(key): value if isinstance(value, str) else np.atleast_1d(np.asarray(value)).tolist()
        for key, value in attributes.items()
        if key not in (SEAL, "_FillValue")
    }
    return json.dumps(plain, sort_keys=True, default=str).encode()


_OUTCOME = "outcome"
_STALE = 24 * 3600.0  # [s] age at which an unfinished file of any process is considered abandoned


def outcome_attribute(outcome: Outcome) -> dict[str, str]:
    """Return the attribute that stores an outcome with its dataset, for `read_dataset`."""
    entries = {"status": outcome.status.value, "message": outcome.message, "stats": dict(outcome.stats)}
    return {_OUTCOME: json.dumps(entries)}


def write_dataset(dataset: xarray.Dataset, outcome: Outcome, path: Any) -> None:
    """Write to a temporary file beside `path`, then rename it, so that readers never see an incomplete file.

    Temporary files that a killed process left beside the same `path` are removed.
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
    """Return the prefix of temporary files: target, process and machine (several machines may share a folder)."""
    machine = hashlib.sha256(platform.node().encode()).hexdigest()[:8]
    return f".{target.name}.{process or os.getpid()}-{machine}."


def _remove_stale(target: Path) -> None:
    """Remove temporary files of `target` whose process has ended, or that are a day old; never links or other files."""
    ours = re.compile(re.escape(_aside(target, "PROCESS")).replace("PROCESS", r"(\d+)") + r".*\.part")
    anyone = re.compile(re.escape(f".{target.name}.") + r"\d+-[0-9a-f]{8}\..*\.part")
    with contextlib.suppress(OSError):  # writing reports a missing folder
        for left in target.parent.iterdir():
            if not anyone.fullmatch(left.name):
                continue
            with contextlib.suppress(OSError):  # another process has removed it
                status, here = left.lstat(), ours.fullmatch(left.name)
                is_gone = here is not None and not _is_running(int(here[1]))
                if stat.S_ISREG(status.st_mode) and (is_gone or time.time() - status.st_mtime > _STALE):
                    left.unlink()


def _is_running(process: int) -> bool:
    """Return whether a process exists; assume so where this cannot be tested safely."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)  # signal 0 only tests whether the process exists
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def read_dataset(path: Any, group: str | None = None) -> tuple[xarray.Dataset, Outcome]:
    """Read a file of `write_dataset`, or one group of the ``result.nc`` of a study.

    Raises
    ------
    ModelError
        If spacectl did not write the file, if it is damaged, or if the group is missing or must be named.
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
    except Exception as error:  # the libraries raise arbitrary exceptions for damaged files
        raise ModelError(f"{path}: not a simulation that spacectl saved ({type(error).__name__}: {error})") from error
    attributes = {key: _plain(value) for key, value in dataset.attrs.items()}
    texts = {name: item.astype(str) for name, item in dataset.variables.items() if item.dtype.kind in "OTSU"}
    return dataset.assign({name: item for name, item in texts.items() if name in dataset.data_vars}).assign_coords(
        {name: item for name, item in texts.items() if name in dataset.coords}
    ).assign_attrs(attributes), outcome


def _choose_group(path: Any, group: str | None) -> str | None:
    """Return the group to read; None for a file with one simulation without a group."""
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
    """Return an attribute as a plain number, text or list instead of a numpy type."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    return value
