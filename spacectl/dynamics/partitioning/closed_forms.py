"""Dependent coordinates of all legs with closed forms, as one function (t, q, p) -> (q, margin).

Loops are solved in the order of closing, each with the coordinates of the loops before it. The target of a
leg is expressed in the frame of the body that carries the leg, along the shortest path through the tree. When
the equations are formed, every closed form is verified at a few positions; one that does not close its loop
there is not used.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from spacectl.dynamics.constraints.terms import ConstraintTerms
from spacectl.dynamics.partitioning.closing_equations import end_frame, seen_from
from spacectl.dynamics.partitioning.legs.catalogue import Leg, find_leg
from spacectl.dynamics.partitioning.legs.geometry import joint_frame, leg_kind
from spacectl.dynamics.partitioning.plan import PartitionPlan
from spacectl.dynamics.tree.terms import Terms
from spacectl.model.constraints import AnyConstraint
from spacectl.spatial.inertia import Placement

__all__ = ["advance", "closed_form", "find_legs", "name_legs"]

MARGIN = 1e-6  #: margin below which two solutions of a leg cannot be distinguished: Newton's method is used there
_FOLDED = 0.01  # margin from which a leg is reduced to one unknown; closer to a fold Newton's method is better
_CLOSED = 1e-11  # [m, 1] residual allowed where a form is verified: rounding errors amplified by a margin of 1e-6


def find_legs(
    terms: Terms, constraints: ConstraintTerms, plan: PartitionPlan, rows: Any, states: list[np.ndarray]
) -> list[Leg | None]:
    """Find for each loop a leg with a closed form, else the one with the best margin, verified around given positions."""
    found: list[Leg | None] = []
    p = np.asarray(terms.system.parameters(vary=terms.vary).values)
    alone = {block.loops[0] for block in plan.blocks if len(block.loops) == 1}
    for k, loop in enumerate(plan.loops):
        members = _members(constraints, loop.constraints) if k in alone else []
        legs = find_leg(terms, members, loop.preferred) if members else []
        best, chosen = 0.0, None
        for leg in legs:
            margin = _verified_margin(terms, leg, rows, states, p, loop.positions)
            if margin > (best if leg.method == "closed form" else max(best, _FOLDED)):
                best, chosen = margin, leg
            if chosen is not None and chosen.method == "closed form":
                break
        found.append(chosen)
    return found


def name_legs(terms: Terms, constraints: ConstraintTerms, plan: PartitionPlan, legs: list[Leg | None]) -> PartitionPlan:
    """Return the plan with the kinds of its dependent branches."""
    loops = []
    for loop, leg in zip(plan.loops, legs, strict=True):
        members = _members(constraints, loop.constraints)
        kind = leg_kind(terms, loop.preferred, members) if members else ""
        loops.append(replace(loop, leg=kind, method="newton" if leg is None else leg.method))
    return replace(plan, loops=tuple(loops))


def _members(constraints: ConstraintTerms, names: tuple[str, ...]) -> list[AnyConstraint]:
    return [item.constraint for item in constraints.rows if item.constraint.ends and item.constraint.name in names]


def _verified_margin(
    terms: Terms, leg: Leg, rows: Any, states: list[np.ndarray], p: np.ndarray, positions: tuple[int, ...]
) -> float:
    """Return the largest margin of a leg around given positions; 0 if its loop is open where the margin is positive."""
    form, margins = closed_form(terms, [leg]), []
    rng, n = np.random.default_rng(1), terms.v.shape[0]
    for state in states:
        q, margin = form(0.0, state + 0.01 * rng.standard_normal(state.size), p)
        g = np.asarray(rows(0.0, q, np.zeros(n), p)[0].full()).reshape(-1)[list(positions)]
        if float(margin) > 0.0 and not np.max(np.abs(g), initial=0.0) < _CLOSED:
            return 0.0
        margins.append(float(margin))
    return float(np.max(margins))


def closed_form(terms: Terms, legs: list[Leg | None]) -> ca.Function:
    """Return (t, q, p) -> (q, margin): coordinates with those of the legs replaced; valid where the margin is positive."""
    q, margin = terms.q, ca.SX(1.0)
    for leg in legs:
        if leg is None:
            continue
        values, left = leg.solve(terms, q, _target(terms, leg, q))
        entries = ca.vertsplit(q)
        places = [i for node in leg.nodes for i in range(terms.tree.nodes[node].q.start, terms.tree.nodes[node].q.stop)]
        for place, value in zip(places, values, strict=True):
            entries[place] = value
        q, margin = ca.vertcat(*entries), ca.fmin(margin, left - MARGIN)
    return ca.Function(
        "closed_form", [terms.t, terms.q, terms.p], [ca.densify(q), margin], ["t", "q", "p"], ["closed", "margin"]
    )


def advance(terms: Terms) -> ca.Function:
    """Return (q, v) -> q + W v."""
    moved = terms.q + ca.jacobian(terms.q_dot, terms.v) @ terms.v
    return ca.Function("advance", [terms.q, terms.v, terms.p], [ca.densify(moved)], ["q", "v", "p"], ["moved"])


def _target(terms: Terms, leg: Leg, q: Any) -> Placement:
    """Return the target of a leg relative to its carrier: the constraint's other end, or the joint there."""
    end = end_frame(terms, leg.constraint, "b" if leg.end == "a" else "a")
    if leg.is_pair:
        node = terms.tree.nodes[leg.nodes[1]]
        end = node.parent, joint_frame(terms, node)
    X = seen_from(terms, terms.tree.nodes[leg.nodes[0]].parent, Placement.identity(q), *end)
    R, place = ca.substitute([ca.densify(X.R), ca.densify(X.p)], [terms.q], [q])
    return Placement(R, place)
