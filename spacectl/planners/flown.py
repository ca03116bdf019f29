"""Simulate a plan and set its status accordingly."""

from __future__ import annotations

from dataclasses import replace

from spacectl.core.errors import SolverError
from spacectl.core.outcome import Status
from spacectl.planners.flight import PlanFlight, find_violations, fly_inputs
from spacectl.planners.plan import Plan
from spacectl.planners.problem import Phases, Problem

__all__ = ["with_flight", "with_status"]

_ACCEPTED = 1e-4  # relative violation that is accepted in the simulation of a plan
_LISTED = 4  # number of violations in a message


def with_flight(problem: Problem | Phases, plan: Plan) -> tuple[Plan, PlanFlight | None]:
    """Return the plan with ``outcome.stats["flown"]``, and its simulation; None if that stops before the end."""
    try:
        flight = fly_inputs(problem, plan)
    except SolverError as error:
        return _with(plan, {"stopped": str(error)}), None
    relative: dict[str, float] = {}
    for item in find_violations(flight):
        for name, violation in item.relative.items():
            relative[name] = max(violation, relative.get(name, 0.0))
    worst = dict(sorted(relative.items(), key=lambda pair: -pair[1]))
    figures = {key: getattr(flight, key) for key in ("departure", "pieces", "growth")}
    caught = list(dict.fromkeys(text for item in flight.phases for text in item.warnings))
    return _with(plan, {"violations": worst, **figures, "warnings": caught}), flight


def _with(plan: Plan, flown: dict[str, object]) -> Plan:
    return replace(plan, outcome=replace(plan.outcome, stats={**plan.outcome.stats, "flown": flown}))


def with_status(plan: Plan) -> Plan:
    """Return the plan with the status that its simulation implies."""
    flown = plan.outcome.stats.get("flown")
    if flown is None or not plan.outcome.is_success:
        return plan
    violations = {name: violation for name, violation in flown.get("violations", {}).items() if violation > _ACCEPTED}
    words = []
    if "stopped" in flown:
        words.append(flown["stopped"])
    elif violations:
        entries = [f"'{name}' by {violation:.2g}" for name, violation in list(violations.items())[:_LISTED]]
        words.append(f"its simulation violates {', '.join(entries)} (relative); refine the mesh, or use feedback")
    if not words:
        return plan
    message = f"a plan of {plan.final_time:.6g} s was found, but {words[0]}"
    return replace(plan, outcome=replace(plan.outcome, status=Status.LIMIT, message=message))
