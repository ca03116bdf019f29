"""Kernels that depend on no model: listed in kernels.toml, compiled in the wheel, or on first use.

A wheel carries each kernel for every processor of its kind and, on x86-64, for those with AVX2 and fused multiply-adds
(x86-64-v3). One is loaded only if its source text, platform, size and sha256 are those of the manifest beside it and nobody but
its owner can write to it. What ``spacectl tune`` compiled for exactly this processor comes first. Everything else is compiled
on first use through the cache of `library`.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import logging
import os
import platform
import stat
import sysconfig
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from spacectl.codegen.library import FLAGS, find_tuned, load_library, load_tuned
from spacectl.codegen.private_files import sha256_of
from spacectl.core.errors import SolverError

__all__ = ["BASELINE", "FORMAT", "Kernel", "find_variants", "list_kernels", "load_kernel", "origins", "platform_name"]

FORMAT = "spacectl-kernels-1"
BASELINE = "baseline"  #: the variant that every processor of a platform runs
PACKAGED = Path(__file__).resolve().parents[1] / "_kernels"  #: where a wheel has them
_V3 = {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"}  # with what every x86-64-v2 has

_log = logging.getLogger(__name__)
_origins: dict[str, str] = {}


@dataclass(frozen=True)
class Kernel:
    """An entry of kernels.toml.

    Parameters
    ----------
    name : str
        Of the kernel.
    texts : mapping of file name to text
        Its sources.
    flags : tuple of str
        Options for the compiler, besides those of all kernels.
    is_tuned : bool
        Whether it may be compiled for one kind of processor.
    needs_python : bool
        Whether it is a module of Python.
    """

    name: str
    texts: Mapping[str, str]
    flags: tuple[str, ...]
    is_tuned: bool
    needs_python: bool

    @property
    def options(self) -> tuple[str, ...]:
        """All options for the compiler."""
        return (*FLAGS, *self.flags)

    @property
    def text_hash(self) -> str:
        """sha256 of the sources and flags."""
        return hashlib.sha256(json.dumps([sorted(self.texts.items()), self.options]).encode()).hexdigest()


@cache
def list_kernels() -> dict[str, Kernel]:
    """Return all kernels by name."""
    package = Path(__file__).resolve().parents[1]
    entries = tomllib.loads((Path(__file__).with_name("kernels.toml")).read_text(encoding="utf-8"))
    found = {}
    for name, entry in entries.items():
        read = {file: (package / entry["folder"] / file).read_text(encoding="utf-8") for file in entry["sources"]}
        texts = {entry["joined"]: "\n".join(read.values())} if "joined" in entry else read
        flags, is_tuned = tuple(entry.get("flags", ())), bool(entry.get("tuned", True))
        found[name] = Kernel(name, texts, flags, is_tuned, bool(entry.get("python", False)))
    return found


def find_variants() -> dict[str, tuple[str, ...]]:
    """Return the compiler's options for each variant of this machine's platform, the most general one first."""
    variants: dict[str, tuple[str, ...]] = {BASELINE: ()}
    if platform.machine().lower() in ("x86_64", "amd64"):
        variants["x86-64-v3"] = ("-march=x86-64-v3",)
    return variants


def platform_name() -> str:
    """Return the system and the processor's family."""
    return f"{platform.system()}-{platform.machine()}"


def origins() -> dict[str, str]:
    """Return where each kernel that is loaded in this process comes from: a variant of the wheel, or ``"built here"``."""
    return dict(_origins)


def load_kernel(
    name: str,
    *,
    load: Callable[[str], Any] = ctypes.CDLL,
    flags: tuple[str, ...] | None = (),
    texts: Mapping[str, str] | None = None,
) -> Any:
    """Load a kernel: tuned for this processor, from the wheel, or compiled now.

    Parameters
    ----------
    name : str
        A name in kernels.toml.
    load : function, optional
        Loads the verified file.
    flags : tuple of str
        More options where it is compiled now (folders of headers); None if it cannot be, because these are missing.
    texts : mapping of file name to text, optional
        Sources in place of the listed ones, for kernels to which a user added kinds.

    Raises
    ------
    SolverError
        If it is not packaged, and there is no compiler or it fails.
    """
    kernel = list_kernels()[name]
    used = kernel.texts if texts is None else texts
    if kernel.is_tuned and (tuned := find_tuned(used, name=name, flags=kernel.flags)) is not None:
        _origins[name] = "built here"
        return tuned
    if texts is None or dict(texts) == dict(kernel.texts):
        try:
            for variant in reversed(find_variants()):
                library = _load_packaged(kernel, variant, load)
                if library is not None:
                    _origins[name] = f"packaged, {variant}"
                    return library
        except OSError as error:
            _log.warning("kernel '%s' of the installed package: %s; compiling it", name, error)
    if flags is None:
        raise SolverError(f"kernel '{name}' is not packaged, and Python.h, which it needs, is not on this machine")
    _origins[name] = "built here"
    if kernel.is_tuned:
        return load_tuned(used, name=name, flags=kernel.flags)
    return load_library(used, name=name, flags=(*kernel.options, *flags), load=load)


def _load_packaged(kernel: Kernel, variant: str, load: Callable[[str], Any]) -> Any:
    """Return the library of a wheel, or None where it has none for this processor; raise OSError if it cannot be trusted."""
    manifest = _manifest()
    entry = manifest.get("kernels", {}).get(kernel.name, {})
    if entry.get("text") != kernel.text_hash or variant not in entry.get("files", {}) or not _runs(variant):
        return None
    if manifest.get("platform") != platform_name() or os.environ.get("SPACECTL_CFLAGS"):
        return None
    if kernel.needs_python and manifest.get("python") != sysconfig.get_config_var("SOABI"):
        return None
    noted = entry["files"][variant]
    path = PACKAGED / noted["name"]
    _require_private(path)
    if (path.stat().st_size, sha256_of(path)) != (noted["size"], noted["sha256"]):
        raise OSError(f"{path.name} does not match its manifest")
    try:
        return load(str(path))
    except ImportError as error:
        raise OSError(str(error)) from error


def _require_private(path: Path) -> None:
    """Raise OSError unless a file is a regular one that only its owner, who is this user or the system, can write to."""
    for item, is_kind in ((path, stat.S_ISREG), (path.parent, stat.S_ISDIR)):
        status = os.lstat(item)
        if not is_kind(status.st_mode):
            raise OSError(f"{item} is a link or not of the expected kind")
        if hasattr(os, "getuid") and (status.st_uid not in (0, os.getuid()) or status.st_mode & 0o002):
            raise OSError(f"{item} can be written by others")


@cache
def _manifest() -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads((PACKAGED / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if content.get("format") == FORMAT else {}


@cache
def _runs(variant: str) -> bool:
    """Return whether this processor runs a variant."""
    if variant == BASELINE:
        return True
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    flags = next((line.split(":", 1)[1].split() for line in text.splitlines() if line.startswith("flags")), [])
    return set(flags) >= _V3 and bool({"lzcnt", "abm"} & set(flags))


def tune() -> dict[str, str]:
    """Compile all kernels for exactly this processor, into the cache; return what became of each.

    Later processes load these. Results then differ from those of the packaged kernels by rounding.
    """
    found = {}
    for name, kernel in list_kernels().items():
        if not kernel.is_tuned:
            continue
        try:
            load_tuned(kernel.texts, name=name, flags=kernel.flags)
            found[name] = "compiled for this processor"
        except SolverError as error:
            found[name] = str(error).splitlines()[0]
    return found
