"""The arm of 003 section 8.3, the line that its payload follows, and the plans of the study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl import (
    Condition,
    LineCurve,
    Plan,
    Problem,
    System,
    TaskPath,
    form_equations,
    library,
    plan_collocation,
    plan_phase_plane,
    plan_reachability,
)

JOINTS = ("shoulder", "elbow", "wrist")
POSTURE = {"shoulder": 1.175, "elbow": 0.7925, "wrist": 1.175}  # [rad], 003 Table 8.2: near the begin, elbow outwards


@dataclass(frozen=True)
class Case:
    """Rigid and flexible equations of one set of numbers."""

    rigid: Any
    flexible: Any
    path: TaskPath

    @property
    def system(self) -> System:
        """The flexible system."""
        return self.flexible.system


def form_case(numbers: dict[str, Any], *, begin: float, end: float) -> Case:
    """Equations, and the local horizontal from y = begin to y = end with the payload's attitude held."""
    rigid, flexible = (form_equations(library.retrieval_arm(flexible=kind, **numbers)) for kind in (False, True))
    return Case(rigid, flexible, line_path(begin, end))


def line_path(begin: float, end: float, x: float = 0.0) -> TaskPath:
    """The payload's centre of mass moves along y, its attitude is held (003 Eq 8.32)."""
    return TaskPath(
        name="local horizontal",
        curve=LineCurve(start=(x, begin, 0.0), end=(x, end, 0.0)),
        outputs=("payload.x", "payload.y", "attitude.s3"),
        at=POSTURE,
    )


def plan_line(case: Case, points: int) -> tuple[Plan, Plan]:
    """Phase plane and the second, independent solver."""
    return plan_phase_plane(case.rigid, case.path, points=points), plan_reachability(
        case.rigid, case.path, points=points
    )


def ends(eom: Any, plan: Plan) -> tuple[dict[str, float], dict[str, float]]:
    """First and last state of a plan, by name, for equations that may have more states, which rest."""
    first, last = (dict(zip(plan.x.labels.names, np.asarray(plan.x.values)[k], strict=True)) for k in (0, -1))
    return tuple({name: float(state.get(name, 0.0)) for name in eom.states} for state in (first, last))  # type: ignore[return-value]


def hold_attitude(band: float) -> Condition:
    """``shoulder + elbow + wrist = pi`` within a band: the payload's attitude, but for the slopes of the links."""
    return Condition(
        name="payload attitude",
        rule=lambda s: s["shoulder"] + s["elbow"] + s["wrist"],
        low=np.pi - band,
        high=np.pi + band,
    )


def plan_free_path(case: Case, guess: Plan) -> Plan:
    """The quickest motion of the rigid arm between the same ends, attitude held, whatever the path."""
    start, end = ends(case.rigid, guess)
    problem = Problem(
        eom=case.rigid, start=start, end=end, path=(hold_attitude(0.0),), duration=(5.0, 80.0), name="free path"
    )  # fmt: skip
    return plan_collocation(problem, guess=guess)
