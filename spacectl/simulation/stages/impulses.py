"""Compute jumps of the speeds where constraints become active: the impulse that satisfies them and conserves momentum.

``M (v_after - v_before) = J_n' Lambda`` with ``J_n v_after = b`` for natural constraints. Artificial constraints are maintained
by actuators with finite forces and give no impulse. Unilateral contacts can only push, with Newton's restitution.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import nnls

from spacectl.core.array import Array, as_scalar
from spacectl.core.errors import ModelError, SolverError
from spacectl.dynamics.constraints.sharing import find_redundancy
from spacectl.dynamics.constraints.solvers import NEGLIGIBLE, RANK, speed_scales
from spacectl.dynamics.formulations.switching import active_numbers, compliances_of, constraints_of, rows_of
from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["Impulse", "find_impulse"]

_OPEN = 1e-9  # tolerance of residuals, relative to the largest speed (at least 1); rounding errors are far smaller
_IMPACTS = 50  # largest number of successive impacts with restitution at one instant
_PASSES = 25  # largest number of Newton iterations; equations linear in the speeds need one, and one against rounding


@dataclass(frozen=True, kw_only=True)
class Impulse:
    """Describe a jump of the speeds.

    Parameters
    ----------
    x : array, shape (n_x,)
        State after the jump; the coordinates do not change.
    impulses : mapping of str to float
        Impulse of each constraint equation involved [N s] or [N m s]. Redundant constraints share it by least work, as they
        share a reaction (`AnyConstraint`); contacts do not pull.
    is_unique : mapping of str to bool
        Whether that impulse is unique. For contacts it is also False if only the sign condition makes it unique.
    energy_loss : float
        Energy before minus energy after [J].
    momentum_change : array, shape (6,)
        Momentum after minus momentum before: angular about the root's origin, then linear. Zero unless a constraint connects
        a body to the root.
    """

    x: Any
    impulses: Mapping[str, float]
    energy_loss: float
    momentum_change: Any
    is_unique: Mapping[str, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for key in ("x", "momentum_change"):
            object.__setattr__(self, key, Array(getattr(self, key)))


def find_impulse(
    eom: EquationsOfMotion,
    x: Any,
    *,
    active: Iterable[str] = (),
    contacts: Iterable[str] = (),
    restitution: float = 0.0,
    t: float = 0.0,
    p: Any = None,
) -> Impulse:
    """Compute the jump at which named constraints become active, or contacts are hit.

    The change of the speeds is the smallest one in the metric of the mass matrix (equivalent to ``M dv = J' Lambda``) with
    ``J v = b`` for active natural constraints and ``g_dot >= -restitution g_dot_before`` for contacts, whose impulses are not
    negative. This is Moreau's law, which never gains energy. If a contact approaches after the impact, another impact follows
    at the same instant.

    Parameters
    ----------
    eom : EquationsOfMotion
        Equations formed with ``switchable=True``.
    x : array, shape (n_x,)
        State before the jump.
    active : iterable of str
        Names of all constraints that are active after the jump.
    contacts : iterable of str
        Constraints whose equations are gaps (positive if open), which act during the impact only and can only push.
    restitution : float
        Ratio of separation speed to approach speed, 0 (plastic) to 1 (elastic).
    t : float
        Time [s].
    p : array, optional
        Run-time parameters.

    Returns
    -------
    Impulse

    Raises
    ------
    SolverError
        If no speeds satisfy all constraints (they contradict each other), or an artificial one would need an impulse.

    Examples
    --------
    ``find_impulse(eom, x, active=("latch",)).energy_loss``
    """
    e = as_scalar(restitution, "find_impulse: restitution")
    if not 0.0 <= e <= 1.0:
        raise ModelError(f"find_impulse: restitution is {e:g}, expected between 0 (plastic) and 1 (elastic)")
    held, hit = tuple(active), tuple(contacts)
    if both := set(held) & set(hit):
        raise ModelError(f"find_impulse: '{min(both)}' is both active and a contact; name it once")
    parameters = active_numbers(eom, (*held, *hit), p)
    before = eom.state(np.array(x, dtype=float))
    solver = _Jump(eom, t, before, held, hit, parameters)
    v = solver.solve(e)
    after = np.concatenate([before[: eom.n_q], v])
    q, v_before = before[: eom.n_q], before[eom.n_q :]
    names = [eom.constraint_rows[k] for k in solver.pushing]
    unique = solver.share()
    return Impulse(
        x=after,
        impulses=dict(zip(names, solver.total.tolist(), strict=True)),
        is_unique=dict(zip(names, unique.tolist(), strict=True)),
        energy_loss=eom.energy(t, q, v_before, parameters) - eom.energy(t, q, v, parameters),
        momentum_change=eom.momentum(t, q, v, parameters) - eom.momentum(t, q, v_before, parameters),
    )


class _Jump:
    """Solve one jump; `pushing` has the equations with impulses (natural constraints, then contacts), `total` the impulses."""

    def __init__(
        self,
        eom: EquationsOfMotion,
        t: float,
        x: np.ndarray,
        held: tuple[str, ...],
        hit: tuple[str, ...],
        p: np.ndarray,
    ):
        self.eom, self.t, self.q, self.v, self.p = eom, t, x[: eom.n_q], x[eom.n_q :].copy(), p
        natural = [item.name for item in constraints_of(eom) if item.is_natural]
        self.bilateral = rows_of(eom, [name for name in held if name in natural])
        self.unilateral = rows_of(eom, hit)
        self.artificial = rows_of(eom, [name for name in held if name not in natural])
        self.pushing = [*self.bilateral, *self.unilateral]
        self.total = np.zeros(len(self.pushing))
        self.M, self.wanted = eom.mass_matrix(t, self.q, p), np.zeros(len(eom.constraint_rows))
        try:
            self.L = cholesky(self.M, lower=True)
        except np.linalg.LinAlgError as error:
            raise SolverError("find_impulse: the mass matrix is not positive definite") from error

    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the residuals at speed level and their Jacobian at the current speeds."""
        found = self.eom.call("constraints", self.t, self.q, self.v, p=self.p)
        return found[1].reshape(-1), found[2]

    def solve(self, restitution: float) -> np.ndarray:
        """Return the speeds after successive impacts, until no contact approaches; the last possible impact is plastic."""
        for k in range(_IMPACTS + 1):
            e = restitution if k < _IMPACTS else 0.0
            wanted = self._impact(e)
            speed, _ = self.rows()
            if not self.unilateral or np.min(speed[self.unilateral]) >= -_OPEN * self._size():
                break
        self._require_met(wanted)
        self.wanted = wanted
        return self.v

    def share(self) -> np.ndarray:
        """Distribute the impulse over redundant constraints, without tension in contacts; return which impulses are unique.

        ``Lambda = Lambda_0 + N z`` with least work and ``Lambda >= 0`` for contacts is a least-distance problem in
        ``R z + Q' D Lambda_0``, with ``D N = Q R``. Contacts that separate are excluded.
        """
        speed, J = self.rows()
        touches = np.abs(speed - self.wanted) <= 1e3 * _OPEN * self._size()
        part = [k for k, row in enumerate(self.pushing) if row in self.bilateral or touches[row]]
        rows = [self.pushing[k] for k in part]
        N = find_redundancy(J[rows].T, speed_scales(self.M)).directions if rows else np.zeros((0, 0))
        unique = np.ones(len(self.pushing), dtype=bool)
        if N.size:
            unique[part] = np.all(N == 0.0, axis=1)
            root, given = np.sqrt(np.array(compliances_of(self.eom))[rows]), self.total[part]
            Q, R = np.linalg.qr(root[:, None] * N)
            pushes = np.array([row in self.unilateral for row in rows], dtype=bool)
            back, start = np.linalg.solve(R.T, N.T).T, Q.T @ (root * given)
            y = _least_distance(back[pushes].T, back[pushes] @ start - given[pushes])[0] if np.any(pushes) else 0.0
            self.total[part] = given + back @ (y - start)
            self.total[part] = np.where(pushes, np.maximum(self.total[part], 0.0), self.total[part])
        return unique

    def _impact(self, restitution: float) -> np.ndarray:
        """Apply one impact of all contacts with one restitution, which cannot gain energy (Moreau); return the target speeds."""
        speed, _ = self.rows()
        wanted, start = np.zeros(speed.size), self.total.copy()
        wanted[self.unilateral] = -restitution * speed[self.unilateral]
        sticks = list(self.unilateral)
        for k in range(_PASSES):
            speed, J = self.rows()
            left = wanted - speed
            if k > 0:
                pushed = (self.total - start)[len(self.bilateral) :]
                sticks = [row for row, push in zip(self.unilateral, pushed, strict=True) if push > 0.0]
            if k > 1 and np.max(np.abs(left[[*self.bilateral, *sticks]]), initial=0.0) <= _OPEN * self._size():
                break
            self._push(left, J, sticks, is_first=k == 0)
        return wanted

    def _push(self, left: np.ndarray, J: np.ndarray, sticks: list[int], *, is_first: bool) -> None:
        """Apply one Newton iteration: the smallest dv that removes the residuals, and its impulses."""
        W = solve_triangular(self.L, J.T, lower=True)
        free, size = self.bilateral if is_first else [*self.bilateral, *sticks], np.linalg.norm(W, axis=0)
        size = np.where(size > NEGLIGIBLE * np.max(size, initial=0.0), size, np.inf)
        W = W / size
        b = left / size
        y = np.linalg.lstsq(W[:, free].T, b[free], rcond=RANK)[0] if free else np.zeros(W.shape[0])
        pushes = np.zeros(left.size)
        if is_first and sticks:
            inside = W[:, sticks] - W[:, free] @ np.linalg.lstsq(W[:, free], W[:, sticks], rcond=RANK)[0]
            z, pushes[sticks] = _least_distance(inside, b[sticks] - W[:, sticks].T @ y)
            y = y + z
        if free:
            pushes[free] = np.linalg.lstsq(W[:, free], y - W[:, sticks] @ pushes[sticks] * is_first, rcond=RANK)[0]
        self.v = self.v + solve_triangular(self.L.T, y, lower=False)
        self.total += (pushes / size)[self.pushing]

    def _size(self) -> float:
        return max(1.0, float(np.max(np.abs(self.v), initial=0.0)))

    def _require_met(self, wanted: np.ndarray) -> None:
        speed, _ = self.rows()
        rest = np.abs(wanted - speed)
        rest[self.unilateral] = np.maximum(wanted - speed, 0.0)[self.unilateral]
        names, bound = self.eom.constraint_rows, 1e3 * _OPEN * self._size()
        open_rows = [names[k] for k in self.pushing if rest[k] > bound]
        if open_rows:
            worst = max(float(rest[k]) for k in self.pushing)
            raise SolverError(
                f"constraints contradict each other at t = {self.t:g} s: no speeds satisfy {', '.join(open_rows)} together "
                f"(residual {worst:.3g}); activate fewer of them, or make their prescribed speeds consistent"
            )
        slipping = [names[k] for k in self.artificial if rest[k] > bound]
        if slipping:
            raise SolverError(
                f"artificial constraint {', '.join(slipping)} is off by {max(rest[k] for k in self.artificial):.3g} at t = "
                f"{self.t:g} s: its actuators cannot give an impulse; satisfy it before it becomes active, or make it natural"
            )


def _least_distance(W: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest y with ``W' y >= c`` and its non-negative multipliers (algorithm LDP of Lawson and Hanson)."""
    n, m = W.shape
    scale = max(float(np.max(np.abs(c), initial=0.0)), 1e-300)
    E, f = np.vstack([W, c[None, :] / scale]), np.append(np.zeros(n), 1.0)
    u = nnls(E, f)[0]
    r = E @ u - f
    if not -r[n] > 0.0:
        return np.zeros(n), np.zeros(m)  # infeasible: `_require_met` reports the violated constraints
    return r[:n] / r[n] * -scale, u / -r[n] * scale
