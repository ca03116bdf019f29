"""The conditions of a path on the coordinates, with exact derivatives, as CasADi functions.

The first derivatives along s satisfy the linear equations K q' = r (Sadigh 1995, Eq 8.15), and the second
derivatives (Eq 8.16) the same equations with another right-hand side. The rows are conditions of the path,
natural constraints, unit quaternions and, for a free base, zero momentum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from spacectl.core.errors import ModelError
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.planners.paths.path import Path

__all__ = ["PathRule", "form_rule"]


@dataclass(frozen=True, eq=False)
class PathRule:
    """Functions ``(q, sigma, sigma', p) -> (G, K, r1)`` and ``(q, q', sigma, sigma', sigma'', p) -> (r2, K')``.

    The first `n_position` rows are position conditions.
    """

    first_terms: ca.Function
    second_terms: ca.Function
    n_position: int

    @property
    def n_rows(self) -> int:
        """Number of rows of K."""
        return int(self.first_terms.size1_out(1))

    def first(self, q: np.ndarray, sigma: Any, p: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return G (n, m), K (n, m_all, n_q), r1 (n, m_all) at many points: q (n, n_q), sigma three arrays (n, k)."""
        G, K, r1 = _along(self.first_terms, [q, sigma[0], sigma[1]], p)
        return G[:, :, 0], K, r1[:, :, 0]

    def second(self, q: np.ndarray, dq: np.ndarray, sigma: Any, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return r2 (n, m_all) and K' (n, m_all, n_q) at many points."""
        r2, dk = _along(self.second_terms, [q, dq, *sigma], p)
        return r2[:, :, 0], dk


def _along(function: ca.Function, columns: list[np.ndarray], p: np.ndarray) -> list[np.ndarray]:
    n = len(columns[0])
    found = function.call([ca.DM(np.ascontiguousarray(np.asarray(item).T)) for item in columns] + [ca.DM(p)])
    sizes = [function.size_out(i) for i in range(function.n_out())]
    return [value.full().reshape(r, n, w).transpose(1, 0, 2) for value, (r, w) in zip(found, sizes, strict=True)]


def form_rule(eom: EquationsOfMotion, path: Path) -> PathRule:
    """Form the conditions of a path for given equations of motion.

    Raises
    ------
    ModelError
        If the path refers to an unknown name, or to an output that depends on speeds.
    """
    q, dq = ca.SX.sym("q", eom.n_q), ca.SX.sym("dq", eom.n_q)
    k = path.shape.size
    sigma, dsigma, ddsigma = (ca.SX.sym(name, k) for name in ("sigma", "dsigma", "ddsigma"))
    p = ca.SX.sym("p", len(eom.p))
    G = ca.vertcat(
        path.conditions(q, _outputs_at_rest(eom, path, q, p), sigma, eom),
        _position_rows(eom, q, p),
        *[ca.sumsqr(q[i : i + 4]) - 1.0 for i in eom.quaternions],
    )
    both, rates = ca.vertcat(q, sigma), ca.vertcat(dq, dsigma)
    slope = ca.jtimes(G, both, rates)
    r1 = -ca.jtimes(G, sigma, dsigma)
    r2 = -(ca.jtimes(slope, both, rates) + ca.jtimes(G, sigma, ddsigma))
    K = ca.jacobian(G, q)
    n_position = int(G.shape[0])
    if path.free_floating:
        N = _momentum_rows(eom, path, q, p)
        K, r1 = ca.vertcat(K, N), ca.vertcat(r1, ca.SX.zeros(N.shape[0]))
        r2 = ca.vertcat(r2, -ca.jtimes(N @ dq, q, dq))
    dk = ca.reshape(ca.jtimes(ca.vec(K), both, rates), *K.shape)
    first_terms = ca.Function("path_first", [q, sigma, dsigma, p], [ca.densify(item) for item in (G, K, r1)])
    arguments = [q, dq, sigma, dsigma, ddsigma, p]
    return PathRule(first_terms, ca.Function("path_second", arguments, [ca.densify(r2), ca.densify(dk)]), n_position)


def _outputs_at_rest(eom: EquationsOfMotion, path: Path, q: Any, p: Any) -> Any:
    if eom.n_y == 0:
        return ca.SX(0, 1)
    function = eom.functions["sensors"]
    return function(0.0, ca.vertcat(q, ca.SX.zeros(eom.n_v)), p)


def _position_rows(eom: EquationsOfMotion, q: Any, p: Any) -> Any:
    n = len(eom.position_rows)
    if n < len(eom.constraint_rows):
        extra = [name for name in eom.constraint_rows if name not in eom.position_rows]
        raise ModelError(f"path: constraint '{extra[0]}' constrains speeds only; paths require position constraints")
    return eom.functions["residual"](0.0, q, ca.SX.zeros(eom.n_v), p)[:n] if n else ca.SX(0, 1)


def _momentum_rows(eom: EquationsOfMotion, path: Path, q: Any, p: Any) -> Any:
    """Return rows ``M_b W^+`` of the unactuated speeds: zero momentum is ``M_b v = 0``."""
    B = np.asarray(eom.input_map(0.0, np.asarray(eom.x_rest)[: eom.n_q]))
    free = [i for i in range(eom.n_v) if not np.any(B[i])]
    if not free:
        raise ModelError(f"path '{path.name}': free_floating, but every speed has an actuator; leave it out")
    M = eom.functions["mass_matrix"](0.0, q, p)
    v = ca.SX.sym("v", eom.n_v)
    W = ca.jacobian(eom.functions["q_dot"](0.0, q, v, p), v)
    # the columns of W are orthogonal (identity or quaternion rates), so the pseudo-inverse is W' with scaled rows
    inverse = ca.diag(1.0 / ca.sum1(W * W).T) @ W.T
    return M[free, :] @ inverse
