"""Order-N forward and inverse dynamics of a tree (004; articulated-body recursion).

Three sweeps: outward for motion, inward for articulated inertia and bias forces, outward for accelerations. A
joint with several speeds is eliminated one speed at a time, which is equivalent to factorising its small mass
matrix.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from spacectl.dynamics.recursion.links import Link
from spacectl.dynamics.tree.nodes import ROOT
from spacectl.spatial.backend import columns, dot, stack, zeros
from spacectl.spatial.flexible import Attachment, ModalInertia, attach
from spacectl.spatial.inertia import ArticulatedInertia, Placement, cross_motion, move_twist, pull_wrench

__all__ = [
    "Elimination",
    "LinkMotion",
    "accelerate",
    "eliminate",
    "eliminate_all",
    "forward_dynamics",
    "inverse_dynamics",
    "move",
    "move_all",
]


@dataclass(frozen=True)
class LinkMotion:
    """Outward step of one link: placement in its carrying frame, S (a list of columns), twist and bias acceleration.

    A link on a flexible parent has `attachment`, the motion of its carrying frame, and `carrier_bias`, the
    acceleration of that frame for zero accelerations of the parent and its modes. A flexible body has its
    `modal` inertia and `rates`.
    """

    X: Placement
    S: list[Any]
    twist: Any
    bias: Any
    attachment: Attachment | None = None
    carrier_bias: Any = None
    modal: ModalInertia | None = None
    rates: Any = None


@dataclass(frozen=True)
class Elimination:
    """Inward step of one link: U = I s, 1 / D and remaining force of each speed; load on the parent.

    `lower` is the coupling of each mode to the modes before it.
    """

    U: list[Any]
    D_inv: list[Any]
    force: list[Any]
    inertia: ArticulatedInertia
    wrench: Any
    lower: list[list[Any]] = field(default_factory=list)


def move(link: Link, q: Any, v: Any, parent_twist: Any) -> LinkMotion:
    """Return the placement, subspace, twist and ``S_dot v + V x S v`` of a link from its parent's twist."""
    joint = link.node.part.joint
    X = link.X_PJ @ joint.placement(q, link.n)
    S = joint.subspace(q, link.n)
    relative = S @ v
    twist = move_twist(X, parent_twist) + relative
    bias = joint.bias(q, v, link.n) + cross_motion(twist, relative)
    return LinkMotion(X, [S[:, k] for k in range(S.shape[1])], twist, bias)


def eliminate(inertia: ArticulatedInertia, wrench: Any, motion: LinkMotion, tau: Any) -> Elimination:
    """Eliminate the joint's speeds, last to first; return the inertia and force transmitted to the parent.

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


def accelerate(motion: LinkMotion, eliminated: Elimination, parent_acceleration: Any) -> tuple[Any, list[Any]]:
    """Return the acceleration of a link and of its speeds, first to last: ``v_dot = (f - U' A) / D``."""
    A = move_twist(motion.X, parent_acceleration) + motion.bias
    rates = []
    for s, U, D_inv, f in zip(motion.S, eliminated.U, eliminated.D_inv, eliminated.force, strict=True):
        rate = D_inv * (f - dot(U, A))
        A = A + s * rate
        rates.append(rate)
    return A, rates


def move_all(links: list[Link], t: Any, q: Any, v: Any, root_twist: Any) -> list[LinkMotion]:
    """Sweep outward over joints, modes and the frames on flexible bodies."""
    motions: list[LinkMotion] = []
    for link in links:
        above = root_twist if link.parent == ROOT else motions[link.parent].twist
        attachment = carrier_bias = None
        if link.frame:
            parent = links[link.parent]
            eta_dot = v[parent.node.eta_dot]
            attachment = attach(parent.n, link.frame, q[parent.node.eta], eta_dot)
            relative = attachment.S @ eta_dot
            above = move_twist(attachment.X_BA, above) + relative
            carrier_bias = attachment.bias + cross_motion(above, relative)
        if link.kind == "joint":
            motion = move(link, q[link.node.q], v[link.node.v], above)
        elif link.kind == "prescribed":
            value, rate, second = link.node.part.joint.motion(t)  # type: ignore[misc]
            motion = move(link, value, rate, above)
            motion = replace(motion, S=[], bias=motion.bias + link.node.part.joint.subspace(value, link.n) @ second)
        else:
            motion = LinkMotion(link.X_PJ, [], move_twist(link.X_PJ, above), zeros(6, q))
        if link.kind == "modal":
            motion = replace(motion, modal=ModalInertia.of(link.n, q[link.node.eta]), rates=v[link.node.eta_dot])
        motions.append(replace(motion, attachment=attachment, carrier_bias=carrier_bias) if link.frame else motion)
    return motions


def bias_loads(
    links: list[Link], motions: list[LinkMotion], loads: list[Any], modal: Mapping[int, Any]
) -> tuple[list[Any], dict[int, Any]]:
    """Return, by link, the wrenches and modal forces of unaccelerated motion, less external loads."""
    wrenches, forces = [], dict(modal)
    for i, (link, motion, load) in enumerate(zip(links, motions, loads, strict=True)):
        if motion.modal is None:
            wrenches.append(link.inertia.bias_wrench(motion.twist) - load)
        else:
            wrench, bias = motion.modal.bias(motion.twist, motion.rates)
            wrenches.append(wrench - load)
            forces[i] = bias - modal[i]
    return wrenches, forces


def eliminate_all(
    links: list[Link], motions: list[LinkMotion], tau: Any, wrenches: list[Any], modal: Mapping[int, Any] | None = None
) -> list[Elimination]:
    """Sweep inward: eliminate the speeds of every link, tips first, for given bias wrenches and modal bias forces."""
    pairs = list(zip(links, motions, strict=True))
    inertias = [ArticulatedInertia.of(link.inertia if at.modal is None else at.modal.rigid) for link, at in pairs]
    wrenches, forces = list(wrenches), dict(modal or {})
    coupling = {i: columns_of(at.modal) for i, (_, at) in enumerate(pairs) if at.modal is not None}
    mass = {i: at.modal.M for i, (_, at) in enumerate(pairs) if at.modal is not None}
    eliminated: list[Any] = [None] * len(links)
    for i in reversed(range(len(links))):
        link, motion = pairs[i]
        if motion.modal is None:
            eliminated[i] = eliminate(inertias[i], wrenches[i], motion, tau[link.speeds])
        else:
            eliminated[i] = eliminate_modes(
                inertias[i], wrenches[i], coupling[i], mass[i], tau[link.speeds] - forces[i]
            )
        parent = link.parent
        if parent == ROOT:
            continue
        inertia, wrench = eliminated[i].inertia.seen_from(motion.X), pull_wrench(motion.X, eliminated[i].wrench)
        if motion.attachment is not None:
            S, X = motion.attachment.S, motion.attachment.X_BA
            wrench = wrench + inertia @ motion.carrier_bias
            momentum = [inertia @ S[:, k] for k in range(S.shape[1])]
            forces[parent] = forces[parent] + S.T @ wrench
            mass[parent] = mass[parent] + S.T @ columns(momentum)
            coupling[parent] = [old + pull_wrench(X, new) for old, new in zip(coupling[parent], momentum, strict=True)]
            inertia, wrench = inertia.seen_from(X), pull_wrench(X, wrench)
        inertias[parent] = inertias[parent] + inertia
        wrenches[parent] = wrenches[parent] + wrench
    return eliminated


def eliminate_modes(
    inertia: ArticulatedInertia, wrench: Any, coupling: list[Any], mass: Any, force: Any
) -> Elimination:
    """Eliminate the modes, last to first: the steps of `eliminate`, with the coupling of the modes to each other."""
    m = len(coupling)
    coupling, rest = list(coupling), [force[k] for k in range(m)]
    M = [[mass[i, j] for j in range(m)] for i in range(m)]
    U, D_inv, lower = list(coupling), [None] * m, [[] for _ in range(m)]  # type: ignore[var-annotated]
    for k in reversed(range(m)):
        inverse = 1.0 / M[k][k]
        column, row = coupling[k], M[k][:k]
        U[k], D_inv[k], lower[k] = column, inverse, row
        inertia = inertia.less(None, column, inverse)
        wrench = wrench + column * (inverse * rest[k])
        for i in range(k):
            share = row[i] * inverse
            rest[i] = rest[i] - share * rest[k]
            coupling[i] = coupling[i] - column * share
            for j in range(i + 1):
                M[i][j] = M[j][i] = M[i][j] - share * row[j]
    return Elimination(U, D_inv, rest, inertia, wrench, lower)


def forward_dynamics(
    links: list[Link], motions: list[LinkMotion], tau: Any, loads: list[Any], root_acceleration: Any, modal: Any = None
) -> list[Any]:
    """Return the rates of the speeds, link by link in order, for generalised forces and external wrenches (F axes)."""
    wrenches, forces = bias_loads(links, motions, loads, modal or {})
    eliminated = eliminate_all(links, motions, tau, wrenches, forces)
    accelerations: list[Any] = []
    by_link: list[list[Any]] = []
    for link, motion, elimination in zip(links, motions, eliminated, strict=True):
        above = root_acceleration if link.parent == ROOT else accelerations[link.parent]
        if motion.attachment is not None:
            above = carried_acceleration(motion, above, by_link[link.parent])
        if motion.modal is None:
            A, v_dot = accelerate(motion, elimination, above)
        else:
            A, v_dot = move_twist(motion.X, above) + motion.bias, []
            for U, D_inv, f, row in zip(
                elimination.U, elimination.D_inv, elimination.force, elimination.lower, strict=True
            ):
                pulled = dot(U, A) + sum(entry * rate for entry, rate in zip(row, v_dot, strict=False))
                v_dot.append(D_inv * (f - pulled))
        accelerations.append(A)
        by_link.append(v_dot)
    return [rate for rates in by_link for rate in rates]


def carried_acceleration(motion: LinkMotion, above: Any, modal_rates: list[Any]) -> Any:
    """Return the acceleration of the frame on a flexible parent that carries a link."""
    attachment = motion.attachment
    A = move_twist(attachment.X_BA, above) + motion.carrier_bias  # type: ignore[union-attr]
    for k, rate in enumerate(modal_rates):
        A = A + attachment.S[:, k] * rate  # type: ignore[union-attr]
    return A


def columns_of(modal: ModalInertia) -> list[Any]:
    """Return the momentum for unit rate of each mode: (h_j, c_j)."""
    return [stack(modal.h[:, j], modal.c_eta[:, j]) for j in range(modal.h.shape[1])]


def inverse_dynamics(
    links: list[Link],
    motions: list[LinkMotion],
    v_dot: Any,
    loads: list[Any],
    root_acceleration: Any,
    modal: Any = None,
) -> list[Any]:
    """Return the generalised forces ``M v_dot + h`` (less the external loads), in order N."""
    accelerations: list[Any] = []
    wrenches, forces = bias_loads(links, motions, loads, modal or {})
    for i, (link, motion) in enumerate(zip(links, motions, strict=True)):
        above = root_acceleration if link.parent == ROOT else accelerations[link.parent]
        if motion.attachment is not None:
            speeds = links[link.parent].speeds
            above = carried_acceleration(motion, above, [v_dot[k] for k in range(speeds.start, speeds.stop)])
        A = move_twist(motion.X, above) + motion.bias
        for s, k in zip(motion.S, range(link.node.v.start, link.node.v.stop), strict=False):
            A = A + s * v_dot[k]
        accelerations.append(A)
        if motion.modal is None:
            wrenches[i] = link.inertia @ A + wrenches[i]
        else:
            wrench, force = motion.modal.load(A, v_dot[link.speeds])
            wrenches[i], forces[i] = wrench + wrenches[i], force + forces[i]
    for i in reversed(range(len(links))):
        parent, motion = links[i].parent, motions[i]
        if parent == ROOT:
            continue
        wrench = pull_wrench(motion.X, wrenches[i])
        if motion.attachment is not None:
            forces[parent] = forces[parent] + motion.attachment.S.T @ wrench
            wrench = pull_wrench(motion.attachment.X_BA, wrench)
        wrenches[parent] = wrenches[parent] + wrench
    tau: list[Any] = []
    for i, (motion, wrench) in enumerate(zip(motions, wrenches, strict=True)):
        tau += [dot(s, wrench) for s in motion.S]
        tau += [forces[i][k] for k in range(forces[i].shape[0])] if i in forces else []
    return tau
