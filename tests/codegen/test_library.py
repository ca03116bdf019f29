"""The compiler cache loads only what it built itself, and always finds a way or says why not."""

from __future__ import annotations

import ctypes
import importlib.util
import json
import logging
import os
import shutil
import stat
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import pytest

from spacectl.codegen import library as module
from spacectl.codegen.compiler import find_compiler, run_compiler
from spacectl.codegen.library import build_library, load_library
from spacectl.core.errors import ModelError, SolverError

SOURCE = {
    "add.c": '#include "add.h"\ndouble add(double a, double b) { return a + OFFSET + b; }\n',
    "add.h": "#define OFFSET 1.0\n",
}


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("SPACECTL_CACHE", str(folder))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(module, "_loaded", {})
    return folder


def result_of(path):
    add = ctypes.CDLL(str(path)).add
    add.restype, add.argtypes = ctypes.c_double, [ctypes.c_double, ctypes.c_double]
    return add(2.0, 3.0)


def test_library_is_built_once_and_loaded(cache):
    path = build_library(SOURCE, name="add")
    first = path.stat().st_mtime_ns
    assert result_of(path) == 6.0
    assert build_library(SOURCE, name="add") == path
    assert path.stat().st_mtime_ns == first
    assert load_library(SOURCE, name="add") is load_library(SOURCE, name="add")


def test_sources_can_be_files(cache, tmp_path):
    for name, text in SOURCE.items():
        (tmp_path / name).write_text(text)
    assert result_of(build_library([tmp_path / name for name in SOURCE], name="add")) == 6.0


def test_cache_is_private(cache):
    path = build_library(SOURCE, name="add")
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_function_named_as_one_of_the_c_library_is_called_by_its_own_library(cache):
    """`y0` is a Bessel function of libm, which every Python process has loaded."""
    text = "double y0(double x) { return 42.0 + x; }\ndouble call(double x) { return y0(x); }\n"
    library = load_library({"own.c": text}, name="own", flags=("-O1", "-fno-builtin"))
    library.call.restype, library.call.argtypes = ctypes.c_double, [ctypes.c_double]
    assert library.call(1.0) == 43.0


def test_other_source_or_flag_is_another_library(cache):
    other = SOURCE | {"add.h": "#define OFFSET 2.0\n"}
    paths = {
        build_library(SOURCE, name="add"),
        build_library(other, name="add"),
        build_library(SOURCE, name="add", flags=("-O1",)),
    }
    assert len(paths) == 3


def damage_by_truncation(path):
    path.write_bytes(path.read_bytes()[:100])


def damage_by_symlink(path):
    moved = path.with_name("elsewhere.so")
    path.rename(moved)
    path.symlink_to(moved)


def damage_by_one_other_byte(path):
    content = bytearray(path.read_bytes())
    content[-1] ^= 1  # its size stays
    path.write_bytes(content)


def damage_by_foreign_manifest(path):
    manifest = path.with_name("manifest.json")
    noted = json.loads(manifest.read_text()) | {"key": "0" * 64}
    manifest.write_text(json.dumps(noted))


def damage_by_broken_manifest(path):
    path.with_name("manifest.json").write_text("[1, 2")


def damage_by_missing_manifest(path):
    path.with_name("manifest.json").unlink()


def damage_by_open_permissions(path):
    path.chmod(0o777)


def damage_by_linked_entry(path):
    moved = path.parent.with_name("elsewhere")
    path.parent.rename(moved)
    path.parent.symlink_to(moved)


DAMAGES = [value for name, value in sorted(globals().items()) if name.startswith("damage_by_")]


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_entry_is_logged_and_built_again(cache, damage, caplog):
    path = build_library(SOURCE, name="add")
    damage(path)
    with caplog.at_level(logging.WARNING):
        again = build_library(SOURCE, name="add")
    assert sum("building it again" in line for line in caplog.messages) == 1
    assert again == path
    assert stat.S_ISREG(os.lstat(again).st_mode)
    assert not path.parent.is_symlink()
    assert result_of(again) == 6.0


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_cache_that_others_can_write_is_refused(cache, mode, caplog):
    cache.mkdir()
    cache.chmod(mode)
    with caplog.at_level(logging.WARNING):
        path = build_library(SOURCE, name="add")
    assert cache not in path.parents
    assert any("can be written by others" in line for line in caplog.messages)
    assert list(cache.iterdir()) == []
    assert result_of(path) == 6.0


def test_linked_cache_is_refused(cache, tmp_path, caplog):
    (tmp_path / "real").mkdir(mode=0o700)
    cache.symlink_to(tmp_path / "real")
    with caplog.at_level(logging.WARNING):
        path = build_library(SOURCE, name="add")
    assert list((tmp_path / "real").iterdir()) == []
    assert result_of(path) == 6.0
    assert any("is a link" in line for line in caplog.messages)


def test_cache_that_cannot_be_made_is_replaced_by_a_temporary_folder(cache, caplog):
    cache.write_text("a file where the folder should be")
    with caplog.at_level(logging.WARNING):
        path = build_library(SOURCE, name="add")
    assert result_of(path) == 6.0
    assert any("temporary folder" in line for line in caplog.messages)


def test_full_cache_is_replaced_by_a_temporary_folder(cache, monkeypatch, caplog):
    usage = shutil.disk_usage(os.getcwd())
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage._replace(free=0))
    with caplog.at_level(logging.WARNING):
        path = build_library(SOURCE, name="add")
    assert cache not in path.parents
    assert any("is full" in line for line in caplog.messages)


def test_cache_without_execution_is_left_for_a_temporary_folder(cache, monkeypatch, caplog):
    load = ctypes.CDLL

    def refuse(path):
        if str(cache) in path:
            raise OSError("failed to map segment from shared object")
        return load(path)

    monkeypatch.setattr(ctypes, "CDLL", refuse)
    with caplog.at_level(logging.WARNING):
        assert hasattr(load_library(SOURCE, name="add"), "add")
    assert any("failed to map" in line for line in caplog.messages)


@pytest.mark.slow
def test_processes_that_build_together_do_not_collide(cache):
    program = textwrap.dedent(
        """
        import ctypes, sys
        from spacectl.codegen.library import build_library
        path = build_library({"one.c": "int one(void) { return 1; }\\n"}, name="one")
        sys.exit(0 if ctypes.CDLL(str(path)).one() == 1 else 1)
        """
    )
    running = [subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE) for _ in range(4)]
    errors = [process.communicate()[1] for process in running]
    assert [process.returncode for process in running] == [0] * 4, errors
    assert len(list(cache.iterdir())) == 1  # one entry, nothing left behind


def test_of_builders_that_want_the_same_one_compiles_and_the_others_wait(cache, tmp_path, monkeypatch):
    """Threads hold a lock each, as processes do."""
    count, real = tmp_path / "count", shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    slow = f'if [ "$1" != --version ]; then echo one >> {count}; sleep 0.2; fi; exec {real} "$@"'
    monkeypatch.setenv("CC", program(tmp_path, slow))
    with ThreadPoolExecutor(4) as pool:
        paths = list(pool.map(lambda _: build_library(SOURCE, name="add"), range(4)))
    assert len(set(paths)) == 1 and count.read_text().split() == ["one"]
    assert [path.name for path in cache.iterdir()] == [paths[0].parent.name]  # no lock is left behind


def test_a_builder_builds_if_the_one_it_waited_for_fails(cache, monkeypatch):
    """The one it waited for fails."""
    attempts = []

    def fail_once(*args, **named):
        attempts.append(None)
        if len(attempts) == 1:
            raise SolverError("out of memory")
        return run_compiler(*args, **named)

    monkeypatch.setattr(module, "run_compiler", fail_once)
    with ThreadPoolExecutor(2) as pool:
        futures = [pool.submit(build_library, SOURCE, name="add") for _ in range(2)]
        failures = [future.exception() for future in futures]
    assert sorted(type(failure).__name__ for failure in failures) == ["NoneType", "SolverError"]
    assert len(attempts) == 2 and len(list(cache.iterdir())) == 1


def test_options_of_the_environment_come_last_and_make_another_library(cache, monkeypatch):
    source = {"add.c": "double add(double a, double b) { return a + OFFSET + b; }\n"}
    plain = build_library(source, name="add", flags=("-DOFFSET=1.0",))
    monkeypatch.setenv("SPACECTL_CFLAGS", "-UOFFSET '-DOFFSET=(2.0 + 0.5)'")
    other = build_library(source, name="add", flags=("-DOFFSET=1.0",))
    assert (result_of(plain), result_of(other)) == (6.0, 7.5)
    noted = json.loads((other.parent / "manifest.json").read_text())
    assert noted["flags"] == "-DOFFSET=1.0 -UOFFSET -DOFFSET=(2.0 + 0.5)"
    loaded = load_library(source, name="add", flags=("-DOFFSET=1.0",))
    monkeypatch.delenv("SPACECTL_CFLAGS")
    assert load_library(source, name="add", flags=("-DOFFSET=1.0",)) is not loaded


def test_a_build_finished_first_by_another_process_is_verified_and_used(cache, monkeypatch):
    rename = os.rename

    def lose(source, target):
        shutil.copytree(source, target)
        os.chmod(target, 0o700)
        rename(source, target)  # raises, as the target is there and not empty

    monkeypatch.setattr(os, "rename", lose)
    assert result_of(build_library(SOURCE, name="add")) == 6.0
    assert len(list(cache.iterdir())) == 1


def test_no_compiler_is_an_error_that_says_so(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert find_compiler() is None
    with pytest.raises(SolverError, match="no C compiler found"):
        build_library(SOURCE, name="add")


def test_ziglang_serves_where_there_is_no_system_compiler(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    compiler = find_compiler()
    assert compiler is not None
    assert compiler.command == (sys.executable, "-m", "ziglang", "cc")


def program(tmp_path, text):
    path = tmp_path / "mycc"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o700)
    return str(path)


def test_failing_compiler_is_quoted(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("CC", program(tmp_path, "echo 'internal trouble' >&2; exit 3"))
    with pytest.raises(SolverError, match=r"(?s)ended with 3.*internal trouble"):
        build_library(SOURCE, name="add")
    assert list(cache.iterdir()) == []


def test_killed_compiler_is_reported(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("CC", program(tmp_path, 'if [ "$1" != --version ]; then kill -9 $$; fi'))
    with pytest.raises(SolverError, match="killed by signal 9"):
        build_library(SOURCE, name="add")


def test_compiler_that_writes_nothing_is_reported(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("CC", program(tmp_path, "exit 0"))
    with pytest.raises(SolverError, match="printed nothing"):
        build_library(SOURCE, name="add")


def test_compiler_variable_is_one_program_and_never_a_shell_command(cache, tmp_path, monkeypatch, caplog):
    witness = tmp_path / "witness"
    monkeypatch.setenv("CC", f"cc; touch {witness}")
    with caplog.at_level(logging.WARNING):
        build_library(SOURCE, name="add")
    assert not witness.exists()
    assert any("not a program" in line for line in caplog.messages)


def test_error_in_the_source_is_quoted(cache):
    with pytest.raises(SolverError, match="error"):
        build_library({"bad.c": "int f( {"}, name="bad")


@pytest.mark.parametrize("name", ["../evil.c", "/tmp/evil.c", "a/b.c", ".."])
def test_source_names_stay_in_the_folder(cache, name):
    with pytest.raises(ModelError, match="plain file name"):
        build_library({name: "int x;", "ok.c": "int y;"}, name="x")


def test_abandoned_build_folders_are_removed_after_a_day(cache):
    build_library(SOURCE, name="add")
    old, young = cache / "build-old", cache / "build-young"
    old.mkdir()
    young.mkdir()
    os.utime(old, (0, 0))
    build_library(SOURCE | {"more.h": ""}, name="add")
    assert not old.exists()
    assert young.exists()
