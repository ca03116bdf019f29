"""Inverse dynamics along a path: every input as ``a s_ddot + b s_dot^2 + c s_dot + d`` (Sadigh 1995, Eqs 8.17, 8.18).

With ``v = V s_dot`` and ``v_dot = V s_ddot + V' s_dot^2``, the equations of motion yield these terms exactly,
because the bias h of rigid systems is quadratic in the speeds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

from spacectl.codegen.batch_function import BatchFunction
from spacectl.core.errors import ModelError, SolverError
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.planners.paths.solve import PathPoints, SolvedPath

__all__ = ["PathDynamics", "PathMotion"]

UNDRIVEN = 1e-7  #: tolerated relative generalised force without an actuator: error of the path's solution


@dataclass(frozen=True)
class PathMotion:
    """Points of a path with V and dv = V' (n, n_v), and the input terms tau (n, n_u, 4) with columns a, b, c, d."""

    points: PathPoints
    V: np.ndarray
    dv: np.ndarray
    tau: np.ndarray

    def speeds(self, s_dot: np.ndarray) -> np.ndarray:
        """Return v (n, n_v) for path speeds s_dot (n,)."""
        return self.V * s_dot[:, None]

    def accelerations(self, s_dot: np.ndarray, s_ddot: np.ndarray) -> np.ndarray:
        """Return v_dot (n, n_v)."""
        return self.V * s_ddot[:, None] + self.dv * (s_dot**2)[:, None]

    def inputs(self, s_dot: np.ndarray, s_ddot: np.ndarray) -> np.ndarray:
        """Return u (n, n_u)."""
        return combine(self.tau, s_dot, s_ddot)


def combine(terms: np.ndarray, s_dot: np.ndarray, s_ddot: np.ndarray) -> np.ndarray:
    """Return ``a s_ddot + b s_dot^2 + c s_dot + d`` of terms (n, k, 4)."""
    a, b, c, d = (terms[:, :, i] for i in range(4))
    y, u = s_dot[:, None], s_ddot[:, None]
    return a * u + (b * y + c) * y + d


class PathDynamics:
    """Evaluate a solved path and its inverse dynamics at many points.

    Parameters
    ----------
    eom : EquationsOfMotion
        The system; it must not depend on time.
    solved : SolvedPath
        The path.
    p : array, shape (n_p,)
        Run-time parameters.
    """

    def __init__(self, eom: EquationsOfMotion, solved: SolvedPath, p: np.ndarray):
        self.eom, self.solved, self.p = eom, solved, p
        terms = form_path_terms(_Key(eom))
        self._forces, self._map = BatchFunction(terms.forces, p), BatchFunction(terms.force_map, p)
        self._kinematics = None if terms.kinematics is None else [BatchFunction(item, p) for item in terms.kinematics]
        self._constant: tuple[np.ndarray, np.ndarray] | None = None
        self._is_square = False
        if terms.is_map_constant:
            B = self._maps(np.asarray(solved.base)[None, :])[0]
            self._constant = (B, np.linalg.pinv(B))
            self._is_square = B.shape[0] == np.linalg.matrix_rank(B)

    def evaluate(self, s: np.ndarray, piece: int = 0) -> PathMotion:
        """Evaluate points, V, V' and input terms at many s of one smooth piece."""
        points = self.solved.evaluate(s, piece)
        V, dv = self._speeds(points)
        forces = self._forces(points.q, V, dv)[0]
        return PathMotion(points, V, dv, self._inputs(points, forces.reshape(len(s), 4, self.eom.n_v)))

    def _speeds(self, points: PathPoints) -> tuple[np.ndarray, np.ndarray]:
        """Return V and V' from q' = W V and its derivative."""
        if self._kinematics is None:
            return points.dq, points.ddq
        n, n_v = len(points.q), self.eom.n_v
        W = self._kinematics[0](points.q)[0].reshape(n, n_v, -1).transpose(0, 2, 1)
        inverse = np.linalg.pinv(W)
        V = np.einsum("nij,nj->ni", inverse, points.dq)
        derivative = self._kinematics[1](points.q, points.dq, V)[0]
        return V, np.einsum("nij,nj->ni", inverse, points.ddq - derivative)

    def _maps(self, q: np.ndarray) -> np.ndarray:
        rows, columns = self._map.function.size_out(0)
        return self._map(q)[0].reshape(len(q), columns, rows).transpose(0, 2, 1)

    def _inputs(self, points: PathPoints, forces: np.ndarray) -> np.ndarray:
        """Return the input terms (n, n_u, 4) for generalised forces (n, 4, n_v), together with constraint forces."""
        n_u = self.eom.n_u
        if self._constant is not None:
            found = forces @ self._constant[1].T
            residual = None if self._is_square else forces - found @ self._constant[0].T
        else:
            maps = self._maps(points.q)
            found = np.einsum("nij,nkj->nki", np.linalg.pinv(maps), forces)
            residual = forces - np.einsum("nij,nkj->nki", maps, found)
        if residual is not None:
            self._require_driven(points, forces, residual)
        return np.ascontiguousarray(found[:, :, :n_u].transpose(0, 2, 1))

    def _require_driven(self, points: PathPoints, forces: np.ndarray, residual: np.ndarray) -> None:
        """Raise an error if a required generalised force cannot be applied by the inputs."""
        size = np.max(np.abs(forces), axis=(0, 2), keepdims=True)
        excess = np.where(size > 0.0, np.abs(residual) / np.where(size > 0.0, size, 1.0), 0.0)
        if np.max(excess) <= UNDRIVEN:
            return
        k, _, i = np.unravel_index(int(np.argmax(excess)), excess.shape)
        raise ModelError(
            f"path '{self.solved.path.name}': no input drives '{self.eom.speeds[i]}' as the path requires at "
            f"s = {points.s[k]:.6g}; plan with the rigid counterpart of a flexible system, give the joint an actuator, or "
            "let a free base float (free_floating=True)"
        )


class _Key:
    """Cache key of equations by their structure, independent of parameter values."""

    def __init__(self, eom: EquationsOfMotion):
        self.eom, self.text = eom, (eom.structure_hash, eom.formulation)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)


@dataclass(frozen=True, eq=False)
class _Terms:
    forces: ca.Function  # (q, V, dv, p) -> (n_v, 4)
    force_map: ca.Function  # (q, p) -> (n_v, n_u + n_constraints)
    kinematics: tuple[ca.Function, ca.Function] | None
    is_map_constant: bool


@lru_cache(maxsize=32)
def form_path_terms(key: Any) -> _Terms:
    """Form the generalised forces along a path as functions of (q, V, V', p)."""
    eom = key.eom
    if "bias" in eom.handover.calls:
        raise ModelError(f"system '{eom.system.name}': too large for planning along a path; use formulation='kane'")
    q, V, dv = ca.SX.sym("q", eom.n_q), ca.SX.sym("V", eom.n_v), ca.SX.sym("dv", eom.n_v)
    p, t, rate = ca.SX.sym("p", len(eom.p)), ca.SX.sym("t"), ca.SX.sym("rate")
    M = eom.functions["mass_matrix"](t, q, p)
    h = eom.functions["bias"](t, q, rate * V, p)
    derivative = ca.jtimes(h, rate, 1.0)
    second_derivative = ca.jtimes(derivative, rate, 1.0)
    h0, h1, h2 = ca.substitute([h, derivative, second_derivative], [rate], [ca.SX(0.0)])
    forces = ca.horzcat(M @ V, M @ dv + 0.5 * h2, h1, h0)
    force_map = _force_map(eom, t, q, p)
    if any(ca.which_depends(ca.vertcat(ca.vec(forces), ca.vec(force_map)), t, 1, False)):
        raise ModelError(f"system '{eom.system.name}' depends on time; plans along a path require a time-invariant one")
    forces, force_map = ca.substitute([forces, force_map], [t], [ca.SX(0.0)])
    terms = _Terms(
        ca.Function("path_forces", [q, V, dv, p], [ca.densify(ca.cse(forces))], ["q", "V", "dv", "p"], ["forces"]),
        ca.Function("force_map", [q, p], [ca.densify(force_map)], ["q", "p"], ["map"]),
        _kinematics(eom, q, p),
        not ca.depends_on(force_map, q),
    )
    _require_polynomial(eom, terms)
    return terms


def _force_map(eom: EquationsOfMotion, t: Any, q: Any, p: Any) -> Any:
    B = eom.functions["input_map"](t, q, p)
    if not eom.constraint_rows:
        return B
    E = eom.functions["terms"](t, q, ca.SX.zeros(eom.n_v), ca.SX.zeros(eom.n_u), p)[5]
    return ca.horzcat(B, E)


def _kinematics(eom: EquationsOfMotion, q: Any, p: Any) -> tuple[ca.Function, ca.Function] | None:
    """Return W(q) and the derivative of W(q) v along q'; None where q' = V."""
    v, dq = ca.SX.sym("v", eom.n_v), ca.SX.sym("dq", eom.n_q)
    q_dot = eom.functions["q_dot"](0.0, q, v, p)
    W = ca.jacobian(q_dot, v)
    if not W.is_constant() or not ca.is_equal(ca.densify(W), ca.SX.eye(eom.n_v), 1):
        derivative = ca.jtimes(q_dot, q, dq)
        first = ca.Function("speed_map", [q, p], [ca.densify(W)], ["q", "p"], ["W"])
        return first, ca.Function(
            "speed_rate", [q, dq, v, p], [ca.densify(derivative)], ["q", "dq", "v", "p"], ["rate"]
        )
    return None


def _require_polynomial(eom: EquationsOfMotion, terms: _Terms) -> None:
    """Check that the bias is quadratic in the speeds (no dry friction, for example)."""
    rng = np.random.default_rng(0)
    q = eom.state(np.asarray(eom.x_rest) + 0.3 * rng.standard_normal(eom.n_x))[: eom.n_q]
    V = rng.standard_normal(eom.n_v)
    forces = np.array(terms.forces(q, V, np.zeros(eom.n_v), eom.p))
    for rate in (0.37, 2.3):
        exact = eom.bias(0.0, q, rate * V)
        found = forces[:, 1] * rate**2 + forces[:, 2] * rate + forces[:, 3]
        size = np.max(np.abs(forces)) + np.max(np.abs(exact))  # with M V: the bias itself may vanish
        bad = np.abs(exact - found) > 1e-9 * size
        if np.any(bad):
            name = eom.speeds[int(np.argmax(bad))]
            raise SolverError(
                f"system '{eom.system.name}': the force on '{name}' is not quadratic in the speeds (dry friction?); omit that "
                "part of the system, or use plan_collocation"
            )
