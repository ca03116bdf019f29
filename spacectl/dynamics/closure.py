"""`close_loops`: dependent coordinates and speeds of a mechanism from the independent ones, loop after loop (002).

Closed forms where the dependent branch is a known leg, else Newton's method (002 Eq 9), damped; a loop that cannot close is
brought as near as it goes, and the error says which it is, how far it stays open and at which joint.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl.core.array import Array
from spacectl.core.errors import ModelError, ShapeError, SolverError
from spacectl.dynamics.elimination import eliminate, expand
from spacectl.dynamics.equations import EquationsOfMotion, require_equations
from spacectl.dynamics.partition import LoopPlan, PartitionPlan

__all__ = ["ClosedLoop", "ClosedState", "close_loops", "require_plan"]

_STEPS = 60  # Newton steps for one loop; damped ones need more than the usual four
_SINGULAR = 1e-7  # of the smallest to the largest singular value of C_d: the square root of rounding
_OPEN = 1e-12  # residual, relative to the size of the coordinates (at least 1)


@dataclass(frozen=True)
class ClosedLoop:
    """How a loop was closed.

    Parameters
    ----------
    name, leg : str
        The loop, and the kind of its dependent branch.
    dependent : tuple of str
        Speeds that depend.
    method : str
        ``"closed form"``, ``"one unknown"`` or ``"newton"``.
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
    """A state whose loops are closed.

    Parameters
    ----------
    x : Array, shape (n_x,)
        The state; independent coordinates and speeds as given.
    loops : tuple of ClosedLoop
        First to last.
    independent : tuple of str
        The speeds that were kept.
    residual : float
        Largest constraint residual that is left, at either level.
    """

    x: Any
    loops: tuple[ClosedLoop, ...]
    independent: tuple[str, ...]
    residual: float


def close_loops(eom: EquationsOfMotion, x0: Any, *, t: float = 0.0, method: str = "auto", p: Any = None) -> ClosedState:
    """Close the loops of a mechanism: independent coordinates and speeds stay, dependent ones follow (002 Eqs 5, 9).

    Parameters
    ----------
    eom : EquationsOfMotion
        By ``formulation="partitioned"``.
    x0 : array, shape (n_x,)
        The independent part counts; the dependent part tells the branch and where Newton's method starts.
    t : float
        Time [s].
    method : {"auto", "newton"}
        ``"auto"``: closed forms where there are.
    p : array, optional
        Run-time parameters.

    Raises
    ------
    ShapeError
        If `x0` is not a state.
    SolverError
        If a loop cannot close, is singular, or closes on another branch than that of `x0`. The message names the loop and the
        joint; `partial` is the state with the closest configuration found.

    Examples
    --------
    >>> from spacectl.model.library import four_bar
    >>> from spacectl.dynamics.form import form_equations
    >>> eom = form_equations(four_bar(), formulation="partitioned")
    >>> close_loops(eom, eom.state(crank_pin=0.2)).loops[0].method
    'closed form'
    """
    plan = require_plan(eom, "close_loops")
    if method not in ("auto", "newton"):
        raise ModelError(f"close_loops: method is {method!r}, expected 'auto' or 'newton'")
    given = np.array(x0, dtype=float)
    if given.shape != (eom.n_x,):
        raise ShapeError(f"close_loops: x0 has shape {given.shape}, expected ({eom.n_x},); eom.state(name=...) makes one")
    x = eom.state(given)
    done = []
    for loop in plan.loops:
        done.append(_close_loop(eom, plan, loop, t, x, method == "auto", p))
    x = _close_speeds(eom, plan, t, x, p)
    left = float(np.max(np.abs(eom.residual(t, x[: eom.n_q], x[eom.n_q :], p)), initial=0.0))
    held = {j for loop in plan.loops for j in loop.wished}
    free = tuple(name for j, name in enumerate(eom.speeds) if j not in held)
    return ClosedState(Array(x), tuple(done), free, left)


def require_plan(eom: EquationsOfMotion, caller: str) -> PartitionPlan:
    """The plan of partitioned equations; raises for others."""
    require_equations(eom, caller)
    plan = eom.stats.get("road")
    if not isinstance(plan, PartitionPlan):
        raise ModelError(
            f"{caller}: these equations are by {eom.formulation}; form them with formulation='partitioned'"
        )
    return plan


def _close_loop(
    eom: EquationsOfMotion, plan: PartitionPlan, loop: LoopPlan, t: float, x: np.ndarray, may_form: bool, p: Any
) -> ClosedLoop:
    """Close one loop in place."""
    names = tuple(eom.speeds[j] for j in loop.wished)
    if not loop.positions:
        return ClosedLoop(loop.name, loop.leg, names, "rates only", 0, 1.0)
    before = _side(eom, loop, t, x, p)
    method = "newton"
    if may_form and loop.has_form and _apply_form(eom, loop, t, x, p):
        method = loop.method
    steps, left = _newton(eom, loop, t, x, p)
    condition, weakest = _condition(eom, loop, t, x, p)
    joint = _joint_of(eom, weakest)
    if left > _OPEN * max(1.0, float(np.max(np.abs(x[: eom.n_q])))):
        raise SolverError(
            f"system '{eom.system.name}': loop '{loop.name}' cannot close; {left:.3g} is left open at joint '{joint}', which "
            f"stands at {_value(eom, weakest, x)} in the closest configuration found (in the error's `partial`); change the "
            "independent coordinates or the dimensions",
            partial=x.copy(),
        )
    if condition < _SINGULAR:
        raise SolverError(
            f"system '{eom.system.name}': the closure of loop '{loop.name}' is singular at joint '{joint}' "
            f"({_value(eom, weakest, x)}): its dependent speeds {', '.join(names)} are not determined by the others; form the "
            "equations with other independent=(...) or start elsewhere",
            partial=x.copy(),
        )
    if before * _side(eom, loop, t, x, p) < 0.0:
        raise SolverError(
            f"system '{eom.system.name}': loop '{loop.name}' closes on another branch than the given state: joint '{joint}' came "
            f"to {_value(eom, weakest, x)}; start closer to the branch that is meant",
            partial=x.copy(),
        )
    return ClosedLoop(loop.name, loop.leg, names, method, steps, condition)


def _apply_form(eom: EquationsOfMotion, loop: LoopPlan, t: float, x: np.ndarray, p: Any) -> bool:
    """Put the closed form's coordinates of one loop into x; False (and x as it was) where it has none."""
    q, margin = eom.call("closed_form", t, x[: eom.n_q], p=p)
    own = [i for i, name in enumerate(eom.coordinates) if _belongs(eom, i, loop, name)]
    if not np.all(np.isfinite(q)) or not margin[0, 0] > 0.0:
        return False
    x[own] = q.reshape(-1)[own]
    return True


def _belongs(eom: EquationsOfMotion, i: int, loop: LoopPlan, name: str) -> bool:
    joints = {_joint_of(eom, j) for j in loop.wished}
    return any(name == joint or name.startswith(f"{joint}.") for joint in joints)


def _newton(eom: EquationsOfMotion, loop: LoopPlan, t: float, x: np.ndarray, p: Any) -> tuple[int, float]:
    """Newton's method on the dependent coordinates of one loop, in place: damped so that the gap never grows."""
    n_q, columns, rows = eom.n_q, list(loop.wished), list(loop.positions)
    size = max(1.0, float(np.max(np.abs(x[:n_q]))))
    damping = 0.0
    g, C, W = _linear(eom, t, x, rows, columns, p)
    for k in range(_STEPS):
        gap = float(np.linalg.norm(g))
        if gap <= 1e-15 * size:
            return k, gap
        # Levenberg's term leads to the closest configuration where there is no solution
        A = np.vstack([C, np.sqrt(damping) * np.eye(len(columns))])
        step = np.linalg.lstsq(A, np.concatenate([-g, np.zeros(len(columns))]), rcond=1e-12)[0]
        step *= min(1.0, 0.5 / max(float(np.max(np.abs(step), initial=0.0)), 1e-300))
        trial = x.copy()
        trial[:n_q] += W @ step
        trial = eom.state(trial)
        found = _linear(eom, t, trial, rows, columns, p)
        if np.linalg.norm(found[0]) < gap:
            x[:] = trial
            g, C, W = found
            damping *= 0.1 if damping > 1e-14 else 0.0
        elif gap < _OPEN * size:
            return k, gap
        else:
            damping = max(10.0 * damping, 1e-6 * float(np.sum(C**2)))
    return _STEPS, float(np.linalg.norm(g))


def _linear(
    eom: EquationsOfMotion, t: float, x: np.ndarray, rows: list[int], columns: list[int], p: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    g, _, _, held, W = eom.call("projection", t, x[: eom.n_q], x[eom.n_q :], p=p)
    return g.reshape(-1)[rows], held[np.ix_(np.array(rows), np.array(columns))], W[:, columns]


def _condition(eom: EquationsOfMotion, loop: LoopPlan, t: float, x: np.ndarray, p: Any) -> tuple[float, int]:
    """How far ``C_d`` is from singular, and the speed that would have to move most for little."""
    _, C, _ = _linear(eom, t, x, list(loop.positions), list(loop.wished), p)
    _, values, V = np.linalg.svd(C)
    weakest = int(np.argmax(np.abs(V[-1])))
    return float(values[len(loop.wished) - 1] / max(values[0], 1e-300)), loop.wished[weakest]


def _side(eom: EquationsOfMotion, loop: LoopPlan, t: float, x: np.ndarray, p: Any) -> float:
    """Sign of det ``C_d``, which changes only through a singular position; 0 if the rows are more than the speeds."""
    _, C, _ = _linear(eom, t, x, list(loop.positions), list(loop.wished), p)
    if C.shape[0] != C.shape[1]:
        return 0.0
    return float(np.sign(np.linalg.det(C))) if np.linalg.cond(C) < 1.0 / _SINGULAR else 0.0


def _close_speeds(eom: EquationsOfMotion, plan: PartitionPlan, t: float, x: np.ndarray, p: Any) -> np.ndarray:
    for _ in range(2):  # once more for rounding, and for rules that are not linear in the speeds
        _, rate, J, _, _ = eom.call("projection", t, x[: eom.n_q], x[eom.n_q :], p=p)
        done = eliminate(J, -rate.reshape(-1), plan.loops, np.asarray(plan.units))
        x[eom.n_q :] += expand(done, np.zeros(eom.n_v))
    return x


def _joint_of(eom: EquationsOfMotion, speed: int) -> str:
    """The joint (or body with modes) that a speed belongs to."""
    name = eom.speeds[speed]
    joints = [part.joint_name for part in eom.system.tree]
    return next(
        (joint for joint in joints if name == f"{joint}_dot" or name.startswith(f"{joint}.")), name.split(".")[0]
    )


def _value(eom: EquationsOfMotion, speed: int, x: np.ndarray) -> str:
    """The coordinates of the joint that a speed belongs to, in words."""
    joint = _joint_of(eom, speed)
    found = [
        f"{name} = {x[i]:.4g}"
        for i, name in enumerate(eom.coordinates)
        if name == joint or name.startswith(f"{joint}.")
    ]
    return ", ".join(found)
