"""Solve a path for q(s) and its first and second derivatives.

The differential equation of the path is integrated once to follow its branch. At requested points, Newton's
method then satisfies the conditions to rounding, for all points at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from spacectl.core.errors import ModelError, SolverError
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.planners.paths.curves import Curve
from spacectl.planners.paths.path import Path
from spacectl.planners.paths.rule import PathRule, form_rule

__all__ = ["PathPoints", "SolvedPath", "solve_path"]

SINGULAR = 1e-6  #: inverse condition number of K (weighted) below which a path counts as singular
STEP_TOLERANCE = 1e-10  #: step tolerance of Newton's method, in the units of q


@dataclass(frozen=True)
class PathPoints:
    """Coordinates and their derivatives with respect to s, of shape (n, n_q), and the conditioning of each point."""

    s: np.ndarray
    q: np.ndarray
    dq: np.ndarray
    ddq: np.ndarray
    conditioning: np.ndarray


@dataclass(frozen=True, eq=False)
class SolvedPath:
    """A path with its branch of solutions.

    Parameters
    ----------
    path : Path
        The description.
    shape : Curve
        Its curve.
    base : array, shape (n_q,)
        Coordinates at the start.
    places : list of int or None
        For explicit paths, the indices in q of the curve's values.
    rule, follow, p, weights
        For others: conditions, the approximate branch as a function of s, parameters, and weights of q.
    """

    path: Path
    shape: Curve
    base: np.ndarray
    places: list[int] | None
    rule: PathRule | None = None
    follow: Any = None
    p: Any = None
    weights: Any = None

    @property
    def length(self) -> float:
        """Last value of s."""
        return self.shape.length

    @property
    def breaks(self) -> np.ndarray:
        """Ends of the smooth pieces."""
        return self.shape.breaks

    def evaluate(self, s: Any, piece: int = 0) -> PathPoints:
        """Evaluate q, q' and q'' at many s of one smooth piece.

        Raises
        ------
        SolverError
            If the path is singular or leaves the workspace of the system.
        """
        s = np.atleast_1d(np.asarray(s, dtype=float))
        sigma = self.shape.evaluate(s, piece)
        if self.places is not None:
            q = np.tile(self.base, (len(s), 1))
            dq, ddq = np.zeros(q.shape), np.zeros(q.shape)
            q[:, self.places], dq[:, self.places], ddq[:, self.places] = sigma
            return PathPoints(s, q, dq, ddq, np.ones(len(s)))
        q = self._close(s, sigma)
        dq, ddq, conditioning = _derivatives(self.rule, q, sigma, self.p, self.weights)
        _require_regular(self.path, s, conditioning)
        return PathPoints(s, q, dq, ddq, conditioning)

    def _close(self, s: np.ndarray, sigma: Any) -> np.ndarray:
        """Solve the position conditions by Newton's method from the branch."""
        q = np.array(self.follow(s).T)
        assert self.rule is not None
        return _newton(self.rule, q, sigma, self.p, self.weights, self.path, s)


def solve_path(eom: EquationsOfMotion, path: Path, p: Any = None) -> SolvedPath:
    """Solve the conditions of a path for given equations of motion.

    Parameters
    ----------
    eom : EquationsOfMotion
        The system.
    path : Path
        The path to solve.
    p : array, optional
        Run-time parameters; default the system's own.

    Returns
    -------
    SolvedPath
        q(s), q'(s), q''(s) at any s.

    Raises
    ------
    SolverError
        If the start cannot be reached, or the path becomes singular. The message states the position.

    References
    ----------
    Sadigh (1995), Eqs 8.12-8.16.
    """
    values = eom.parameters.of(p)
    base = np.array(np.asarray(eom.x_rest)[: eom.n_q])
    for name, value in path.at.items():
        base[eom.labels.q.index(name)] = value
    places = path.explicit(eom)
    if places is not None:
        return SolvedPath(path, path.shape, base, places)
    rule, weights = form_rule(eom, path), np.ones(eom.n_q)
    for name, value in path.weights.items():
        weights[eom.labels.q.index(name)] = value
    rows = rule.n_rows
    if rows > eom.n_q:
        raise ModelError(f"path '{path.name}': {rows} conditions on {eom.n_q} coordinates; omit some")
    begin = path.shape.evaluate(np.zeros(1), 0)
    q0 = _newton(rule, base[None, :], begin, values, weights, path, np.zeros(1), is_begin=True)[0]
    is_holonomic = rows == rule.n_position == eom.n_q
    follow = _follow(rule, path, q0, values, weights, 1e-6 if is_holonomic else 1e-11)
    return SolvedPath(path, path.shape, q0, None, rule, follow, values, weights)


def _follow(rule: PathRule, path: Path, q0: np.ndarray, p: np.ndarray, weights: np.ndarray, rtol: float) -> Any:
    """Integrate the path's differential equation from q0, piece by piece; return q as a function of s."""
    shape, solutions, q = path.shape, [], q0
    breaks = shape.breaks

    for i, (begin, end) in enumerate(zip(breaks[:-1], breaks[1:], strict=True)):

        def rate(s: float, at: np.ndarray, piece: int = i) -> np.ndarray:
            where = np.array([s])
            dq, _, conditioning = _derivatives(
                rule, at[None, :], shape.evaluate(where, piece), p, weights, second=False
            )
            _require_regular(path, where, conditioning)
            return dq[0]

        found = solve_ivp(rate, (begin, end), q, method="DOP853", rtol=rtol, atol=rtol, dense_output=True)
        if not found.success:
            raise SolverError(f"path '{path.name}': cannot be followed beyond s = {found.t[-1]:.6g} ({found.message})")
        solutions.append(found.sol)
        where = np.array([end])
        q = _newton(rule, found.y[:, -1][None, :], shape.evaluate(where, i), p, weights, path, where)[0]

    def follow(s: np.ndarray) -> np.ndarray:
        piece = np.clip(np.searchsorted(breaks, s, side="right") - 1, 0, len(solutions) - 1)
        out = np.empty((len(q0), len(s)))
        for i, solution in enumerate(solutions):
            out[:, piece == i] = solution(s[piece == i]) if np.any(piece == i) else 0.0
        return out

    return follow


def _newton(
    rule: PathRule,
    q: np.ndarray,
    sigma: Any,
    p: np.ndarray,
    weights: np.ndarray,
    path: Path,
    s: np.ndarray,
    is_begin: bool = False,
) -> np.ndarray:
    """Solve the position conditions for q by Newton steps of least weighted norm."""
    m = rule.n_position
    for _ in range(60 if is_begin else 12):
        G, K, _ = rule.first(q, sigma, p)
        step = -_least_norm(K[:, :m], G, weights)
        if is_begin:  # far from the path: limit steps to half a radian
            step *= np.minimum(1.0, 0.5 / np.maximum(np.max(np.abs(step), axis=1, keepdims=True), 1e-300))
        q = q + step
        if np.all(np.abs(step) <= STEP_TOLERANCE * np.maximum(1.0, np.abs(q))):
            return q
    worst = int(np.argmax(np.max(np.abs(step), axis=1)))
    what = "the start" if is_begin else f"s = {s[worst]:.6g}"
    raise SolverError(
        f"path '{path.name}': no coordinates satisfy its conditions at {what} (residual {np.max(np.abs(G[worst])):.3g}); "
        "is the point within reach, and `at` near the desired configuration?"
    )


def _least_norm(K: np.ndarray, r: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the solutions of K x = r of least weighted norm at many points; least squares if singular."""
    root = 1.0 / np.sqrt(weights)
    if K.shape[1] == K.shape[2]:
        try:
            return np.linalg.solve(K, r[:, :, None])[:, :, 0]
        except np.linalg.LinAlgError:
            pass
    return root * np.einsum("nij,nj->ni", np.linalg.pinv(K * root, rcond=1e-12), r)


def _derivatives(
    rule: PathRule | None, q: np.ndarray, sigma: Any, p: np.ndarray, weights: np.ndarray, second: bool = True
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return q' of least ``sum w q'^2``, its derivative q'', and the conditioning.

    ``q' = H^-1 K' mu`` with ``K H^-1 K' mu = r1``. Differentiated, ``q'' = H^-1 (K' mu' + dk' mu)`` with ``K
    q'' = r2``.
    """
    assert rule is not None
    _, K, r1 = rule.first(q, sigma, p)
    KH = K / weights
    S = KH @ K.transpose(0, 2, 1)
    conditioning, inverse = _conditioning(S)
    if inverse is None or np.any(conditioning < SINGULAR):
        return np.zeros(q.shape), np.zeros(q.shape), conditioning
    mu = np.einsum("nij,nj->ni", inverse, r1)
    dq = np.einsum("nij,ni->nj", KH, mu)
    if not second:
        return dq, np.zeros(q.shape), conditioning
    r2, dk = rule.second(q, dq, sigma, p)
    curvature_term = np.einsum("nij,ni->nj", dk / weights, mu)
    rest = np.einsum("nij,nj->ni", inverse, r2 - np.einsum("nij,nj->ni", K, curvature_term))
    return dq, np.einsum("nij,ni->nj", KH, rest) + curvature_term, conditioning


def _conditioning(S: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the inverse condition number of K (within a dimension factor) and S^-1, from ``S = K H^-1 K'``."""
    try:
        inverse = np.linalg.inv(S)
    except np.linalg.LinAlgError:
        values = np.linalg.svd(S, compute_uv=False)
        return np.sqrt(values[:, -1] / np.maximum(values[:, 0], 1e-300)), None
    size = np.linalg.norm(S, axis=(1, 2)) * np.linalg.norm(inverse, axis=(1, 2))
    return 1.0 / np.sqrt(size), inverse


def _require_regular(path: Path, s: np.ndarray, conditioning: np.ndarray) -> None:
    if np.all(conditioning >= SINGULAR):
        return
    worst = int(np.argmin(conditioning))
    raise SolverError(
        f"path '{path.name}': singular at s = {s[worst]:.6g} (ratio of singular values {conditioning[worst]:.1e}): the arm "
        "is stretched or folded there, or the path touches the workspace boundary; move the path, or select another branch "
        "by `at`"
    )
