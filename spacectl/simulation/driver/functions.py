"""Bind the equations of motion and their projection for the driver, in the tier that a run asks for."""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl.codegen.binding import Tier, bind_casadi, bind_native, bind_python
from spacectl.codegen.bound_function import BoundFunction
from spacectl.codegen.compiler import find_compiler
from spacectl.core.errors import SolverError
from spacectl.dynamics.constraints.projection import compile_projection, project_with_distance
from spacectl.dynamics.constraints.row_scales import Around
from spacectl.dynamics.waist.compiled import Kind, is_native, native_plant
from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["bind_plant", "bind_projection", "choose_tier"]


def choose_tier(eom: EquationsOfMotion, tier: Tier, driver: str) -> Tier:
    """The tier behind ``"auto"``: native where a compiler is found and the compiled driver is used, else the machine."""
    if tier != "auto":
        return tier
    return "native" if driver != "python" and find_compiler() is not None else "vm"


def bind_plant(eom: EquationsOfMotion, tier: Tier, p: np.ndarray) -> BoundFunction:
    """The right-hand side (t, x, u, p) -> x_dot of the equations, for the numbers p."""
    if (tier in ("native", "data-driven") and is_native(eom)) or (tier == "vm" and eom.handover.solves_in_calls):
        try:
            kind: Kind = "data-driven" if tier == "data-driven" else "auto"
            made, native = native_plant(eom, p, kind)
            bound = bind_native(native)
            bound.described = made
        except SolverError:
            if tier != "vm":
                raise
            bound = _bind_calls(eom, p)
    elif eom.handover.solves_in_calls:
        bound = _bind_calls(eom, p)
    else:
        bound = bind_casadi(eom.functions["x_dot"], tier, p=p)
        bound.described = tier
    bound.arguments[3][:] = p
    return bound


def bind_projection(
    eom: EquationsOfMotion, tier: Tier, p: np.ndarray, *, careful: bool, around: Around | None = None
) -> BoundFunction | None:
    """(t, x, p) -> (x, near): the nearest state that meets the constraints, and how far from a singular one; None without any.

    `careful` is for constraints whose rank jumps off their set (`rank_jumps`); `around` is the time and state of the start.
    """
    if not eom.constraint_rows:
        return None
    if tier in ("native", "data-driven") and eom.handover.projection is not None and not careful:
        bound = bind_native(eom.handover.projection(p, around))
    elif tier in ("native", "data-driven"):
        bound = bind_native(compile_projection(eom, p, careful=careful, around=around))
    else:
        n_x = eom.n_x

        def rule(arguments: list[Any], results: list[Any]) -> None:
            t, x = float(arguments[0][0]), arguments[1]
            results[0][:], results[1][0] = project_with_distance(eom, t, x, p, careful=careful, around=around)

        bound = bind_python(rule, [1, n_x, p.size], [n_x, 1])
    bound.arguments[2][:] = p
    return bound


def _bind_calls(eom: EquationsOfMotion, p: np.ndarray) -> BoundFunction:
    """The numeric call of large equations, through Python."""

    def rule(arguments: list[Any], results: list[Any]) -> None:
        results[0][:] = eom.call("x_dot", *arguments[:3], p=p)[0].reshape(-1)

    bound = bind_python(rule, (1, eom.n_x, eom.n_u, p.size), (eom.n_x,))
    bound.described = "callback"
    return bound
