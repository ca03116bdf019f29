"""`SurfacePatch`: the mid-surface of a shell as a smooth function of two parameters, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl.core.array import as_array
from spacectl.core.errors import ModelError, ShapeError
from spacectl.model.bodies.surface.fields import Geometry
from spacectl.model.bodies.surface.function import SurfaceFunction
from spacectl.model.bodies.surface.ritz import Surface
from spacectl.model.description import set_field

__all__ = ["SurfacePatch"]


@dataclass(frozen=True, kw_only=True)
class SurfacePatch(Surface):
    """A mid-surface given by its points, ``position(s, t) -> (x, y, z)``.

    Parameters
    ----------
    position : function of (s, t), or SurfaceFunction
        Points of the surface [m], body axes; smooth, with tangents that are nowhere zero or parallel (cut out poles).
    s, t : pair of float
        Ranges of the parameters.
    periodic : str
        Parameters in which the surface closes on itself: ``""``, ``"s"``, ``"t"`` or ``"st"``.

    Examples
    --------
    >>> tube = SurfacePatch(position=lambda s, t: (s, np.cos(t), np.sin(t)), s=(0.0, 2.0), t=(0.0, 2.0 * np.pi), periodic="t")
    >>> tube.closed
    (False, True)
    """

    position: Any
    s: Any
    t: Any
    periodic: str = ""

    def __post_init__(self) -> None:
        for key in ("s", "t"):
            span = as_array(getattr(self, key), (2,), f"surface patch: {key}")
            if not span[1] > span[0]:
                raise ModelError(
                    f"surface patch: {key} runs from {span[0]:g} to {span[1]:g}, expected an ascending range"
                )
            set_field(self, key, span)
        if self.periodic not in ("", "s", "t", "st"):
            raise ModelError(f"surface patch: periodic is {self.periodic!r}, expected '', 's', 't' or 'st'")
        if not isinstance(self.position, SurfaceFunction):
            if not callable(self.position):
                raise ModelError(f"surface patch: position is {self.position!r}, expected a function of (s, t)")
            fitted = SurfaceFunction.fit(self.position, self.ranges, "surface patch: position", self.closed)
            set_field(self, "position", fitted)
        if self.position.coefficients.shape[2] != 3:
            raise ShapeError(
                f"surface patch: position gives {self.position.coefficients.shape[2]} number(s), expected (x, y, z)"
            )
        self._check_tangents()

    @property
    def ranges(self) -> Any:
        """Ranges of the parameters."""
        return tuple((float(span[0]), float(span[1])) for span in (self.s, self.t))

    @property
    def closed(self) -> tuple[bool, bool]:
        """Which parameter closes on itself."""
        return "s" in self.periodic, "t" in self.periodic

    def geometry(self, s: np.ndarray, t: np.ndarray) -> Geometry:
        table = self.position.table(s, t)
        return Geometry(table[0], table[1:3].transpose(1, 0, 2), table[3:].transpose(1, 0, 2))

    def _check_tangents(self) -> None:
        places = (np.linspace(span[0], span[1], 15) for span in self.ranges)
        s, t = (part.ravel() for part in np.meshgrid(*places, indexing="ij"))
        area = self.geometry(s, t).area
        if not np.min(area) > 1e-6 * np.max(area):
            k = int(np.argmin(area))
            raise ModelError(
                f"surface patch: at s = {s[k]:g}, t = {t[k]:g} its tangents vanish or are parallel; cut such a pole "
                f"out of the ranges"
            )
