"""Select the preferred dependent speeds of a mechanism, loop after loop, last to first, as they are eliminated.

Each loop selects among the speeds that the loops after it have not selected, so that no speed is selected
twice and all selected speeds together have the rank of all constraint equations.
"""

from __future__ import annotations

import numpy as np

from spacectl.core.errors import ModelError, unknown_name
from spacectl.dynamics.constraints.solvers import RANK, row_norms
from spacectl.dynamics.tree.actuation import effort_speed
from spacectl.dynamics.tree.terms import Terms

__all__ = ["INDEPENDENT", "choose_dependent", "dependence_weights", "unit_rows"]

_NEAR_BEST = 0.1  # relative pivot from which a speed is a candidate; the outermost candidate in the tree is selected
# preference weights of speeds of other loops only, of actuated, modal, and user-selected independent speeds
_BORROWED, _ACTUATED, _MODAL, INDEPENDENT = 0.1, 0.1, 0.05, 1e-6


def dependence_weights(terms: Terms, keep: tuple[str, ...]) -> np.ndarray:
    """Return a weight per speed for its suitability as a dependent speed: low if actuated or modal, lowest for `keep`."""
    tree = terms.tree
    weight = np.ones(len(tree.speeds.names))
    for node in tree.nodes:
        weight[node.eta_dot] = _MODAL
    nodes = {node.part.joint_name: node for node in tree.nodes}
    for actuator in terms.system.actuators:
        for effort in actuator.joint_efforts:
            if effort.joint in nodes:
                weight[effort_speed(effort, nodes)] = _ACTUATED
    known = [*tree.coordinates.names, *tree.speeds.names]
    for name in keep:
        if name not in known:
            raise ModelError(f"form_equations: independent names an {unknown_name('coordinate or speed', name, known)}")
        speed = name if name in tree.speeds.names else f"{name}_dot"
        if speed not in tree.speeds.names:
            raise ModelError(
                f"form_equations: independent names '{name}', a coordinate without a speed of its own; name a speed"
            )
        weight[tree.speeds.index(speed)] = INDEPENDENT
    return weight


def choose_dependent(
    J: np.ndarray, loops: list[tuple[int, ...]], weights: list[np.ndarray], scale: np.ndarray
) -> tuple[list[tuple[int, ...]], float]:
    """Select the preferred dependent speeds of each loop; return them and the smallest pivot.

    Among speeds with a pivot nearly as large as the best, the outermost one in the tree is selected.

    Parameters
    ----------
    J : array, shape (m, n)
        Constraint Jacobian at a closed position.
    loops : list of tuple of int
        Rows of each loop, in the order of closing.
    weights : list of array
        Weights of the speeds (`dependence_weights`), for each loop.
    scale : array, shape (n,)
        Scales of the speeds.
    """
    R = unit_rows(J * scale)
    free = np.ones(J.shape[1], dtype=bool)
    chosen: list[tuple[int, ...]] = []
    least = np.inf
    for k in range(len(loops) - 1, -1, -1):
        own, earlier = list(loops[k]), [i for rows in loops[:k] for i in rows]
        involved = np.any(np.abs(J[own] * scale) > RANK, axis=0) if own else free
        weight = weights[k] * np.where(involved, 1.0, _BORROWED)
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
    """Scale rows to unit norm, small ones to less, so that rounding errors of zero rows remain small."""
    unit: np.ndarray = R / row_norms(R)[:, None]
    return unit
