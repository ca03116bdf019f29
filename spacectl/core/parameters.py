"""Run-time parameters `p`: all parameters of a system, by name, in one vector.

Fields of the description that determine several parameters (`PhysicalNames`: the stiffness EI of a beam, its
length) are names too: `vector` sets the parameters that follow from them.

Equations are formed once for a structure and evaluated for any parameters. An exact zero in a placement, a centre of
mass or a product of inertia (and an exact 0 or 1 in a rotation or an axis) is *structure*: it simplifies
expressions, and a change requires new equations. All other values may change at run time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from spacectl.core.array import as_array
from spacectl.core.errors import ModelError, unknown_name

__all__ = ["Parameters"]


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """Names, shapes and values of the entries of a vector p.

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
    physical : PhysicalNames, optional
        Fields of the description that determine some of the parameters.
    """

    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    values: Any
    fixed: tuple[bool, ...]
    physical: Any = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        size = sum(int(np.prod(shape)) for shape in self.shapes)
        object.__setattr__(self, "values", as_array(self.values, (size,), "parameters"))

    def __len__(self) -> int:
        return self.values.size

    def __contains__(self, name: str) -> bool:
        return name in self._slices

    def where(self, name: str) -> slice:
        """Return the slice of p with the entries of `name`."""
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
        """Return the shape of the named parameter."""
        self.where(name)
        return self._shapes[name]

    @cached_property
    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return dict(zip(self.names, self.shapes, strict=True))

    def get(self, name: str, p: Any = None) -> np.ndarray:
        """Return the value of the named parameter, in its shape."""
        values = np.asarray(self.values if p is None else self.vector(p) if isinstance(p, Mapping) else p, dtype=float)
        return values[self.where(name)].reshape(self.shape(name))

    def is_physical(self, name: str) -> bool:
        """Return whether the name is a field of the description, which determines several parameters."""
        return self.physical is not None and name in self.physical

    def of(self, p: Any = None) -> np.ndarray:
        """Return the vector p from an argument: None (the values themselves), a vector, or named changes."""
        return np.array(self.values, dtype=float) if p is None else self.check(p)

    def taken_from(self, other: Parameters, p: Any = None) -> np.ndarray:
        """Return the vector p with the entries that another set of parameters has under the same names."""
        vector = np.array(self.values, dtype=float)
        for name in self.names:
            if name in other:
                vector[self.where(name)] = other.get(name, p).reshape(-1)
        return vector

    def vector(self, changes: Mapping[str, Any] | None = None, base: Any = None) -> np.ndarray:
        """Return p with some named parameters changed: numbers, or fields of the description such as ``"boom.EI"``.

        Parameters
        ----------
        changes : mapping of str to value
            New values.
        base : array, optional
            Vector to change; default: `values`.

        Raises
        ------
        ModelError
            If a name is unknown, if a change affects structure (the message gives the remedy), or if a
            parameter is given together with a field from which it follows, in `changes` or by `base`.
        """
        if changes is not None and not isinstance(changes, Mapping):
            raise ModelError(f"parameters: expected a mapping such as {{'link.mass': 2.0}}, got {changes!r}")
        p = np.array(self.of(base), dtype=float)
        given = dict(changes or {})
        fields = {name: given.pop(name) for name in list(given) if self.is_physical(name)}
        if fields:
            fields |= {name: given.pop(name) for name in self.physical.beside(fields, given)}
            p = self._with_fields(p, fields, given)
        for name, value in given.items():
            where = self._place(name)
            p[where] = as_array(value, self.shape(name), f"parameter '{name}'")[...].reshape(-1)
        self.check(p)
        return p

    def _with_fields(self, p: np.ndarray, fields: Mapping[str, Any], others: Mapping[str, Any]) -> np.ndarray:
        """Return `p` with the entries that follow from `fields`; `others` are parameters set beside them."""
        own, new = np.asarray(self.values), self.physical.vector(fields)
        depends = new != own
        for name in self.physical.owned(fields):
            depends[self.where(name)] = True
        summary = ", ".join(f"'{name}'" for name in fields)
        for name in others:
            if np.any(depends[self._place(name)]):
                raise ModelError(
                    f"parameters {summary} and '{name}': '{name}' follows from the description of its part; give one or the other"
                )
        wrong = np.flatnonzero(depends & (p != own))
        if wrong.size:
            raise ModelError(
                f"parameter {summary}: the given p has another '{self.name_of(int(wrong[0]))}' than the system in the same part; "
                "give all changes of a part together, by name"
            )
        return np.where(depends, new, p)

    def derivative(self, name: str, p: Any = None) -> tuple[np.ndarray, str]:
        """Return the derivatives of p by each entry of a named parameter, shape (n_p, size), and the method used.

        Parameters
        ----------
        name : str
            A parameter, or a field of the description.
        p : array or mapping, optional
            Point of evaluation; as named changes for fields of a part whose parameters differ from the system's.
        """
        if not self.is_physical(name):
            return np.eye(len(self))[:, self._place(name)], "exact"
        fields = {key: value for key, value in p.items() if self.is_physical(key)} if isinstance(p, Mapping) else {}
        others = {key: value for key, value in p.items() if key not in fields} if isinstance(p, Mapping) else {}
        base = None if p is None or isinstance(p, Mapping) else self.check(p)
        self.vector(
            {**others, **fields, name: fields.get(name, self.physical.value(name))}, base
        )  # raises if p does not fit
        return self.physical.derivative(name, fields)

    def check(self, p: Any) -> np.ndarray:
        """Return `p` (a vector or named changes) as a float vector; check its size and that structure is unchanged."""
        if isinstance(p, Mapping):
            return self.vector(p)
        vector = np.asarray(as_array(p, (len(self),), "parameters p"))
        wrong = np.flatnonzero(self._is_fixed & (vector != np.asarray(self.values)))
        if wrong.size:
            name = self.name_of(int(wrong[0]))
            raise ModelError(
                f"parameter '{name}': an entry that is exactly {self.values[wrong[0]]:g} is part of the structure and "
                f"cannot become {vector[wrong[0]]:g} at run time; use form_equations(system, vary=('{name}',))"
            )
        return vector

    def _place(self, name: str) -> slice:
        """Return the slice of p for a user's name; the message for an unknown name lists fields too."""
        if name not in self and self.physical is not None:
            raise ModelError(unknown_name("parameter", name, (*self.names, *self.physical.names)))
        return self.where(name)

    def name_of(self, index: int) -> str:
        """Return the name of the parameter that contains entry `index` of p."""
        for name in self.names:
            if index < self.where(name).stop:
                return name
        raise ModelError(f"parameter index {index}: there are only {len(self)} entries")
