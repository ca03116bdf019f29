"""Parts of `EquationsOfMotion`: labels, and named functions that are built on first use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import casadi as ca

from spacectl.core.errors import ModelError, unknown_name
from spacectl.core.labels import Labels

__all__ = ["EquationLabels", "LazyFunctions", "form_jacobian"]


class LazyFunctions(Mapping[str, ca.Function]):
    """Named CasADi functions, each built on first use."""

    def __init__(self, builders: Mapping[str, Callable[[], ca.Function]]):
        self._builders = dict(builders)
        self._built: dict[str, ca.Function] = {}

    @property
    def builders(self) -> dict[str, Callable[[], ca.Function]]:
        """The builder of each function, or the function itself once it is built, so that others can share it."""
        return {name: partial(self.__getitem__, name) for name in self._builders}

    def __getitem__(self, name: str) -> ca.Function:
        if name not in self._built:
            if name not in self._builders:
                raise ModelError(unknown_name("function", name, self._builders))
            self._built[name] = self._builders[name]()
        return self._built[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Return the function, or `default` if there is none of that name."""
        return self[name] if name in self._builders else default

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


def form_jacobian(functions: Mapping[str, ca.Function], function: str, output: str, argument: str) -> ca.Function:
    """Return the exact, dense Jacobian of a named function's output by one of its arguments.

    Where there is a function of the same name ending in ``_implicit``, it is differentiated instead: the same values
    in a form that is cheaper to differentiate than to evaluate.
    """
    implicit = f"{function}_implicit"
    f = functions[implicit if implicit in functions else function]
    for name, known in ((output, f.name_out()), (argument, f.name_in())):
        if name not in known:
            raise ModelError(f"jacobian of '{function}': {unknown_name('argument', name, known)}")
    g = f.factory(f"jac_{function}", f.name_in(), [f"jac:{output}:{argument}"])
    x = [ca.MX.sym(name, *g.size_in(i)) for i, name in enumerate(g.name_in())]
    return ca.Function(g.name(), x, [ca.densify(g(*x))], g.name_in(), ["jac"])
