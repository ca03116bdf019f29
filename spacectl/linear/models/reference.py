"""Read a motion given as a trajectory, arrays or a simulation into times, states and inputs with marked jumps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from spacectl.core.errors import ModelError, ShapeError
from spacectl.core.trajectory import Trajectory
from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["Reference", "read_reference"]


class Reference(NamedTuple):
    """Times (n_t,), states (n_t, n_x), inputs (n_t, n_u), rates (n_t, n_x) or None; the time of a jump occurs twice."""

    t: np.ndarray
    x: np.ndarray
    u: np.ndarray
    x_dot: np.ndarray | None


def read_reference(
    eom: EquationsOfMotion, reference: Any, *, u: Any = None, x_dot: Any = None, breaks: Iterable[float] = ()
) -> Reference:
    """Return the motion as arrays; see `linearize_along` for the accepted types."""
    t, x, given = _arrays(eom, reference)
    if u is not None:
        given = u
    if given is None:
        given = np.zeros((t.size, eom.n_u))
    jumps = set(float(time) for time in breaks)
    if isinstance(given, Trajectory):
        command, own = _inputs_of(eom, given, t)
        jumps |= own
    else:
        command = np.asarray(given, dtype=float)
    rates = None if x_dot is None else np.asarray(x_dot, dtype=float)
    for name, array, size in (("x", x, eom.n_x), ("u", command, eom.n_u), ("x_dot", rates, eom.n_x)):
        if array is not None and array.shape != (t.size, size):
            raise ShapeError(
                f"linearize_along: {name} has shape {array.shape}, expected ({t.size}, {size}): time first"
            )
        if array is not None and not np.all(np.isfinite(array)):
            raise ModelError(f"linearize_along: {name} has an entry that is not finite")
    if t.size < 1 or np.any(np.diff(t) < 0.0) or np.any((np.diff(t, n=2) == 0.0) & (np.diff(t)[1:] == 0.0)):
        raise ModelError("linearize_along: times must increase; a time may occur twice, for a jump of inputs")
    _check_states(eom, t, x)
    twice = t[:-1][np.diff(t) == 0.0]
    for time in sorted(jumps - set(twice.tolist())):
        t, x, command, rates = _insert_jump(t, x, command, rates, time)
    return Reference(t, x, command, rates)


def _arrays(eom: EquationsOfMotion, reference: Any) -> tuple[np.ndarray, np.ndarray, Any]:
    """Return times, states and inputs (possibly None) as given."""
    if isinstance(reference, Trajectory):
        order = [reference.labels.index(name) for name in eom.states]
        return np.asarray(reference.t), np.asarray(reference.values)[:, order], None
    if isinstance(reference, (tuple, list)) and len(reference) in (2, 3):
        t, x, u = (*reference, None)[:3]
    elif all(hasattr(reference, name) for name in ("t", "x", "u")):
        t, x, u = reference.t, reference.x, reference.u
    else:
        raise ModelError(
            f"linearize_along: the reference is {type(reference).__name__}; expected a Trajectory of all states, "
            "(t, x, u), or a Simulation"
        )
    return np.asarray(t, dtype=float).reshape(-1), np.asarray(x, dtype=float), u


def _inputs_of(eom: EquationsOfMotion, table: Trajectory, t: np.ndarray) -> tuple[np.ndarray, set[float]]:
    """Return inputs by name over t, and the times at which a piecewise constant table changes them."""
    command = np.zeros((t.size, eom.n_u))
    command[:, list(eom.labels.u.indices(table.labels.names))] = table(t)
    if table.interpolation != "previous":
        return command, set()
    knots, values = np.asarray(table.t), np.asarray(table.values)
    changed = knots[1:][np.any(np.diff(values, axis=0) != 0.0, axis=1)]
    return command, set(changed[(changed > t[0]) & (changed < t[-1])].tolist())


def _insert_jump(
    t: np.ndarray, x: np.ndarray, u: np.ndarray, rates: np.ndarray | None, time: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
    """Return the same motion with `time` twice: with the preceding input, and with its own."""
    k = int(np.argmin(np.abs(t - time)))
    if abs(t[k] - time) > 1e-12 * max(1.0, abs(time)):
        raise ModelError(
            f"linearize_along: an input jumps at t = {time:g} s, which is not a time of the reference "
            f"(nearest {t[k]:g} s); add it to its grid"
        )
    if k in (0, t.size - 1):
        return t, x, u, rates  # nothing before or after it
    left = np.insert(u, k, u[k - 1], axis=0)
    doubled = None if rates is None else np.insert(rates, k, rates[k], axis=0)
    return np.insert(t, k, t[k]), np.insert(x, k, x[k], axis=0), left, doubled


def _check_states(eom: EquationsOfMotion, t: np.ndarray, x: np.ndarray) -> None:
    for k in eom.quaternions:
        length = np.linalg.norm(x[:, k : k + 4], axis=1)
        bad = np.flatnonzero(np.abs(length - 1.0) > 1e-6)
        if bad.size:
            raise ModelError(
                f"linearize_along: quaternion '{eom.states[k]}' has norm {length[bad[0]]:.6g} at t = {t[bad[0]]:g} s; "
                "scale it to 1"
            )
    for k in np.flatnonzero(np.diff(t) == 0.0).tolist():
        moved = np.flatnonzero(x[k] != x[k + 1])
        if moved.size:
            raise ModelError(
                f"linearize_along: state '{eom.states[moved[0]]}' jumps at t = {t[k]:g} s; only inputs may jump"
            )
