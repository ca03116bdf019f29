"""Fields of a description as run-time parameters: ``"boom.EI"``, ``"boom.length"``, ``"wheel.inertia"``.

The parameters of the equations (integrals, stiffness matrices, shapes at frames) follow from the fields of the
description. `PhysicalNames` rebuilds the system with other values and reads its parameters; the equations are reused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from spacectl.core.errors import ModelError, SolverError
from spacectl.core.parameters import Parameters
from spacectl.core.provenance import content_hash
from spacectl.model.attachments import find_interfaces
from spacectl.model.bodies.base.modal_integrals import sizes_of
from spacectl.model.body_origins import BodyOrigins, hash_changes
from spacectl.model.rebuild import field_names, field_value, find_field, flatten, is_number, rebuild_system, unflatten
from spacectl.model.system import System
from spacectl.model.transforms.segments import segment_derivatives

__all__ = ["PhysicalNames"]

STEP = 1e-3  #: relative step of central differences; their error is of fourth order in it
_ROUGH = 1e-3  # relative disagreement of two steps above which differences are rejected
_ROUNDING = 1e-12  # relative rounding of shapes and quadrature where exact integrals are zero
_CACHED = 64  # largest number of cached parameter vectors


class PhysicalNames:
    """Run-time parameters for other values of the fields of a system.

    Parameters
    ----------
    system : System
        The user's description.
    expand : function of a System
        Returns the system of which the equations are formed: beams cut into segments, joints as constraints.
    parameters : Parameters
        Parameters of the equations.
    vary : tuple of str
        Parameters whose exact zeros (or ones) become run-time parameters too.
    """

    def __init__(
        self, system: System, expand: Callable[[System], System], parameters: Parameters, vary: tuple[str, ...]
    ):
        self.system, self._expand, self._parameters, self._vary = system, expand, parameters, vary
        self._known: dict[str, np.ndarray] = {}
        self._effective: set[str] = set()
        self._origins = BodyOrigins(system, expand, parameters)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of fields that change parameters by rebuilding the system."""
        return tuple(name for name in field_names(self.system) if name in self)

    def __contains__(self, name: str) -> bool:
        """Return whether a name is a field, and not only a parameter of the same name."""
        try:
            owner, inner, key = find_field(self.system, name)
        except ModelError:
            return False
        holder = getattr(owner, inner) if inner else owner
        is_plain = name in self._parameters and not _derived(holder, key)
        return is_number(getattr(holder, key)) and not is_plain

    def value(self, name: str) -> Any:
        """Return the system's own value of a field."""
        return field_value(self.system, name)

    def vector(self, changes: Mapping[str, Any]) -> np.ndarray:
        """Return the parameters p of a system described with some fields changed.

        Raises
        ------
        ModelError
            If the form of the equations changes: other shapes, interfaces or frames, or entries that are exactly zero.
        """
        key = hash_changes(changes)
        if key not in self._known:
            if len(self._known) >= _CACHED:
                self._known.clear()
            self._known[key] = self._rebuild(changes)
            self._origins.remember(self._known[key], changes)
        return self._known[key].copy()

    def described(self, system: System, p: np.ndarray) -> System:
        """Return `system` with the flexible bodies of the parameters p: see `BodyOrigins`."""
        return self._origins.describe(system, p)

    def owned(self, names: Any) -> set[str]:
        """Return the parameters that follow from the named fields and cannot be set beside them."""
        found: set[str] = set()
        for name in names:
            owner, inner, key = find_field(self.system, name)
            derived, title = _derived(getattr(owner, inner) if inner else owner, key), _title(name)
            pieces = [other for other in self._parameters.names if derived and other.startswith(f"{title}[")]
            found |= {*(f"{title}.{number}" for number in derived), *pieces}
        return found & set(self._parameters.names)

    def beside(self, names: Any, others: Any) -> list[str]:
        """Return those of the other names that are fields of the same parts, which are rebuilt as a whole."""
        known = set(field_names(self.system))
        holders = [find_field(self.system, name)[:2] for name in names]
        places = {name: find_field(self.system, name)[:2] for name in others if name in known}
        return [name for name, (owner, inner) in places.items() if any(owner is o and inner == i for o, i in holders)]

    def derivative(self, name: str, changes: Mapping[str, Any]) -> tuple[np.ndarray, str]:
        """Return the derivatives of p by each entry of a field, shape (n_p, size), and the method used."""
        system = rebuild_system(self.system, changes) if changes else self.system
        closed = self._closed_form(system, name)
        if closed is None:
            return self._differences(system, name, changes)
        return self._without_structure(closed, name), "closed form"

    def _rebuild(self, changes: Mapping[str, Any]) -> np.ndarray:
        names = ", ".join(f"'{name}'" for name in changes)
        new = rebuild_system(self.system, changes)
        if find_interfaces(new) != self._interfaces:
            raise ModelError(
                f"parameter {names}: flexible bodies would carry loads along other directions and choose other shapes; {_CURE}"
            )
        expanded = self._expand(new)
        numbers = expanded.parameters(vary=self._vary)
        if (numbers.names, _form(expanded)) != self._form:
            raise ModelError(
                f"parameter {names}: the form of the equations would change, not only their parameters; {_CURE}"
            )
        p = np.array(self._parameters.values, dtype=float)
        for item in numbers.names:
            if numbers.shape(item) != self._parameters.shape(item):
                raise ModelError(f"parameter {names}: the size of '{item}' would change; {_CURE}")
            self._place(p, item, numbers.get(item).reshape(-1))
        try:
            self._parameters.check(p)
        except ModelError as error:
            raise ModelError(f"parameter {names} changes parameters of the equations: {error}") from error
        self._check_effect(new, p, changes)
        return p

    def _place(self, p: np.ndarray, number: str, value: np.ndarray) -> None:
        """Write a parameter into p; rounding of structural entries (quadrature, modes) does not count as a change."""
        where = self._parameters.where(number)
        small = np.abs(value - p[where]) <= _ROUNDING * sizes_of(number.rsplit(".", 1)[-1], value)
        fixed = np.array(self._parameters.fixed[where], dtype=bool)
        p[where] = np.where(fixed & small, p[where], value)

    def _check_effect(self, new: System, p: np.ndarray, changes: Mapping[str, Any]) -> None:
        """Raise `ModelError` for a field without effect on parameters: the form of the equations may depend on it."""
        for name in set(changes) - self._effective:
            if np.array_equal(flatten(field_value(self.system, name)), flatten(field_value(new, name))):
                continue
            if len(changes) > 1:
                self._rebuild({name: changes[name]})
            elif np.array_equal(p, np.asarray(self._parameters.values)):
                raise ModelError(f"parameter '{name}': no run-time parameter depends on it; {_CURE}")
            self._effective.add(name)

    @cached_property
    def _interfaces(self) -> dict[str, tuple[str, ...]]:
        return find_interfaces(self.system)

    @cached_property
    def _form(self) -> tuple[tuple[str, ...], str]:
        own = self._expand(self.system)
        return own.parameters(vary=self._vary).names, _form(own)

    def _closed_form(self, system: System, name: str) -> np.ndarray | None:
        owner, inner, key = find_field(system, name)
        holder, title = getattr(owner, inner) if inner else owner, _title(name)
        if not hasattr(holder, "number_derivatives"):
            return None
        found = (
            segment_derivatives(holder, key)
            if getattr(holder, "segments", 1) > 1
            else {"": holder.number_derivatives(key)}
        )
        if found is None or any(item is None for item in found.values()):
            return None
        p = np.zeros((len(self._parameters), flatten(getattr(holder, key)).size))
        for piece, columns in found.items():
            for number, value in (columns or {}).items():
                p[self._parameters.where(f"{title}{piece}.{number}")] = value
        return p

    def _without_structure(self, columns: np.ndarray, name: str) -> np.ndarray:
        """Set derivatives of structural entries to zero; raise `ModelError` if they are more than rounding."""
        fixed = np.array(self._parameters.fixed, dtype=bool)
        for number in self._parameters.names:
            own = columns[self._parameters.where(number)]
            held = np.abs(own[fixed[self._parameters.where(number)]])
            if np.any(held > 1e-10 * np.max(np.abs(own), axis=0, initial=0.0)):
                raise ModelError(
                    f"derivative by '{name}': entries of '{number}' that are exactly zero are part of the structure; use "
                    f"form_equations(system, vary=('{number}',))"
                )
        return np.where(fixed[:, None], 0.0, columns)

    def _differences(self, system: System, name: str, changes: Mapping[str, Any]) -> tuple[np.ndarray, str]:
        """Return central differences of fourth order, checked against those of second order."""
        own = field_value(system, name)
        entries = flatten(own)
        sizes = np.where(entries != 0.0, np.abs(entries), np.max(np.abs(entries), initial=0.0))
        if not np.all(sizes > 0.0):
            raise ModelError(f"derivative by '{name}': its value is zero, which gives no step for differences")
        columns = []
        for k, h in enumerate(STEP * sizes):
            far2, far, near, near2 = (
                self._rebuild({**changes, name: unflatten(own, entries + shift * h * np.eye(entries.size)[k])})
                for shift in (-2.0, -1.0, 1.0, 2.0)
            )
            rough, fine = (near - far) / (2.0 * h), (8.0 * (near - far) - (near2 - far2)) / (12.0 * h)
            self._check_smooth(rough, fine, np.abs(near) / sizes[k], name)
            columns.append(fine)
        return np.stack(columns, axis=-1), f"central differences of fourth order, relative step {STEP:g}"

    def _check_smooth(self, rough: np.ndarray, fine: np.ndarray, typical: np.ndarray, name: str) -> None:
        for number in self._parameters.names:
            own = self._parameters.where(number)
            same = [
                self._parameters.where(other) for other in self._parameters.names if _title(other) == _title(number)
            ]
            floor = _ROUNDING * max(
                np.max(typical[place], initial=0.0) for place in same
            )  # numbers that are rounding errors only
            scale = max(np.max(np.abs(fine[own]), initial=0.0), np.max(typical[own], initial=0.0))
            if np.max(np.abs(rough[own] - fine[own]), initial=0.0) > _ROUGH * scale + floor / STEP:
                raise SolverError(
                    f"derivative by '{name}': parameter '{number}' is not smooth there (steps of {STEP:g} and {2.0 * STEP:g} "
                    "disagree: modes interchange, or a shape changes sign); choose another value"
                )


_CURE = "describe the system with this value and form its equations"


def _title(name: str) -> str:
    return name.partition(".")[0]


def _derived(holder: Any, key: str) -> tuple[str, ...]:
    """Return the parameters derived from a field, not those equal to it."""
    return holder.derived_numbers(key) if hasattr(holder, "derived_numbers") else ()


def _form(system: System) -> str:
    """Hash the data that must not change for the same equations: topology, aliases and reference position."""
    return content_hash([system.topology(), system.aliases, [part.joint.rest().tolist() for part in system.tree]])
