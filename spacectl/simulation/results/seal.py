"""A checksum of what a dataset says, kept in its attributes: a file that has changed since it was written is found on reading.

It covers names, dimensions, kinds and numbers of all variables and coordinates, and all attributes, in a form that does not
depend on how a file stores them.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray

__all__ = ["SEAL", "dataset_sha256", "seal_dataset"]

SEAL = "content_sha256"  #: the attribute


def seal_dataset(dataset: xarray.Dataset) -> xarray.Dataset:
    """The dataset with the checksum of its content among its attributes."""
    return dataset.assign_attrs({SEAL: dataset_sha256(dataset)})


def dataset_sha256(dataset: xarray.Dataset) -> str:
    """sha256 of the content, without the checksum itself."""
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
    """Attributes as text; a file does not distinguish a number from a list of one."""
    plain = {
        str(key): value if isinstance(value, str) else np.atleast_1d(np.asarray(value)).tolist()
        for key, value in attributes.items()
        if key not in (SEAL, "_FillValue")
    }
    return json.dumps(plain, sort_keys=True, default=str).encode()
