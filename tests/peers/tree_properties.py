"""What must hold for the equations of any tree, at any state, whoever formed them.

`evaluate` calls the equations once at the state of a case; the properties then return errors relative to the size of
what is compared, as the norm in each docstring says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from tests.strategies import Case

__all__ = ["Evaluation", "evaluate"]


@dataclass(frozen=True)
class Evaluation:
    """Terms and rates of the equations at one state."""

    eom: Any
    q: np.ndarray
    v: np.ndarray
    u: np.ndarray
    x_dot: np.ndarray
    M: np.ndarray
    h: np.ndarray
    B_tau: np.ndarray

    @property
    def v_dot(self) -> np.ndarray:
        """Accelerations."""
        return self.x_dot[len(self.q) :]

    def acceleration_error(self, other: Mapping[str, float]) -> float:
        """``max |v_dot - other| / max |v_dot|``: all speeds are of order one in SI, so one scale serves them all.

        Where no input acts along any speed the accelerations vanish; then the difference itself is returned.
        """
        theirs = np.array([other[name] for name in self.eom.speeds])
        return float(np.max(np.abs(self.v_dot - theirs)) / (np.max(np.abs(self.v_dot)) or 1.0))

    def asymmetry(self) -> float:
        """``max |M - M'| / max |M|``."""
        return float(np.max(np.abs(self.M - self.M.T)) / np.max(np.abs(self.M)))

    def definiteness(self) -> float:
        """Smallest over largest eigenvalue of M."""
        values = np.linalg.eigvalsh(self.M)
        return float(values[0] / values[-1])

    def round_trip_error(self) -> float:
        """``max |M v_dot + h - B_tau u|`` over the largest sum of magnitudes: forward then inverse dynamics."""
        size = np.abs(self.M) @ np.abs(self.v_dot) + np.abs(self.h) + np.abs(self.B_tau) @ np.abs(self.u)
        return float(np.max(np.abs(self.M @ self.v_dot + self.h - self.B_tau @ self.u)) / (np.max(size) or 1.0))

    def check_recursion(self, v_dot: np.ndarray, backward: float = 1e-12, forward: float = 1e-14) -> None:
        """Accelerations of another formulation: backward error in these terms, and distance times condition of M.

        The backward error is relative to ``|M| |v_dot| + |h| + |B_tau u|``; rounding of that size moves the solution by
        ``|M^-1|`` times it, which for balanced terms is the condition number times |v_dot|.
        """
        force = self.B_tau @ self.u
        size = np.linalg.norm(self.M, 2) * np.linalg.norm(v_dot) + np.linalg.norm(self.h) + np.linalg.norm(force)
        assert np.linalg.norm(self.M @ v_dot + self.h - force) <= backward * size
        assert np.linalg.norm(v_dot - self.v_dot) <= forward * size / np.linalg.eigvalsh(self.M)[0]

    def energy_rate_error(self) -> float:
        """``|dE/dt - v . B_tau u|`` over the sum of the magnitudes of all terms of both sides."""
        rate, size = self._rate("energy")
        size_of_power = np.abs(self.v) @ np.abs(self.B_tau) @ np.abs(self.u)
        return float(np.abs(rate[0] - self.v @ self.B_tau @ self.u) / (size[0] + size_of_power or 1.0))

    def momentum_rate_error(self) -> float:
        """``max |dH/dt|``, linear and angular, over the largest sum of magnitudes; 0 without outer forces."""
        rate, size = self._rate("momentum")
        return float(np.max(np.abs(rate)) / (np.max(size) or 1.0))

    def _rate(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Rate of a function of (q, v) by its exact Jacobian, ``J x_dot``, and the magnitudes ``|J| |x_dot|``."""
        Q, V = ca.SX.sym("q", len(self.q)), ca.SX.sym("v", len(self.v))
        P = ca.SX.sym("p", self.eom.p.size)
        results = self.eom.functions[name](0.0, Q, V, P)
        total = results[0] + results[1] if name == "energy" else results
        jacobian = ca.Function("jacobian", [Q, V, P], [ca.jacobian(total, ca.vertcat(Q, V))])
        J = np.array(jacobian(self.q, self.v, self.eom.p))
        return J @ self.x_dot, np.abs(J) @ np.abs(self.x_dot)


def evaluate(eom: Any, case: Case) -> Evaluation:
    """All terms at the state and inputs of the case, t = 0."""
    q, v, u = case.vectors(eom)
    x_dot = eom.x_dot(0.0, np.concatenate([q, v]), u)
    return Evaluation(eom, q, v, u, x_dot, eom.mass_matrix(0.0, q), eom.bias(0.0, q, v), eom.input_map(0.0, q))
