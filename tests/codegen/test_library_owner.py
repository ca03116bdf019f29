"""The compiler cache uses nothing that belongs to another user, who could change it later."""

from __future__ import annotations

import logging
import os

import pytest

from spacectl.codegen import library as module
from spacectl.codegen.library import build_library

SOURCE = {"one.c": "double one(void) { return 1.0; }\n"}

pytestmark = pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have no owner here")


def give_away(path, monkeypatch):
    """Let a path belong to somebody else, without the rights that chown needs."""
    lstat = os.lstat

    def foreign(given, **options):
        status = lstat(given, **options)
        is_it = os.fspath(given) == os.fspath(path)
        return os.stat_result((*status[:4], status.st_uid + 1, *status[5:])) if is_it else status

    monkeypatch.setattr(os, "lstat", foreign)


@pytest.mark.parametrize("part", ["cache", "entry", "library", "manifest"])
def test_files_of_another_user_are_not_used(part, tmp_path, monkeypatch, caplog):
    cache = tmp_path / "cache"
    monkeypatch.setenv("SPACECTL_CACHE", str(cache))
    monkeypatch.setattr(module, "_loaded", {})
    library = build_library(SOURCE, name="one")
    assert library.parent.parent == cache
    entry = library.parent
    parts = {"cache": cache, "entry": entry, "library": library, "manifest": entry / "manifest.json"}
    give_away(parts[part], monkeypatch)
    with caplog.at_level(logging.WARNING):
        other = build_library(SOURCE, name="one")
    assert cache not in other.parents
    assert any(f"{parts[part]} belongs to another user" in line for line in caplog.messages)
