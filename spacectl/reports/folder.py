"""Writes the folder of a study's run: metrics, parameters, data, figures, page and provenance, complete or not at all."""

from __future__ import annotations

import dataclasses
import json
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from spacectl.core.errors import ModelError
from spacectl.core.outcome import Outcome
from spacectl.core.provenance import content_hash, versions
from spacectl.core.study import StudyResult
from spacectl.reports.atomic import RECORD, complete_folder, file_hashes
from spacectl.reports.figures import save_figure
from spacectl.reports.page import StudyRecord, write_report
from spacectl.simulation.result_files import outcome_attribute

__all__ = ["plain_parameters", "write_study_folder"]


def write_study_folder(result: StudyResult, folder: str | Path, *, record: StudyRecord) -> Path:
    """Write everything a run leaves behind.

    ``metrics.json`` (one flat object), ``parameters.json``, ``result.nc`` (one group for each simulation),
    ``figures/<name>.png`` and ``.svg``, ``report.html`` and ``provenance.json`` (versions, and the sha256 of every
    other file). The folder appears when all of it is written; an earlier result is replaced only then.

    Parameters
    ----------
    result : StudyResult
        What the study found.
    folder : path
        Where to; a folder that holds anything else than an earlier result is refused.
    record : StudyRecord
        Question, parameters, warnings and provenance.

    Returns
    -------
    pathlib.Path
        The folder.
    """
    parameters = plain_parameters(record.parameters)
    provenance = {
        "made_by": "spacectl",
        "study": record.name,
        "created": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "is_quick": record.is_quick,
        **record.provenance,
        "parameters_sha256": content_hash(parameters),
        "machine": f"{platform.system()} {platform.machine()}",
    }
    record = dataclasses.replace(record, provenance=provenance)
    with complete_folder(Path(folder)) as work:
        _write_json(work / "metrics.json", result.metrics)
        _write_json(work / "parameters.json", parameters)
        _write_simulations(work / "result.nc", result.simulations)
        if result.figures:
            (work / "figures").mkdir()
        for figure in result.figures:
            save_figure(figure, work / "figures")
        write_report(result, work / "report.html", record=record)
        _write_json(work / RECORD, {**provenance, "versions": versions(), "files": file_hashes(work)})
    return Path(folder)


def plain_parameters(parameters: Any) -> dict[str, Any]:
    """The fields of a dataclass as JSON data."""
    if parameters is None:
        return {}
    return {item.name: _plain(getattr(parameters, item.name)) for item in dataclasses.fields(parameters)}


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return plain_parameters(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _write_json(path: Path, data: Any) -> None:
    path.write_text(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def _write_simulations(path: Path, simulations: Mapping[str, Any]) -> None:
    """One netCDF file with one group for each simulation, named after it; `load_simulation` reads each."""
    for i, (name, simulation) in enumerate(simulations.items()):
        if not name.replace("_", "").replace("-", "").isalnum():
            raise ModelError(
                f"simulation name {name!r}: use letters, digits, - and _ (it becomes a group of result.nc)"
            )
        data = simulation.dataset.copy()
        outcome = getattr(simulation, "outcome", None) or Outcome()
        kept = Outcome(status=outcome.status, message=outcome.message, stats=_plain(outcome.stats))
        attributes = {**data.attrs, **outcome_attribute(kept)}
        data.attrs = {key: _attribute(value) for key, value in attributes.items() if value is not None}
        data.to_netcdf(path, mode="a" if i else "w", group=name, engine="h5netcdf")


def _attribute(value: Any) -> Any:
    """An attribute as netCDF can hold it: numbers, lists of numbers and text as they are, anything else as JSON."""
    items = value if isinstance(value, (list, tuple)) else [value]
    if isinstance(value, str) or (items and all(type(item) in (int, float) for item in items)):
        return value
    return json.dumps(_plain(value), ensure_ascii=False)
