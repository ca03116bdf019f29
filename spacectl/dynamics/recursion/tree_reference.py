"""`TreeReference`: the sweeps of `TreeKernel` in numpy, for verification and machines without a compiler."""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl.core.parameters import Parameters
from spacectl.dynamics.recursion.links import form_links
from spacectl.dynamics.recursion.sweeps import LinkMotion, eliminate_all, forward_dynamics, inverse_dynamics, move
from spacectl.dynamics.recursion.tree_data import TreeData
from spacectl.dynamics.tree.nodes import ROOT, Tree, numeric_numbers
from spacectl.model.system import System
from spacectl.spatial.inertia import Inertia, Placement, pull_wrench

__all__ = ["TreeReference"]


class TreeReference:
    """Order-N dynamics of one system for given parameters p, in numpy.

    Parameters
    ----------
    system : System
        The description.
    parameters : Parameters
        Its run-time parameters.
    p : array, shape (n_p,)
        Their values.
    """

    def __init__(self, system: System, parameters: Parameters, p: np.ndarray):
        self.system, self.tree = system, Tree.of(system)
        self.numbers = numeric_numbers(parameters, p)
        self.links = form_links(self.tree, self.numbers, np.zeros(1)).items
        self.data = TreeData(system, parameters, p)
        self.n_q, self.n_v, self.n_u = len(self.tree.coordinates), len(self.tree.speeds), len(system.actuators)
        self._root = self.data.arrays["root"]

    def v_dot(self, q: Any, v: Any, u: Any) -> np.ndarray:
        """Return the rates of the speeds, shape (n_v,)."""
        motions = self._move(np.asarray(q, dtype=float), np.asarray(v, dtype=float))
        tau, loads = self._loads(motions, np.asarray(u, dtype=float))
        return np.array(forward_dynamics(self.links, motions, tau, loads, self._root[6:]), dtype=float)

    def tau(self, q: Any, v: Any, v_dot: Any, u: Any = None) -> np.ndarray:
        """Return the generalised forces ``M v_dot + h - B_tau u``, shape (n_v,); by default without inputs."""
        motions = self._move(np.asarray(q, dtype=float), np.asarray(v, dtype=float))
        joint, loads = self._loads(motions, np.zeros(self.n_u) if u is None else np.asarray(u, dtype=float))
        rates = np.asarray(v_dot, dtype=float)
        return np.array(inverse_dynamics(self.links, motions, rates, loads, self._root[6:]), dtype=float) - joint

    def x_dot(self, x: Any, u: Any) -> np.ndarray:
        """Return the rate of the state, shape (n_x,)."""
        state = np.asarray(x, dtype=float)
        q, v = state[: self.n_q], state[self.n_q :]
        rates = [link.node.part.joint.q_dot(q[link.node.q], v[link.node.v]) for link in self.links]
        return np.concatenate([np.zeros(0), *rates, self.v_dot(q, v, u)])

    def weakest_pivot(self, q: Any) -> float:
        """Return the smallest pivot of M relative to its diagonal entry (1: decoupled).

        Pivots ``D = s' I_articulated s`` are those of a factorisation of M; a ratio near rounding means singular.
        """
        motions = self._move(np.asarray(q, dtype=float), np.zeros(self.n_v))
        carried: list[Inertia] = [link.inertia for link in self.links]
        diagonal, pivot = np.zeros(self.n_v), np.zeros(self.n_v)
        with np.errstate(divide="ignore", invalid="ignore"):
            eliminated = eliminate_all(self.links, motions, np.zeros(self.n_v), [np.zeros(6) for _ in self.links])
        for i in reversed(range(len(self.links))):
            link, motion = self.links[i], motions[i]
            for k, s in enumerate(motion.S):
                diagonal[link.node.v.start + k] = s @ (carried[i] @ s)
                with np.errstate(divide="ignore"):
                    pivot[link.node.v.start + k] = np.float64(1.0) / eliminated[i].D_inv[k]
            if link.parent != ROOT:
                carried[link.parent] = carried[link.parent] + carried[i].seen_from(motion.X)
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.min(np.nan_to_num(pivot / diagonal, nan=0.0)))

    def _move(self, q: np.ndarray, v: np.ndarray) -> list[LinkMotion]:
        motions: list[LinkMotion] = []
        for link in self.links:
            parent = self._root[:6] if link.parent == ROOT else motions[link.parent].twist
            motions.append(move(link, q[link.node.q], v[link.node.v], parent))
        return motions

    def _loads(self, motions: list[LinkMotion], u: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        """Return the joint forces and external wrenches, as `sc_loads` does."""
        tau, loads = np.zeros(self.n_v), [np.zeros(6) for _ in self.links]
        placements: list[Placement] = []
        for link, motion in zip(self.links, motions, strict=True):
            placements.append(motion.X if link.parent == ROOT else placements[link.parent] @ motion.X)
        environment = self.numbers.group("environment")
        for i, link in enumerate(self.links):
            for X_FB, properties in link.members:
                wrench = self.system.environment.gravity_wrench(0.0, placements[i] @ X_FB, properties, environment)
                if wrench is not None:
                    loads[i] = loads[i] + pull_wrench(X_FB, np.asarray(wrench, dtype=float).reshape(-1))
        for (k, speed), gain in zip(self.data.arrays["joint_input"], self.data.arrays["joint_gain"], strict=True):
            tau[speed] += gain * u[k]
        for (k, i, is_torque, in_world), data in zip(
            self.data.arrays["body_input"], self.data.arrays["body_data"], strict=True
        ):
            along = placements[i].R.T @ data[3:] if in_world else data[3:]
            unit = (
                np.concatenate([along, np.zeros(3)])
                if is_torque
                else np.concatenate([np.cross(data[:3], along), along])
            )
            loads[i] = loads[i] + unit * u[k]
        return tau, loads
