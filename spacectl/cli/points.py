"""The finished points of a sweep, one line of JSON each, written at once so that no finished point is lost.

The file lies in the output folder until the sweep is complete; the same sweep started again goes on from it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from spacectl.core.input_checks import regular_file
from spacectl.core.provenance import content_hash
from spacectl.reports.folder.atomic import JOURNAL
from spacectl.reports.page.page import write_text

__all__ = ["PointJournal"]


class PointJournal:
    """The journal of one sweep, used as a context.

    Parameters
    ----------
    folder : path
        Output folder of the sweep; made if it is not there.
    key : str
        Names the sweep's study, settings and versions; points of another key are dropped.
    """

    def __init__(self, folder: Path, key: str):
        self._folder, self._key = folder, key
        self._was_there = folder.exists()
        self._rows: dict[str, dict[str, Any]] = {}
        self._path = folder / JOURNAL

    def __enter__(self) -> PointJournal:
        self._folder.mkdir(parents=True, exist_ok=True)
        self._rows = self._read()
        lines = [_line({"sweep": self._key}), *(_line(row) for row in self._rows.values())]
        write_text(self._path, "".join(lines))  # at once: what was there is not lost for a moment
        self._file = self._path.open("a", encoding="utf-8")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        if not self._rows:  # nothing to keep
            self._path.unlink(missing_ok=True)
            if not self._was_there:
                self._folder.rmdir()

    def __len__(self) -> int:
        return len(self._rows)

    def find(self, parameters: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the row of a point that was finished before, without an error; else None."""
        row = self._rows.get(content_hash(dict(parameters)))
        return None if row is None or row["error"] else row

    def add(self, row: Mapping[str, Any]) -> None:
        """Keep a row; it is on the disk when this returns."""
        self._rows[content_hash(row["parameters"])] = dict(row)
        self._file.write(_line(row))
        self._file.flush()
        os.fsync(self._file.fileno())

    def _read(self) -> dict[str, dict[str, Any]]:
        """Return rows of the same sweep, by the hash of their parameters; half a line at the end is left out."""
        found: dict[str, dict[str, Any]] = {}
        try:
            first, *lines = regular_file(self._path).read_text(encoding="utf-8").splitlines()
            if json.loads(first) != {"sweep": self._key}:
                return {}
            for line in lines:
                row = json.loads(line)
                found[content_hash(row["parameters"])] = row
        except (OSError, ValueError, KeyError, TypeError):
            pass
        return found


def _line(data: Mapping[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, allow_nan=False) + "\n"
