"""Turns the driver's account of a failure into a sentence that names time, states and the usual cure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spacectl.dynamics.diagnosis import diagnose_constraints
from spacectl.dynamics.equations import EquationsOfMotion
from spacectl.model.tether import LineElement
from spacectl.simulation.events import Guard
from spacectl.simulation.laws import BoundLaw
from spacectl.simulation.loop_data import LoopData
from spacectl.simulation.twin_guards import BY_GUARD, BY_STATE

__all__ = ["explain_failure"]


def explain_failure(
    data: LoopData, is_limit: bool, eom: EquationsOfMotion, bound: BoundLaw, guards: Sequence[Guard]
) -> str:
    """Why a run could not go on."""
    if is_limit:
        return _tether_faults(data, eom, data.t) or (
            f"gave up at t = {data.t:g} s after {data.n_steps} steps; the step is {data.h:.3g} s there: "
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
        if inputs:
            return f"law '{bound.name}' commands a value that is not finite for {_listed(inputs)} {where}"
        faults = _tether_faults(data, eom, data.fail_t)
        if faults:
            return f"{faults} ({where})"
        return (
            f"the rates of {bad} are not finite {where}, however short the step; the motion runs into a singularity "
            f"there, or a parameter is out of range{_constraint_faults(data, eom)}"
        )
    return (
        f"the step became too short {where}: the error of {bad} stays above the tolerance; the right side jumps there "
        f"(pass that time in stops), grows without bound, or rtol and atol are too tight{_constraint_faults(data, eom)}"
    )


def _constraint_faults(data: LoopData, eom: EquationsOfMotion) -> str:
    """What the constraints are like where the run stopped, by name."""
    if not eom.constraint_rows:
        return ""
    if "aggregates" in eom.numeric:
        return _loop_faults(data, eom)
    report = diagnose_constraints(eom, data.t, data.s[: data.n_x], u=data.u)
    return f"; the constraints at t = {data.t:.9g} s: {report.message}, leverage {report.adequacy:.1e}"


def _loop_faults(data: LoopData, eom: EquationsOfMotion) -> str:
    """Which embedded loop is nearest to a singular closure where the run stopped."""
    twin = eom.numeric["aggregates"](eom.p)
    weakest = twin.weakest_loop(data.t, data.s[: eom.n_q], data.s[eom.n_q : eom.n_x])
    if weakest is None:
        return ""
    loops = f"{twin.model.describe(weakest[0])} is nearest to a singular closure"
    return f"; of the loops at t = {data.t:.9g} s, {loops} (smallest singular value {weakest[1]:.1e})"


def _tether_faults(data: LoopData, eom: EquationsOfMotion, t: float) -> str:
    """What is wrong with the lengths of tethers where the run stopped."""
    x, found = dict(zip(eom.states, data.s, strict=False)), []
    for line in getattr(eom.system, "point_elements", ()):
        if isinstance(line, LineElement):
            found.append(line.fault(t, x.get(line.length_joint)))
    return "; ".join(filter(None, found))


def _listed(names: list[str]) -> str:
    return ", ".join(f"'{name}'" for name in names[:6]) + (" and others" if len(names) > 6 else "")
