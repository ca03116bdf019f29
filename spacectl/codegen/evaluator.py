"""Fast numeric calls of CasADi functions: fixed buffers, no conversion through CasADi matrices.

One `Evaluator` wraps one function; its buffers belong to the calling thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from spacectl.core.errors import ShapeError

__all__ = ["Evaluator"]


class Evaluator:
    """Numeric calls of a dense CasADi function.

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

    def _prepare(self) -> tuple[list[np.ndarray], list[np.ndarray], Callable[[], Any]]:
        f = self.function
        buffer: Any
        buffer, run = f.buffer()
        arguments = [np.zeros(f.numel_in(i)) for i in range(f.n_in())]
        # CasADi is column-major: a (rows, columns) output is filled as a (columns, rows) C array
        results = [np.zeros((f.size2_out(i), f.size1_out(i))) for i in range(f.n_out())]
        for i, argument in enumerate(arguments):
            if argument.size:
                buffer.set_arg(i, argument.data)
        for i, result in enumerate(results):
            if result.size:
                buffer.set_res(i, result.reshape(-1).data)
        self._local.ready = (arguments, results, run, buffer)
        return arguments, results, run

    def __call__(self, *values: Any) -> list[np.ndarray]:
        """Results as arrays (rows, columns), one for each output."""
        ready = getattr(self._local, "ready", None)
        arguments, results, run = ready[:3] if ready is not None else self._prepare()
        for i, (array, value) in enumerate(zip(arguments, values, strict=True)):
            flat = np.asarray(value, dtype=float).reshape(-1)
            if flat.size != array.size:
                name = self.function.name_in(i)
                raise ShapeError(f"{self.function.name()}: '{name}' has {flat.size} entries, expected {array.size}")
            array[:] = flat
        run()
        return [array.T.copy() for array in results]

    def __reduce__(self) -> tuple[Any, ...]:
        return (Evaluator, (self.function,))
