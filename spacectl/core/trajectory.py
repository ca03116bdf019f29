"""`Trajectory`: labelled values over time, for references, plans, gains and histories."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from spacectl.core.array import as_array
from spacectl.core.errors import ModelError, ShapeError
from spacectl.core.labels import Labels

__all__ = ["Trajectory"]

Interpolation = Literal["previous", "linear", "cubic"]


@dataclass(frozen=True, kw_only=True)
class Trajectory:
    """Values at increasing times, with an interpolation rule.

    ``cubic`` is Hermite interpolation: with ``rates`` given it reproduces values and rates at the knots; without,
    the rates are those of the quadratic through each three neighbouring knots. ``previous`` holds the last value
    (right-continuous), ``linear`` joins the knots. Outside the knots the end values are held, with zero rate.

    Parameters
    ----------
    t : array, shape (n,)
        Increasing times [s].
    values : array, shape (n, k)
        Values at the knots; time is the first axis.
    labels : Labels
        Names and units of the k columns.
    rates : array, shape (n, k), optional
        Time derivatives at the knots, for ``cubic``.
    interpolation : {"cubic", "linear", "previous"}
        Interpolation between knots.

    Examples
    --------
    >>> ramp = Trajectory(t=[0.0, 2.0], values=[[0.0], [4.0]], labels=Labels(("x",), ("m",)), interpolation="linear")
    >>> ramp(0.5)
    array([1.])
    >>> ramp.rate(0.5)
    array([2.])
    """

    t: Any
    values: Any
    labels: Labels = field(default_factory=Labels)
    rates: Any = None
    interpolation: Interpolation = "cubic"

    def __post_init__(self) -> None:
        t = as_array(self.t, None, "trajectory: t")
        if len(t.shape) != 1 or t.size < 1 or np.any(np.diff(t) <= 0.0):
            raise ModelError("trajectory: t must be a one-dimensional array of increasing times")
        values = as_array(self.values, None, "trajectory: values")
        if len(values.shape) != 2 or values.shape[0] != t.size:
            raise ShapeError(f"trajectory: values have shape {values.shape}, expected ({t.size}, k): time comes first")
        if len(self.labels) not in (0, values.shape[1]):
            raise ShapeError(f"trajectory: {values.shape[1]} columns but {len(self.labels)} labels")
        if self.interpolation not in ("previous", "linear", "cubic"):
            raise ModelError(f"trajectory: interpolation {self.interpolation!r}, expected previous, linear or cubic")
        rates = None
        if self.interpolation == "cubic":
            rates = np.zeros(values.shape) if t.size == 1 else self.rates
            if rates is None:
                order: Literal[1, 2] = 2 if t.size > 2 else 1
                rates = np.gradient(np.asarray(values), np.asarray(t), axis=0, edge_order=order)
            rates = as_array(rates, values.shape, "trajectory: rates")
        object.__setattr__(self, "t", t)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "rates", rates)
        if len(self.labels) == 0:
            object.__setattr__(self, "labels", Labels(tuple(f"r{i + 1}" for i in range(values.shape[1])), (), "value"))

    def __call__(self, t: Any) -> np.ndarray:
        """Return the values at `t`: shape (k,) for a scalar, (m, k) for an array of m times."""
        return self._evaluate(t, order=0)

    def rate(self, t: Any) -> np.ndarray:
        """Return the time derivative at `t`, shaped as the call."""
        return self._evaluate(t, order=1)

    def column(self, name: str) -> np.ndarray:
        """Return the knot values of one named column, shape (n,)."""
        return np.asarray(self.values)[:, self.labels.index(name)]

    def _evaluate(self, t: Any, order: int) -> np.ndarray:
        times = np.atleast_1d(np.asarray(t, dtype=float))
        knots, values = np.asarray(self.t), np.asarray(self.values)
        inside = (times >= knots[0]) & (times < knots[-1])
        clipped = np.clip(times, knots[0], knots[-1])
        i = np.clip(np.searchsorted(knots, clipped, side="right") - 1, 0, max(knots.size - 2, 0))
        if knots.size == 1 or self.interpolation == "previous":
            last = np.searchsorted(knots, clipped, side="right") - 1
            out = values[last] if order == 0 else np.zeros((times.size, values.shape[1]))
        else:
            h = (knots[i + 1] - knots[i])[:, None]
            s = ((clipped - knots[i]) / h[:, 0])[:, None]
            rates = None if self.rates is None else np.asarray(self.rates)
            out = _between(s, h, values[i], values[i + 1], None if rates is None else (rates[i], rates[i + 1]), order)
            if order == 1:
                out = np.where(inside[:, None], out, 0.0)
        return out if np.ndim(t) else out[0]


def _between(s: Any, h: Any, a: Any, b: Any, rates: Any, order: int) -> np.ndarray:
    """Return the linear or cubic Hermite interpolant (or its rate) at the fraction s of an interval of length h."""
    if rates is None:
        return (b - a) / h if order == 1 else a + s * (b - a)
    da, db = rates[0] * h, rates[1] * h
    c2, c3 = 3.0 * (b - a) - 2.0 * da - db, 2.0 * (a - b) + da + db
    if order == 1:
        return (da + s * (2.0 * c2 + s * 3.0 * c3)) / h
    return a + s * (da + s * (c2 + s * c3))
