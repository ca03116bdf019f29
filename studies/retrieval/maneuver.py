"""The arm of 003 section 8.3, the line that its payload follows, and the plans of the study."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spacectl import (
    Beam,
    Condition,
    EquationsOfMotion,
    LineCurve,
    Plan,
    Problem,
    Radau,
    TaskPath,
    find_locked_frequencies,
    form_equations,
    library,
    plan_bang_bang,
    plan_collocation,
    plan_phase_plane,
)

POSTURE = {"shoulder": 1.175, "elbow": 0.7925, "wrist": 1.175}  # [rad], 003 Table 8.2: near the begin, elbow outwards


@dataclass(frozen=True)
class Case:
    """Rigid and flexible equations of one set of numbers, and the path."""

    rigid: Any
    flexible: Any
    path: TaskPath


def form_case(numbers: dict[str, Any], *, begin: float, end: float) -> Case:
    """Equations, and the local horizontal from y = begin to y = end."""
    rigid, flexible = (form_equations(library.retrieval_arm(flexible=kind, **numbers)) for kind in (False, True))
    return Case(rigid, flexible, line_path(begin, end))


def form_default_shapes(case: Case) -> EquationsOfMotion:
    """The flexible arm with the default shapes of `Beam`, two for each link: static compliance at the joints is exact."""
    system = case.flexible.system
    parts = (
        replace(part, body=replace(part.body, shapes="auto", modes=2)) if isinstance(part.body, Beam) else part
        for part in system.parts
    )
    return form_equations(replace(system, parts=tuple(parts)))


def arrival_frequency(eom: EquationsOfMotion, plan: Plan) -> float:
    """Lowest natural frequency with the joints locked where a plan of the rigid arm ends [rad/s]."""
    end = dict(zip(plan.x.labels.names, np.asarray(plan.x.values)[-1], strict=True))
    return float(find_locked_frequencies(eom, eom.state(**end))[0])


def line_path(begin: float, end: float, x: float = 0.0) -> TaskPath:
    """The payload's centre of mass moves along y, its attitude is held (003 Eq 8.32)."""
    return TaskPath(
        name="local horizontal",
        curve=LineCurve(start=(x, begin, 0.0), end=(x, end, 0.0)),
        outputs=("payload.x", "payload.y", "attitude.s3"),
        at=POSTURE,
    )


def plan_free_path(case: Case, guess: Plan) -> Plan:
    """The quickest motion of the rigid arm between the same ends with the payload's attitude held, whatever the path."""
    first, last = (dict(zip(guess.x.labels.names, np.asarray(guess.x.values)[k], strict=True)) for k in (0, -1))
    held = Condition(
        name="payload attitude", rule=lambda s: s["shoulder"] + s["elbow"] + s["wrist"], low=np.pi, high=np.pi
    )  # fmt: skip
    problem = Problem(
        eom=case.rigid,
        start={name: float(value) for name, value in first.items()},
        end={
            name: float(value) for name, value in last.items() if not name.startswith("wrist")
        },  # the attitude says it
        path=(held,),
        duration=(5.0, 2.0 * guess.final_time),
        name="free path",
    )
    return plan_collocation(problem, scheme=Radau(30), guess=guess)


def plan_flexible_path(case: Case, guess: Plan, cells: int, restarts: int) -> Plan:
    """The quickest motion of the flexible arm between the same ends, at rest with straight links, the attitude held."""
    first, last = (dict(zip(guess.x.labels.names, np.asarray(guess.x.values)[k], strict=True)) for k in (0, -1))
    problem = Problem(
        eom=case.flexible,
        start={name: float(value) for name, value in first.items()},
        end=dict.fromkeys(case.flexible.states, 0.0) | {name: float(value) for name, value in last.items()},
        path=(Condition(name="payload attitude", rule=lambda s: s.output("attitude.s3")),),
        duration=(5.0, 2.0 * guess.final_time),
        name="free path, flexible",
    )
    return plan_bang_bang(problem, guess=guess, cells=cells, restarts=restarts)


def readings(numbers: dict[str, Any], *, begin: float, end: float) -> dict[str, tuple[float, float]]:
    """Final and switch time of the line under other readings of the text (003 section 8.3)."""
    found = {}
    for name, change, x in (
        ("no orbit", {"period": None}, 0.0),
        ("payload at the wrist", {"payload_offset": 1e-3}, numbers.get("payload_offset", 1.0)),
    ):
        eom = form_equations(library.retrieval_arm(**{**numbers, **change}))
        plan = plan_phase_plane(eom, line_path(begin, end, x))
        found[name] = (plan.final_time, plan.switch_times[0])
    return found
