"""Bind CasADi, compiled and Python functions to one form that native code can call: `BoundFunction`.

There are three kinds: CasADi's virtual machine (called without Python), compiled C code, and a Python
callback, whose exceptions are stored until the native caller has returned. An `Evaluator` calls a CasADi
function from Python with fixed buffers, which belong to the calling thread.
"""

from __future__ import annotations

import ctypes
import logging
import os
import threading
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal

import casadi as ca
import numpy as np

from spacectl.codegen.bound_function import (
    CALLBACK,
    GENERATED,
    VM,
    BoundFunction,
    NativeFunction,
    address_of,
    compile_exactly,
    compile_expression,
)
from spacectl.codegen.compiler import find_compiler
from spacectl.codegen.emit_c import can_emit
from spacectl.codegen.extension import NativeCall
from spacectl.codegen.finite_constants import require_finite_constants
from spacectl.codegen.library import load_library
from spacectl.core.errors import ModelError, ShapeError, SolverError

__all__ = ["Evaluator", "Tier", "bind_casadi", "bind_native", "bind_python", "calls_python"]

Tier = Literal["auto", "vm", "native", "data-driven", "callback"]

#: Operations that CasADi's virtual machine evaluates before a function is compiled: a tenth of a second or two
_OPERATIONS = 30_000_000
_LONGEST = 20_000  #: operations of the longest function that is compiled: some seconds of a compiler
_ONE_AT_A_TIME = threading.Lock()
_log = logging.getLogger(__name__)

Rule = Callable[[list[Any], list[Any]], None]  #: fills the results from the arguments (lists of arrays)

_VM_SYMBOL = "_ZN6casadi21_function_buffer_evalEPv"
_CALLBACK_TYPE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)


def bind_python(rule: Rule, sizes_in: Sequence[int], sizes_out: Sequence[int]) -> BoundFunction:
    """Return a Python function ``rule(arguments, results)`` that fills `results`."""
    bound = BoundFunction(sizes_in, sizes_out)
    bound.kind = CALLBACK
    bound._run = lambda: rule(bound.arguments, bound.results)
    _make_callback(bound)
    return bound


def _make_callback(bound: BoundFunction) -> None:
    callback = _CALLBACK_TYPE(lambda arg, res: 0 if bound.call() else 1)
    bound.fn = ctypes.cast(callback, ctypes.c_void_p).value or 0
    bound._alive.append(callback)


def bind_casadi(function: ca.Function, tier: Tier = "vm", *, p: Any = None) -> BoundFunction:
    """Return a CasADi function with its buffers.

    Parameters
    ----------
    function : casadi.Function
        Any function; sparse arguments and results are made dense.
    tier : {"vm", "native", "data-driven", "callback"}
        ``"vm"``: CasADi's virtual machine, called directly from C (from Python if this CasADi hides the entry
        point, or if the function calls back into Python). ``"native"`` (or ``"data-driven"``): C code
        generated and compiled into the cache. ``"callback"``: through Python, for comparison.
    p : array, optional
        Values of the argument named ``p``.

    Raises
    ------
    SolverError
        With ``"native"``, if there is no compiler or it fails.
    """
    if tier not in ("vm", "native", "data-driven", "callback"):
        raise ModelError(f"tier {tier!r}: expected 'vm', 'native', 'data-driven' or 'callback'")
    f = _dense(function)
    numbers = np.zeros(0) if p is None else np.asarray(p, dtype=float)
    if tier in ("native", "data-driven") and (scalar := _scalar(f)) is not None:
        bound = bind_native(compile_expression(scalar, numbers))
    else:
        bound = BoundFunction([f.numel_in(i) for i in range(f.n_in())], [f.numel_out(i) for i in range(f.n_out())])
        bound._alive.append(f)
        if tier in ("native", "data-driven") and not calls_python(f):
            _bind_generated(bound, f)
        else:
            _bind_machine(bound, f, through_python=tier == "callback")
    if p is not None:
        bound.arguments[f.index_in("p")][:] = numbers
    return bound


def bind_native(native: NativeFunction) -> BoundFunction:
    """Return a native function with its buffers."""
    bound = BoundFunction(native.sizes_in, native.sizes_out)
    bound.kind, bound.fn, bound.prepare = GENERATED, native.entry, native.prepare
    bound.iw, bound.w, bound.native = native.iw, native.w, native
    bound.turned, bound.angles = native.turned, native.angles
    prototype = ctypes.CFUNCTYPE(ctypes.c_int, *([ctypes.c_void_p] * 4), ctypes.c_int)
    entry = prototype(native.entry)
    iw, w = address_of(native.iw), address_of(native.w)
    bound._run = lambda: entry(ctypes.addressof(bound.arg), ctypes.addressof(bound.res), iw, w, 0)
    return bound


@lru_cache(maxsize=64)
def _scalar(f: ca.Function) -> ca.Function | None:
    """Return the function as scalar expressions, or None if it cannot be (it solves equations, say)."""
    if can_emit(f):
        return f
    try:
        expanded = f.expand()
    except RuntimeError:
        return None
    return expanded if can_emit(expanded) else None


@lru_cache(maxsize=64)
def _dense(f: ca.Function) -> ca.Function:
    sparsities = [f.sparsity_in(i) for i in range(f.n_in())] + [f.sparsity_out(i) for i in range(f.n_out())]
    if all(item.is_dense() for item in sparsities):
        return f
    arguments = [ca.MX.sym(name, *f.size_in(i)) for i, name in enumerate(f.name_in())]
    results = f.call(arguments)
    return ca.Function(f.name(), arguments, [ca.densify(item) for item in results], f.name_in(), f.name_out())


def _bind_machine(bound: BoundFunction, f: ca.Function, through_python: bool) -> None:
    made: Any = f.buffer()
    buffer, bound._run = made
    for i, array in enumerate(bound.arguments):
        if array.size:
            buffer.set_arg(i, memoryview(array))
    for i, array in enumerate(bound.results):
        if array.size:
            buffer.set_res(i, memoryview(array))
    bound._alive.append(buffer)
    entry = None if through_python or calls_python(f) else _machine_entry()
    if entry is None:
        bound.kind = CALLBACK
        _make_callback(bound)
        return
    bound.kind = VM
    bound.fn = entry
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    bound.raw = pointer(buffer._self(), None)


def calls_python(f: ca.Function) -> bool:
    """Return whether some part is a Python callback, whose exceptions must not cross C code."""
    return any(item.class_name() == "CallbackInternal" for item in [f, *f.find_functions()])


@cache
def _machine_entry() -> int | None:
    """Return the address of CasADi's buffer evaluation in the library that Python has loaded; None if it is hidden."""
    for path in sorted(Path(ca.__file__).parent.glob("libcasadi*"), reverse=True):
        try:  # only a library that is loaded already: a wheel may contain several copies
            library = ctypes.CDLL(str(path), mode=os.RTLD_LAZY | getattr(os, "RTLD_NOLOAD", 0))
            return ctypes.cast(getattr(library, _VM_SYMBOL), ctypes.c_void_p).value
        except (OSError, AttributeError):
            continue
    return None


def _bind_generated(bound: BoundFunction, f: ca.Function) -> None:
    require_finite_constants(f)
    generator = ca.CodeGenerator("generated.c")
    generator.add(f)
    library = load_library({"generated.c": generator.dump()}, name=f.name())
    getattr(library, f"{f.name()}_incref", lambda: None)()
    checkout = getattr(library, f"{f.name()}_checkout", None)
    entry = getattr(library, f.name())
    bound.kind = GENERATED
    bound.fn = ctypes.cast(entry, ctypes.c_void_p).value or 0
    bound.mem = checkout() if checkout is not None else 0
    if bound.mem < 0:
        raise SolverError(f"function '{f.name()}': its compiled form is already in use; use tier='vm'")
    bound.iw = np.zeros(max(f.sz_iw(), 1), dtype=np.int64)
    bound.w = np.zeros(max(f.sz_w(), 1))
    bound._point(f.sz_arg(), f.sz_res())
    iw, w = ctypes.c_void_p(bound.iw.ctypes.data), ctypes.c_void_p(bound.w.ctypes.data)

    def run() -> None:
        if entry(bound.arg, bound.res, iw, w, bound.mem):
            bound.block[:] = np.nan

    bound._run = run
    bound._alive.append(library)


class Evaluator:
    """Numeric calls of a dense CasADi function: by CasADi's virtual machine, later by compiled code that rounds in the same way.

    Once a function has taken a tenth of a second or two, another thread compiles it in the background. The compiled code has
    the operations of the virtual machine, one by one, and replaces it only if its results are equal to the last digit, so
    that a result does not depend on how often or when something was called.

    Parameters
    ----------
    function : casadi.Function
        With dense outputs.

    Examples
    --------
    >>> x = ca.SX.sym("x", 2)
    >>> Evaluator(ca.Function("f", [x], [2 * x], ["x"], ["y"]))(np.array([1.0, 2.0]))
    [array([[2.],
           [4.]])]
    """

    def __init__(self, function: ca.Function):
        self.function = function
        self._local = threading.local()
        self._native: NativeFunction | None = None
        size = function.n_instructions() if can_emit(function) else _LONGEST + 1
        self._left = max(_OPERATIONS // max(size, 1), 1) if size <= _LONGEST else -1

    def _prepare(self) -> NativeCall:
        f = self.function
        bound = bind_casadi(f) if self._native is None else bind_native(self._native)
        # CasADi is column-major: a (rows, columns) output is filled as a (columns, rows) C array
        outputs = [array.reshape(f.size2_out(i), f.size1_out(i)) for i, array in enumerate(bound.results)]
        inputs = dict(zip(f.name_in(), bound.arguments, strict=True))
        self._local.call = NativeCall(f.name(), bound, inputs, outputs, kind=tuple, by_columns=True)
        return self._local.call

    def __call__(self, *values: Any) -> list[np.ndarray]:
        """Return the results as arrays (rows, columns), one for each output."""
        call = getattr(self._local, "call", None) or self._prepare()
        results = call.fast(*values)
        results = list(call.copied(*self._flat(values)) if results is None else results)
        self._left -= 1
        if self._left == 0:
            _compile_in_background(
                self, [item.copy() for item in self._flat(values)], [item.copy() for item in results]
            )
        return results

    def replace_by(self, native: NativeFunction, arguments: list[np.ndarray], results: list[np.ndarray]) -> bool:
        """Use compiled code from now on if it gives exactly these results; return whether it does."""
        trial = Evaluator(self.function)
        trial._native = native
        found = trial._prepare().copied(*arguments)
        if not all(np.array_equal(a, b, equal_nan=True) for a, b in zip(found, results, strict=True)):
            _log.info(
                "'%s': compiled code rounds in another way; it stays with the virtual machine", self.function.name()
            )
            return False
        self._native, self._local = native, threading.local()
        return True

    def _flat(self, values: tuple[Any, ...]) -> list[np.ndarray]:
        """Return the arguments as arrays of the lengths that the function takes."""
        found, f = [], self.function
        for (i, name), value in zip(enumerate(f.name_in()), values, strict=True):
            try:
                flat = np.asarray(value, dtype=float).reshape(-1)
            except (TypeError, ValueError) as error:
                wanted = "a number" if f.numel_in(i) == 1 else f"{f.numel_in(i)} numbers"
                raise ModelError(f"{f.name()}: '{name}' is {value!r}, expected {wanted}") from error
            if flat.size != f.numel_in(i):
                raise ShapeError(f"{f.name()}: '{name}' has {flat.size} entries, expected {f.numel_in(i)}")
            found.append(flat)
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return (Evaluator, (self.function,))


def _compile_in_background(evaluator: Evaluator, arguments: list[np.ndarray], results: list[np.ndarray]) -> None:
    """Compile the function of an evaluator in a thread that ends with the process."""

    def work() -> None:
        try:
            with _ONE_AT_A_TIME:
                evaluator.replace_by(compile_exactly(evaluator.function), arguments, results)
        except (ModelError, SolverError) as error:
            _log.info("'%s' stays with the virtual machine: %s", evaluator.function.name(), str(error).splitlines()[0])

    if find_compiler() is not None:
        threading.Thread(target=work, name="spacectl-compile", daemon=True).start()
