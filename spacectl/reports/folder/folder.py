"""Write the folder of a study's run atomically: metrics, parameters, data, figures, page and provenance."""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import json
import platform
import zlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from spacectl.core.errors import ModelError
from spacectl.core.input_checks import regular_file
from spacectl.core.outcome import Outcome
from spacectl.core.provenance import content_hash, versions
from spacectl.core.studies.plain import plain_parameters, plain_value
from spacectl.core.studies.requirement import Requirement
from spacectl.core.studies.study import StudyResult
from spacectl.reports.folder.atomic import RECORD, complete_folder, file_hashes
from spacectl.reports.page.document import FORMAT, build_document, own_figures
from spacectl.reports.page.figures import save_figure
from spacectl.reports.page.page import render_page, write_text
from spacectl.reports.page.summary import StudyRecord
from spacectl.simulation.results.files import outcome_attribute, seal_dataset

__all__ = [
    "DOCUMENT",
    "PAGE",
    "read_document",
    "rebuild_report",
    "write_study_folder",
]

PAGE, DOCUMENT = "report.html", "report.json.gz"


def write_study_folder(
    result: StudyResult, folder: str | Path, *, record: StudyRecord, tables: Mapping[str, str] | None = None
) -> Path:
    """Write all results of a run into a folder.

    ``metrics.json`` (one flat object), ``parameters.json``, ``result.nc`` (one group for each simulation),
    ``figures/<name>.png``, ``.svg`` and ``.pdf``, ``report.html``, ``report.json.gz`` (contents of the page,
    to render it again) and ``provenance.json`` (versions, and the SHA-256 of every other file). The folder
    appears, and replaces an earlier result, when it is complete.

    Parameters
    ----------
    result : StudyResult
        Result of the study.
    folder : path
        Output folder; a folder that contains anything but an earlier result raises.
    record : StudyRecord
        Question, parameters, warnings and provenance.
    tables : mapping of str to str, optional
        Additional text files, by name.

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
        for name, text in (tables or {}).items():
            (work / name).write_text(text, encoding="utf-8")
        if result.figures:
            (work / "figures").mkdir()
        for figure in result.figures:
            save_figure(figure, work / "figures", suffixes=("png", "svg", "pdf"))
        document = build_document(result, record, result.figures or own_figures(result, has_names=True))
        write_document(work / DOCUMENT, document)
        write_text(work / PAGE, render_page(document))
        _write_json(work / RECORD, {**provenance, "versions": versions(), "files": file_hashes(work)})
    return Path(folder)


def write_document(path: Path, document: Mapping[str, Any]) -> None:
    """Write the contents of a page."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    write_text(path, gzip.compress(text.encode("utf-8"), mtime=0))


def read_document(folder: Path) -> dict[str, Any]:
    """Read the contents of the page of a result folder.

    Raises
    ------
    ModelError
        If the folder contains no result that this version can render.
    """
    try:
        document = json.loads(gzip.decompress(regular_file(folder / DOCUMENT).read_bytes()))
        known = document["format"] == FORMAT
    except FileNotFoundError as error:
        raise ModelError(
            f"'{folder}': no result here ({DOCUMENT} is missing); run `spacectl run NAME --out {folder}`"
        ) from error
    except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError) as error:
        summary = f"{type(error).__name__}: {error}"
        raise ModelError(f"'{folder}': {DOCUMENT} cannot be read ({summary}); run the study again") from error
    if not known:
        raise ModelError(
            f"'{folder}': {DOCUMENT} has format {document['format']}, expected {FORMAT}; run the study again"
        )
    return dict(document)


def rebuild_report(folder: Path, requirements: Iterable[Requirement] = ()) -> dict[str, Any]:
    """Render the page of a result folder again, with additional requirements if given; return its contents.

    Each file is replaced atomically, the record of the folder last, so that an interruption leaves a complete
    page.
    """
    document = read_document(folder)
    asked = [dataclasses.asdict(item) for item in requirements]
    document["requirements"] += [item for item in asked if item not in document["requirements"]]
    try:
        record = json.loads(regular_file(folder / RECORD).read_text(encoding="utf-8"))
        files = dict(record["files"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"'{folder}': {RECORD} cannot be read ({type(error).__name__}); run the study again"
        ) from error
    write_text(folder / PAGE, render_page(document))
    write_document(folder / DOCUMENT, document)
    drawn = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in (PAGE, DOCUMENT)}
    _write_json(folder / RECORD, {**record, "files": {**files, **drawn}})  # hashes of other files do not change
    return document


def _write_json(path: Path, data: Any) -> None:
    write_text(path, json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def _write_simulations(path: Path, simulations: Mapping[str, Any]) -> None:
    """Write one netCDF file with a group for each simulation, named after it; `load_simulation` reads each."""
    for i, (name, simulation) in enumerate(simulations.items()):
        if not name.replace("_", "").replace("-", "").isalnum():
            raise ModelError(
                f"simulation name {name!r}: use letters, digits, - and _ (it becomes a group of result.nc)"
            )
        data = simulation.dataset.copy()
        outcome = getattr(simulation, "outcome", None) or Outcome()
        kept = Outcome(status=outcome.status, message=outcome.message, stats=plain_value(outcome.stats))
        attributes = {**data.attrs, **outcome_attribute(kept)}
        data.attrs = {key: _attribute(value) for key, value in attributes.items() if value is not None}
        seal_dataset(data).to_netcdf(path, mode="a" if i else "w", group=name, engine="h5netcdf")


def _attribute(value: Any) -> Any:
    """Convert an attribute for netCDF: numbers, lists of numbers and text unchanged, all else as JSON."""
    items = value if isinstance(value, (list, tuple)) else [value]
    if isinstance(value, str) or (items and all(type(item) in (int, float) for item in items)):
        return value
    return json.dumps(plain_value(value), ensure_ascii=False)
