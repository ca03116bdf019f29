"""The problem of the rigid counterpart, whose plan is a guess for that of the flexible system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from spacectl.core.errors import ModelError
from spacectl.dynamics.form import form_equations
from spacectl.model.transforms.counterpart import rigid_counterpart
from spacectl.planners.problem import Problem

__all__ = ["is_flexible", "rigid_problem"]


def is_flexible(problem: Problem) -> bool:
    """Return whether the system has a flexible body."""
    return bool(problem.eom.system.flexible_bodies)


def rigid_problem(problem: Problem) -> Problem:
    """Return the problem of the rigid counterpart, without boundary values and bounds of modal states.

    Raises
    ------
    ModelError
        If a condition refers to a quantity that the rigid counterpart does not have.
    """
    rigid = form_equations(rigid_counterpart(problem.eom.system))

    def known(values: Mapping[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
        return {name: pair for name, pair in values.items() if name in rigid.states}

    start, end, bounds = (known(item) for item in (problem.start, problem.end, problem.bounds))
    try:
        return replace(problem, eom=rigid, p=None, name=f"{problem.name}, rigid", start=start, end=end, bounds=bounds)
    except ModelError as error:
        raise ModelError(
            f"problem '{problem.name}': its rigid counterpart does not yield a guess ({error}); give a guess with inputs at "
            "their limits"
        ) from error
