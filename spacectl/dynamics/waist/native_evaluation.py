"""`NativeEvaluation`: the calls of equations of motion that native kernels evaluate, for plain trees."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from spacectl.codegen.extension import NativeCall
from spacectl.core.errors import SolverError
from spacectl.core.parameters import Parameters
from spacectl.dynamics.waist.handover import Handover

__all__ = ["NativeEvaluation"]

_log = logging.getLogger(__name__)
_MANY = 500  # points from which preparing native calls (5 ms) pays


class NativeEvaluation:
    """Native calls of equations, for the system's own parameters; what they do not take goes through the named functions."""

    parameters: Parameters
    handover: Handover

    @cached_property
    def _p(self) -> np.ndarray:
        return np.array(self.parameters.values)

    @cached_property
    def _native(self) -> Mapping[str, NativeCall]:
        """Native calls for the system's own parameters; none where no kernel serves the system or can be loaded."""
        try:
            return {} if self.handover.native is None else self.handover.native(self._p)
        except SolverError as error:
            _log.info("calls of the equations are not native, which is slower: %s", str(error).splitlines()[0])
            return {}

    @cached_property
    def _x_dot(self) -> Callable[..., Any]:
        return self._direct("x_dot")

    @cached_property
    def _v_dot(self) -> Callable[..., Any]:
        return self._direct("v_dot")

    @cached_property
    def _mass_matrix(self) -> Callable[..., Any]:
        return self._direct("mass_matrix")

    @cached_property
    def _linear_terms(self) -> Callable[..., Any]:
        return self._direct("linear_terms")

    def _direct(self, function: str) -> Callable[..., Any]:
        """Return the native call; what it does not take, or where there is none, gives None."""
        return self._native[function].direct if function in self._native else lambda *_: None

    def native_value(self, function: str, arguments: tuple[Any, ...], p: Any = None) -> Any:
        """Return the result of a native call for arguments that convert to arrays, or None: for other parameters too."""
        calls = self._native if p is None else self.native_calls(self.parameters.check(p))
        return calls[function].flat(*arguments) if function in calls else None

    def native_calls(self, p: np.ndarray, points: int = 1) -> Mapping[str, NativeCall]:
        """Return the native calls for the parameters p, which for others than the system's own pay for many points only."""
        if np.array_equal(p, self._p):
            return self._native
        return self.handover.native(p) if points >= _MANY and self.handover.native is not None and self._native else {}
