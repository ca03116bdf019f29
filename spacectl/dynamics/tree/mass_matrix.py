"""Mass matrix of a tree, from the composite inertia outboard of each joint and each mode (003 Eq 2.12.a)."""

from __future__ import annotations

from typing import Any

import casadi as ca

from spacectl.dynamics.tree.kinematics import Steps
from spacectl.dynamics.tree.nodes import ROOT, Tree
from spacectl.spatial.backend import columns
from spacectl.spatial.flexible import ModalInertia
from spacectl.spatial.inertia import Inertia, Placement, pull_wrench

__all__ = ["mass_matrix"]


def mass_matrix(tree: Tree, steps: list[Steps], inertias: list[Inertia], modal: list[ModalInertia | None]) -> Any:
    """Return M, shape (n_v, n_v): one pass from the tips to the root, columns projected on inboard speeds."""
    nodes, n_v = tree.nodes, len(tree.speeds)
    carried = list(inertias)
    own: list[Any] = [None if item is None else (ca.vertcat(item.h, item.c_eta), item.M) for item in modal]
    M = ca.SX(n_v, n_v)
    for i in reversed(range(len(nodes))):
        node, step = nodes[i], steps[i]
        if node.parent != ROOT:
            at_A = carried[i].seen_from(step.X_AB)
            attachment = step.attachment
            if attachment is not None:
                momentum = columns(at_A @ attachment.S[:, k] for k in range(attachment.S.shape[1]))
                coupling, mass = own[node.parent]
                own[node.parent] = coupling + _pull(attachment.X_BA, momentum), mass + attachment.S.T @ momentum
                at_A = at_A.seen_from(attachment.X_BA)
            carried[node.parent] = carried[node.parent] + at_A
        if step.S is not None:
            momentum = columns(carried[i] @ step.S[:, k] for k in range(step.S.shape[1]))
            _spread(M, tree, steps, i, node.v, momentum)
        if own[i] is not None:
            M[node.eta_dot, node.eta_dot] = own[i][1]
            _spread(M, tree, steps, i, node.eta_dot, own[i][0])
    return M


def _spread(M: Any, tree: Tree, steps: list[Steps], i: int, where: slice, wrenches: Any) -> None:
    """Fill the columns `where` of M: generalised forces of wrenches about body i on inboard speeds."""

    def put(rows: slice, block: Any) -> None:
        M[rows, where] = block
        M[where, rows] = block.T

    while True:
        node, step = tree.nodes[i], steps[i]
        if step.S is not None:
            put(node.v, step.S.T @ wrenches)
        if node.parent == ROOT:
            return
        wrenches = _pull(step.X_AB, wrenches)
        if step.attachment is not None:
            put(tree.nodes[node.parent].eta_dot, step.attachment.S.T @ wrenches)
            wrenches = _pull(step.attachment.X_BA, wrenches)
        i = node.parent


def _pull(X: Placement, wrenches: Any) -> Any:
    return columns(pull_wrench(X, wrenches[:, k]) for k in range(wrenches.shape[1]))
