"""The fields from which parameters of flexible bodies were computed, so that reports can show the bodies of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.core.parameters import Parameters
from spacectl.core.provenance import content_hash
from spacectl.model.bodies.base.flexible import FlexibleBody
from spacectl.model.rebuild import rebuild_system
from spacectl.model.system import System

__all__ = ["BodyOrigins", "hash_changes"]

_SYSTEMS = 64  # cached systems
_ORIGINS = 4096  # cached changes, by the parameters of each body


def hash_changes(changes: Mapping[str, Any]) -> str:
    """Return a key for changes of fields; raise `ModelError` for values that are not numeric."""
    try:
        return content_hash(sorted(changes.items(), key=lambda item: item[0]))
    except TypeError as error:
        raise ModelError(
            f"parameters {', '.join(map(repr, changes))}: expected numbers (or Profile); {error}"
        ) from error


class BodyOrigins:
    """Cache of the fields from which parameters p were computed, by flexible body.

    Parameters
    ----------
    system : System
        The user's description.
    expand : function of a System
        Returns the system of which the equations are formed.
    parameters : Parameters
        Parameters of the equations.
    """

    def __init__(self, system: System, expand: Callable[[System], System], parameters: Parameters):
        self._system, self._expand, self._parameters = system, expand, parameters
        self._systems: dict[str, System] = {}
        self._origins: dict[tuple[str, bytes], Mapping[str, Any]] = {}

    def remember(self, p: np.ndarray, changes: Mapping[str, Any]) -> None:
        """Store the `changes` of fields from which the parameters p were computed."""
        if len(self._origins) >= _ORIGINS:
            self._origins.clear()
        for name, places in self._places.items():
            if not np.array_equal(p[places], np.asarray(self._parameters.values)[places]):
                self._origins[name, p[places].tobytes()] = dict(changes)

    def describe(self, system: System, p: np.ndarray) -> System:
        """Return `system` with the flexible bodies of the parameters p: their lengths, shapes and frames.

        Bodies whose parameters were given directly, not by fields, are unchanged.
        """
        found = {name: body for name in self._places if (body := self._body(name, p)) is not None}
        if not found:
            return system
        parts = tuple(replace(part, body=found[part.name]) if part.name in found else part for part in system.parts)
        return replace(system, parts=parts)

    def _body(self, name: str, p: np.ndarray) -> FlexibleBody | None:
        changes = self._origins.get((name, p[self._places[name]].tobytes()))
        if changes is None:
            return None
        key = hash_changes(changes)
        if key not in self._systems:
            if len(self._systems) >= _SYSTEMS:
                self._systems.clear()
            self._systems[key] = self._expand(rebuild_system(self._system, changes))
        body = self._systems[key].part(name).body
        return body if isinstance(body, FlexibleBody) else None

    @cached_property
    def _places(self) -> dict[str, np.ndarray]:
        """Indices in p of the parameters of each flexible body."""
        found, every = {}, np.arange(len(self._parameters))
        for part in self._expand(self._system).tree:
            if isinstance(part.body, FlexibleBody):
                names = [f"{part.name}.{number}" for number in part.body.numbers()]
                pieces = [every[self._parameters.where(item)] for item in names if item in self._parameters]
                found[part.name] = np.concatenate([np.zeros(0, dtype=int), *pieces])
        return found
