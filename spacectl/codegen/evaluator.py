"""Fast numeric calls of CasADi functions: fixed buffers, no conversion through CasADi matrices.

One `Evaluator` wraps one function; its buffers belong to the calling thread.
"""

from __future__ import annotations

import threading
from typing import Any

import casadi as ca
import numpy as np

from spacectl.codegen.binding import bind_casadi
from spacectl.codegen.extension import NativeCall
from spacectl.core.errors import ShapeError

__all__ = ["Evaluator"]


class Evaluator:
    """Numeric calls of a dense CasADi function through CasADi's virtual machine.

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

    def _prepare(self) -> NativeCall:
        f, bound = self.function, bind_casadi(self.function)
        # CasADi is column-major: a (rows, columns) output is filled as a (columns, rows) C array
        outputs = [array.reshape(f.size2_out(i), f.size1_out(i)) for i, array in enumerate(bound.results)]
        inputs = dict(zip(f.name_in(), bound.arguments, strict=True))
        self._local.call = NativeCall(f.name(), bound, inputs, outputs, kind=tuple, by_columns=True)
        return self._local.call

    def __call__(self, *values: Any) -> list[np.ndarray]:
        """Return the results as arrays (rows, columns), one for each output."""
        call = getattr(self._local, "call", None) or self._prepare()
        results = call.fast(*values)
        return list(call.copied(*self._flat(values)) if results is None else results)

    def _flat(self, values: tuple[Any, ...]) -> list[np.ndarray]:
        """Return the arguments as arrays of the lengths that the function takes."""
        found, f = [], self.function
        for (i, name), value in zip(enumerate(f.name_in()), values, strict=True):
            flat = np.asarray(value, dtype=float).reshape(-1)
            if flat.size != f.numel_in(i):
                raise ShapeError(f"{f.name()}: '{name}' has {flat.size} entries, expected {f.numel_in(i)}")
            found.append(flat)
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return (Evaluator, (self.function,))
