"""Order-N forward and inverse dynamics of a tree (004; articulated-body recursion).

Three sweeps: outward for motion, inward for articulated inertia and bias forces, outward for accelerations. A joint
with several speeds is eliminated one speed at a time, which is the same as factorising its small mass matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spacectl.dynamics.links import Link
from spacectl.dynamics.tree import ROOT
from spacectl.spatial.articulated import ArticulatedInertia
from spacectl.spatial.backend import dot
from spacectl.spatial.motion import Placement, cross_motion, move_twist, pull_wrench

__all__ = [
    "Elimination",
    "LinkMotion",
    "accelerate",
    "eliminate",
    "eliminate_all",
    "forward_dynamics",
    "inverse_dynamics",
    "move",
]


@dataclass(frozen=True)
class LinkMotion:
    """Outward step of one link: placement in the parent, S (a list of columns), twist and bias acceleration."""

    X: Placement
    S: list[Any]
    twist: Any
    bias: Any


@dataclass(frozen=True)
class Elimination:
    """Inward step of one link: for each speed U = I s, 1 / D and the remaining force; what the parent feels."""

    U: list[Any]
    D_inv: list[Any]
    force: list[Any]
    inertia: ArticulatedInertia
    wrench: Any


def move(link: Link, q: Any, v: Any, parent_twist: Any) -> LinkMotion:
    """Placement, subspace, twist and ``S_dot v + V x S v`` of a link from its parent's twist."""
    joint = link.node.part.joint
    X = link.X_PJ @ joint.placement(q, link.n)
    S = joint.subspace(q, link.n)
    relative = S @ v
    twist = move_twist(X, parent_twist) + relative
    bias = joint.bias(q, v, link.n) + cross_motion(twist, relative)
    return LinkMotion(X, [S[:, k] for k in range(len(joint.speeds))], twist, bias)


def eliminate(inertia: ArticulatedInertia, wrench: Any, motion: LinkMotion, tau: Any) -> Elimination:
    """Let the joint's speeds give way, last to first; what remains is what the parent feels.

    ``U = I s``, ``D = s' U``, ``f = tau - s' w``; ``I <- I - U U' / D``, ``w <- w + U f / D``; then ``w <- w + I c``.
    """
    U: list[Any] = []
    D_inv: list[Any] = []
    force: list[Any] = []
    for k in reversed(range(len(motion.S))):
        s = motion.S[k]
        column = inertia @ s
        inverse = 1.0 / dot(s, column)
        rest = tau[k] - dot(s, wrench)
        inertia = inertia.less(s, column, inverse)
        wrench = wrench + column * (inverse * rest)
        U.insert(0, column)
        D_inv.insert(0, inverse)
        force.insert(0, rest)
    return Elimination(U, D_inv, force, inertia, wrench + inertia @ motion.bias)


def accelerate(motion: LinkMotion, gone: Elimination, parent_acceleration: Any) -> tuple[Any, list[Any]]:
    """Acceleration of a link and of its speeds, first to last: ``v_dot = (f - U' A) / D``."""
    A = move_twist(motion.X, parent_acceleration) + motion.bias
    rates = []
    for s, U, D_inv, f in zip(motion.S, gone.U, gone.D_inv, gone.force, strict=True):
        rate = D_inv * (f - dot(U, A))
        A = A + s * rate
        rates.append(rate)
    return A, rates


def eliminate_all(links: list[Link], motions: list[LinkMotion], tau: Any, wrenches: list[Any]) -> list[Elimination]:
    """Inward sweep: eliminate the speeds of every link, tips first, for given bias wrenches."""
    inertias = [ArticulatedInertia.of(link.inertia) for link in links]
    wrenches = list(wrenches)
    gone: list[Any] = [None] * len(links)
    for i in reversed(range(len(links))):
        gone[i] = eliminate(inertias[i], wrenches[i], motions[i], tau[links[i].node.v])
        parent = links[i].parent
        if parent != ROOT:
            inertias[parent] = inertias[parent] + gone[i].inertia.seen_from(motions[i].X)
            wrenches[parent] = wrenches[parent] + pull_wrench(motions[i].X, gone[i].wrench)
    return gone


def forward_dynamics(
    links: list[Link], motions: list[LinkMotion], tau: Any, loads: list[Any], root_acceleration: Any
) -> list[Any]:
    """Rates of the speeds, link by link in order, for generalised forces and external wrenches (F axes)."""
    wrenches = [
        link.inertia.bias_wrench(motion.twist) - load for link, motion, load in zip(links, motions, loads, strict=True)
    ]
    gone = eliminate_all(links, motions, tau, wrenches)
    accelerations: list[Any] = []
    rates: list[Any] = []
    for link, motion, elimination in zip(links, motions, gone, strict=True):
        above = root_acceleration if link.parent == ROOT else accelerations[link.parent]
        A, v_dot = accelerate(motion, elimination, above)
        accelerations.append(A)
        rates += v_dot
    return rates


def inverse_dynamics(
    links: list[Link], motions: list[LinkMotion], v_dot: Any, loads: list[Any], root_acceleration: Any
) -> list[Any]:
    """Generalised forces ``M v_dot + h`` (less the external loads), in order N."""
    accelerations: list[Any] = []
    wrenches: list[Any] = []
    for link, motion, load in zip(links, motions, loads, strict=True):
        parent = root_acceleration if link.parent == ROOT else accelerations[link.parent]
        A = move_twist(motion.X, parent) + motion.bias
        for s, k in zip(motion.S, range(link.node.v.start, link.node.v.stop), strict=True):
            A = A + s * v_dot[k]
        accelerations.append(A)
        wrenches.append(link.inertia @ A + link.inertia.bias_wrench(motion.twist) - load)
    for i in reversed(range(len(links))):
        if links[i].parent != ROOT:
            wrenches[links[i].parent] = wrenches[links[i].parent] + pull_wrench(motions[i].X, wrenches[i])
    return [dot(s, wrench) for motion, wrench in zip(motions, wrenches, strict=True) for s in motion.S]
