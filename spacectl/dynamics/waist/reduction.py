"""`Reduction`: what formulations that eliminate loops provide besides functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import casadi as ca
import numpy as np

from spacectl.codegen.native_function import NativeFunction

if TYPE_CHECKING:
    from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["Reduction"]


class Reduction(Protocol):
    """How the dependent speeds and coordinates of a mechanism follow from the independent ones, loop by loop."""

    @property
    def loops(self) -> tuple[Any, ...]:
        """The loops, in the order in which they close."""

    @property
    def blocks(self) -> tuple[Any, ...]:
        """The groups of loops whose positions are closed together, first to last."""

    def compile_plant(self, terms: ca.Function, p: np.ndarray) -> NativeFunction:
        """Return (t, x, u, p) -> x_dot as native code for the parameters p."""

    def compile_projection(self, eom: EquationsOfMotion, p: np.ndarray, around: Any = None) -> NativeFunction:
        """Return (t, x, p) -> (x, near): the state with its loops closed, and how far it is from a singular position."""

    def project(
        self, eom: EquationsOfMotion, t: float, x: Any, p: Any = None, around: Any = None
    ) -> tuple[np.ndarray, float]:
        """Return the reference implementation of `compile_projection`."""
