"""Nastran models: matrices as DMIG cards of a punch file or from an OP2 file, nodes from GRID cards.

Punch files (``EXTSEOUT(DMIGPCH)`` or ``PARAM,EXTOUT,DMIGPCH``) and GRID cards are read here; OP2 needs pyNastran
(extra ``nastran``).
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from spacectl.core.errors import ModelError
from spacectl.core.input_checks import regular_file
from spacectl.model.bodies.fem.model import FemModel

__all__ = ["read_nastran"]


def read_nastran(
    bulk: str | Path,
    matrices: str | Path,
    *,
    mass: str = "MAAX",
    stiffness: str = "KAAX",
    total_mass: float | None = None,
) -> FemModel:
    """Read a finite-element model that Nastran wrote.

    Parameters
    ----------
    bulk : path
        Bulk data or punch file with the GRID cards (basic coordinate system).
    matrices : path
        Punch file (``.pch``) with DMIG cards, or ``.op2`` (rows are then all six components of all grids, in ascending order).
    mass, stiffness : str
        Names of the matrices.
    total_mass : float, optional
        Mass that the model should have [kg].

    Returns
    -------
    FemModel
        With the grid numbers as `ids`; grids without rows in the matrices are omitted.
    """
    grids = _grids(Path(bulk))
    if not grids:
        raise ModelError(f"'{bulk}': no GRID cards found; give the bulk data file")
    path = Path(matrices)
    read = _from_op2 if path.suffix.lower() == ".op2" else _from_punch
    found = {name: read(path, name, sorted(grids)) for name in (mass, stiffness)}
    names = sorted({key for table in found.values() for pair in table for key in pair})
    unknown = sorted({grid for grid, _ in names} - set(grids))
    if unknown:
        raise ModelError(f"'{path}': grid {unknown[0]} is in the matrices but has no GRID card in '{bulk}'")
    ids = sorted({grid for grid, _ in names})
    row = {name: k for k, name in enumerate(names)}
    place = {grid: k for k, grid in enumerate(ids)}
    A = [_assemble(found[name], row) for name in (mass, stiffness)]
    dofs = np.array([(place[grid], component) for grid, component in names])
    nodes = np.array([grids[grid] for grid in ids])
    return FemModel(mass=A[0], stiffness=A[1], nodes=nodes, dofs=dofs, ids=ids, total_mass=total_mass)


def _assemble(table: dict[Any, float], row: dict[Any, int]) -> sparse.csr_array:
    pairs = [(row[a], row[b], value) for (a, b), value in table.items()]
    i, j, values = zip(*pairs, strict=True)
    return sparse.csr_array((np.array(values), (np.array(i), np.array(j))), shape=(len(row), len(row)))


def _number(text: str) -> float:
    """Parse a Nastran number: 1.5D+3, 1.5+3, .5; blank is 0."""
    text = text.strip().upper().replace("D", "E")
    if not text:
        return 0.0
    for k in range(1, len(text)):
        if text[k] in "+-" and text[k - 1] not in "E+-":
            text = f"{text[:k]}E{text[k:]}"
            break
    return float(text)


def _cards(path: Path, wanted: tuple[str, ...]) -> Iterator[list[str]]:
    """Yield the fields of cards with one of the `wanted` names: small, large or free fields, continuations joined."""
    try:
        lines = regular_file(path).read_text(encoding="latin-1").splitlines()
    except OSError as error:
        raise ModelError(f"'{path}': cannot be read ({error.strerror}); check the path") from error
    card: list[str] = []
    for line in lines:
        line = line.split("$")[0].expandtabs(8).rstrip()
        if not line.strip():
            continue
        is_large = "*" in line[:8]
        if "," in line:
            fields = [field.strip() for field in line.split(",")]
        else:
            width, count = (16, 4) if is_large else (8, 8)
            fields = [line[:8].strip(), *(line[8 + width * k : 8 + width * (k + 1)].strip() for k in range(count))]
        head = fields[0].rstrip("*").upper()
        if head and head[0].isalpha():
            if card:
                yield card
            card = [head, *fields[1:]] if head in wanted else []
        elif card:
            card += fields[1:]
    if card:
        yield card


def _grids(path: Path) -> dict[int, list[float]]:
    found = {}
    for fields in _cards(path, ("GRID",)):
        fields = [*fields, *[""] * 7]
        if fields[2] not in ("", "0"):
            raise ModelError(
                f"'{path}': GRID {fields[1]} is in coordinate system {fields[2]}; write the grids in the basic system"
            )
        try:
            found[int(fields[1])] = [_number(text) for text in fields[3:6]]
        except ValueError as error:
            raise ModelError(f"'{path}': GRID card {fields[:6]} cannot be read ({error})") from error
    return found


def _from_punch(path: Path, name: str, grids: list[int]) -> dict[Any, float]:
    """Read a DMIG matrix by pairs of (grid, component); expand a symmetric one."""
    table: dict[Any, float] = {}
    is_symmetric, seen = False, set()
    for fields in _cards(path, ("DMIG",)):
        fields = [*fields, *[""] * 4]
        seen.add(fields[1].upper())
        if fields[1].upper() != name.upper():
            continue
        try:
            if fields[2] == "0":
                is_symmetric = fields[3] == "6"
                continue
            column = (int(fields[2]), max(int(fields[3] or 1), 1) - 1)
            for k in range(5, len(fields) - 2, 4):
                if fields[k]:
                    other = (int(fields[k]), max(int(fields[k + 1] or 1), 1) - 1)
                    table[other, column] = _number(fields[k + 2])
        except ValueError as error:
            raise ModelError(f"'{path}': DMIG card {fields[:8]} cannot be read ({error})") from error
    if not table:
        raise ModelError(f"'{path}': no matrix '{name}'; it has {', '.join(sorted(seen)) or 'none'}")
    return {**{(b, a): value for (a, b), value in table.items()}, **table} if is_symmetric else table


def _from_op2(path: Path, name: str, grids: list[int]) -> dict[Any, float]:
    """Read a matrix of an OP2 file, which has six rows per grid."""
    try:
        reader = import_module("pyNastran.op2.op2").OP2(debug=None)
    except (ImportError, AttributeError) as error:
        raise ModelError(
            f"'{path}': OP2 files are read by pyNastran, which is not available here ({error}); install "
            f"spacectl[nastran] with a numpy that it "
            "supports, or write the matrices to a punch file or Matrix Market"
        ) from error
    reader.read_op2(str(path))
    if name not in reader.matrices:
        raise ModelError(f"'{path}': no matrix '{name}'; it has {', '.join(sorted(reader.matrices)) or 'none'}")
    A = sparse.coo_array(reader.matrices[name].data)
    if A.shape[0] != 6 * len(grids):
        raise ModelError(
            f"'{path}': matrix '{name}' has {A.shape[0]} rows, expected six for each of {len(grids)} grids"
        )
    rows = [(grid, component) for grid in grids for component in range(6)]
    i, j = A.coords
    return {(rows[a], rows[b]): float(value) for a, b, value in zip(i, j, A.data, strict=True)}
