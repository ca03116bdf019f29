"""Initial motion of `plan_bang_bang`: the inputs of a guess, averaged over the cells."""

from __future__ import annotations

import numpy as np

from spacectl.core.errors import ModelError, unknown_name
from spacectl.planners.bang_bang.flow import Flow
from spacectl.planners.bang_bang.flow_expressions import choose_busy, equality_count
from spacectl.planners.bang_bang.motion import Goal, Motion, Transcription, make_goal
from spacectl.planners.collocation.transcription.bounds import start_pairs
from spacectl.planners.plan import Plan
from spacectl.planners.problem import Problem

__all__ = ["first_motion", "is_bang_bang"]

_STEP = 0.6  # fastest rate times the integration step: an error of about 1e-9 of the vibration
_MOST_STEPS = 40
_AVERAGED = 8  # samples of a guess averaged into the control of a cell
_AT_LIMITS = 0.8  # fraction of the time that the inputs of a bang-bang guess are at their limits
_OFF = 1e-6  # largest violation of an equality path condition at the start


def is_bang_bang(problem: Problem, guess: Plan) -> bool:
    """Return whether the inputs of a guess, dependent ones excepted, are mostly at their limits."""
    times = np.linspace(0.0, guess.final_time, 202)[1:-1]
    low, high = problem.input_limits()
    u = _inputs(problem, guess, times)
    near = 0.01 * (high - low)
    free = problem.eom.n_u - equality_count(problem)
    return bool(np.mean(np.sum((u <= low + near) | (u >= high - near), axis=1) >= free) >= _AT_LIMITS)


def first_motion(problem: Problem, guess: Plan, busy: tuple[str, ...], cells: int) -> tuple[Motion, float] | None:
    """Integrate the inputs of a guess; return the motion and its fastest rate [rad/s], None if it diverges."""
    times = (np.arange(_AVERAGED * cells) + 0.5) * guess.final_time / (_AVERAGED * cells)
    inputs = _inputs(problem, guess, times)
    flow = Flow(problem, _named(problem, busy) if busy else choose_busy(problem, inputs))
    w = inputs.reshape(cells, _AVERAGED, -1).mean(axis=1)[:, flow.places]
    duration = float(np.clip(guess.final_time, *problem.duration))
    found = _motion(flow, _start(problem, flow), np.clip(w, flow.low, flow.high), np.full(cells, duration / cells))
    if found is None:
        return None
    motion, fastest = found
    before = guess.notes.get("goal")
    if isinstance(before, Goal) and before.margin.shape == motion.cells.goal.margin.shape:
        motion = motion.cells.with_margin(before.margin).follow(motion.w, motion.h)
    return motion, fastest


def _named(problem: Problem, busy: tuple[str, ...]) -> tuple[str, ...]:
    """Check the dependent inputs chosen by the user."""
    names, count = problem.eom.inputs, equality_count(problem)
    for name in busy:
        if name not in names:
            raise ModelError(f"plan_bang_bang: busy names {unknown_name('input', name, names)}")
    if len(busy) != count:
        raise ModelError(
            f"plan_bang_bang: busy has {len(busy)} inputs, expected {count}, one per equality path condition"
        )
    return busy


def _start(problem: Problem, flow: Flow) -> np.ndarray:
    x0 = np.array(start_pairs(problem))[:, 0]
    off = flow.equality_error(x0)
    if off > _OFF:
        raise ModelError(
            f"problem '{problem.name}': the start violates an equality path condition or its rate by {off:.3g}; change the start"
        )
    return x0


def _inputs(problem: Problem, guess: Plan, times: np.ndarray) -> np.ndarray:
    """Return the inputs of a guess in the order of the equations, zero where not named, (n, n_u)."""
    out = np.zeros((len(times), problem.eom.n_u))
    values = guess.u(times)
    for i, name in enumerate(problem.eom.inputs):
        if name in guess.u.labels.names:
            out[:, i] = values[:, guess.u.labels.index(name)]
    return out


def _motion(flow: Flow, x0: np.ndarray, w: np.ndarray, h: np.ndarray) -> tuple[Motion, float] | None:
    """Integrate with steps that resolve the fastest mode; return motion and fastest rate, None if it diverges."""
    fastest = flow.fastest(np.broadcast_to(x0, (len(w), len(x0))), w)
    for _ in range(3):
        steps = max(1, int(np.ceil(fastest * float(h.max()) / _STEP)))
        if steps > _MOST_STEPS:
            raise ModelError(
                f"problem '{flow.problem.name}': its fastest rate, {fastest:.3g} rad/s, requires {steps} steps in a cell of "
                f"{h.max():.3g} s, more than {_MOST_STEPS}; omit the fastest modes, or use more cells"
            )
        x = flow.integrate(x0, w, h, steps)
        if not np.all(np.isfinite(x)):
            return None
        again = max(fastest, flow.fastest(x[::steps], w))
        if again <= 1.1 * fastest:
            break
        fastest = again
    return Transcription(flow, make_goal(flow, x), x0, steps).follow(w, h), fastest
