"""The tangent of the coordinates: one error coordinate for each speed, in body axes for attitudes.

``q_dot = W v`` gives ``dq = W dtheta`` for a small displacement dtheta; a quaternion joint has a rotation vector,
whose rate is ``dtheta_dot = dv - omega x dtheta`` (right-multiplicative, body axes).
"""

from __future__ import annotations

import numpy as np

from spacectl.core.labels import Labels
from spacectl.dynamics.equations import EquationsOfMotion
from spacectl.spatial.backend import skew

__all__ = ["error_labels", "tangent_map", "tangent_rate"]


def error_labels(eom: EquationsOfMotion) -> Labels:
    """Names of the error state (dtheta, dv): coordinates, ``.rx .ry .rz`` for a quaternion, then speeds."""
    names: list[str] = []
    units: list[str] = []
    for part in eom.system.tree:
        joint, coordinates = part.joint, [suffix for suffix, _ in part.joint.coordinates]
        for k, (suffix, _) in enumerate(joint.speeds):
            if joint.quaternion_at is not None and k < 3:
                names.append(f"{part.joint_name}.r{'xyz'[k]}")
                units.append("rad")
            else:
                own = suffix.removesuffix("_dot")
                names.append(part.joint_name + own)
                units.append(joint.coordinates[coordinates.index(own)][1])
    labels = eom.labels
    return Labels(tuple(names) + labels.v.names, tuple(units) + labels.v.units, "state")


def tangent_map(eom: EquationsOfMotion, q: np.ndarray) -> np.ndarray:
    """W, shape (n_q, n_v): rates of the coordinates for unit speeds."""
    W = np.zeros((eom.n_q, eom.n_v))
    at_q = at_v = 0
    for part in eom.system.tree:
        joint = part.joint
        n_q, n_v = len(joint.coordinates), len(joint.speeds)
        for k in range(n_v):
            W[at_q : at_q + n_q, at_v + k] = joint.q_dot(q[at_q : at_q + n_q], np.eye(n_v)[k])
        at_q, at_v = at_q + n_q, at_v + n_v
    return W


def tangent_rate(eom: EquationsOfMotion, v: np.ndarray) -> np.ndarray:
    """T in ``dtheta_dot = T dtheta + dv``, shape (n_v, n_v): ``-omega~`` for attitudes, else zero."""
    T = np.zeros((eom.n_v, eom.n_v))
    at = 0
    for part in eom.system.tree:
        if part.joint.quaternion_at is not None:
            T[at : at + 3, at : at + 3] = -skew(v[at : at + 3])
        at += len(part.joint.speeds)
    return T
