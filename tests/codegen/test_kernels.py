"""Kernels of a wheel are loaded if nothing about them is doubtful, otherwise compiled."""

from __future__ import annotations

import json
import os
import platform
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spacectl.codegen import kernels
from spacectl.codegen.compiler import find_compiler, run_compiler
from spacectl.codegen.private_files import sha256_of
from spacectl.core.errors import SolverError

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")


@pytest.fixture
def packaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder as in a wheel, with the small kernel `points`, and an empty cache."""
    folder = tmp_path / "_kernels"
    folder.mkdir(mode=0o755)
    kernel = kernels.list_kernels()["points"]
    files = {}
    for variant, march in kernels.find_variants().items():
        target = f"points-{variant}.so"
        build = tmp_path / variant
        build.mkdir()
        run_compiler(
            find_compiler(), build, kernel.texts, name="points", flags=(*kernel.options, *march), target=target
        )  # type: ignore[arg-type]
        shutil.copy(build / target, folder / target)
        files[variant] = {
            "name": target,
            "size": (folder / target).stat().st_size,
            "sha256": sha256_of(folder / target),
        }
    write_manifest(folder, {"points": {"text": kernel.text_hash, "files": files}})
    monkeypatch.setattr(kernels, "PACKAGED", folder)
    monkeypatch.setenv("SPACECTL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SPACECTL_CFLAGS", raising=False)
    monkeypatch.setattr(kernels, "_origins", {})
    monkeypatch.setattr("spacectl.codegen.library._loaded", {})
    kernels._manifest.cache_clear()
    yield folder
    kernels._manifest.cache_clear()


def write_manifest(folder: Path, content: dict[str, Any], **changes: Any) -> None:
    manifest = {"format": kernels.FORMAT, "platform": kernels.platform_name(), "python": None, "kernels": content}
    (folder / "manifest.json").write_text(json.dumps({**manifest, **changes}), encoding="utf-8")
    kernels._manifest.cache_clear()


def read_manifest(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["kernels"]
    return content


def origin() -> str:
    assert hasattr(kernels.load_kernel("points"), "sc_map")
    return kernels.origins()["points"]


def test_the_best_variant_that_the_processor_runs_is_loaded(packaged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [name for name in kernels.find_variants() if kernels._runs(name)]
    assert origin() == f"packaged, {names[-1]}"
    monkeypatch.setattr(kernels, "_runs", lambda variant: variant == kernels.BASELINE)
    assert origin() == "packaged, baseline"


def test_nothing_is_compiled_where_there_is_no_compiler(packaged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spacectl.codegen.library.find_compiler", lambda: None)
    assert origin().startswith("packaged")
    with pytest.raises(SolverError, match="no C compiler"):
        kernels.load_kernel("points", texts={"points.c": "int another;"})


@pytest.mark.parametrize("how", ["changed", "shorter", "linked", "open to all", "missing"])
def test_a_doubtful_library_is_not_loaded(packaged: Path, how: str, caplog: pytest.LogCaptureFixture) -> None:
    for file in packaged.glob("*.so"):
        if how == "changed":
            data = bytearray(file.read_bytes())
            data[-1] ^= 1
            file.write_bytes(bytes(data))
        elif how == "shorter":
            file.write_bytes(file.read_bytes()[:-8])
        elif how == "linked":
            elsewhere = file.parent.parent / file.name
            shutil.move(file, elsewhere)
            os.symlink(elsewhere, file)
        elif how == "open to all":
            file.chmod(0o777)
        else:
            file.unlink()
    assert origin() == "built here"
    assert any("kernel 'points' of the installed package" in line for line in caplog.messages)


@pytest.mark.parametrize("changes", [{"format": "other"}, {"platform": "another machine"}])
def test_a_manifest_of_another_kind_is_ignored(packaged: Path, changes: dict[str, str]) -> None:
    write_manifest(packaged, read_manifest(packaged), **changes)
    assert origin() == "built here"


def test_libraries_of_other_sources_are_ignored(packaged: Path) -> None:
    content = read_manifest(packaged)
    content["points"]["text"] = "0" * 64
    write_manifest(packaged, content)
    assert origin() == "built here"


def test_flags_of_the_user_lead_to_the_compiler(packaged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPACECTL_CFLAGS", "-O0")
    assert origin() == "built here"


def test_what_was_tuned_for_this_processor_comes_first(packaged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert origin().startswith("packaged")
    monkeypatch.setattr(kernels, "list_kernels", lambda: {"points": POINTS})
    assert kernels.tune() == {"points": "compiled for this processor"}
    assert origin() == "built here"


POINTS = kernels.list_kernels()["points"]


def test_every_kernel_lists_files_of_the_package() -> None:
    found = kernels.list_kernels()
    assert set(found) == {"tree", "loop", "points", "compose", "phase_plane", "extension"}
    assert all(kernel.texts and "-ffp-contract=off" in kernel.options for kernel in found.values())
    assert len({kernel.text_hash for kernel in found.values()}) == len(found)


def test_variants_are_those_of_the_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    assert list(kernels.find_variants()) == [kernels.BASELINE]
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    assert list(kernels.find_variants()) == [kernels.BASELINE, "x86-64-v3"]
