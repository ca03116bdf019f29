"""Files that native code is loaded from: folders of this user alone, checks of who can write, hashes."""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import platformdirs

__all__ = ["cache_folder", "check_ours", "private_folder", "sha256_of"]

_ROOM = 16 * 2**20  # [bytes] a cache with less free space counts as full


def cache_folder() -> Path:
    """Return the cache folder; raise OSError if it is not private to this user."""
    chosen = os.environ.get("SPACECTL_CACHE")
    folder = Path(chosen) if chosen else Path(platformdirs.user_cache_dir("spacectl"))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if check_ours(folder, stat.S_ISDIR).st_mode & 0o077:
        folder.chmod(0o700)
    if shutil.disk_usage(folder).free < _ROOM:
        raise OSError(f"{folder} is full")
    return folder


@cache
def private_folder() -> Path:
    """Return a temporary folder that lives as long as this process."""
    folder, owner = Path(tempfile.mkdtemp(prefix="spacectl-")), os.getpid()
    atexit.register(lambda: shutil.rmtree(folder, ignore_errors=True) if os.getpid() == owner else None)
    return folder


def check_ours(path: Path, is_kind: Callable[[int], bool]) -> os.stat_result:
    """Raise OSError unless `path` itself (no link) is of the kind, owned and writable by this user only."""
    status = os.lstat(path)
    if not is_kind(status.st_mode):
        raise OSError(f"{path} is a link or not of the expected kind")
    if hasattr(os, "getuid"):
        if status.st_uid != os.getuid():
            raise OSError(f"{path} belongs to another user")
        if status.st_mode & 0o022:
            raise OSError(f"{path} can be written by others")
    return status


def sha256_of(path: Path) -> str:
    """Return sha256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
