"""Accelerations with their derivatives by tangent coordinates, speeds and inputs, from the named functions of any formulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spacectl.dynamics.recursion.linear_kernel import LinearTerms
from spacectl.spatial.rotation import quaternion_rate

if TYPE_CHECKING:
    from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["coordinate_blocks", "differentiate_v_dot", "tangent_map"]


def differentiate_v_dot(eom: EquationsOfMotion, t: float, q: Any, v: Any, u: Any, p: Any = None) -> LinearTerms:
    """Return v_dot and its derivatives by CasADi; `EquationsOfMotion.linear_terms` is native where it can be."""
    W = tangent_map(eom, np.asarray(q, dtype=float).reshape(-1))
    v_q, v_v, v_u = (eom.jacobian("v_dot", "v_dot", name, t, q, v, u, p=p) for name in "qvu")
    return LinearTerms(eom.v_dot(t, q, v, u, p), v_q @ W, v_v, v_u)


def tangent_map(eom: EquationsOfMotion, q: np.ndarray) -> np.ndarray:
    """Return W, shape (..., n_q, n_v): rates of the coordinates q, shape (..., n_q), for unit speeds."""
    W = np.zeros((*q.shape[:-1], eom.n_q, eom.n_v))
    for at_q, at_v, turns in coordinate_blocks(eom):
        if turns is None:
            W[..., at_q, at_v] = 1.0
            continue
        for k, axis in enumerate(np.eye(3)):
            rates = quaternion_rate(np.moveaxis(q[..., at_q : at_q + 4], -1, 0), axis.reshape(3, *[1] * (q.ndim - 1)))
            W[..., at_q : at_q + 4, at_v + k] = np.moveaxis(rates, 0, -1)
    return W


def coordinate_blocks(eom: EquationsOfMotion) -> list[tuple[int, int, str | None]]:
    """Return the positions of errors: (index in q, index in v, joint name of a quaternion or None), in the order of the speeds.

    Every coordinate that is not part of a quaternion is the integral of its own speed.
    """
    blocks: list[tuple[int, int, str | None]] = []
    at_q = at_v = 0
    while at_v < eom.n_v:
        turns = at_q in eom.quaternions
        blocks.append((at_q, at_v, eom.coordinates[at_q].rpartition(".")[0] if turns else None))
        at_q, at_v = (at_q + 4, at_v + 3) if turns else (at_q + 1, at_v + 1)
    return blocks
