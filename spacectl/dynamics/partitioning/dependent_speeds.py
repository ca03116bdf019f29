"""Which speeds of a mechanism shall depend on the others: chosen loop after loop, last to first, as they are eliminated.

Each loop chooses among what the loops after it have left, so that no speed depends twice and the choices of all loops
together have the rank of all rows.
"""

from __future__ import annotations

import numpy as np

from spacectl.core.errors import ModelError, unknown_name
from spacectl.dynamics.constraints.solvers import RANK, row_units
from spacectl.dynamics.tree.actuation import effort_speed
from spacectl.dynamics.tree.terms import Terms

__all__ = ["KEPT", "choose_dependent", "unit_rows", "wish_weights"]

_NEAR_BEST = 0.1  # of the best pivot: of speeds this good, the one farthest out in the tree depends
# how little speeds are wished that only other loops have, that are driven, that are of modes, that shall be independent
_BORROWED, _DRIVEN, _MODAL, KEPT = 0.1, 0.1, 0.05, 1e-6


def wish_weights(terms: Terms, keep: tuple[str, ...]) -> np.ndarray:
    """How gladly each speed becomes dependent: driven ones and modes less, those to be kept hardly at all."""
    tree = terms.tree
    weight = np.ones(len(tree.speeds.names))
    for node in tree.nodes:
        weight[node.eta_dot] = _MODAL
    nodes = {node.part.joint_name: node for node in tree.nodes}
    for actuator in terms.system.actuators:
        for effort in actuator.joint_efforts:
            if effort.joint in nodes:
                weight[effort_speed(effort, nodes)] = _DRIVEN
    known = [*tree.coordinates.names, *tree.speeds.names]
    for name in keep:
        if name not in known:
            raise ModelError(f"form_equations: independent names an {unknown_name('coordinate or speed', name, known)}")
        speed = name if name in tree.speeds.names else f"{name}_dot"
        if speed not in tree.speeds.names:
            raise ModelError(
                f"form_equations: independent names '{name}', which is no speed's own coordinate; name a speed"
            )
        weight[tree.speeds.index(speed)] = KEPT
    return weight


def choose_dependent(
    J: np.ndarray, loops: list[tuple[int, ...]], weights: list[np.ndarray], scale: np.ndarray
) -> tuple[list[tuple[int, ...]], float]:
    """Speeds that shall depend, for each loop, and the smallest pivot.

    Good pivots; farthest out in the tree among those nearly as good as the best.

    Parameters
    ----------
    J : array, shape (m, n)
        All rows, at a closed position.
    loops : list of tuple of int
        Rows of each loop, in the order of closing.
    weights : list of array
        How gladly each speed becomes dependent, for each loop.
    scale : array, shape (n,)
        Units of the speeds.
    """
    R = unit_rows(J * scale)
    free = np.ones(J.shape[1], dtype=bool)
    chosen: list[tuple[int, ...]] = []
    least = np.inf
    for k in range(len(loops) - 1, -1, -1):
        own, earlier = list(loops[k]), [i for rows in loops[:k] for i in rows]
        holds = np.any(np.abs(J[own] * scale) > RANK, axis=0) if own else free
        weight = weights[k] * np.where(holds, 1.0, _BORROWED)
        open_rows, found = list(own), []
        while open_rows:
            value = np.max(np.abs(R[open_rows]), axis=0) * free
            if not np.max(value) > RANK:
                break
            j = int(np.flatnonzero(value * weight >= _NEAR_BEST * np.max(value * weight))[-1])
            i = open_rows.pop(int(np.argmax(np.abs(R[open_rows, j]))))
            least = min(least, float(np.abs(R[i, j])))
            found.append(j)
            free[j] = False
            for other in [*open_rows, *earlier]:
                R[other] -= R[other, j] / R[i, j] * R[i]
        chosen.append(tuple(sorted(found)))
    return chosen[::-1], least


def unit_rows(R: np.ndarray) -> np.ndarray:
    """Rows of unit size, small ones of less: rounding of rows that hold nothing counts for nothing."""
    unit: np.ndarray = R / row_units(R)[:, None]
    return unit
