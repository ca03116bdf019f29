"""`Campbell`: modes over a sweep, with crossings and instabilities by name, and their figure; returned by `campbell`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spacectl.core.figure import Figure, Line, Panel
from spacectl.core.labels import Labels
from spacectl.linear.operating_point import OperatingPoint

__all__ = ["Campbell", "Crossing", "Instability"]


@dataclass(frozen=True, kw_only=True)
class Crossing:
    """A crossing of a mode's frequency with an engine order: ``frequency = order |value|``.

    Parameters
    ----------
    mode, name : int and str
        Index of the mode, and its name.
    order : float
        Engine order.
    value, frequency : float
        Value of the swept quantity there, and the frequency [rad/s].
    """

    mode: int
    name: str
    order: float
    value: float
    frequency: float


@dataclass(frozen=True, kw_only=True)
class Instability:
    """A mode that grows at all swept values from `low` to `high`.

    Parameters
    ----------
    mode, name : int and str
        Index of the mode, and its name.
    low, high : float
        Least and largest of the neighbouring values.
    growth, at : float
        Largest growth rate [1/s], and the value at which it was found.
    kind : str
        "flutter" (with a frequency) or "divergence" (without).
    """

    mode: int
    name: str
    low: float
    high: float
    growth: float
    at: float
    kind: str


@dataclass(frozen=True, kw_only=True)
class Campbell:
    """Modes over a sweep; a conjugate pair counts once.

    Parameters
    ----------
    sweep, unit : str
        The swept quantity, and its unit.
    values : array, shape (n_k,)
        Its values.
    poles : array, shape (n_k, m), complex
        Branches of eigenvalues [1/s], in the order of their frequency at the first value.
    frequency, damping : arrays, shape (n_k, m)
        ``|Im(pole)|`` [rad/s], and ``-Re(pole) / |pole|`` (0 at the origin).
    correlation : array, shape (n_k - 1, m)
        Correlation of a mode's shape with the preceding one: near 1 for a reliable branch, small where the step is
        too long.
    shapes : array, shape (n_k, m, n), complex
        Right eigenvectors, largest entry 1.
    names : tuple of str
        For each mode, its number and the coordinates with the largest participation.
    is_rigid : tuple of bool
        Whether a mode's eigenvalue is zero (relative to the largest) over the whole sweep.
    x : Labels
        Names of the error states.
    points : tuple of OperatingPoint
        Operating point of each model.
    orders : tuple of float
        Engine orders.
    crossings : tuple of Crossing
        In order of the value.
    instabilities : tuple of Instability
        In order of the value.
    """

    sweep: str
    unit: str
    values: np.ndarray
    poles: np.ndarray
    frequency: np.ndarray
    damping: np.ndarray
    correlation: np.ndarray
    shapes: np.ndarray
    names: tuple[str, ...]
    is_rigid: tuple[bool, ...]
    x: Labels
    points: tuple[OperatingPoint, ...]
    orders: tuple[float, ...]
    crossings: tuple[Crossing, ...]
    instabilities: tuple[Instability, ...]

    def figure(self, *, name: str = "campbell", title: str = "") -> Figure:
        """Draw frequencies with engine orders, crossings and unstable ranges above, rates of decay or growth below."""
        is_speed = self.unit == "rad/s"
        v = self.values / (2.0 * np.pi) if is_speed else self.values
        label, unit = (f"{self.sweep} / 2 pi", "Hz") if is_speed else (self.sweep, self.unit)
        shown = [k for k, rigid in enumerate(self.is_rigid) if not rigid]
        hertz = self.frequency / (2.0 * np.pi)
        lines = [Line(x=v, y=hertz[:, k], label=self.names[k]) for k in shown]
        top = 1.05 * float(np.max(hertz[:, shown], initial=0.0))
        for order in self.orders:
            ray = order * np.abs(self.values) / (2.0 * np.pi)
            inside = ray <= top
            lines.append(Line(x=v[inside], y=ray[inside], label=f"order {order:g}", style="dashed"))
        marks = [
            (item.value / (2.0 * np.pi if is_speed else 1.0), item.frequency / (2.0 * np.pi)) for item in self.crossings
        ]
        wild = [(v[i], hertz[i, k]) for k in shown for i in self._grows(k)]
        for text, spots in (("crossing", marks), ("unstable", wild)):
            if spots:
                x, y = np.array(spots).T
                lines.append(Line(x=x, y=y, label=text, style="markers"))
        real = self.poles.real
        real = np.where(np.abs(real) > 1e-9 * np.max(np.abs(self.poles), initial=0.0), real, 0.0)  # no rounding noise
        rates = tuple(Line(x=v, y=real[:, k], label=self.names[k]) for k in shown)
        return Figure(
            name=name,
            title=title or f"Modes over {self.sweep}",
            caption=self.summary(),
            panels=(
                Panel(y_label="frequency", unit="Hz", lines=tuple(lines), x_label=label, x_unit=unit),
                Panel(y_label="growth rate", unit="1/s", lines=rates, x_label=label, x_unit=unit),
            ),
        )

    def summary(self) -> str:
        """Describe crossings and instabilities in words."""
        entries = [
            f"mode {c.name} crosses order {c.order:g} at {c.value:.4g} {self.unit} ({c.frequency:.4g} rad/s)"
            for c in self.crossings
        ]
        entries += [
            f"mode {i.name} is unstable ({i.kind}, up to {i.growth:.3g} 1/s) from {i.low:.4g} to {i.high:.4g} {self.unit}"
            for i in self.instabilities
        ]
        return ("; ".join(entries) or "no crossing and no instability") + "."

    def _grows(self, mode: int) -> list[int]:
        return [
            i
            for i, value in enumerate(self.values)
            if any(item.mode == mode and item.low <= value <= item.high for item in self.instabilities)
        ]
