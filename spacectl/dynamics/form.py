"""`form_equations`: pick a formulation from the table and form the equations of motion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from spacectl.core.errors import ModelError, unknown_name
from spacectl.dynamics.equations import EquationsOfMotion
from spacectl.dynamics.formulations.articulated import form_articulated
from spacectl.dynamics.formulations.kane import form_kane
from spacectl.dynamics.native.tree_twin import TreeTwin
from spacectl.dynamics.orders import is_truncated
from spacectl.model.system import System

__all__ = ["FORMULATIONS", "form_equations"]

_SINGULAR = 1e-13  # of a pivot to its diagonal entry: a few hundred roundings

FORMULATIONS: dict[str, Callable[..., EquationsOfMotion]] = {"kane": form_kane, "articulated": form_articulated}


def form_equations(system: System, *, formulation: str = "auto", vary: tuple[str, ...] = ()) -> EquationsOfMotion:
    """Equations of motion of a system.

    Parameters
    ----------
    system : System
        The description.
    formulation : str
        A key of `FORMULATIONS`, or ``"auto"``, which picks one and says why in ``eom.stats["reason"]``.
    vary : tuple of str
        Names of numbers whose exact zeros (or ones) shall be run-time parameters too.

    Returns
    -------
    EquationsOfMotion

    Raises
    ------
    ModelError
        For an unknown formulation or number, and if nothing has inertia against some speed.

    Examples
    --------
    >>> from spacectl.model.library import pendulum
    >>> eom = form_equations(pendulum())
    >>> eom.states
    ('hinge', 'hinge_dot')
    """
    if not isinstance(system, System):
        raise ModelError(f"form_equations: expected a System, got {type(system).__name__}")
    chosen, reason = _choose(system) if formulation == "auto" else (formulation, "asked for")
    if chosen not in FORMULATIONS:
        raise ModelError(unknown_name("formulation", chosen, ["auto", *FORMULATIONS]))
    rebuild: tuple[Any, ...] = (_form_again, (system, chosen, tuple(vary)))
    eom = FORMULATIONS[chosen](system, vary=tuple(vary), rebuild=rebuild)
    _check_inertia(eom)
    return replace(eom, stats={**eom.stats, "reason": reason})


def _choose(system: System) -> tuple[str, str]:
    """The formulation that suits a system, and why."""
    if is_truncated(system):
        return "kane", "a body asks for a truncated order: M is not symmetric"
    return "articulated", "a tree without constraints: order N, nothing to factorise"


def _form_again(system: System, formulation: str, vary: tuple[str, ...]) -> EquationsOfMotion:
    """How a worker process forms the same equations from the pickled description."""
    return form_equations(system, formulation=formulation, vary=vary)


def _check_inertia(eom: EquationsOfMotion) -> None:
    """Raise `ModelError`, naming the speed, if the mass matrix at rest is singular."""
    if eom.n_v == 0:
        return
    is_flexible = any(getattr(part.body, "is_flexible", False) for part in eom.system.parts)
    twin = None if is_flexible else TreeTwin(eom.system, eom.parameters, eom.p)

    def weakest_speed(q: np.ndarray) -> tuple[int, float]:
        return _weakest_pivot(eom.mass_matrix(0.0, q)) if twin is None else twin.weakest_speed(q)

    rest = np.asarray(eom.x_rest)[: eom.n_q]
    speed, ratio = weakest_speed(rest)
    # singular at rest only (collinear axes of a wrist, say) is no fault: look at other positions too
    for shift in (0.37, 1.13):
        if not ratio > _SINGULAR:
            other = eom.state(np.concatenate([rest + shift * np.cos(np.arange(eom.n_q)), np.zeros(eom.n_v)]))
            speed, ratio = weakest_speed(other[: eom.n_q])
    if not ratio > _SINGULAR:
        raise ModelError(
            f"system '{eom.system.name}': nothing has inertia against speed '{eom.speeds[speed]}' (singular mass matrix); "
            "give the body it moves an inertia or an offset centre of mass"
        )


def _weakest_pivot(M: np.ndarray) -> tuple[int, float]:
    """The speed with the smallest pivot of M, eliminated last to first, relative to its diagonal entry; and that ratio."""
    rest, ratios = M.copy(), np.zeros(len(M))
    for k in reversed(range(len(M))):
        ratios[k] = rest[k, k] / M[k, k] if M[k, k] > 0.0 else 0.0
        if ratios[k] > _SINGULAR:
            rest[:k, :k] -= np.outer(rest[:k, k], rest[k, :k]) / rest[k, k]
    weakest = int(np.argmin(ratios))
    return weakest, float(ratios[weakest])
