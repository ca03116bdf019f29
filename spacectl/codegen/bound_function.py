"""`BoundFunction`: a function with fixed buffers and the tables of pointers to them, as native code calls it.

Python calls it through `NativeCall`, the driver of simulations through the pointers.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from itertools import accumulate
from typing import Any

import numpy as np

__all__ = ["CALLBACK", "GENERATED", "NONE", "VM", "BoundFunction", "address_of", "unused"]

NONE, VM, GENERATED, CALLBACK = range(4)  #: kinds, as in loop.h


def address_of(array: np.ndarray) -> int:
    """Return where an array's numbers are, 0 if it has none; for ordinary arrays faster than ``array.ctypes.data``."""
    if not array.size:
        return 0
    if array.flags.writeable:
        buffer: Any = array
        return ctypes.addressof(ctypes.c_char.from_buffer(buffer))
    return array.ctypes.data


class BoundFunction:
    """A function with fixed argument and result buffers.

    Parameters
    ----------
    sizes_in, sizes_out : sequence of int
        Lengths of the arguments and results.

    Attributes
    ----------
    arguments, results : list of numpy arrays
        The buffers; results lie one behind the other in `block`.
    error : BaseException or None
        What the last failed call raised.
    """

    def __init__(self, sizes_in: Sequence[int], sizes_out: Sequence[int]):
        self.kind = NONE
        self.arguments: list[Any] = [np.zeros(max(size, 1))[:size] for size in sizes_in]
        self.block = np.zeros(max(sum(sizes_out), 1))
        self.results: list[Any] = [self.block[b - n : b] for b, n in zip(accumulate(sizes_out), sizes_out, strict=True)]
        self.error: BaseException | None = None
        self.fn = 0
        self.turned = 0
        self.angles: Sequence[int] = ()
        self.prepare = 0
        self.described = "none"
        self.raw = 0
        self.mem = 0
        self.iw = np.zeros(1, dtype=np.int64)
        self.w = np.zeros(1)
        self.arg: Any = None
        self.res: Any = None
        self._run: Callable[[], Any] = lambda: None
        self._alive: list[Any] = []
        self._point(len(self.arguments), len(self.results))

    def _point(self, n_arg: int, n_res: int) -> None:
        """Return the pointer tables for C, with room for what generated code keeps behind the arguments."""
        inputs = [address_of(array) for array in self.arguments]
        starts = [address_of(array if array.size else self.block) for array in self.results]
        self.arg = (ctypes.c_void_p * max(n_arg, 1))(*inputs)
        self.res = (ctypes.c_void_p * max(n_res, 1))(*starts)

    def share_turns(self, turns: np.ndarray) -> None:
        """Let C call the entry that reads sines and cosines of the state from this table; for one that has it."""
        if self.angles:
            self._point(len(self.arguments) + 1, len(self.results))
            self.arg[len(self.arguments)] = address_of(turns)
            self.fn = self.turned

    def run(self) -> Any:
        """Evaluate on what the buffers hold; exceptions pass. What compiled code returns: 0 if all went well."""
        return self._run()

    def call(self) -> bool:
        """Evaluate from Python; False if an exception was raised, which is kept in `error`."""
        if self.kind != CALLBACK:
            self.block[:] = np.nan
        try:
            self._run()
        except BaseException as error:  # also Ctrl-C: it is raised again once the driver has returned
            self.error = error
            return False
        return True


@cache
def unused() -> BoundFunction:
    """Return the function that stands for one that a run does not have."""
    return BoundFunction((), ())
