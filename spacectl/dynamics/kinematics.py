"""Recursive kinematics of a tree, from any auxiliary frame (003 chapter 4).

Starting from the motion of a root frame A, each body's placement, twist and remainder of acceleration follow from
those of its parent (003 Eqs 4.5-4.20, written for body-referred twists). The root may be inertial, turn with an
orbit, or move in any prescribed way: its motion is the input of the recursion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from spacectl.dynamics.tree import ROOT, Numbers, Tree
from spacectl.model.environment import Environment
from spacectl.spatial.backend import stack, zeros
from spacectl.spatial.motion import Placement, cross_motion, move_twist

__all__ = ["BodyMotion", "RootMotion", "Steps", "body_motions", "frame_in_body", "joint_steps", "root_motion"]


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
        """A root that does not move."""
        return RootMotion(zeros(6, like), zeros(6, like))


@dataclass(frozen=True)
class Steps:
    """What depends on a node's own joint only: placement in the parent, S and ``S_dot v``, in body axes."""

    X_PB: Placement
    S: Any
    bias: Any


@dataclass(frozen=True)
class BodyMotion:
    """Motion of a body frame: placement in the root, twist and remainder of acceleration (body axes)."""

    X_NB: Placement
    twist: Any
    remainder: Any


def root_motion(environment: Environment, numbers: Numbers, like: Any) -> RootMotion:
    """Motion of an environment's root frame; uniform gravity is an upward acceleration of the root."""
    n = numbers.group("environment")
    rate, acceleration = environment.root_rate(n), environment.root_acceleration(n)
    none = zeros(3, like)
    return RootMotion(
        stack(none if rate is None else rate, none),
        stack(none, none if acceleration is None else acceleration),
    )


def frame_in_body(tree: Tree, name: str, numbers: Numbers, like: Any) -> tuple[int, Placement]:
    """Index of the body that carries the named frame (`ROOT` for the root), and the frame's placement in it."""
    if name in tree.root_names:
        return ROOT, Placement.identity(like)
    body, _, frame = name.partition(".")
    i = tree.index(body)
    if not frame:
        return i, Placement.identity(like)
    return i, Placement(numbers[f"{body}.{frame}.rotation"], numbers[f"{body}.{frame}.at"])


def joint_steps(tree: Tree, q: Any, v: Any, numbers: Numbers) -> list[Steps]:
    """The joints' own kinematics, each referred to the frame of its body."""
    steps = []
    for node in tree.nodes:
        n = numbers.group(node.part.name)
        joint, q_j, v_j = node.part.joint, q[node.q], v[node.v]
        _, X_PA = frame_in_body(tree, node.part.on, numbers, q)
        X_PJ = X_PA @ Placement(n["rotation"], n["at"])
        X_FB = Placement(n["child_rotation"], n["child_at"]).inverse()
        S = bias = None
        if joint.speeds:
            S_F = joint.subspace(q_j, n)
            S = ca.horzcat(*[move_twist(X_FB, S_F[:, k]) for k in range(len(joint.speeds))])
            bias = move_twist(X_FB, joint.bias(q_j, v_j, n))
        steps.append(Steps(X_PJ @ joint.placement(q_j, n) @ X_FB, S, bias))
    return steps


def body_motions(tree: Tree, steps: list[Steps], v: Any, root: RootMotion) -> list[BodyMotion]:
    """Placement, twist and remainder of acceleration of every body, recursively from the root's motion.

    ``V_B = X V_P + S v`` and ``A_B = X A_P + S v_dot + S_dot v + V_B x S v``; the remainder leaves out v_dot.
    """
    motions: list[BodyMotion] = []
    base = BodyMotion(Placement.identity(root.twist), root.twist, root.acceleration)
    for node, step in zip(tree.nodes, steps, strict=True):
        parent = base if node.parent == ROOT else motions[node.parent]
        X_NB = step.X_PB if node.parent == ROOT else parent.X_NB @ step.X_PB
        twist = move_twist(step.X_PB, parent.twist)
        remainder = move_twist(step.X_PB, parent.remainder)
        if step.S is not None:
            relative = step.S @ v[node.v]
            twist = twist + relative
            remainder = remainder + step.bias + cross_motion(twist, relative)
        motions.append(BodyMotion(X_NB, twist, remainder))
    return motions
