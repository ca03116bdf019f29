"""`TreeKernel`: order-N forward and inverse dynamics of any tree in native code, not compiled per model."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np

from spacectl.codegen.bound_function import NativeFunction
from spacectl.codegen.kernels import list_kernels, load_kernel
from spacectl.core.errors import ModelError, ShapeError
from spacectl.core.parameters import Parameters
from spacectl.dynamics.recursion.steps import generate_steps, has_written_kinds, written_steps
from spacectl.dynamics.recursion.tree_data import TreeData
from spacectl.model.system import System

__all__ = ["TreeKernel", "tree_function", "tree_library"]


@cache
def tree_library() -> ctypes.CDLL:
    """Return the library of steps and sweeps; the same for every model."""
    texts = dict(list_kernels()["tree"].texts)
    if not has_written_kinds():
        texts = {name: text.replace(written_steps(), generate_steps()) for name, text in texts.items()}
    library: ctypes.CDLL = load_kernel("tree", texts=texts)
    pointer = ctypes.c_void_p
    library.sc_tree_v_dot.argtypes = [pointer] * 6
    library.sc_tree_tau.argtypes = [pointer] * 7
    library.sc_tree_x_dot.argtypes = [pointer] * 5
    library.sc_linear_sizes.argtypes = [pointer] * 2
    for name in ("sc_tree_v_dot", "sc_tree_tau", "sc_tree_x_dot", "sc_linear_sizes"):
        getattr(library, name).restype = None
    return library


class TreeKernel:
    """Native sweeps of one system for given parameters p.

    Parameters
    ----------
    system : System
        The description.
    parameters : Parameters
        Its run-time parameters.
    p : array, shape (n_p,)
        Their values.
    """

    def __init__(self, system: System, parameters: Parameters, p: np.ndarray):
        self.library = tree_library()
        self.data = TreeData(system, parameters, p)
        self.n_q, self.n_v, self.n_u = self.data.struct.n_q, self.data.struct.n_v, self.data.struct.n_u
        self._tree = ctypes.addressof(self.data.struct)

    def v_dot(self, q: Any, v: Any, u: Any) -> np.ndarray:
        """Return the rates of the speeds, shape (n_v,)."""
        return self._run("sc_tree_v_dot", (q, v, u), (self.n_q, self.n_v, self.n_u), self.n_v)

    def tau(self, q: Any, v: Any, v_dot: Any, u: Any = None) -> np.ndarray:
        """Return the generalised forces ``M v_dot + h - B_tau u``, shape (n_v,); by default without inputs."""
        inputs = np.zeros(self.n_u) if u is None else u
        return self._run("sc_tree_tau", (q, v, v_dot, inputs), (self.n_q, self.n_v, self.n_v, self.n_u), self.n_v)

    def x_dot(self, x: Any, u: Any) -> np.ndarray:
        """Return the rate of the state, shape (n_x,)."""
        return self._run("sc_tree_x_dot", (x, u), (self.n_q + self.n_v, self.n_u), self.n_q + self.n_v)

    def function(self, name: str, sizes_in: list[int], sizes_out: list[int]) -> NativeFunction:
        """Return a function of the library for this tree, with a work array of its own: for one thread."""
        return NativeFunction(
            ctypes.cast(getattr(self.library, name), ctypes.c_void_p).value or 0,
            sizes_in,
            sizes_out,
            np.frombuffer(memoryview(self.data.struct).cast("B"), dtype=np.int64),
            np.zeros(self.data.n_work + self.n_v),
            keep=[self],
        )

    def _run(self, name: str, arguments: tuple[Any, ...], sizes: tuple[int, ...], n_out: int) -> np.ndarray:
        arrays = [np.ascontiguousarray(item, dtype=float).reshape(-1) for item in arguments]
        for array, size in zip(arrays, sizes, strict=True):
            if array.size != size:
                given, wanted = [item.size for item in arrays], list(sizes)
                raise ShapeError(f"tree: arguments have {given} entries, expected {wanted} (n_q or n_x, n_v, n_u)")
        out, work = np.empty(n_out), np.empty(self.data.n_work)
        getattr(self.library, name)(
            self._tree, work.ctypes.data, *(array.ctypes.data for array in arrays), out.ctypes.data
        )
        return out


def tree_function(kernel: TreeKernel, n_p: int) -> NativeFunction:
    """Return (t, x, u, p) -> x_dot of a tree by the data-driven sweep; use one for each thread."""
    n_x = kernel.n_q + kernel.n_v
    if n_x == 0:
        raise ModelError("a system without speeds has no state to integrate")
    return kernel.function("sc_tree_plant", [1, n_x, kernel.n_u, n_p], [n_x])
