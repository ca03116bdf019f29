"""Constraint embedding (004): local loops become aggregate joints within the order-N recursion.

Within an aggregate the dependent speeds follow from the independent ones through the closure's Jacobian, and one small
factorisation eliminates all of them; between aggregates the system is a tree [1]_. Natural constraints, constraints maintained
by actuators, and flexible bodies may be combined (003 section 9.2).

References
----------
.. [1] A. Jain, "Multibody graph transformations and analysis, part II: closed-chain constraint embedding", Nonlinear
   Dynamics 67 (2012) 2153-2170; 004 is the abstract of an earlier report.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any

import casadi as ca
import numpy as np

from spacectl.core.errors import ModelError
from spacectl.dynamics.embedding.aggregates import find_aggregates
from spacectl.dynamics.embedding.calls import EmbeddedCalls
from spacectl.dynamics.formulations.builders import CONSTRAINED_FUNCTIONS, TREE_FUNCTIONS, form_shared
from spacectl.dynamics.formulations.constrained import form_constrained
from spacectl.dynamics.formulations.kane import form_kane
from spacectl.dynamics.recursion.links import form_links
from spacectl.dynamics.tree.actuation import loop_motor
from spacectl.dynamics.tree.nodes import Tree, numeric_numbers
from spacectl.dynamics.tree.terms import Terms
from spacectl.dynamics.waist.compiled import UNROLL_LIMIT
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.dynamics.waist.handover import Options
from spacectl.model.constraints import AnyConstraint
from spacectl.model.system import System

__all__ = ["form_embedded", "has_local_loops", "why_not_embedded"]


def form_embedded(system: System, *, options: Options, rebuild: tuple[Any, ...]) -> EquationsOfMotion:
    """Form equations with loops embedded in the order-N recursion.

    Accelerations, multipliers and projections come from sweeps over aggregates, in native code for large systems; the other
    functions (mass matrix, energy, outputs, derivatives) are those of `kane` and `artificial`.

    Parameters
    ----------
    system : System
        A system with local loops, or a tree.
    options : Options
        Options of the formulation.
    rebuild : tuple
        Function and arguments that form the same equations in another process.

    Raises
    ------
    ModelError
        For tethers and truncated orders.
    """
    active = system.acting(options.active)
    reason = why_not_embedded(system, active)
    if reason:
        raise ModelError(f"system '{system.name}': embedded does not support {reason}; use formulation='auto'")
    if options.switchable:
        raise ModelError("form_equations: embedded fixes its aggregates and cannot switch constraints; use 'kane'")
    terms = Terms(system, options.vary)
    maintaining = tuple(name for item in active for name in item.maintained_by)
    calls = EmbeddedCalls(system, system.parameters(vary=options.vary), active, options.stabilization)
    free = tuple(a.input_name for a in system.actuators if a.input_name not in maintaining)
    rows = tuple(name for item in active for name in item.equation_names)
    eom = form_shared(
        terms,
        _functions(system, options, rebuild, bool(active), bool(maintaining)),
        formulation="embedded",
        options=options,
        rebuild=rebuild,
        inputs=free,
        constraint_rows=rows,
        position_rows=tuple(name for name, is_so in zip(rows, calls.position_rows, strict=True) if is_so),
        constraint_inputs=maintaining,
        handover=calls.handover(options.vary),
    )
    return replace(eom, stats={**eom.stats, **calls.stats()})


def why_not_embedded(system: System, active: tuple[AnyConstraint, ...]) -> str:
    """Return the feature of a system that the recursion over aggregates does not support; empty if none."""
    if system.is_first_order:
        return "a body with a truncated order (its mass matrix is not symmetric)"
    for element in system.point_elements:
        if not element.only_pushes:
            return f"{type(element).__name__} '{element.name}', which has bodies or line of variable length"
    names = {item.name for item in active}
    for actuator in system.actuators:
        for loop in (loop_motor(system, effort) for effort in actuator.efforts()):
            if loop is not None and loop.name not in names:
                return f"actuator '{actuator.input_name}' in loop '{loop.name}', which is not active"
    return ""


def has_local_loops(system: System, active: tuple[AnyConstraint, ...]) -> bool:
    """Return whether a system is large and all its loops are local: for others one dense solution is as fast as embedding."""
    tree = Tree.of(system)
    if len(tree.speeds) <= UNROLL_LIMIT or why_not_embedded(system, active):
        return False
    parameters = system.parameters()
    links = form_links(tree, numeric_numbers(parameters, np.array(parameters.values)), np.zeros(1))
    aggregates = find_aggregates(system, tree, links, active)
    sizes = [sum(links.items[i].speeds.stop - links.items[i].speeds.start for i in item.links) for item in aggregates]
    return max(sizes, default=0) <= min(UNROLL_LIMIT, len(tree.speeds) // 2)


def _functions(
    system: System, options: Options, rebuild: tuple[Any, ...], is_constrained: bool, is_artificial: bool
) -> dict[str, Callable[[], ca.Function]]:
    """Return the functions of `kane` or `artificial`, formed on first use: large systems may never need them."""

    @cache
    def shared() -> Mapping[str, ca.Function]:
        if not is_constrained:
            return form_kane(system, options=options, rebuild=rebuild).functions
        solver = "directions" if is_artificial else "partition"
        return form_constrained(
            system, options=options, rebuild=rebuild, formulation="embedded", solver=solver
        ).functions

    names = CONSTRAINED_FUNCTIONS if is_constrained else TREE_FUNCTIONS
    return {name: partial(lambda key: shared()[key], name) for name in names}
