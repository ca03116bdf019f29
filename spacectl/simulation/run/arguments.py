"""Check the arguments of `simulate` and convert them to arrays; errors name the argument, its value and the remedy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from spacectl.codegen.bound_function import BoundFunction
from spacectl.core.array import as_array, as_scalar
from spacectl.core.errors import ModelError, ShapeError, warn
from spacectl.core.input_checks import require_memory
from spacectl.core.labels import Labels
from spacectl.dynamics.closing.weak_loops import singular_loop
from spacectl.dynamics.tree.irregular import explain_undefined, require_defined
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.simulation.events import Guard

__all__ = [
    "check_atol",
    "check_constraints",
    "check_flags",
    "check_grid",
    "check_guards",
    "check_inputs",
    "check_parameters",
    "check_rates",
    "check_span",
    "check_state",
    "check_steps",
    "check_stops",
    "require_room",
    "rounding_floor",
    "warn_if_singular",
]

_NEAR_UNIT = 1e-6  # deviation of a quaternion norm from 1 that is attributed to rounding and removed


def check_span(t_span: Any) -> tuple[float, float]:
    """Return start and end time of the run [s]."""
    span = np.asarray(as_array(t_span, None, "t_span"))
    if span.shape != (2,) or not span[0] < span[1]:
        raise ModelError(f"t_span is {np.asarray(t_span).tolist()}, expected (begin, end) with begin < end, in seconds")
    return float(span[0]), float(span[1])


def check_guards(guards: Any) -> tuple[Guard, ...]:
    """Return the guards as a tuple."""
    if isinstance(guards, Guard):
        raise ModelError(f"guards is the single guard '{guards.name}', expected a sequence; write guards=(guard,)")
    try:
        watched = tuple(guards)
    except TypeError as error:
        raise ModelError(f"guards is a {type(guards).__name__}, expected a sequence of Guard") from error
    for item in watched:
        if not isinstance(item, Guard):
            raise ModelError(f"guards: got a {type(item).__name__}, expected Guard(name=..., expression=lambda s: ...)")
    return watched


def check_grid(grid: Any, span: tuple[float, float], *, columns: int = 1) -> np.ndarray:
    """Return the times to record from a number of points, or increasing times inside the span; None means 201 points.

    Records with this number of `columns` must fit into memory.
    """
    if grid is None:
        grid = 201
    if isinstance(grid, (bool, np.bool_)):
        raise ModelError(f"grid is {grid}, expected a number of points or an array of times")
    if isinstance(grid, (int, np.integer)):
        if grid < 2:
            raise ModelError(f"grid is {grid}, expected at least 2 points (begin and end)")
        require_room(int(grid), columns)
        return np.linspace(span[0], span[1], int(grid))
    times = np.asarray(as_array(grid, None, "grid"))
    if times.ndim != 1 or times.size == 0:
        raise ShapeError(f"grid has shape {times.shape}, expected a number of points or an array of times (n,)")
    if np.any(np.diff(times) <= 0.0):
        raise ModelError("grid: the times must increase; sort them and remove duplicates")
    if times[0] < span[0] or times[-1] > span[1]:
        raise ModelError(
            f"grid runs from {times[0]:g} to {times[-1]:g} s, outside t_span = ({span[0]:g}, {span[1]:g}); widen t_span"
        )
    return times


def require_room(rows: int, columns: int, runs: int = 1) -> None:
    """Raise `ModelError` if the records do not fit into memory."""
    summary = f"records at grid = {rows} times" + (f" in {runs} runs" if runs > 1 else "")
    require_memory(8.0 * rows * max(columns, 1) * runs, summary, "record fewer times")


def check_state(eom: EquationsOfMotion, x0: Any) -> np.ndarray:
    """Return the initial state, shape (n_x,), with unit quaternions."""
    if x0 is None:
        x0 = {}
    if isinstance(x0, Mapping):
        for name, value in x0.items():
            as_scalar(value, f"x0: '{name}'")
        given = eom.state(**dict(x0))
    else:
        given = np.asarray(as_array(x0, None, "x0"))
        if given.shape != (eom.n_x,):
            raise ShapeError(f"x0 has shape {given.shape}, expected ({eom.n_x},): {_listed(eom.states)}")
    x = np.array(given, dtype=float)
    for k in eom.quaternions:
        norm = float(np.linalg.norm(x[k : k + 4]))
        if not abs(norm - 1.0) <= _NEAR_UNIT:
            raise ModelError(
                f"x0: the quaternion '{eom.states[k]}' to '{eom.states[k + 3]}' has norm {norm:g}, expected 1; "
                "divide it by its norm"
            )
        x[k : k + 4] /= norm
    return x


def check_inputs(eom: EquationsOfMotion, u: Any, commanded: Sequence[int]) -> np.ndarray:
    """Return the inputs that no law commands, shape (n_u,); the law commands those with indices `commanded`."""
    if u is None:
        return np.zeros(eom.n_u)
    if isinstance(u, Mapping):
        values = eom.labels.u.vector({name: as_scalar(value, f"u: '{name}'") for name, value in u.items()})
    else:
        values = np.array(as_array(u, None, "u"), dtype=float)
        if values.shape != (eom.n_u,):
            raise ShapeError(f"u has shape {values.shape}, expected ({eom.n_u},): {_listed(eom.inputs)}")
    for i in commanded:
        if (isinstance(u, Mapping) and eom.inputs[i] in u) or values[i] != 0.0:
            raise ModelError(f"u: input '{eom.inputs[i]}' is commanded by the law; give u only for the other inputs")
    return values


def check_parameters(eom: EquationsOfMotion, p: Any) -> np.ndarray:
    """Return the run-time parameters from a vector, named changes, or None for those of the system."""
    if p is None:
        return np.array(eom.p)
    return np.array(eom.check_parameters(p))


def check_constraints(eom: EquationsOfMotion, t: float, x0: np.ndarray, p: np.ndarray) -> None:
    """Raise `ModelError` if the initial state does not satisfy the constraints."""
    if not eom.constraint_rows:
        return
    require_defined(eom, t, x0, p)
    q, v = x0[: eom.n_q], x0[eom.n_q :]
    left = np.abs(eom.residual(t, q, v, p))
    size = max(1.0, float(np.max(np.abs(x0))))
    if np.max(left) > 1e-6 * size:
        names = (*eom.position_rows, *(f"rate of {name}" for name in eom.constraint_rows))
        worst = int(np.argmax(left))
        raise ModelError(
            f"x0 does not meet the constraints: {names[worst]} is off by {left[worst]:.3g}; "
            "pass make_consistent(eom, x0).x"
        )


def check_rates(eom: EquationsOfMotion, plant: BoundFunction, t: float, x0: np.ndarray, p: np.ndarray) -> None:
    """Raise `ModelError` if the force of an element (or gravity) is not finite at the initial state."""
    plant.arguments[0][0], plant.arguments[1][:], plant.arguments[2][:] = t, x0, 0.0
    is_done = plant.call()
    plant.error = None
    if is_done and np.all(np.isfinite(plant.results[0])):
        return
    reason = explain_undefined(eom, t, x0, p)
    if reason:
        raise ModelError(f"x0 of system '{eom.system.name}' has no accelerations: {reason}")


def warn_if_singular(eom: EquationsOfMotion, t: float, x0: np.ndarray, p: np.ndarray) -> None:
    """Warn if the initial state is a singular configuration, from which several motions may start."""
    loop = singular_loop(eom, t, x0, p)
    if loop is not None:
        warn(
            f"simulate: system '{eom.system.name}' starts in a singular position of {loop} ({loop.measure}): it has "
            "additional instantaneous freedoms there, and rounding errors decide which branch of motion it follows; start beside "
            "it, for example at make_consistent(eom, x0, hold=(...)) with another value of a joint"
        )


def rounding_floor(eom: EquationsOfMotion, x0: np.ndarray) -> np.ndarray:
    """Return the smallest reasonable absolute tolerance of each state, shape (n_x,).

    In an orbit of 7000 km even a coordinate near zero has the rounding error of the others, 1e-9 m, and a smaller tolerance
    would only follow noise. The bound is 64 rounding errors of the largest coordinate (or speed) of the same joint and
    unit.
    """
    group = _joints(eom.labels.x)
    largest = np.zeros(eom.n_x)
    np.maximum.at(largest, group, np.abs(x0))
    return 64.0 * np.finfo(float).eps * largest[group]


@lru_cache(maxsize=64)
def _joints(labels: Labels) -> np.ndarray:
    """Return for each state the index of its group, the states of the same joint and unit."""
    keys = [(name.rsplit(".", 1)[0], unit) for name, unit in zip(labels.names, labels.units, strict=True)]
    first = {key: i for i, key in reversed(list(enumerate(keys)))}
    return np.array([first[key] for key in keys], dtype=int)


def check_atol(atol: Any, rtol: Any, n_x: int, n_memory: int) -> tuple[np.ndarray, float]:
    """Return the absolute tolerances of the integrated states (the smallest one for the memory), and the relative one."""
    relative = as_scalar(rtol, "rtol")
    if not 100.0 * np.finfo(float).eps <= relative < 1.0:
        raise ModelError(f"rtol is {relative:g}, expected between 2.3e-14 (a hundred roundings) and 1")
    absolute = np.asarray(as_array(atol, None, "atol"))
    if absolute.shape not in ((), (n_x,)):
        raise ShapeError(f"atol has shape {absolute.shape}, expected a number or ({n_x},), one for each state")
    if not np.all(absolute > 0.0):
        raise ModelError(
            "atol: every entry must be positive; for a state that stays near zero give its unit's smallest size"
        )
    vector = np.full(n_x, absolute) if absolute.ndim == 0 else absolute
    return np.concatenate([vector, np.full(n_memory, np.min(absolute))]), relative


def check_steps(max_step: Any, max_steps: Any) -> tuple[float, int]:
    """Return the maximum step length [s] and number of steps."""
    try:
        longest, count = float(max_step), int(max_steps)
        if count != max_steps or isinstance(max_steps, (bool, str)) or isinstance(max_step, (bool, str)):
            raise ValueError
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelError(
            f"max_step is {max_step!r} and max_steps {max_steps!r}, expected numbers (max_steps a whole one)"
        ) from error
    if not longest > 0.0:
        raise ModelError(f"max_step is {longest:g} s, expected a positive number or inf")
    if count < 1:
        raise ModelError(f"max_steps is {count}, expected at least 1")
    return longest, count


def check_flags(**flags: Any) -> None:
    """Raise `ModelError` for an argument that is not a bool: a text such as "no" would count as True."""
    for name, value in flags.items():
        if not isinstance(value, (bool, np.bool_)):
            raise ModelError(f"{name} is {value!r}, expected True or False")


def check_stops(stops: Any, span: tuple[float, float]) -> np.ndarray:
    """Return the times inside the span at which the right-hand side may jump, sorted."""
    times = np.asarray(as_array(stops, None, "stops")).reshape(-1)
    if not times.size:
        return times
    times = np.unique(times)
    return times[(times > span[0]) & (times < span[1])]


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
