"""`Labels`: names and units of the entries of a vector."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from spacectl.core.errors import ModelError, ShapeError, as_number, unknown_name

__all__ = ["Labels"]


@dataclass(frozen=True)
class Labels:
    """Names and units of a vector's entries, in order.

    Parameters
    ----------
    names : tuple of str
        Unique names.
    units : tuple of str
        SI units, one for each name; ``"1"`` for a pure number.
    kind : str
        What the entries are ("coordinate", "input", ...); used in error messages.

    Examples
    --------
    >>> labels = Labels(("elbow", "wrist"), ("rad", "rad"), "coordinate")
    >>> labels.index("wrist")
    1
    >>> labels.vector({"wrist": 0.5})
    array([0. , 0.5])
    """

    names: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    kind: str = "entry"

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "units", tuple(self.units) or ("1",) * len(self.names))
        if len(self.units) != len(self.names):
            raise ShapeError(f"labels of {self.kind}s: {len(self.names)} names but {len(self.units)} units")
        if len(set(self.names)) != len(self.names):
            twice = sorted({name for name in self.names if self.names.count(name) > 1})
            raise ModelError(f"duplicate {self.kind} name {twice[0]!r}; rename one of them")

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __add__(self, other: Labels) -> Labels:
        return Labels(self.names + other.names, self.units + other.units, self.kind)

    def index(self, name: str) -> int:
        """Return the position of `name`; raise `ModelError` with the closest match if it is unknown."""
        try:
            return self.names.index(name)
        except ValueError:
            raise ModelError(unknown_name(self.kind, name, self.names)) from None

    def indices(self, names: Iterable[str]) -> tuple[int, ...]:
        """Return the positions of several names."""
        return tuple(self.index(name) for name in names)

    def unit(self, name: str) -> str:
        """Return the unit of `name`."""
        return self.units[self.index(name)]

    def vector(self, values: Mapping[str, float], *, default: np.ndarray | None = None) -> np.ndarray:
        """Return a vector with the named `values`; other entries are zero or taken from `default`."""
        out = np.zeros(len(self)) if default is None else np.array(default, dtype=float)
        for name, value in values.items():
            out[self.index(name)] = as_number(value, f"{self.kind} '{name}'")
        return out

    def named(self, values: np.ndarray) -> dict[str, float]:
        """Return the vector `values` as a dictionary."""
        flat = np.asarray(values, dtype=float).reshape(-1)
        if flat.size != len(self):
            raise ShapeError(f"expected {len(self)} {self.kind}s ({', '.join(self.names[:6])}...), got {flat.size}")
        return dict(zip(self.names, flat.tolist(), strict=True))
