"""Run-time parameters `p`: every number of a system, by name, in one vector.

Equations are built once for a structure and evaluated for any numbers. An exact zero in a placement, a centre of
mass or a product of inertia (and an exact 0 or 1 in a rotation or an axis) is *structure*: it keeps expressions
small, and changing it needs new equations. All other numbers may change at run time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from spacectl.core.array import as_array
from spacectl.core.errors import ModelError, unknown_name

__all__ = ["Parameters"]


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """Named numbers behind a vector p.

    Parameters
    ----------
    names : tuple of str
        Parameter names, each a scalar or an array: ``"upper.mass"``, ``"upper.com"``.
    shapes : tuple of tuple of int
        Shape of each.
    values : array, shape (n_p,)
        All values, flattened in row order, one after the other.
    fixed : array of bool, shape (n_p,)
        True where the value is structure.
    """

    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    values: Any
    fixed: tuple[bool, ...]

    def __post_init__(self) -> None:
        size = sum(int(np.prod(shape)) for shape in self.shapes)
        object.__setattr__(self, "values", as_array(self.values, (size,), "parameters"))

    def __len__(self) -> int:
        return self.values.size

    def __contains__(self, name: str) -> bool:
        return name in self._slices

    def where(self, name: str) -> slice:
        """Where the entries of `name` lie in p."""
        if name not in self._slices:
            raise ModelError(unknown_name("parameter", name, self.names))
        return self._slices[name]

    @cached_property
    def _slices(self) -> dict[str, slice]:
        stops = list(accumulate((int(np.prod(shape)) for shape in self.shapes), initial=0))
        return {name: slice(a, b) for name, a, b in zip(self.names, stops[:-1], stops[1:], strict=True)}

    @cached_property
    def _is_fixed(self) -> np.ndarray:
        return np.array(self.fixed, dtype=bool)

    def shape(self, name: str) -> tuple[int, ...]:
        """Shape of the named parameter."""
        self.where(name)
        return self._shapes[name]

    @cached_property
    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return dict(zip(self.names, self.shapes, strict=True))

    def get(self, name: str, p: Any = None) -> np.ndarray:
        """Value of the named parameter, in its shape."""
        values = np.asarray(self.values if p is None else p, dtype=float)
        return values[self.where(name)].reshape(self.shape(name))

    def vector(self, changes: Mapping[str, Any] | None = None) -> np.ndarray:
        """The vector p with some named parameters changed.

        Raises
        ------
        ModelError
            If a name is unknown, or if a change touches structure; the message says how to free it.
        """
        p = np.array(self.values, dtype=float)
        for name, value in (changes or {}).items():
            p[self.where(name)] = as_array(value, self.shape(name), f"parameter '{name}'")[...].reshape(-1)
        self.check(p)
        return p

    def check(self, p: Any) -> np.ndarray:
        """`p` as a float vector after checking its size and that structural entries are untouched."""
        vector = np.asarray(as_array(p, (len(self),), "parameters p"))
        wrong = np.flatnonzero(self._is_fixed & (vector != np.asarray(self.values)))
        if wrong.size:
            name = self.name_of(int(wrong[0]))
            raise ModelError(
                f"parameter '{name}': an entry that is exactly {self.values[wrong[0]]:g} is part of the structure and "
                f"cannot become {vector[wrong[0]]:g} at run time; use form_equations(system, vary=('{name}',))"
            )
        return vector

    def name_of(self, index: int) -> str:
        """Name of the parameter that entry `index` of p belongs to."""
        for name in self.names:
            if index < self.where(name).stop:
                return name
        raise ModelError(f"parameter index {index}: there are only {len(self)} numbers")
