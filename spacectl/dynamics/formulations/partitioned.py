"""Loops opened to a tree and eliminated one by one, last to first (002): equations of minimal size.

The mechanism has the coordinates of its tree, as in the other formulations. Within the equations each loop
expresses its dependent accelerations by the others, and inertia and forces are reduced loop by loop (002 Eqs
3 to 11).
"""

from __future__ import annotations

from functools import partial
from typing import Any

from spacectl.core.errors import ModelError
from spacectl.dynamics.constraints.terms import ConstraintTerms
from spacectl.dynamics.formulations.constrained import form_constrained
from spacectl.dynamics.partitioning.closed_forms import advance, closed_form, find_legs, name_legs
from spacectl.dynamics.partitioning.closing_equations import block_rows, checked_rows
from spacectl.dynamics.partitioning.plan import plan_partition
from spacectl.dynamics.tree.terms import Terms
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.dynamics.waist.handover import Options
from spacectl.model.system import System

__all__ = ["form_partitioned"]


def form_partitioned(system: System, *, options: Options, rebuild: tuple[Any, ...]) -> EquationsOfMotion:
    """Form the equations of a mechanism with loops by sequential partitioning (002).

    Parameters
    ----------
    system : System
        A system with natural constraints.
    options : Options
        Options of the formulation; `independent` names coordinates or speeds to be independent.
    rebuild : tuple
        Function and arguments that form the same equations in another process.
    """
    if not system.acting(options.active):
        raise ModelError(
            f"system '{system.name}': partitioned needs a constraint that closes a loop; use 'articulated' for a tree"
        )

    def make_solver(terms: Terms, constraints: ConstraintTerms, functions: Any) -> Any:
        rows = functions["constraints"]
        plan, states = plan_partition(terms, constraints, options.independent, rows, functions["mass_matrix"])
        legs = find_legs(terms, constraints, plan, rows, states)
        more: dict[str, Any] = {"advance": lambda: advance(terms)}
        for k, block in enumerate(plan.blocks):
            more[f"block{k}"] = partial(block_rows, terms, constraints, block)
        unsolved = tuple(i for block in plan.blocks for i in block.unsolved)
        more["unsolved"] = lambda: checked_rows(terms, constraints, unsolved)
        more["closure"] = lambda: checked_rows(terms, constraints, None)
        if any(legs):
            more["closed_form"] = lambda: closed_form(terms, legs)
        return name_legs(terms, constraints, plan, legs), more

    return form_constrained(system, options=options, rebuild=rebuild, formulation="partitioned", solver=make_solver)
