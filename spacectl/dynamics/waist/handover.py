"""Interface between `form_equations` and a formulation: `Options` in, `Handover` out besides named functions.

Formulations that eliminate loops also provide a `Reduction`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import casadi as ca
import numpy as np

from spacectl.codegen.bound_function import NativeFunction
from spacectl.codegen.extension import NativeCall
from spacectl.core.array import as_scalar
from spacectl.core.errors import ModelError
from spacectl.core.expression import NamedExpression
from spacectl.model.description import set_field

if TYPE_CHECKING:
    from spacectl.dynamics.embedding.reference import AggregateSweeps
    from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["Baumgarte", "Handover", "Options", "Reduction", "choose_speeds"]


@dataclass(frozen=True, kw_only=True)
class Baumgarte:
    """Constraint errors decay as ``g_ddot + 2 alpha g_dot + beta^2 g = 0`` (Aslanov et al., Eq. 33, with the sign corrected).

    Parameters
    ----------
    alpha, beta : float
        [1/s]. With the default 10, errors decay within half a second. Fast mechanisms need larger values,
        which make the equations stiffer. Equal values are critically damped.
    """

    alpha: float = 10.0
    beta: float = 10.0

    def __post_init__(self) -> None:
        for key in ("alpha", "beta"):
            set_field(self, key, as_scalar(getattr(self, key), f"Baumgarte: {key}"))
            if getattr(self, key) < 0.0:
                raise ModelError(f"Baumgarte: {key} is {getattr(self, key):g} 1/s, expected 0 or more")


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of `form_equations`: parameters to vary, constraints, stabilisation, coordinates, speeds, partition, switches."""

    vary: tuple[str, ...] = ()
    active: tuple[str, ...] | None = None
    stabilization: Baumgarte | None = None
    coordinates: str = "joint"
    speeds: tuple[tuple[str, Any], ...] = ()
    independent: tuple[str, ...] = ()
    switchable: bool = False

    @property
    def key(self) -> list[Any]:
        """Options that determine the form of the equations."""
        return [
            list(self.active) if self.active is not None else None,
            self.stabilization,
            self.coordinates,
            self.speeds,
            *([list(self.independent)] if self.independent else []),
            *(["switchable"] if self.switchable else []),
        ]


def choose_speeds(rules: Mapping[str, Any] | None) -> tuple[tuple[str, Any], ...]:
    """Return the rules of user-defined speeds as data: (replaced speed, (name, expression, unit))."""
    found = []
    for old, given in (rules or {}).items():
        if not isinstance(given, tuple) or len(given) not in (2, 3) or not isinstance(given[0], str):
            raise ModelError(f"speeds: '{old}' is given {given!r}, expected (name, rule) or (name, rule, unit)")
        name, rule, unit = (*given, "1")[:3]
        found.append((str(old), (name, NamedExpression(rule, f"speed '{name}'"), str(unit))))
    return tuple(found)


class Reduction(Protocol):
    """Elimination of the dependent speeds and coordinates of a mechanism, loop by loop."""

    @property
    def loops(self) -> tuple[Any, ...]:
        """The loops, in the order in which they close."""

    @property
    def blocks(self) -> tuple[Any, ...]:
        """The groups of loops whose positions are closed together, first to last."""

    def compile_plant(self, terms: ca.Function, p: np.ndarray) -> NativeFunction:
        """Return (t, x, u, p) -> x_dot as native code for the parameters p."""

    def compile_projection(self, eom: EquationsOfMotion, p: np.ndarray, around: Any = None) -> NativeFunction:
        """Return (t, x, p) -> (x, near): the state with closed loops, and its distance to singularity."""

    def project(
        self, eom: EquationsOfMotion, t: float, x: Any, p: Any = None, around: Any = None
    ) -> tuple[np.ndarray, float]:
        """Return the reference implementation of `compile_projection`."""


@dataclass(frozen=True, kw_only=True)
class Handover:
    """Results of a formulation besides named functions, and its capabilities.

    Parameters
    ----------
    vary : tuple of str
        Parameters whose exact zeros (or ones) become run-time parameters too.
    native : function, optional
        p -> native calls by function name, without p among their arguments: the results of the functions, to rounding.
    calls : mapping of str to callable
        Numeric calls that replace the function of that name, with its arguments.
    plant : function, optional
        p -> (t, x, u, p) -> x_dot in native code that is not generated for the system.
    projection : function, optional
        (p, around) -> (t, x, p) -> (x, near): the state on the constraints, in native code of the formulation.
    aggregates : function, optional
        p -> sweeps over aggregates, for operators and for closing loops.
    reduction : Reduction, optional
        Elimination of loops, for formulations that partition the speeds.
    recurses_over_tree : bool
        Whether the accelerations come from recursion over a tree, so that the derivative recursion applies.
    needs_independent_equations : bool
        Whether there is no solution if constraint equations are dependent.
    """

    vary: tuple[str, ...] = ()
    native: Callable[[np.ndarray], Mapping[str, NativeCall]] | None = None
    calls: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    plant: Callable[[np.ndarray], NativeFunction] | None = None
    projection: Callable[..., NativeFunction] | None = None
    aggregates: Callable[[np.ndarray], AggregateSweeps] | None = None
    reduction: Reduction | None = None
    recurses_over_tree: bool = False
    needs_independent_equations: bool = False

    @property
    def solves_in_calls(self) -> bool:
        """Whether the accelerations come from numeric calls, not from a function."""
        return "x_dot" in self.calls
