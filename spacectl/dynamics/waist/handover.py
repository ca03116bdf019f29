"""`Handover`: what a formulation provides besides named functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from spacectl.codegen.native_function import NativeFunction
from spacectl.dynamics.waist.reduction import Reduction

if TYPE_CHECKING:
    from spacectl.dynamics.embedding.reference import AggregateSweeps

__all__ = ["Handover"]


@dataclass(frozen=True, kw_only=True)
class Handover:
    """What a formulation provides besides named functions, and its capabilities.

    Parameters
    ----------
    vary : tuple of str
        Numbers freed from structure.
    calls : mapping of str to callable
        Numeric calls in place of the function of that name, of its arguments.
    plant : function, optional
        p -> (t, x, u, p) -> x_dot in native code that is not generated for the system.
    projection : function, optional
        (p, around) -> (t, x, p) -> (x, near): the state on the constraints, in native code of the formulation.
    aggregates : function, optional
        p -> sweeps over aggregates, for operators and for closing loops.
    reduction : Reduction, optional
        How loops are eliminated, for formulations that partition the speeds.
    recurses_over_tree : bool
        Whether the accelerations are those of a tree by recursion, so that the derivative recursion gives their derivatives.
    needs_independent_equations : bool
        Whether dependent constraint equations leave it without a solution.
    """

    vary: tuple[str, ...] = ()
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
