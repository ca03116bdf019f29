"""Exact derivatives of inverse dynamics by recursion over elementary joints: the reference implementation of derivatives.c.

With spatial quantities in root axes about one point, parent twist V_p and acceleration A_p, and for a unit
displacement s of joint j, ``s' = V_p x s`` and ``s'' = A_p x s + V_p x s'``, every body k outboard of j changes by
``dV = s'``, ``dA = s'' - V_k x s'`` in its own axes, so that its force changes by ``I s'' + D s'`` with
``D x = (E x_omega, 2 x_omega x l)``, l its linear momentum and ``E = w~ J - J w~ + v~ h~' - h~ v~ - k~``. Sums over
the bodies that a joint carries give all derivatives in order N times depth. A unit speed of joint j changes forces by
``D s + I (s' + S_dot)``. A displacement also turns the forces that ancestors feel, ``s x* f``, and changes gravity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl.dynamics.recursion.elements import Elements
from spacectl.dynamics.tree.nodes import ROOT
from spacectl.model.joints.base import BALL, SLIDE, TURN
from spacectl.spatial.backend import skew
from spacectl.spatial.inertia import Inertia, Placement, cross_force, cross_motion, pull_wrench
from spacectl.spatial.rotation import axis_rotation, rotation_from_quaternion

__all__ = ["Derivatives", "differentiate", "joint_placement", "speed_indices", "unit_twists"]


@dataclass(frozen=True)
class Derivatives:
    """M and the derivatives of ``tau = M v_dot + h - B_tau u`` by tangent coordinates and by speeds, each (n_v, n_v)."""

    M: np.ndarray
    tau_q: np.ndarray
    tau_v: np.ndarray


def differentiate(
    elements: Elements,
    q: np.ndarray,
    v: np.ndarray,
    v_dot: np.ndarray,
    root: np.ndarray,
    loads: dict[int, tuple[np.ndarray, np.ndarray]],
) -> Derivatives:
    """Derivatives at one state.

    Parameters
    ----------
    elements : Elements
        The tree.
    q, v, v_dot : arrays
        State and accelerations.
    root : array, shape (12,)
        Twist and acceleration of the root frame.
    loads : mapping of element to (wrench, G)
        External wrench about the element's frame in its axes, and its derivative G (6, 6) by a displacement twist.
    """
    n = v.size
    items = elements.items
    size = len(items)
    S: list[np.ndarray] = []
    S1: list[np.ndarray] = []  # V_p x s
    S2: list[np.ndarray] = []  # A_p x s + V_p x s'
    S_dot: list[np.ndarray] = []
    V: list[np.ndarray] = []
    A: list[np.ndarray] = []
    X: list[Placement] = []
    I: list[np.ndarray] = []
    E: list[np.ndarray] = []
    momentum: list[np.ndarray] = []
    f: list[np.ndarray] = []
    G: list[np.ndarray] = []
    for i, element in enumerate(items):
        above = element.parent
        V_p, A_p = (root[:6], root[6:]) if above == ROOT else (V[above], A[above])
        X_i = element.X_PJ if above == ROOT else X[above] @ element.X_PJ
        X_i = X_i @ joint_placement(element.kind, q, element.q)
        columns = unit_twists(element.kind, X_i)
        indices = speed_indices(element.kind, element.v)
        first = np.stack([cross_motion(V_p, s) for s in columns.T], axis=1)
        second = np.stack(
            [cross_motion(A_p, s) + cross_motion(V_p, d) for s, d in zip(columns.T, first.T, strict=True)], axis=1
        )
        V_i = V_p + columns @ v[indices]
        turning = np.stack([cross_motion(V_i, s) for s in columns.T], axis=1)
        A_i = A_p + columns @ v_dot[indices] + turning @ v[indices]
        body = element.inertia.seen_from(X_i)
        l = body @ V_i
        wrench = body @ A_i + body.bias_wrench(V_i)
        push, gradient = loads.get(i, (np.zeros(6), np.zeros((6, 6))))
        for history, value in ((X, X_i), (V, V_i), (A, A_i), (S, columns), (S1, first), (S2, second), (S_dot, turning)):
            history.append(value)  # type: ignore[arg-type]
        I.append(body.matrix())
        E.append(_gyroscopic(body, V_i, l))
        momentum.append(l[3:])
        f.append(wrench - pull_wrench(X_i, push))
        G.append(_move_gradient(X_i, gradient))
    for i in reversed(range(size)):
        above = items[i].parent
        if above != ROOT:
            for parts in (I, E, momentum, f, G):
                parts[above] = parts[above] + parts[i]
    M, tau_q, tau_v = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    for i, element in enumerate(items):
        rows = speed_indices(element.kind, element.v)
        D = np.block([[E[i], np.zeros((3, 3))], [-2.0 * skew(momentum[i]), np.zeros((3, 3))]])
        own_q = D @ S1[i] + I[i] @ S2[i] - G[i] @ S[i]
        own_v = D @ S[i] + I[i] @ (S1[i] + S_dot[i])
        felt = own_q + np.stack([cross_force(s, f[i]) for s in S[i].T], axis=1)
        j = i
        while j != ROOT:
            others = speed_indices(items[j].kind, items[j].v)
            block = np.ix_(rows, others)
            tau_q[block] = S[i].T @ (D @ S1[j] + I[i] @ S2[j] - G[i] @ S[j])
            tau_v[block] = S[i].T @ (D @ S[j] + I[i] @ (S1[j] + S_dot[j]))
            M[block] = S[i].T @ I[i] @ S[j]
            if j != i:
                mirror = np.ix_(others, rows)
                tau_q[mirror] = S[j].T @ felt
                tau_v[mirror] = S[j].T @ own_v
                M[mirror] = M[block].T
            j = items[j].parent
    return Derivatives(M, tau_q, tau_v)


def joint_placement(kind: int, q: np.ndarray, at: int) -> Placement:
    """Placement across an elementary joint whose first coordinate is q[at]."""
    if kind == TURN:
        return Placement(axis_rotation(np.array([0.0, 0.0, 1.0]), q[at]), np.zeros(3))
    if kind == SLIDE:
        return Placement(np.eye(3), np.array([0.0, 0.0, q[at]]))
    return Placement(rotation_from_quaternion(q[at : at + 4]), np.zeros(3))


def speed_indices(kind: int, at: int) -> list[int]:
    """Speeds of an elementary joint whose first one is `at`."""
    return [at, at + 1, at + 2] if kind == BALL else [at]


def unit_twists(kind: int, X: Placement) -> np.ndarray:
    """Unit twists of the joint in root axes about the root's origin."""
    axes = X.R if kind == BALL else X.R[:, 2:]
    if kind == SLIDE:
        return np.concatenate([np.zeros((3, 1)), axes])
    return np.concatenate([axes, np.cross(X.p, axes, axisb=0, axisc=0)])


def _gyroscopic(body: Inertia, V: np.ndarray, momentum: np.ndarray) -> np.ndarray:
    w, v, h = skew(V[:3]), skew(V[3:]), skew(np.asarray(body.first))
    J = np.asarray(body.I_O)
    return w @ J - J @ w + v @ h.T - h @ v - skew(momentum[:3])


def _move_gradient(X: Placement, G: np.ndarray) -> np.ndarray:
    """A derivative by displacement in body axes, as one in root axes about the root's origin."""
    if not np.any(G):
        return np.zeros((6, 6))
    T = np.block([[X.R, np.zeros((3, 3))], [skew(X.p) @ X.R, X.R]])  # moves wrenches; its transpose moves twists
    result: Any = T @ G @ T.T
    return np.asarray(result)
