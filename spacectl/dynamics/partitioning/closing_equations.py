"""Position-level equations of loops as functions of the coordinates, each along the shortest path through the tree."""

from __future__ import annotations

from typing import Any

import casadi as ca

from spacectl.dynamics.constraints.terms import ConstraintTerms
from spacectl.dynamics.partitioning.blocks import ClosingBlock
from spacectl.dynamics.tree.kinematics import frame_in_body
from spacectl.dynamics.tree.nodes import ROOT
from spacectl.dynamics.tree.terms import Terms
from spacectl.model.constraints import AnyConstraint, Quantities
from spacectl.spatial.inertia import Placement

__all__ = ["block_rows", "checked_rows", "end_frame", "path_to", "seen_from"]


def block_rows(terms: Terms, constraints: ConstraintTerms, block: ClosingBlock) -> ca.Function:
    """Return (t, q, p) -> (g, C_d) of the equations that close a block, for Newton's method (002 Eq 9)."""
    g = ca.vertcat(*_rows(terms, constraints, block.solved))
    C = ca.jacobian(ca.jtimes(g, terms.q, terms.q_dot), terms.v)[:, list(block.speeds)]
    return ca.Function("rows", [terms.t, terms.q, terms.p], [ca.densify(g), ca.densify(C)], ["t", "q", "p"], ["g", "C"])


def checked_rows(terms: Terms, constraints: ConstraintTerms, rows: tuple[int, ...] | None) -> ca.Function:
    """Return (t, q, p) -> (g, sides): residuals of equations (None: all) that must vanish, and sides that must be positive."""
    wanted = tuple(range(constraints.position.numel())) if rows is None else rows
    g = ca.densify(ca.vertcat(*_rows(terms, constraints, wanted))) if wanted else ca.SX(0, 1)
    sides = []
    for item in constraints.rows:
        if item.constraint.has_side:
            side = ca.SX(item.constraint.side_of(_quantities(terms, constraints, item.constraint)))
            sides += [] if side.is_constant() else [ca.densify(side)]
    found = ca.vertcat(*sides) if sides else ca.SX(0, 1)
    return ca.Function("checked", [terms.t, terms.q, terms.p], [g, found], ["t", "q", "p"], ["g", "sides"])


def _rows(terms: Terms, constraints: ConstraintTerms, wanted: tuple[int, ...]) -> list[Any]:
    """Return the wanted ones of all position-level equations."""
    found: list[Any] = []
    at = 0
    for item in constraints.rows:
        if item.position is None:
            continue
        size, member = item.constraint.n_rows, item.constraint
        own = [i - at for i in wanted if at <= i < at + size]
        at += size
        if own:
            g = member.column(member.equations(_quantities(terms, constraints, member)))
            found += [g[i] for i in own]
    return found


def _quantities(terms: Terms, constraints: ConstraintTerms, constraint: AnyConstraint) -> Quantities:
    """Return the quantities of a constraint, with its frame on b relative to a along the shortest path."""

    def relative() -> Placement:
        return seen_from(terms, *end_frame(terms, constraint, "a"), *end_frame(terms, constraint, "b"))

    return constraints.quantities(constraint, relative=relative)


def end_frame(terms: Terms, constraint: AnyConstraint, end: str) -> tuple[int, Placement]:
    """Return the body of a constraint's frame and its placement there."""
    n = terms.numbers.group(constraint.name)
    body, X_BE, _ = frame_in_body(terms.tree, constraint.ends["ab".index(end)], terms.q, terms.v, terms.numbers)  # type: ignore[index]
    return body, X_BE @ Placement(n[f"rotation_{end}"], n[f"at_{end}"])


def seen_from(terms: Terms, one: int, X_one: Placement, two: int, X_two: Placement) -> Placement:
    """Return a frame on body `two` relative to one on body `one`, along the shortest path in the tree."""
    ups, downs = path_to(terms, one), path_to(terms, two)
    while ups and downs and ups[0] == downs[0]:
        ups, downs = ups[1:], downs[1:]
    X_up = X_down = Placement.identity(terms.q)
    for i in ups:
        X_up = X_up @ terms.steps[i].X_PB
    for i in downs:
        X_down = X_down @ terms.steps[i].X_PB
    return (X_up @ X_one).inverse() @ X_down @ X_two


def path_to(terms: Terms, body: int) -> list[int]:
    """Return the bodies from the root to this one."""
    path: list[int] = []
    while body != ROOT:
        path.insert(0, body)
        body = terms.tree.nodes[body].parent
    return path
