"""Jumps of the speeds where constraints begin to act: the impulse that meets them and conserves momentum.

``M (v_after - v_before) = J_n' Lambda`` with ``J_n v_after = b`` for natural constraints; artificial ones are kept by
actuators, whose forces are finite, and give no impulse. Unilateral contacts push only, with Newton's restitution.
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

_OPEN = 1e-9  # of the largest speed (at least 1): what may stay open; rounding leaves far less
_IMPACTS = 50  # that may follow each other at one instant
_PASSES = 25  # of Newton's method; rows that are linear in the speeds need one, and one against rounding


@dataclass(frozen=True, kw_only=True)
class Impulse:
    """A jump of the speeds.

    Parameters
    ----------
    x : array, shape (n_x,)
        The state after it; coordinates do not change.
    impulses : mapping of str to float
        Impulse of each constraint row that took part [N s] or [N m s]; redundant constraints share it by least work, as they
        share a reaction (`AnyConstraint`), contacts without pulling.
    is_unique : mapping of str to bool
        Whether that impulse is unique. Of contacts, False also where only their signs leave one choice.
    energy_loss : float
        Energy before minus energy after [J].
    momentum_change : array, shape (6,)
        Momentum after minus before: angular about the root's origin, then linear; zero unless something is held to the root.
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
    """The jump at which named constraints begin to act, or at which contacts are hit.

    Least change of the speeds in the metric of the inertia (which is ``M dv = J' Lambda``) with ``J v = b`` for the active
    natural constraints and ``g_dot >= -restitution g_dot_before`` for contacts, whose impulses are not negative (Moreau's law,
    which never gains energy); where a contact approaches afterwards, another impact follows at the same instant.

    Parameters
    ----------
    eom : EquationsOfMotion
        Formed with ``switchable=True``.
    x : array, shape (n_x,)
        State before.
    active : iterable of str
        Constraints that act afterwards, old and new.
    contacts : iterable of str
        Constraints whose rows are gaps (open where positive) that push during the impact only.
    restitution : float
        Speed of separation over speed of approach, 0 (plastic) to 1 (elastic).
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
        If no speeds meet all constraints (they contradict each other), or an artificial one would need an impulse.

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
    numbers = active_numbers(eom, (*held, *hit), p)
    before = eom.state(np.array(x, dtype=float))
    solver = _Jump(eom, t, before, held, hit, numbers)
    v = solver.solve(e)
    after = np.concatenate([before[: eom.n_q], v])
    q, v_before = before[: eom.n_q], before[eom.n_q :]
    names = [eom.constraint_rows[k] for k in solver.pushing]
    unique = solver.share()
    return Impulse(
        x=after,
        impulses=dict(zip(names, solver.total.tolist(), strict=True)),
        is_unique=dict(zip(names, unique.tolist(), strict=True)),
        energy_loss=eom.energy(t, q, v_before, numbers) - eom.energy(t, q, v, numbers),
        momentum_change=eom.momentum(t, q, v, numbers) - eom.momentum(t, q, v_before, numbers),
    )


class _Jump:
    """One jump: rows that push (natural ones, then contacts), and the impulses found so far."""

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
        self.both = rows_of(eom, [name for name in held if name in natural])
        self.one = rows_of(eom, hit)
        self.kept = rows_of(eom, [name for name in held if name not in natural])
        self.pushing = [*self.both, *self.one]
        self.total = np.zeros(len(self.pushing))
        self.M, self.wanted = eom.mass_matrix(t, self.q, p), np.zeros(len(eom.constraint_rows))
        try:
            self.L = cholesky(self.M, lower=True)
        except np.linalg.LinAlgError as error:
            raise SolverError("find_impulse: the mass matrix is not positive definite") from error

    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Speed rows and their Jacobian at the present speeds."""
        found = self.eom.call("constraints", self.t, self.q, self.v, p=self.p)
        return found[1].reshape(-1), found[2]

    def solve(self, restitution: float) -> np.ndarray:
        """The speeds after the jump: impacts follow each other until no contact approaches (the last one is plastic)."""
        for k in range(_IMPACTS + 1):
            e = restitution if k < _IMPACTS else 0.0
            wanted = self._impact(e)
            speed, _ = self.rows()
            if not self.one or np.min(speed[self.one]) >= -_OPEN * self._size():
                break
        self._require_met(wanted)
        self.wanted = wanted
        return self.v

    def share(self) -> np.ndarray:
        """Give redundant constraints their shares of the impulse, contacts without pulling; which impulses are unique.

        ``Lambda = Lambda_0 + N z`` of least work with ``Lambda >= 0`` of contacts is a problem of least distance in
        ``R z + Q' D Lambda_0``, for ``D N = Q R``. Contacts that separate take no part.
        """
        speed, J = self.rows()
        touches = np.abs(speed - self.wanted) <= 1e3 * _OPEN * self._size()
        part = [k for k, row in enumerate(self.pushing) if row in self.both or touches[row]]
        rows = [self.pushing[k] for k in part]
        N = find_redundancy(J[rows].T, speed_scales(self.M)).directions if rows else np.zeros((0, 0))
        unique = np.ones(len(self.pushing), dtype=bool)
        if N.size:
            unique[part] = np.all(N == 0.0, axis=1)
            root, given = np.sqrt(np.array(compliances_of(self.eom))[rows]), self.total[part]
            Q, R = np.linalg.qr(root[:, None] * N)
            pushes = np.array([row in self.one for row in rows], dtype=bool)
            back, start = np.linalg.solve(R.T, N.T).T, Q.T @ (root * given)
            y = _least_distance(back[pushes].T, back[pushes] @ start - given[pushes])[0] if np.any(pushes) else 0.0
            self.total[part] = given + back @ (y - start)
            self.total[part] = np.where(pushes, np.maximum(self.total[part], 0.0), self.total[part])
        return unique

    def _impact(self, restitution: float) -> np.ndarray:
        """One impact, which all contacts take part in with one restitution: it cannot gain energy (Moreau)."""
        speed, _ = self.rows()
        wanted, start = np.zeros(speed.size), self.total.copy()
        wanted[self.one] = -restitution * speed[self.one]
        sticks = list(self.one)
        for k in range(_PASSES):
            speed, J = self.rows()
            left = wanted - speed
            if k > 0:
                pushed = (self.total - start)[len(self.both) :]
                sticks = [row for row, push in zip(self.one, pushed, strict=True) if push > 0.0]
            if k > 1 and np.max(np.abs(left[[*self.both, *sticks]]), initial=0.0) <= _OPEN * self._size():
                break
            self._push(left, J, sticks, is_first=k == 0)
        return wanted

    def _push(self, left: np.ndarray, J: np.ndarray, sticks: list[int], *, is_first: bool) -> None:
        """One pass: the least dv that closes what is left, and its impulses."""
        W = solve_triangular(self.L, J.T, lower=True)
        free, size = self.both if is_first else [*self.both, *sticks], np.linalg.norm(W, axis=0)
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
        rest[self.one] = np.maximum(wanted - speed, 0.0)[self.one]
        names, bound = self.eom.constraint_rows, 1e3 * _OPEN * self._size()
        open_rows = [names[k] for k in self.pushing if rest[k] > bound]
        if open_rows:
            worst = max(float(rest[k]) for k in self.pushing)
            raise SolverError(
                f"constraints contradict each other at t = {self.t:g} s: no speeds meet {', '.join(open_rows)} together "
                f"({worst:.3g} is left); let fewer of them act, or bring their prescribed speeds into agreement"
            )
        slipping = [names[k] for k in self.kept if rest[k] > bound]
        if slipping:
            raise SolverError(
                f"artificial constraint {', '.join(slipping)} is off by {max(rest[k] for k in self.kept):.3g} at t = "
                f"{self.t:g} s: its actuators cannot give an impulse; bring the speeds to it first, or make it natural"
            )


def _least_distance(W: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The least y with ``W' y >= c``, and the multipliers that are not negative (Lawson and Hanson's LDP)."""
    n, m = W.shape
    scale = max(float(np.max(np.abs(c), initial=0.0)), 1e-300)
    E, f = np.vstack([W, c[None, :] / scale]), np.append(np.zeros(n), 1.0)
    u = nnls(E, f)[0]
    r = E @ u - f
    if not -r[n] > 0.0:
        return np.zeros(n), np.zeros(m)  # no such y: the open constraints report it
    return r[:n] / r[n] * -scale, u / -r[n] * scale
