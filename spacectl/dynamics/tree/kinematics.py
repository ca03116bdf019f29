"""Recursive kinematics of a tree, from any auxiliary frame (003 chapter 4).

Starting from the motion of a root frame A, each body's placement, twist and remainder of acceleration follow
from those of its parent (003 Eqs 4.5-4.20, written for body-referred twists). The root may be inertial,
rotate with an orbit, or have any prescribed motion: its motion is the input of the recursion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca

from spacectl.dynamics.tree.nodes import ROOT, Numbers, Tree
from spacectl.model.environment import Environment
from spacectl.spatial.backend import stack, zeros
from spacectl.spatial.flexible import Attachment, attach
from spacectl.spatial.inertia import Placement, cross_motion, move_twist

__all__ = [
    "BodyMotion",
    "RootMotion",
    "Steps",
    "body_motions",
    "frame_in_body",
    "frame_motion",
    "joint_steps",
    "root_motion",
]


@dataclass(frozen=True)
class RootMotion:
    """Motion of the auxiliary frame from which the recursion starts.

    Parameters
    ----------
    twist : vector, shape (6,)
        Inertial (omega, velocity of its origin), in its own axes.
    acceleration : vector, shape (6,)
        Component-wise rate of that twist: (alpha, a - omega x v). A uniform field g enters as -g.
    """

    twist: Any
    acceleration: Any

    @staticmethod
    def at_rest(like: Any) -> RootMotion:
        """Return a root that does not move."""
        return RootMotion(zeros(6, like), zeros(6, like))


@dataclass(frozen=True)
class Steps:
    """Kinematics of a node's joint, and of its carrying frame with the modes of the parent.

    Parameters
    ----------
    X_AB : Placement
        Of the body in frame A that carries its joint: a frame that moves on a flexible parent, else the parent's own.
    S, bias : matrix (6, n_v) and vector (6,), or None
        Partial velocities of the joint and ``S_dot v``, in body axes.
    attachment : Attachment or None
        Motion of A on a flexible parent.
    relative : vector (6,) or None
        Twist of a joint with prescribed motion; `bias` is then the rate of this twist.
    """

    X_AB: Placement
    S: Any
    bias: Any
    attachment: Attachment | None = None
    relative: Any = None

    @property
    def X_PB(self) -> Placement:
        """Placement of the body in its parent's frame."""
        return self.X_AB if self.attachment is None else self.attachment.X_BA @ self.X_AB


@dataclass(frozen=True)
class BodyMotion:
    """Motion of a body frame: placement in the root, twist and remainder of acceleration (body axes)."""

    X_NB: Placement
    twist: Any
    remainder: Any


def root_motion(environment: Environment, t: Any, n: Mapping[str, Any], like: Any) -> RootMotion:
    """Return the motion of an environment's root frame; uniform gravity is an upward acceleration of the root."""
    none = zeros(3, like)
    found = environment.root_rate(t, n), environment.root_rate_dot(t, n), environment.root_acceleration(t, n)
    rate, rate_dot, acceleration = (none if item is None else item for item in found)
    return RootMotion(stack(rate, none), stack(rate_dot, acceleration))


def frame_in_body(tree: Tree, name: str, q: Any, v: Any, numbers: Numbers) -> tuple[int, Placement, Attachment | None]:
    """Find a named frame: index of its body (`ROOT` for the root), placement there, and motion with modes."""
    if name in tree.root_names:
        return ROOT, Placement.identity(q), None
    body, frame = tree.split(name)
    i = tree.index(body)
    node = tree.nodes[i]
    if not frame:
        return i, Placement.identity(q), None
    if node.is_flexible:
        attachment = attach(numbers.group(body), frame, q[node.eta], v[node.eta_dot])
        return i, attachment.X_BA, attachment
    return i, Placement(numbers[f"{body}.{frame}.rotation"], numbers[f"{body}.{frame}.at"]), None


def joint_steps(tree: Tree, t: Any, q: Any, v: Any, numbers: Numbers) -> list[Steps]:
    """Return the kinematics of the joints, each referred to the frame of its body."""
    steps = []
    for node in tree.nodes:
        n = numbers.group(node.part.name)
        joint, q_j, v_j = node.part.joint, q[node.q], v[node.v]
        _, X_PA, attachment = frame_in_body(tree, node.part.on, q, v, numbers)
        X_J = Placement(n["rotation"], n["at"])
        X_AJ = X_PA @ X_J if attachment is None else X_J
        X_FB = Placement(n["child_rotation"], n["child_at"]).inverse()
        S = bias = relative = None
        if joint.motion is not None:
            q_j, v_j, v_dot_j = joint.motion(t)
            S_F = joint.subspace(q_j, n)
            relative = move_twist(X_FB, S_F @ v_j)
            bias = move_twist(X_FB, S_F @ v_dot_j + joint.bias(q_j, v_j, n))
        elif joint.speeds:
            S_F = joint.subspace(q_j, n)
            S = ca.horzcat(*[move_twist(X_FB, S_F[:, k]) for k in range(len(joint.speeds))])
            bias = move_twist(X_FB, joint.bias(q_j, v_j, n))
        steps.append(Steps(X_AJ @ joint.placement(q_j, n) @ X_FB, S, bias, attachment, relative))
    return steps


def body_motions(tree: Tree, steps: list[Steps], v: Any, root: RootMotion) -> list[BodyMotion]:
    """Return the placement, twist and remainder of acceleration of every body, recursively from the root's motion.

    ``V_B = X V_P + S v`` and ``A_B = X A_P + S v_dot + S_dot v + V_B x S v``; the remainder omits v_dot.
    """
    motions: list[BodyMotion] = []
    base = BodyMotion(Placement.identity(root.twist), root.twist, root.acceleration)
    for node, step in zip(tree.nodes, steps, strict=True):
        parent = base if node.parent == ROOT else motions[node.parent]
        if step.attachment is not None:
            parent = frame_motion(parent, step.attachment, v[tree.nodes[node.parent].eta_dot])
        X_NB = step.X_AB if node.parent == ROOT else parent.X_NB @ step.X_AB
        twist = move_twist(step.X_AB, parent.twist)
        remainder = move_twist(step.X_AB, parent.remainder)
        relative = step.relative if step.S is None else step.S @ v[node.v]
        if relative is not None:
            twist = twist + relative
            remainder = remainder + step.bias + cross_motion(twist, relative)
        motions.append(BodyMotion(X_NB, twist, remainder))
    return motions


def frame_motion(body: BodyMotion, attachment: Attachment, eta_dot: Any) -> BodyMotion:
    """Return the motion of a frame that moves with the modes of its body: ``V_A = X V_B + S eta_dot`` and its remainder."""
    relative = attachment.S @ eta_dot
    twist = move_twist(attachment.X_BA, body.twist) + relative
    remainder = move_twist(attachment.X_BA, body.remainder) + attachment.bias + cross_motion(twist, relative)
    return BodyMotion(body.X_NB @ attachment.X_BA, twist, remainder)
