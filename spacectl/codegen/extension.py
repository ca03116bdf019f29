"""Fast calls of native kernels from Python, through a small C extension that serves every model.

Turns a kernel with fixed buffers into a callable that takes and returns arrays (`caller.c`). Where Python's headers or
a compiler are missing there is none, and callers take the checked road through ctypes: the same results, later.
"""

from __future__ import annotations

import ctypes
import importlib.machinery
import importlib.util
import logging
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from spacectl.codegen.library import FLAGS, load_library
from spacectl.codegen.sources import c_source
from spacectl.core.errors import ModelError, ShapeError, SolverError

__all__ = ["BoundKernel"]

_MODULE = "spacectl_caller"
_log = logging.getLogger(__name__)


class BoundKernel:
    """A kernel ``int kernel(void *data)`` with the fixed buffers that it reads and writes, called with arrays.

    ``fast(*arrays)`` takes one contiguous float64 array of shape (n,) for each input (a float for a buffer without
    dimensions) and gives fresh arrays, or None if an argument is anything else, if the kernel fails, and always where
    the extension cannot be built. `checked` then takes what can be converted, and says what is wrong with the rest.

    Parameters
    ----------
    name : str
        Of the call, for messages.
    kernel : ctypes function
        The kernel; it holds the interpreter's lock.
    data : int
        Address of what it is called with.
    inputs : mapping of name to array
        Buffers of the arguments; float64, contiguous.
    outputs : sequence of arrays
        Buffers of the results; float64, contiguous.
    keep : object
        What must live as long as this object (not its owner).
    good : int
        What the kernel returns when all went well.
    failed : function, optional
        Makes an exception of any other value that it returns; needed if there are any.
    kind : type, optional
        A type of tuples for several results; None for one array.
    """

    def __init__(
        self,
        name: str,
        kernel: Any,
        data: int,
        inputs: Mapping[str, np.ndarray],
        outputs: Sequence[np.ndarray],
        *,
        keep: Any,
        good: int = 0,
        failed: Callable[[int], Exception] | None = None,
        kind: type[tuple[Any, ...]] | None = None,
    ):
        self.name, self.run = name, partial(kernel, ctypes.c_void_p(data))
        self._inputs, self._outputs, self._keep = dict(inputs), list(outputs), keep
        self._good, self._failed, self._kind, self._lock = good, failed, kind, Lock()
        self._address = (ctypes.cast(kernel, ctypes.c_void_p).value, data)
        self.fast: Callable[..., Any] = self._first

    def _first(self, *values: Any) -> Any:
        """The first fast call, for which the extension is loaded."""
        module = _extension()
        if module is None:
            self.fast = _decline
        else:
            buffers = tuple(self._inputs.values()), tuple(self._outputs)
            self.fast = module.bind(*self._address, self._good, *buffers, self._kind, [self.run, self._keep])
        return self.fast(*values)

    def checked(self, *values: Any) -> Any:
        """The results for anything that converts to arrays of the right shapes; nothing is broadcast.

        Raises
        ------
        ShapeError
            If an argument has another shape.
        ModelError
            If an argument does not consist of numbers.
        """
        given = zip(self._inputs.items(), values, strict=True)
        arrays = [_converted(value, buffer.shape, f"{self.name}: {key}") for (key, buffer), value in given]
        results = self.fast(*arrays)
        if results is not None:
            return results
        with self._lock:
            for buffer, array in zip(self._inputs.values(), arrays, strict=True):
                buffer[...] = array
            code = self.run()
            if code != self._good and self._failed is not None:
                raise self._failed(code)
            copies = [buffer.copy() for buffer in self._outputs]
        return copies[0] if self._kind is None else tuple.__new__(self._kind, copies)


def _converted(values: Any, shape: tuple[int, ...], what: str) -> Any:
    """`values` as a contiguous array of floats of a shape; as a float if that has no dimensions."""
    wanted = f"{shape[0]} numbers" if shape else "a number"
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{what}: expected {wanted}, got {values!r}") from error
    if np.asarray(values).dtype.kind in "SU":
        raise ModelError(f"{what}: expected {wanted}, got texts {values!r}; write them without quotes")
    if array.shape != shape:
        raise ShapeError(f"{what} has shape {array.shape}, expected {shape}")
    return np.ascontiguousarray(array) if shape else float(array)


def _decline(*_: Any) -> None:
    """Stands for the fast call where there is none."""


@cache
def _extension() -> Any:
    """The module, loaded from the verified cache; None where it cannot be."""
    folders = [sysconfig.get_paths()[key] for key in ("include", "platinclude")] + [np.get_include()]
    if not (Path(folders[0]) / "Python.h").is_file():
        _log.info("Python.h is not in %s: calls of native code go through ctypes, which is slower", folders[0])
        return None
    source = c_source(__package__, "extension.c")
    # the cache distinguishes libraries by text and flags, so both versions are among them
    versions = f"-DSC_VERSIONS={sysconfig.get_config_var('SOABI')}_numpy_{np.__version__}"
    flags = [*FLAGS, *(f"-I{folder}" for folder in dict.fromkeys(folders)), versions]
    if sys.platform == "darwin":
        flags += ["-undefined", "dynamic_lookup"]
    try:
        return load_library({"extension.c": source}, name="caller", flags=flags, load=_load_module)
    except SolverError as error:
        _log.info("calls of native code go through ctypes, which is slower: %s", error)
        return None


def _load_module(path: str) -> Any:
    loader = importlib.machinery.ExtensionFileLoader(_MODULE, path)
    spec = importlib.util.spec_from_file_location(_MODULE, path, loader=loader)
    if spec is None:
        raise ImportError(f"{path} cannot be loaded as a module")
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module
