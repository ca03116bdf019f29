"""A motion of a rigid counterpart, read as a reference for the flexible system: same joints, modal coordinates at rest.

`vibration` linearises the flexible equations along it (Sadigh 1995, Eqs 8.6, 8.27); it does not satisfy
their elastic equations, and the residual is the drift that excites the vibration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl.core.errors import ModelError, unknown_name
from spacectl.core.trajectory import Trajectory
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.linear.models.reference import Reference, read_reference

__all__ = ["RigidMotion", "read_rigid_motion"]


@dataclass(frozen=True)
class RigidMotion:
    """Times, states of the flexible system, inputs and rates; a time occurs twice where inputs jump.

    `hold` are the inputs that maintain the final state.
    """

    t: np.ndarray
    x: np.ndarray
    u: np.ndarray
    x_dot: np.ndarray
    hold: np.ndarray

    @property
    def end(self) -> np.ndarray:
        """State at the end, at rest."""
        return self.x[-1]


def read_rigid_motion(
    eom: EquationsOfMotion, rigid: EquationsOfMotion, motion: Any, breaks: Any, what: str
) -> RigidMotion:
    """Embed a motion of `rigid` (a Simulation, a Plan, or (t, x, u)) in the states of `eom`.

    Raises
    ------
    ModelError
        If a state or input of the rigid system is not one of the flexible system, or the motion does not end at rest.
    """
    for kind, names, known in (("state", rigid.states, eom.states), ("input", rigid.inputs, eom.inputs)):
        for name in names:
            if name not in known:
                raise ModelError(
                    f"{what}: the rigid system has a {kind} that the flexible one lacks: {unknown_name(kind, name, known)}"
                )
    found = _read(rigid, motion, breaks)
    columns, pushed = (
        [eom.states.index(name) for name in rigid.states],
        [eom.inputs.index(name) for name in rigid.inputs],
    )
    rates = np.array([rigid.x_dot(t, x, u) for t, x, u in zip(found.t, found.x, found.u, strict=True)])
    x = np.tile(np.asarray(eom.x_rest, dtype=float), (found.t.size, 1))
    x_dot, u = np.zeros_like(x), np.zeros((found.t.size, eom.n_u))
    x[:, columns], x_dot[:, columns], u[:, pushed] = found.x, rates, found.u
    _require_rest(eom, x, what)
    x[-1, eom.n_q :] = 0.0
    return RigidMotion(found.t, x, u, x_dot, _holding(eom, float(found.t[-1]), x[-1], what))


def _read(rigid: EquationsOfMotion, motion: Any, breaks: Any) -> Reference:
    if isinstance(getattr(motion, "x", None), Trajectory) and isinstance(getattr(motion, "u", None), Trajectory):
        return _sample(rigid, motion.x, motion.u)
    return read_reference(rigid, motion, breaks=breaks)


def _sample(rigid: EquationsOfMotion, x: Trajectory, u: Trajectory) -> Reference:
    """Return tables at all their knots; knots that lie a rounding apart, or steps of a table that is held, are jumps."""
    near = 1e-9 * float(np.asarray(x.t)[-1] - np.asarray(x.t)[0])
    knots = np.asarray(u.t)
    times = np.sort(np.concatenate([np.asarray(x.t), knots]))
    grid = times[np.concatenate([np.diff(times) > near, [True]])]  # the last of those that lie together
    values, order = np.asarray(u.values), list(u.labels.indices(rigid.inputs))
    before = np.full(grid.size, -1)
    for k in range(1, knots.size):
        is_jump = (
            knots[k] - knots[k - 1] <= near if u.interpolation != "previous" else np.any(values[k] != values[k - 1])
        )
        if is_jump and grid[0] + near < knots[k] < grid[-1] - near:
            before[int(np.argmin(np.abs(grid - knots[k])))] = k - 1
    rows = np.sort(np.concatenate([np.arange(grid.size), np.flatnonzero(before >= 0)]))
    command = u(grid)[rows]
    first = np.flatnonzero(np.diff(rows) == 0)
    command[first] = values[before[rows[first]]]
    states = x(grid)[:, list(x.labels.indices(rigid.states))]
    return Reference(grid[rows], states[rows], command[:, order], None)


def _require_rest(eom: EquationsOfMotion, x: np.ndarray, what: str) -> None:
    speeds = x[:, eom.n_q :]
    largest = np.max(np.abs(speeds), axis=0)
    for k, name in enumerate(eom.speeds):
        if abs(speeds[-1, k]) > 1e-3 * max(largest[k], 1e-12):
            raise ModelError(
                f"{what}: the motion ends with '{name}' = {speeds[-1, k]:.3g}, expected a motion that ends at rest"
            )


def _holding(eom: EquationsOfMotion, t: float, x: np.ndarray, what: str) -> np.ndarray:
    """Return inputs of least size that leave no acceleration at the end; the elastic part may still be off its rest."""
    q, v = x[: eom.n_q], x[eom.n_q :]
    M, h, B_tau = eom.mass_matrix(t, q), eom.bias(t, q, v), eom.input_map(t, q)
    rows = np.flatnonzero(np.any(B_tau != 0.0, axis=1))
    if rows.size == 0:
        raise ModelError(f"{what}: no input acts on a joint at the end of the motion")
    scale = 1.0 / np.sqrt(np.diag(M))[rows]
    return np.linalg.lstsq(scale[:, None] * B_tau[rows], scale * h[rows], rcond=None)[0]
