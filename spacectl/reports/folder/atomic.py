"""Atomic output folders: a folder is written under another name and renamed into place when it is complete.

A folder that cannot be renamed is written in place, file by file; until it is complete, its record marks it
as incomplete.
"""

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
from spacectl.core.input_checks import regular_file
from spacectl.reports.folder.leftovers import is_leftover, process_mark, remove_leftovers

__all__ = ["JOURNAL", "RECORD", "check_replaceable", "complete_folder", "file_hashes"]

RECORD = "provenance.json"  #: lists every other file of a result folder with its sha256
JOURNAL = "points.jsonl"  #: finished points of a sweep that is not complete yet (`cli.points`)
BETWEEN = ".record.between"  # temporary record while files are replaced one by one


def file_hashes(folder: Path) -> dict[str, str]:
    """Return sha256 of every file in `folder` except the record itself, by relative path."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != RECORD)
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def check_replaceable(folder: Path) -> None:
    """Raise if a folder contains anything but an earlier result.

    Raises
    ------
    ModelError
        If `folder` is a file, a link or the current folder, contains a file that its record does not list, or
        is not writable.
    """
    place = next((parent for parent in Path(os.path.abspath(folder)).parents if parent.exists()), None)
    if place is None:
        raise ModelError(f"output '{folder}': it is the root of the file system; name a folder, such as --out out")
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise ModelError(f"output '{folder}': it is not a folder; choose another name for --out")
    place = _staging_place(Path(os.path.abspath(folder))) if folder.exists() else place
    if not place.is_dir() or not _is_writable(place):
        raise ModelError(f"output '{folder}': '{place}' is not writable; choose another folder for --out")
    if not folder.exists():
        return
    if folder.resolve() == Path.cwd():
        raise ModelError(f"output '{folder}': it is the current folder; name a folder in it, such as --out out")
    known = _recorded(folder) | {RECORD, JOURNAL}
    for top, folders, names in os.walk(folder):  # stops at the first unknown file
        if Path(top) == folder:
            folders[:] = [name for name in folders if not is_leftover(name, folder.absolute().name)]
        for name in names:
            file = (Path(top) / name).relative_to(folder).as_posix()
            if file not in known:
                raise ModelError(
                    f"output '{folder}': it contains '{file}', which is not part of an earlier result; "
                    "choose an empty or new folder for --out"
                )


@contextmanager
def complete_folder(folder: Path) -> Iterator[Path]:
    """Provide a temporary folder to write into; on success it replaces `folder`, otherwise it is removed.

    An earlier result in `folder` remains until the new one is complete. Leftovers of killed runs are removed.
    A folder that cannot be renamed (a mount point) is written file by file instead, its record last; see
    `_fill`.
    """
    folder = Path(os.path.abspath(folder))
    check_replaceable(folder)
    place = _staging_place(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
        remove_leftovers(folder, place)
        work = Path(tempfile.mkdtemp(prefix=f".{folder.name}.{process_mark()}.", suffix=".part", dir=place))
    except OSError as error:
        raise ModelError(
            f"output '{folder}': cannot be created ({error.strerror}); choose another folder for --out"
        ) from error
    try:
        yield work
        umask = os.umask(0)
        os.umask(umask)
        work.chmod(0o777 & ~umask)
        if folder.exists():
            check_replaceable(folder)  # it may have changed during a long run
        if place == folder or not _exchange(work, folder):
            _fill(work, folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _is_writable(place: Path) -> bool:
    return os.access(place, os.W_OK | os.X_OK)


def _staging_place(folder: Path) -> Path:
    """Return the folder of a new result: beside `folder`, or in it if it is a mount point or its parent is read-only."""
    is_fixed = folder.is_dir() and (os.path.ismount(folder) or not _is_writable(folder.parent))
    return folder if is_fixed else folder.parent


def _exchange(work: Path, folder: Path) -> bool:
    """Replace `folder` by `work`; return False if `folder` exists and cannot be renamed."""
    if not folder.exists():
        work.rename(folder)
        return True
    old = work.with_suffix(".old")
    try:
        folder.rename(old)
    except OSError:  # a mount point, or a folder of another user
        return False
    try:
        work.rename(folder)
    except BaseException:
        old.rename(folder)
        raise
    shutil.rmtree(old, ignore_errors=True)
    return True


def _fill(work: Path, folder: Path) -> None:
    """Replace the files of `folder` by those of `work`, each atomically.

    Meanwhile the record lists the old and the new files. After an interruption the folder is therefore still
    recognised as a result, so that the next run replaces it, and its hashes show that it is incomplete. The
    new record is written last.
    """
    new = {path.relative_to(work).as_posix() for path in work.rglob("*") if path.is_file()}
    old = _recorded(folder) | {JOURNAL}
    between = {"made_by": "spacectl", "is_complete": False, "files": dict.fromkeys(sorted((old | new) - {RECORD}), "")}
    (work / BETWEEN).write_text(json.dumps(between), encoding="utf-8")
    _move(work / BETWEEN, folder / RECORD)
    for name in sorted(new - {RECORD}):
        _move(work / name, folder / name)
    for name in sorted(old - new - {RECORD}):
        (folder / name).unlink(missing_ok=True)
        for parent in (folder / name).parents:
            if parent == folder or not parent.is_dir() or any(parent.iterdir()):
                break
            parent.rmdir()
    if RECORD in new:
        _move(work / RECORD, folder / RECORD)


def _move(file: Path, target: Path) -> None:
    """Replace `target` atomically, even on another disk."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        file.replace(target)
    except OSError:
        handle, aside = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
        os.close(handle)
        try:
            shutil.copy(file, aside)
            os.replace(aside, target)
        finally:
            Path(aside).unlink(missing_ok=True)


def _recorded(folder: Path) -> set[str]:
    try:
        record = json.loads(regular_file(folder / RECORD).read_text(encoding="utf-8"))
        return set(record["files"]) if record["made_by"] == "spacectl" else set()
    except (OSError, ValueError, KeyError, TypeError):
        return set()
