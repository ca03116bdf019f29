"""`close_loops`: solve for the dependent coordinates and speeds of a mechanism, loop after loop (002).

Closed forms are used where the dependent branch is a known leg, else damped Newton's method (002 Eq 9). For a loop that cannot
close, the error names the loop, the residual gap and the joint, and contains the closest configuration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl.core.array import Array
from spacectl.core.errors import ModelError, SolverError
from spacectl.core.input_checks import as_time
from spacectl.dynamics.closing.block_newton import SINGULAR, BlockNewton
from spacectl.dynamics.closing.open_loops import joint_of_speed
from spacectl.dynamics.constraints.diagnosis import require_sides
from spacectl.dynamics.partitioning.blocks import ClosingBlock
from spacectl.dynamics.partitioning.elimination import eliminate, expand
from spacectl.dynamics.partitioning.plan import LoopPlan, PartitionPlan
from spacectl.dynamics.waist.equations import EquationsOfMotion, require_equations
from spacectl.dynamics.waist.functions import as_given_state

__all__ = ["ClosedLoop", "ClosedState", "close_loops", "require_plan"]


@dataclass(frozen=True)
class ClosedLoop:
    """Outcome of closing one loop.

    Parameters
    ----------
    name, leg : str
        The loop, and the kind of its dependent branch.
    dependent : tuple of str
        Dependent speeds.
    method : str
        ``"closed form"``, ``"one unknown"``, ``"newton"``, ``"rates only"``, or ``"nothing to move"`` (its equations are
        redundant and satisfied).
    steps : int
        Newton steps.
    condition : float
        Smallest over largest singular value of ``C_d``: 0 at a singular position.
    """

    name: str
    leg: str
    dependent: tuple[str, ...]
    method: str
    steps: int
    condition: float


@dataclass(frozen=True)
class ClosedState:
    """A state with closed loops.

    Parameters
    ----------
    x : Array, shape (n_x,)
        The state; independent coordinates and speeds as given.
    loops : tuple of ClosedLoop
        First to last.
    independent : tuple of str
        The speeds that were not changed.
    residual : float
        Largest remaining constraint residual, at position or speed level.
    """

    x: Any
    loops: tuple[ClosedLoop, ...]
    independent: tuple[str, ...]
    residual: float


def close_loops(eom: EquationsOfMotion, x0: Any, *, t: float = 0.0, method: str = "auto", p: Any = None) -> ClosedState:
    """Close the loops of a mechanism: change dependent coordinates and speeds only (002 Eqs 5, 9).

    Parameters
    ----------
    eom : EquationsOfMotion
        By ``formulation="partitioned"``.
    x0 : array, shape (n_x,)
        The independent part is fixed; the dependent part selects the branch and the start of Newton's method.
    t : float
        Time [s].
    method : {"auto", "newton"}
        ``"auto"``: closed forms where they exist.
    p : array, optional
        Run-time parameters.

    Raises
    ------
    ShapeError
        If `x0` is not a state.
    SolverError
        If a loop cannot close, is singular, closes on another branch than that of `x0` or turned by 180 degrees, or contradicts
        others. The message names the loop and the joint; `partial` is the state with the closest configuration found.

    Examples
    --------
    >>> from spacectl import form_equations, library
    >>> eom = form_equations(library.four_bar(), formulation="partitioned")
    >>> close_loops(eom, eom.state(crank_pin=0.2)).loops[0].method
    'closed form'
    """
    plan = require_plan(eom, "close_loops")
    if method not in ("auto", "newton"):
        raise ModelError(f"close_loops: method is {method!r}, expected 'auto' or 'newton'")
    newton = BlockNewton(eom, as_time(t, "close_loops: t"), p)
    x = as_given_state(eom, x0, "close_loops: x0")
    done = [loop for block in plan.blocks for loop in _close_block(newton, plan, block, x, method == "auto")]
    _require_closed(newton, plan, x)
    if eom.position_rows:
        require_sides(eom, newton.t, x, p)
    x = _close_speeds(eom, plan, newton.t, x, p)
    left = float(np.max(np.abs(eom.residual(newton.t, x[: eom.n_q], x[eom.n_q :], p)), initial=0.0))
    dependent = {j for loop in plan.loops for j in loop.preferred}
    free = tuple(name for j, name in enumerate(eom.speeds) if j not in dependent)
    return ClosedState(Array(x), tuple(done), free, left)


def require_plan(eom: EquationsOfMotion, caller: str) -> PartitionPlan:
    """Return the plan of partitioned equations; raise for others."""
    require_equations(eom, caller)
    plan = eom.reduction
    if not isinstance(plan, PartitionPlan):
        raise ModelError(
            f"{caller}: these equations are by {eom.formulation}; form them with formulation='partitioned'"
        )
    return plan


def _close_block(
    newton: BlockNewton, plan: PartitionPlan, block: ClosingBlock, x: np.ndarray, may_form: bool
) -> list[ClosedLoop]:
    """Close the loops of a block in place."""
    loops = [plan.loops[k] for k in block.loops]
    if not block.speeds:  # speed-level or redundant equations: `_require_closed` checks them in the end
        method = "nothing to move" if block.rows else "rates only"
        return [_closed(newton.eom, loop, method, 0, 1.0) for loop in loops]
    start, method = x.copy(), "newton"
    if may_form and len(loops) == 1 and loops[0].has_form and _apply_form(newton, loops[0], x):
        method = loops[0].method
    before = newton.side(block, x)  # a closed form stays on the branch, even from far away
    steps, left = newton.close(block, x)
    if left > newton.limit(x):
        raise _not_closed(newton, plan, block, [start, x])
    condition, weakest = newton.condition(block, x)
    if condition < SINGULAR:
        raise _fault(newton.eom, loops, weakest, x, _SINGULAR_CLOSURE)
    if before * newton.side(block, x) < 0.0:
        again = start.copy()
        more, left = newton.close(block, again, keep_side=True)
        if left > newton.limit(again) or before * newton.side(block, again) < 0.0:
            raise _fault(newton.eom, loops, weakest, x, _OTHER_BRANCH)
        x[:], steps, method = again, steps + more, "newton"
        condition, _ = newton.condition(block, x)
    return [_closed(newton.eom, loop, method, steps, condition) for loop in loops]


def _require_closed(newton: BlockNewton, plan: PartitionPlan, x: np.ndarray) -> None:
    """Close all loops together, in place, if some equation is still violated; raise an error if that fails."""
    gaps = np.abs(newton.gaps(x))
    if not np.max(gaps, initial=0.0) > newton.limit(x):
        return
    rows = tuple(i for block in plan.blocks for i in block.rows)
    speeds = tuple(sorted(j for block in plan.blocks for j in block.speeds))
    everything = ClosingBlock(tuple(range(len(plan.loops))), rows, speeds, ())
    trial = x.copy()
    newton.close(everything, trial)
    if np.max(np.abs(newton.gaps(trial))) <= newton.limit(trial):
        x[:] = trial
        return
    worst = int(np.argmax(gaps))
    loop = next(loop for loop in plan.loops if worst in loop.positions)
    if loop.preferred:
        raise _not_closed(newton, plan, everything, [x, trial], loop.name)
    found, closest = newton.find_closest(everything, [x, trial])
    raise SolverError(
        f"system '{newton.eom.system.name}': loop '{loop.name}' is redundant and contradicts the other loops: "
        f"a residual of {gaps[worst]:.3g} remains in '{newton.eom.position_rows[worst]}' when they are "
        f"closed, {found.gap:.3g} in the closest configuration of all loops (in the error's `partial`); "
        "remove it or change its parameters",
        partial=closest,
    )


_SINGULAR_CLOSURE = (
    "the closure of loop '{loop}' is singular at joint '{joint}' ({value}): its dependent speeds {names} are not determined by "
    "the others; form the equations with other independent=(...) or start elsewhere"
)
_OTHER_BRANCH = (
    "loop '{loop}' closes on another branch than the given state: joint '{joint}' reached {value}; start closer to the "
    "intended branch"
)
_CANNOT = (
    "loop '{loop}' cannot close; a gap of {gap:.3g} remains at joint '{joint}', which is at {value} in the "
    "closest configuration found (in the error's `partial`); change the independent coordinates or the "
    "dimensions"
)
_ELSEWHERE = (
    "loop '{loop}' was not closed from here, but it closes elsewhere, with joint '{joint}' at {value} (in the error's "
    "`partial`); start closer"
)
_UNKNOWN = (
    "loop '{loop}' was not closed from here; a gap of {gap:.3g} remains at joint '{joint}', which is at "
    "{value} in the best configuration found (in the error's `partial`, not known to be the closest one); "
    "start elsewhere"
)


def _not_closed(
    newton: BlockNewton, plan: PartitionPlan, block: ClosingBlock, starts: list[np.ndarray], name: str = ""
) -> SolverError:
    """Return the error for loops that were not closed, with the closest configuration."""
    found, x = newton.find_closest(block, starts)
    text = _CANNOT if found.is_minimum else _UNKNOWN
    text = _ELSEWHERE if found.gap <= newton.limit(x) else text
    loops = [plan.loops[k] for k in block.loops if not name or plan.loops[k].name == name]
    return _fault(newton.eom, loops, newton.condition(block, x)[1], x, text, found.gap)


def _fault(
    eom: EquationsOfMotion, loops: list[LoopPlan], speed: int, x: np.ndarray, text: str, gap: float = 0.0
) -> SolverError:
    words = {
        "loop": "', '".join(loop.name for loop in loops),
        "joint": joint_of_speed(eom, speed),
        "value": _value(eom, speed, x),
        "names": ", ".join(eom.speeds[j] for loop in loops for j in loop.preferred),
        "gap": gap,
    }
    return SolverError(f"system '{eom.system.name}': {text.format(**words)}", partial=x.copy())


def _closed(eom: EquationsOfMotion, loop: LoopPlan, method: str, steps: int, condition: float) -> ClosedLoop:
    return ClosedLoop(loop.name, loop.leg, tuple(eom.speeds[j] for j in loop.preferred), method, steps, condition)


def _apply_form(newton: BlockNewton, loop: LoopPlan, x: np.ndarray) -> bool:
    """Write the closed form's coordinates of one loop to x; return False, with x unchanged, where there is no solution."""
    eom = newton.eom
    q, margin = eom.call("closed_form", newton.t, x[: eom.n_q], p=newton.p)
    joints = {joint_of_speed(eom, j) for j in loop.preferred}
    own = [i for i, name in enumerate(eom.coordinates) if any(name == j or name.startswith(f"{j}.") for j in joints)]
    if not np.all(np.isfinite(q)) or not margin[0, 0] > 0.0:
        return False
    x[own] = q.reshape(-1)[own]
    return True


def _close_speeds(eom: EquationsOfMotion, plan: PartitionPlan, t: float, x: np.ndarray, p: Any) -> np.ndarray:
    for _ in range(2):  # the second pass reduces rounding errors and nonlinearity in the speeds
        _, rate, J, _, _ = eom.call("projection", t, x[: eom.n_q], x[eom.n_q :], p=p)
        done = eliminate(J, -rate.reshape(-1), plan.loops, np.asarray(plan.units))
        x[eom.n_q :] += expand(done, np.zeros(eom.n_v))
    return x


def _value(eom: EquationsOfMotion, speed: int, x: np.ndarray) -> str:
    """Format the coordinates of the joint of a speed."""
    joint = joint_of_speed(eom, speed)
    found = [
        f"{name} = {x[i]:.4g}"
        for i, name in enumerate(eom.coordinates)
        if name == joint or name.startswith(f"{joint}.")
    ]
    return ", ".join(found)
