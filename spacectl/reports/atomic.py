"""A folder that is either complete or not there: it is filled under another name and renamed into place at the end."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from spacectl.core.errors import ModelError
from spacectl.reports.leftovers import process_mark, remove_leftovers

__all__ = ["RECORD", "check_replaceable", "complete_folder", "file_hashes"]

RECORD = "provenance.json"  #: lists every other file of a result folder with its sha256


def file_hashes(folder: Path) -> dict[str, str]:
    """sha256 of every file in `folder` except the record itself, by relative path."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != RECORD)
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def check_replaceable(folder: Path) -> None:
    """Refuse to replace a folder that holds anything but an earlier result.

    Raises
    ------
    ModelError
        If `folder` is a file or a link or the current folder, holds a file that its record does not list, or lies where
        nothing can be written.
    """
    place = next((parent for parent in Path(os.path.abspath(folder)).parents if parent.exists()), None)
    if place is None:
        raise ModelError(f"output '{folder}': it is the top of the file system; name a folder in it, such as --out out")
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        raise ModelError(f"output '{folder}': nothing can be written in '{place}'; choose another folder for --out")
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise ModelError(f"output '{folder}': it is not a folder; choose another name for --out")
    if not folder.exists():
        return
    if folder.resolve() == Path.cwd():
        raise ModelError(f"output '{folder}': it is the current folder; name a folder in it, such as --out out")
    known = _recorded(folder) | {RECORD}
    for top, _, names in os.walk(folder):  # stops at the first stranger, so a large folder costs nothing
        for name in names:
            file = (Path(top) / name).relative_to(folder).as_posix()
            if file not in known:
                raise ModelError(
                    f"output '{folder}': it holds '{file}', which is not part of an earlier result; "
                    "choose an empty or new folder for --out"
                )


@contextmanager
def complete_folder(folder: Path) -> Iterator[Path]:
    """Give a temporary sibling to write into; on success it takes the place of `folder`, otherwise it vanishes.

    An earlier result in `folder` stays until the new one is complete. What killed runs left beside it is removed.
    """
    folder = Path(os.path.abspath(folder))
    check_replaceable(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        remove_leftovers(folder)
        work = Path(tempfile.mkdtemp(prefix=f".{folder.name}.{process_mark()}.", suffix=".part", dir=folder.parent))
    except OSError as error:
        raise ModelError(
            f"output '{folder}': cannot be created ({error.strerror}); choose another folder for --out"
        ) from error
    try:
        yield work
        umask = os.umask(0)
        os.umask(umask)
        work.chmod(0o777 & ~umask)
        _exchange(work, folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _exchange(work: Path, folder: Path) -> None:
    if not folder.exists():
        work.rename(folder)
        return
    check_replaceable(folder)  # it may have changed during a long run
    old = work.with_suffix(".old")
    folder.rename(old)
    try:
        work.rename(folder)
    except BaseException:
        old.rename(folder)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _recorded(folder: Path) -> set[str]:
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        return set(record["files"]) if record["made_by"] == "spacectl" else set()
    except (OSError, ValueError, KeyError, TypeError):
        return set()
