"""Explain a failure of the driver in a sentence that names time, states and the usual remedy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spacectl.dynamics.closing.weak_loops import WeakLoop, can_close, find_weak_loop
from spacectl.dynamics.constraints.diagnosis import DEPENDENT_CURE, diagnose_constraints
from spacectl.dynamics.constraints.rank_condition import explain_rank
from spacectl.dynamics.tree.irregular import explain_undefined
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.simulation.driver.loop_data import LoopData
from spacectl.simulation.driver.reference.guards import BY_GUARD, BY_STATE
from spacectl.simulation.events import Guard
from spacectl.simulation.run.laws import BoundLaw

__all__ = ["explain_failure"]

_WEAK = 1e-2  # distance to singularity below which a loop may have reached the limit of its motion
_LATER = (1e-7, 1e-5, 1e-3)  # fractions of the run before and after a failure, at which loop closure is tested


def explain_failure(
    data: LoopData, is_limit: bool, eom: EquationsOfMotion, bound: BoundLaw, guards: Sequence[Guard]
) -> str:
    """Explain why a run could not continue."""
    if is_limit:
        return _tether_faults(data, eom, data.t) or (
            f"stopped at t = {data.t:g} s after {data.n_steps} steps; the step length there is {data.h:.3g} s: "
            "raise max_steps, loosen rtol and atol, or look for fast motion"
        )
    where = f"at t = {data.fail_t:.9g} s"
    if data.reason == BY_GUARD:
        name = guards[int(np.argmax(data.fired))].name
        return f"guard '{name}' is not a number {where}; check its expression (square roots, divisions)"
    names = eom.states + bound.memory.names
    bad = _listed([names[i] for i in np.flatnonzero(data.bad)])
    if data.reason == BY_STATE:
        inputs = [eom.inputs[i] for i in np.flatnonzero(~np.isfinite(data.u_commanded))]
        why = f": {bound.undefined}" if bound.undefined else ""
        if not inputs and np.any(data.bad[eom.n_x :]):
            return f"law '{bound.name}' changes its memory ({bad}) at a rate that is not finite {where}{why}"
        if inputs:
            return f"law '{bound.name}' commands a value that is not finite for {_listed(inputs)} {where}{why}"
        faults = _tether_faults(data, eom, data.fail_t)
        if faults:
            return f"{faults} ({where})"
        x, p = data.s[: data.n_x], data.plant.arguments[3]
        reason = explain_undefined(eom, data.t, x, p) or explain_rank(eom, data.t, x[: eom.n_q], x[eom.n_q :], p)
        if reason:
            return f"there are no accelerations {where}: {reason}"
        return (
            f"the rates of {bad} are not finite {where}, however short the step; the motion runs into a singularity "
            f"there, or a parameter is out of range{_constraint_faults(data, eom)}"
        )
    loop = _weak_loop(data, eom)
    if loop is not None and _is_at_its_limit(data, loop):
        return f"the step became too short {where}: {_limit(data, eom, loop)}"
    return (
        f"the step became too short {where}: the error of {bad} stays above the tolerance; the right-hand side jumps there "
        f"(pass that time in stops), grows without bound, or rtol and atol are too tight{_constraint_faults(data, eom)}"
    )


def _constraint_faults(data: LoopData, eom: EquationsOfMotion) -> str:
    """Describe the constraints at the state at which the run stopped."""
    loop = _weak_loop(data, eom)
    if loop is None:
        return ""
    if _is_at_its_limit(data, loop):
        return f"; {_limit(data, eom, loop)}"
    summary = f"; of the loops at t = {data.t:.9g} s, {loop} is nearest to a singular closure ({loop.measure})"
    if eom.handover.aggregates is not None:
        return summary
    report = diagnose_constraints(eom, data.t, data.s[: data.n_x], u=data.u, p=data.plant.arguments[3])
    cure = DEPENDENT_CURE if eom.handover.needs_independent_equations and report.dependent else ""
    return f"{summary}; the constraints there: {report.message}, leverage {report.adequacy:.1e}{cure}"


def _weak_loop(data: LoopData, eom: EquationsOfMotion) -> WeakLoop | None:
    """Return the loop with the smallest distance to singularity where the run stopped."""
    if not eom.constraint_rows:
        return None
    return find_weak_loop(eom, data.t, data.s[: data.n_x], data.plant.arguments[3])


def _is_at_its_limit(data: LoopData, loop: WeakLoop) -> bool:
    """Return whether the loop can be closed shortly before the failure, but not shortly after it."""
    if loop.distance > _WEAK:
        return False
    spans = [part * (data.t_end - data.t_start) for part in _LATER]
    return any(can_close(loop.closure, data.t - h) and not can_close(loop.closure, data.t + h) for h in spans)


def _limit(data: LoopData, eom: EquationsOfMotion, loop: WeakLoop) -> str:
    moved = [part.joint_name for part in eom.system.tree if part.joint.motion is not None]
    cause = f"the prescribed motion of {_listed(moved)}" if moved else "its time-dependent constraint"
    return (
        f"{loop} cannot close after t = {data.t:.9g} s ({loop.measure}); change {cause}, give the loop other "
        "proportions, or end the run earlier"
    )


def _tether_faults(data: LoopData, eom: EquationsOfMotion, t: float) -> str:
    """Describe invalid lengths of tethers where the run stopped."""
    x, found = dict(zip(eom.states, data.s, strict=False)), []
    for line in getattr(eom.system, "point_elements", ()):
        found.append(line.fault(t, x.get(line.length_joint)))
    return "; ".join(filter(None, found))


def _listed(names: list[str]) -> str:
    return ", ".join(f"'{name}'" for name in names[:6]) + (" and others" if len(names) > 6 else "")
