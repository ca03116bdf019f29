"""What `EquationsOfMotion` is made of: labels, and named functions that are built on first use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import casadi as ca

from spacectl.core.errors import ModelError, unknown_name
from spacectl.core.labels import Labels

__all__ = ["EquationLabels", "LazyFunctions"]


class LazyFunctions(Mapping[str, ca.Function]):
    """Named CasADi functions, each built on first use."""

    def __init__(self, builders: Mapping[str, Callable[[], ca.Function]]):
        self._builders = dict(builders)
        self._built: dict[str, ca.Function] = {}

    def __getitem__(self, name: str) -> ca.Function:
        if name not in self._built:
            if name not in self._builders:
                raise ModelError(unknown_name("function", name, self._builders))
            self._built[name] = self._builders[name]()
        return self._built[name]

    def __contains__(self, name: object) -> bool:
        return name in self._builders

    def __iter__(self) -> Iterator[str]:
        return iter(self._builders)

    def __len__(self) -> int:
        return len(self._builders)


@dataclass(frozen=True)
class EquationLabels:
    """Names and units of coordinates q, speeds v, inputs u and outputs y."""

    q: Labels
    v: Labels
    u: Labels
    y: Labels

    @cached_property
    def x(self) -> Labels:
        """The state (q, v)."""
        return Labels(self.q.names + self.v.names, self.q.units + self.v.units, "state")
