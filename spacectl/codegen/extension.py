"""Fast calls of native functions from Python, through a small C extension shared by all models.

The extension (`extension.c`) makes a bound function a callable that takes and returns arrays. Without
Python's headers or a compiler, calls go through ctypes, which gives the same results more slowly.
"""

from __future__ import annotations

import ctypes
import importlib.machinery
import importlib.util
import logging
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from spacectl.codegen.bound_function import CALLBACK, VM, BoundFunction, NativeFunction, address_of
from spacectl.codegen.kernels import load_kernel
from spacectl.core.errors import ModelError, ShapeError, SolverError

__all__ = ["NativeCall", "addresses_of"]

_MODULE = "spacectl_caller"
_log = logging.getLogger(__name__)


class NativeCall:
    """A bound function, called from Python with arrays.

    ``fast(*arrays)`` takes one contiguous float64 array of shape (n,) for each input (or a float for a buffer
    of one entry) and returns new arrays. It returns None for any other argument, if the function fails, and
    always if the extension cannot be built. `checked` then converts the arguments, and raises an error if it
    cannot.

    Parameters
    ----------
    name : str
        Of the call, for messages.
    bound : BoundFunction
        The function; it holds the interpreter's lock while it runs.
    inputs : mapping of name to array
        Buffers of the arguments; float64, contiguous.
    outputs : sequence of arrays
        Buffers of the results; float64, contiguous.
    failed : function, optional
        Makes an exception from the status of a failed function; by default failures are ignored.
    kind : type, optional
        Tuple type of several results; None for one array.
    by_columns : bool
        Whether matrices are stored by columns, in buffers with swapped dimensions.
    finite : bool
        Whether `fast` also returns None if a result is not finite.
    """

    def __init__(
        self,
        name: str,
        bound: BoundFunction,
        inputs: Mapping[str, np.ndarray],
        outputs: Sequence[np.ndarray],
        *,
        failed: Callable[[int], Exception] | None = None,
        kind: type[tuple[Any, ...]] | None = None,
        by_columns: bool = False,
        finite: bool = False,
    ):
        self.name, self._bound, self._inputs, self._outputs = name, bound, dict(inputs), list(outputs)
        self._failed, self._kind, self._by_columns, self._lock = failed, kind, by_columns, Lock()
        self._finite = finite
        self.fast: Callable[..., Any] = self._first

    @cached_property
    def _caller(self) -> Any:
        """Callable of the extension; None without one, or if the function calls back into Python."""
        bound = self._bound
        module = None if bound.kind == CALLBACK else _extension()
        if module is None:
            return None
        places = [ctypes.addressof(bound.arg), ctypes.addressof(bound.res), address_of(bound.iw), address_of(bound.w)]
        buffers = tuple(self._inputs.values()), tuple(self._outputs)
        data = bound.raw if bound.kind == VM else 0
        return module.bind(
            bound.fn, (data, *places, bound.mem), *buffers, self._kind, self._by_columns, self._finite, bound
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the arguments."""
        return tuple(self._inputs)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the first result."""
        return tuple(self._outputs[0].shape)

    @property
    def native(self) -> NativeFunction | None:
        """The function itself, for batches; None if it is not native."""
        return self._bound.native

    @cached_property
    def run(self) -> Callable[[], Any]:
        """Evaluate on the buffers, without copies; return 0 on success."""
        run: Callable[[], Any] = self._bound.run if self._caller is None else self._caller.run
        return run

    @cached_property
    def direct(self) -> Callable[..., Any]:
        """`fast` with the extension loaded: nothing stands between the caller and C."""
        return self._caller or _decline

    def _first(self, *values: Any) -> Any:
        """Load the extension at the first fast call."""
        self.fast = self.direct
        return self.fast(*values)

    def checked(self, *values: Any) -> Any:
        """Return the results for arguments that convert to arrays of the right shapes; nothing is broadcast.

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
        return self.copied(*arrays) if results is None else results

    def flat(self, *values: Any) -> Any:
        """Return the results for anything that converts to arrays of the right lengths, in any shape; otherwise None."""
        try:
            arrays = [np.ascontiguousarray(value, dtype=float).reshape(-1) for value in values]
        except (TypeError, ValueError):
            return None
        buffers = self._inputs.values()
        if len(arrays) != len(buffers) or any(a.size != b.size for a, b in zip(arrays, buffers, strict=True)):
            return None
        shaped = [a.reshape(b.shape) for a, b in zip(arrays, buffers, strict=True)]
        results = self.fast(*(float(a) if a.ndim == 0 else a for a in shaped))
        if results is None and self._caller is None:
            try:
                results = self.copied(*shaped)
            except SolverError:
                return None
            return None if self._finite and not np.all(np.isfinite(results)) else results
        return results

    def copied(self, *arrays: Any) -> Any:
        """Copy arrays into the buffers, evaluate, and return copies of the results, as `fast` does."""
        with self._lock:
            for buffer, array in zip(self._inputs.values(), arrays, strict=True):
                buffer[...] = array
            code = self.run()
            if code and self._failed is not None:
                raise self._failed(code)
            copies = [buffer.T.copy() if self._by_columns else buffer.copy() for buffer in self._outputs]
        return copies[0] if self._kind is None else tuple.__new__(self._kind, copies)


def _converted(values: Any, shape: tuple[int, ...], what: str) -> Any:
    """Return `values` as a contiguous array of floats of a shape; as a float if that has no dimensions."""
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
    """Decline every fast call if there is no extension."""


@cache
def _extension() -> Any:
    """Return the module, loaded from the verified cache; None if it cannot be loaded."""
    folders = [sysconfig.get_paths()[key] for key in ("include", "platinclude")] + [np.get_include()]
    has_headers = (Path(folders[0]) / "Python.h").is_file()
    # the cache distinguishes libraries by text and flags, so both versions are among them
    versions = f"-DSC_VERSIONS={sysconfig.get_config_var('SOABI')}_numpy_{np.__version__}"
    flags = (*(f"-I{folder}" for folder in dict.fromkeys(folders)), versions)
    if sys.platform == "darwin":
        flags += ("-undefined", "dynamic_lookup")
    try:
        return load_kernel("extension", flags=flags if has_headers else None, load=_load_module)
    except SolverError as error:
        _log.info("calls of native code go through ctypes, which is slower: %s", error)
        return None


def addresses_of(arrays: list[np.ndarray]) -> list[int]:
    """Return where the numbers of each array are, 0 for an empty one."""
    module = _extension()
    if module is None:
        return [address_of(array) for array in arrays]
    found: list[int] = module.addresses(arrays)
    return found


def _load_module(path: str) -> Any:
    loader = importlib.machinery.ExtensionFileLoader(_MODULE, path)
    spec = importlib.util.spec_from_file_location(_MODULE, path, loader=loader)
    if spec is None:
        raise ImportError(f"{path} cannot be loaded as a module")
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module
