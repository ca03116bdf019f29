"""Finite-element models as ``.npz`` and Matrix Market files. Files are untrusted: nothing in them is executed.

The ``.npz`` contains plain arrays: ``nodes`` (n, 3) [m]; each of ``mass`` and ``stiffness`` either as one
dense array (N, N) or as triplets ``mass_row``, ``mass_column``, ``mass_value`` (rows and columns from 0; both
triangles); and, where needed, ``dofs`` (N, 2), ``ids`` (n,), ``triangles`` (k, 3), with the meaning that
`FemModel` gives them. Units are SI.
"""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.io import mmread

from spacectl.core.errors import ModelError
from spacectl.core.input_checks import regular_file
from spacectl.model.bodies.fem.model import FemModel

__all__ = ["load_fem", "read_matrix_market", "save_fem"]

_OPTIONAL = ("dofs", "ids", "triangles")
#: Exceptions for damaged or wrong archives
_BAD_ARCHIVE = (
    OSError, EOFError, ValueError, TypeError, AttributeError, KeyError, RuntimeError, MemoryError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip


def save_fem(model: FemModel, path: str | Path) -> Path:
    """Write a finite-element model to an ``.npz`` file that `load_fem` reads, and return the path.

    Parameters
    ----------
    model : FemModel
        The model.
    path : path
        File name ending in ``.npz``.
    """
    path = Path(path)
    if path.suffix != ".npz":
        raise ModelError(f"'{path.name}': expected a file name that ends in .npz")
    arrays: dict[str, Any] = {"nodes": model.nodes, "dofs": model.dofs, "ids": model.ids}
    if model.triangles is not None:
        arrays["triangles"] = model.triangles
    for name in ("mass", "stiffness"):
        A = sparse.coo_array(getattr(model, name))
        arrays |= {f"{name}_row": A.coords[0], f"{name}_column": A.coords[1], f"{name}_value": A.data}
    with path.open("wb") as file:
        np.savez_compressed(file, **arrays)
    return path


def load_fem(path: str | Path, *, total_mass: float | None = None) -> FemModel:
    """Read a finite-element model from an ``.npz`` file.

    Parameters
    ----------
    path : path
        File with the arrays ``nodes``, ``mass`` and ``stiffness`` (dense, or triplets ``mass_row``, ``mass_column``,
        ``mass_value``), and optionally ``dofs``, ``ids``, ``triangles``; see `FemModel`.
    total_mass : float, optional
        Mass that the model should have [kg].
    """
    path = Path(path)
    try:
        with np.load(regular_file(path), allow_pickle=False) as file:
            arrays = {name: np.asarray(file[name]) for name in file.files}
    except _BAD_ARCHIVE as error:
        raise ModelError(f"'{path}': cannot be read as .npz ({error})") from error
    if "nodes" not in arrays:
        raise ModelError(f"'{path}': no array 'nodes'; it has {', '.join(sorted(arrays)) or 'none'}")
    matrices = {name: _matrix(arrays, name, path) for name in ("mass", "stiffness")}
    optional = {name: arrays[name] for name in _OPTIONAL if name in arrays}
    return _named(path, nodes=arrays["nodes"], total_mass=total_mass, **matrices, **optional)


def read_matrix_market(
    mass: str | Path,
    stiffness: str | Path,
    nodes: Any,
    *,
    dofs: Any = None,
    ids: Any = None,
    total_mass: float | None = None,
) -> FemModel:
    """Read mass and stiffness from Matrix Market files (``.mtx``).

    Parameters
    ----------
    mass, stiffness : path
        The files; symmetric storage is expanded.
    nodes : array (n, 3) or path
        Positions of the nodes [m], or a text file with three columns (commas or blanks).
    dofs, ids, total_mass
        As for `FemModel`.
    """
    matrices = {}
    for name, path in (("mass", mass), ("stiffness", stiffness)):
        try:
            matrices[name] = sparse.csr_array(mmread(str(regular_file(path))))
        except (OSError, ValueError, TypeError) as error:
            raise ModelError(f"'{path}': cannot be read as Matrix Market ({error})") from error
    if isinstance(nodes, (str, Path)):
        try:
            text = regular_file(nodes).read_text(encoding="utf-8").replace(",", " ").splitlines()
            nodes = np.loadtxt(text, ndmin=2)
        except (OSError, ValueError) as error:
            raise ModelError(f"'{nodes}': cannot be read as three columns of numbers ({error})") from error
    return _named(mass, nodes=nodes, dofs=dofs, ids=ids, total_mass=total_mass, **matrices)


def _matrix(arrays: dict[str, np.ndarray], name: str, path: Path) -> Any:
    """Return a dense array, or the sum of its triplets."""
    if name in arrays:
        return arrays[name]
    keys = [f"{name}_{part}" for part in ("row", "column", "value")]
    missing = [key for key in keys if key not in arrays]
    if missing:
        raise ModelError(f"'{path}': no array '{name}' and no {', '.join(missing)}; it has {', '.join(sorted(arrays))}")
    row, column, value = (arrays[key] for key in keys)
    size = len(arrays["dofs"]) if "dofs" in arrays else int(max(row.max(initial=-1), column.max(initial=-1))) + 1
    try:
        return sparse.csr_array((value, (row.astype(int), column.astype(int))), shape=(size, size))
    except ValueError as error:
        raise ModelError(f"'{path}': {name} is not a matrix ({error})") from error


def _named(path: Any, **fields: Any) -> FemModel:
    try:
        return FemModel(**fields)
    except ModelError as error:
        raise type(error)(f"'{path}': {error}") from error
