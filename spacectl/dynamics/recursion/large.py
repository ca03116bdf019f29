"""Numeric calls of large trees by the order-N sweep, without building expressions of their size."""

from __future__ import annotations

import logging
from collections import OrderedDict
from typing import Any

import numpy as np

from spacectl.core.errors import SolverError
from spacectl.core.parameters import Parameters
from spacectl.dynamics.recursion.tree_kernel import TreeKernel
from spacectl.dynamics.recursion.tree_reference import TreeReference
from spacectl.model.system import System

__all__ = ["LargeTree"]

_log = logging.getLogger(__name__)
_CACHED = 4  # parameter vectors whose trees are cached


class LargeTree:
    """The numeric calls of `EquationsOfMotion` for a tree of any size; without a compiler, in numpy.

    Parameters
    ----------
    system : System
        The description.
    parameters : Parameters
        Its run-time parameters.
    """

    def __init__(self, system: System, parameters: Parameters):
        self.system, self.parameters = system, parameters
        self._trees: OrderedDict[bytes, TreeKernel | TreeReference] = OrderedDict()

    def tree(self, p: np.ndarray) -> TreeKernel | TreeReference:
        """Return the sweep for the parameters p."""
        key = p.tobytes()
        if key not in self._trees:
            try:
                self._trees[key] = TreeKernel(self.system, self.parameters, p)
            except SolverError as error:
                _log.warning("large tree in numpy, which is slower: %s", str(error).splitlines()[0])
                self._trees[key] = TreeReference(self.system, self.parameters, p)
            while len(self._trees) > _CACHED:
                self._trees.popitem(last=False)
        self._trees.move_to_end(key)
        return self._trees[key]

    def x_dot(self, t: Any, x: Any, u: Any, p: np.ndarray) -> list[np.ndarray]:
        """Return the rate of the state."""
        return [self.tree(p).x_dot(x, u)[:, None]]

    def v_dot(self, t: Any, q: Any, v: Any, u: Any, p: np.ndarray) -> list[np.ndarray]:
        """Return the rates of the speeds."""
        return [self.tree(p).v_dot(q, v, u)[:, None]]

    def bias(self, t: Any, q: Any, v: Any, p: np.ndarray) -> list[np.ndarray]:
        """Return h: the generalised forces of a motion without acceleration."""
        tree = self.tree(p)
        return [tree.tau(q, v, np.zeros(tree.n_v))[:, None]]

    def inverse_dynamics(self, t: Any, q: Any, v: Any, v_dot: Any, p: np.ndarray) -> list[np.ndarray]:
        """Return ``M v_dot + h``."""
        return [self.tree(p).tau(q, v, v_dot)[:, None]]

    def mass_matrix(self, t: Any, q: Any, p: np.ndarray) -> list[np.ndarray]:
        """Return M, column by column from unit accelerations at rest."""
        tree = self.tree(p)
        still = np.zeros(tree.n_v)
        rest = tree.tau(q, still, still)
        M = np.stack([tree.tau(q, still, unit) - rest for unit in np.eye(tree.n_v)], axis=1)
        return [0.5 * (M + M.T)]

    def input_map(self, t: Any, q: Any, p: np.ndarray) -> list[np.ndarray]:
        """Return B_tau, column by column from unit inputs at rest."""
        tree = self.tree(p)
        still = np.zeros(tree.n_v)
        rest = tree.tau(q, still, still)
        columns = [rest - tree.tau(q, still, still, unit) for unit in np.eye(tree.n_u)]
        return [np.stack(columns, axis=1) if columns else np.zeros((tree.n_v, 0))]

    def calls(self) -> dict[str, Any]:
        """Return the calls, keyed by function name."""
        names = ("x_dot", "v_dot", "bias", "inverse_dynamics", "mass_matrix", "input_map")
        return {name: getattr(self, name) for name in names}
