"""`NativeCalls`: the native calls that a formulation hands down, for the parameters in use."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from spacectl.codegen.extension import NativeCall
from spacectl.core.errors import SolverError

__all__ = ["NativeCalls"]

_log = logging.getLogger(__name__)
_KEPT = 4  # parameter vectors whose calls are kept

CallMaker = Callable[[np.ndarray], Mapping[str, NativeCall]]


class NativeCalls:
    """Native calls by function name, for a few parameter vectors.

    Parameters
    ----------
    make : function or None
        p -> calls by name, without p among their arguments (`Handover.native`).
    """

    def __init__(self, make: CallMaker | None):
        self._make = make
        self._kept: OrderedDict[bytes, Mapping[str, NativeCall]] = OrderedDict()
        self._last = b""

    def of(self, p: np.ndarray, *, at_once: bool = False) -> Mapping[str, NativeCall]:
        """Return the calls for the parameters p; none where there are no native ones.

        Preparing them takes as long as hundreds of calls, so vectors that are not seen twice in a row get none unless
        `at_once` is set.
        """
        if self._make is None:
            return {}
        key = p.tobytes()
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        if not at_once and key != self._last:
            self._last = key
            return {}
        try:
            self._kept[key] = self._make(p)
        except SolverError as error:
            _log.info("calls of the equations are not native, which is slower: %s", str(error).splitlines()[0])
            self._make = None
            return {}
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return self._kept[key]

    def call(self, function: str, arguments: tuple[Any, ...], p: np.ndarray) -> np.ndarray | None:
        """Return the result for arguments of the right lengths that convert to floats; otherwise None."""
        native = self.of(p).get(function)
        return None if native is None else native.flat(*arguments)
