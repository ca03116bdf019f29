"""Figures as data: lines with labels and units, independent of the plotting library.

A study returns them; `reports` draws them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spacectl.core.array import as_array
from spacectl.core.errors import ModelError, ShapeError
from spacectl.core.input_checks import sequence_of

__all__ = ["Band", "Figure", "Line", "Panel", "Region"]


@dataclass(frozen=True, kw_only=True)
class Line:
    """One curve: x and y of equal length, a label, and a style ("solid", "dashed", "dotted", "markers")."""

    x: Any
    y: Any
    label: str = ""
    style: str = "solid"

    def __post_init__(self) -> None:
        object.__setattr__(self, "x", as_array(self.x, None, f"line '{self.label}': x"))
        object.__setattr__(self, "y", as_array(self.y, None, f"line '{self.label}': y"))
        if self.x.shape != self.y.shape or len(self.x.shape) != 1:
            raise ShapeError(
                f"line '{self.label}': x has shape {self.x.shape}, y {self.y.shape}; expected equal lengths"
            )
        if self.style not in ("solid", "dashed", "dotted", "markers"):
            raise ModelError(f"line '{self.label}': style {self.style!r}, expected solid, dashed, dotted or markers")


@dataclass(frozen=True, kw_only=True)
class Band:
    """A horizontal limit band from `low` to `high`, shown as `label`; values outside violate the limit."""

    low: float
    high: float
    label: str = "limit"


@dataclass(frozen=True, kw_only=True)
class Region:
    """A shaded area between two curves over x, drawn behind the lines.

    Parameters
    ----------
    x : array, shape (n,)
        Increasing.
    low, high : arrays, shape (n,)
        Lower and upper edge; the view follows the lines, so an edge may lie far outside.
    label : str
        In the legend.
    """

    x: Any
    low: Any
    high: Any
    label: str = ""

    def __post_init__(self) -> None:
        for name in ("x", "low", "high"):
            object.__setattr__(self, name, as_array(getattr(self, name), None, f"region '{self.label}': {name}"))
        shapes = (self.x.shape, self.low.shape, self.high.shape)
        if len(set(shapes)) != 1 or len(shapes[0]) != 1:
            raise ShapeError(f"region '{self.label}': x, low and high have shapes {shapes}; expected equal lengths")


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One pair of axes.

    Parameters
    ----------
    lines : tuple of Line
        The curves.
    y_label, unit : str
        Quantity on y, and its SI unit; `reports` may show radians as degrees.
    x_label, x_unit : str
        The same for x.
    title : str
        Above the axes.
    bands : tuple of Band
        Limits of y.
    log_x, log_y : bool
        Logarithmic axes.
    equal_axes : bool
        The same scale for x and y, for maps.
    regions : tuple of Region
        Shaded areas.
    """

    lines: tuple[Line, ...]
    y_label: str
    unit: str = ""
    x_label: str = "time"
    x_unit: str = "s"
    title: str = ""
    bands: tuple[Band, ...] = ()
    log_x: bool = False
    log_y: bool = False
    equal_axes: bool = False
    regions: tuple[Region, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "lines", tuple(self.lines))
        object.__setattr__(self, "regions", tuple(self.regions))
        object.__setattr__(self, "bands", tuple(self.bands))


@dataclass(frozen=True, kw_only=True)
class Figure:
    """Panels stacked over a common x axis, with a caption.

    Parameters
    ----------
    name : str
        File name without ending: letters, digits, - and _.
    title, caption : str
        Title in one line, and a sentence that states the finding.
    panels : tuple of Panel
        From top to bottom.
    """

    name: str
    title: str
    panels: tuple[Panel, ...]
    caption: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "panels", sequence_of(Panel, self.panels, f"figure {self.name!r}: panels"))
        if not isinstance(self.name, str) or not self.name.replace("_", "").replace("-", "").isalnum():
            raise ModelError(f"figure name {self.name!r}: use letters, digits, - and _ (it becomes a file name)")
