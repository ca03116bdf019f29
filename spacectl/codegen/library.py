"""Build and load shared libraries from C sources, with the system's compiler and a private, verified cache.

The cache has one folder for each (sources, compiler, flags, processor). A folder is built under a temporary
name and renamed into place. Its library is loaded only if it is a regular file, belongs to this user and
matches its manifest; otherwise this is logged and the library is rebuilt. If several processes need a library
at the same time, one builds it and the others wait. Callers use Python code instead if `SolverError` is
raised because nothing can be built.

Options in ``$SPACECTL_CFLAGS`` come last on the compiler's command line and override the defaults: ``-O1``
halves the compile time, ``-g`` adds debugging information.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import logging
import os
import platform
import shlex
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from spacectl.codegen.compiler import Compiler, find_compiler, run_compiler
from spacectl.codegen.private_files import cache_folder, check_ours, private_folder, sha256_of
from spacectl.core.errors import ModelError, SolverError

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["FLAGS", "build_library", "find_compiler", "find_tuned", "load_library", "load_tuned"]

FLAGS = ("-O2", "-ffp-contract=off")  #: without fused multiply-adds C and numpy round alike

_NATIVE = "-march=native"
_FORMAT = "spacectl-library-1"
_LIBRARY = "library.so"
_MANIFEST = "manifest.json"
_LOCK = "lock-"
_STALE = 24 * 3600.0  # [s] after which an abandoned build folder is removed

_log = logging.getLogger(__name__)
_loaded: dict[str, Any] = {}


def load_library(
    sources: Mapping[str, str] | Iterable[Path],
    *,
    name: str,
    flags: Iterable[str] = FLAGS,
    load: Callable[[str], Any] | None = None,
) -> Any:
    """Build (or find in the cache) and load a shared library; see `build_library`.

    Parameters
    ----------
    sources : mapping of file name to text, or paths
        As for `build_library`.
    name : str
        Used in the cache and in messages.
    flags : sequence of str
        Options for the compiler.
    load : function, optional
        Loads the verified file; raises OSError or ImportError if it cannot. Default ``ctypes.CDLL``.

    Returns
    -------
    ctypes.CDLL, or what `load` returned
        The same object for equal sources in one process.

    Raises
    ------
    SolverError
        If there is no compiler, it fails, or the result cannot be loaded.
    """
    texts, own = _texts(sources), tuple(flags)
    options = _options(own)
    memo = _key(texts, "", options)
    if memo not in _loaded:
        opened = ctypes.CDLL if load is None else load
        path = build_library(texts, name=name, flags=own)
        try:
            _loaded[memo] = opened(str(path))
        except (OSError, ImportError) as error:  # for example a cache on a file system without execution
            _log.warning("library '%s': %s; building it in a temporary folder", name, error)
            path = _build_in(private_folder(), texts, name, options, _compiler(name))
            try:
                _loaded[memo] = opened(str(path))
            except (OSError, ImportError) as second:
                raise SolverError(f"library '{name}' was built but cannot be loaded: {second}") from second
    return _loaded[memo]


def load_tuned(texts: Mapping[str, str], *, name: str, flags: Iterable[str] = ()) -> ctypes.CDLL:
    """Load a library as `load_library` does, built for exactly this processor if the compiler can."""
    options = (*FLAGS, *flags)
    try:
        return load_library(texts, name=name, flags=(*options, _NATIVE))
    except SolverError:
        return load_library(texts, name=name, flags=options)


def find_tuned(texts: Mapping[str, str], *, name: str, flags: Iterable[str] = ()) -> ctypes.CDLL | None:
    """Load what `load_tuned` built before, or return None: nothing is compiled."""
    compiler = find_compiler()
    options = _options((*FLAGS, *flags, _NATIVE))
    if compiler is None:
        return None
    try:
        folder = cache_folder()
        entry = _entry(folder, name, _key(dict(texts), compiler.identity, options))
        found = os.path.lexists(entry)
    except OSError:
        return None
    return load_tuned(texts, name=name, flags=flags) if found else None


def build_library(sources: Mapping[str, str] | Iterable[Path], *, name: str, flags: Iterable[str] = FLAGS) -> Path:
    """Compile C sources into a shared library and return its path.

    Parameters
    ----------
    sources : mapping of file name to text, or paths
        Files ending in .c are compiled together; others (headers) are placed beside them.
    name : str
        Used in the cache and in messages.
    flags : sequence of str
        Options for the compiler.

    Returns
    -------
    Path
        A library whose content was verified against its manifest just now.

    Raises
    ------
    SolverError
        If there is no compiler or it fails; the message contains the first lines of its output.
    """
    texts, options = _texts(sources), _options(flags)
    compiler = _compiler(name)
    try:
        return _build_in(cache_folder(), texts, name, options, compiler)
    except OSError as error:
        _log.warning("library '%s': the cache cannot be used (%s); building in a temporary folder", name, error)
    try:
        return _build_in(private_folder(), texts, name, options, compiler)
    except OSError as error:
        raise SolverError(f"library '{name}': there is no folder to build it in ({error})") from error


def _options(flags: Iterable[str]) -> tuple[str, ...]:
    return (*flags, *shlex.split(os.environ.get("SPACECTL_CFLAGS", "")))


def _compiler(name: str) -> Compiler:
    compiler = find_compiler()
    if compiler is None:
        raise SolverError(f"library '{name}': no C compiler found; install gcc or clang, or the package ziglang")
    return compiler


def _texts(sources: Mapping[str, str] | Iterable[Path]) -> dict[str, str]:
    if isinstance(sources, Mapping):
        texts = dict(sources)
    else:
        texts = {Path(path).name: Path(path).read_text(encoding="utf-8") for path in sources}
    for file_name in texts:
        if file_name != os.path.basename(file_name) or file_name in ("", ".", ".."):
            raise ModelError(f"source {file_name!r}: expected a plain file name")
    if not any(file_name.endswith(".c") for file_name in texts):
        raise ModelError(f"sources {sorted(texts)}: none of them ends in .c")
    return texts


def _key(texts: Mapping[str, str], identity: str, flags: tuple[str, ...]) -> str:
    data = [_FORMAT, sorted(texts.items()), identity, flags, platform.system(), platform.machine(), _processor()]
    return hashlib.sha256(json.dumps(data).encode()).hexdigest()


@cache
def _processor() -> str:
    """Return the model and features of the processor, since code may be built for exactly this one."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor()
    return "\n".join(sorted({line for line in lines if line.startswith(("model name", "flags", "Features"))}))


def _verified(entry: Path, key: str) -> Path:
    """Return the library in the cache folder `entry`; raise OSError with the reason if it is invalid."""
    check_ours(entry, stat.S_ISDIR)
    library, manifest = entry / _LIBRARY, entry / _MANIFEST
    check_ours(manifest, stat.S_ISREG)
    size = check_ours(library, stat.S_ISREG).st_size
    try:
        noted = json.loads(manifest.read_text(encoding="utf-8"))
        expected = (noted["format"], noted["key"], noted["size"], noted["sha256"])
    except (ValueError, KeyError, TypeError) as error:
        raise OSError(f"{manifest} cannot be read ({type(error).__name__})") from error
    if expected != (_FORMAT, key, size, sha256_of(library)):
        raise OSError(f"{library} does not match its manifest")
    return library


def _build_in(folder: Path, texts: dict[str, str], name: str, flags: tuple[str, ...], compiler: Compiler) -> Path:
    key = _key(texts, compiler.identity, flags)
    entry = _entry(folder, name, key)
    if (found := _find(entry, key, folder, name)) is not None:
        return found
    with _only_one(folder, entry.name):
        if (found := _find(entry, key, folder, name)) is not None:  # built while this process waited
            return found
        _remove_stale(folder)
        return _build(entry, key, texts, name, flags, compiler)


def _entry(folder: Path, name: str, key: str) -> Path:
    return folder / f"{''.join(c if c.isalnum() else '_' for c in name)}-{key[:32]}"


def _find(entry: Path, key: str, folder: Path, name: str) -> Path | None:
    """Return the library in the cache folder `entry`; move an invalid entry aside."""
    if not os.path.lexists(entry):
        return None
    try:
        return _verified(entry, key)
    except OSError as error:
        _log.warning("library '%s': %s; building it again", name, error)
        _remove(entry, folder)
        return None


@contextlib.contextmanager
def _only_one(folder: Path, name: str) -> Iterator[None]:
    """Hold the lock of a cache entry, which a process loses when it ends; do nothing if locks do not work."""
    if fcntl is None:
        yield
        return
    path = folder / f"{_LOCK}{name}"
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with contextlib.suppress(OSError):  # a file system without locks: at worst two processes build the same
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        path.unlink(missing_ok=True)  # waiting processes look into the cache next, new ones make a lock
        os.close(handle)


def _build(entry: Path, key: str, texts: dict[str, str], name: str, flags: tuple[str, ...], compiler: Compiler) -> Path:
    folder = entry.parent
    aside = Path(tempfile.mkdtemp(prefix="build-", dir=folder))
    try:
        library = aside / _LIBRARY
        run_compiler(compiler, aside, texts, name=name, flags=flags, target=_LIBRARY)
        noted = {"format": _FORMAT, "key": key, "compiler": compiler.identity, "flags": " ".join(flags)}
        measured = {"size": library.stat().st_size, "sha256": sha256_of(library)}
        (aside / _MANIFEST).write_text(json.dumps(noted | measured, indent=1), encoding="utf-8")
        os.chmod(library, 0o700)
        os.chmod(aside / _MANIFEST, 0o600)
        try:
            os.rename(aside, entry)  # atomic; fails if another process was first
        except OSError:
            return _verified(entry, key)
        return _verified(entry, key)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _remove(entry: Path, folder: Path) -> None:
    """Move an invalid cache entry aside; processes that have loaded it are not affected."""
    aside = Path(tempfile.mkdtemp(prefix="build-", dir=folder))
    with contextlib.suppress(FileNotFoundError):  # another process removed it first
        os.rename(entry, aside / "bad")
    shutil.rmtree(aside, ignore_errors=True)


def _remove_stale(folder: Path) -> None:
    for left in folder.glob("build-*"):
        with contextlib.suppress(OSError):
            if time.time() - left.lstat().st_mtime > _STALE:
                shutil.rmtree(left, ignore_errors=True)
