"""Closed loops with laws that contain the model: native against the same law as a Python callable in scipy, and against no law.

PD, feedback linearisations (full, of chosen speeds of a free flyer, in a closed loop, modified), artificial-constraint tracking
(the flexible arm of Sadigh (1995), section 7.3.2, and three rows of a seven-joint arm). The
peer calls the law's function from Python and integrates `eom.x_dot` with scipy's DOP853 in the same steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from spacectl import (
    Artificial,
    ArtificialConstraintTracking,
    Beam,
    Constraint,
    ControlLaw,
    EquationsOfMotion,
    FeedbackLinearization,
    JointTorque,
    ModifiedFeedbackLinearization,
    Part,
    Revolute,
    RigidBody,
    System,
    design_pd,
    form_equations,
    library,
    make_consistent,
    simulate,
)
from tests.benchmarks.law_timing import LOOSE, Peer, time_against_open_loop, time_against_peer
from tests.benchmarks.measure import Effort
from tests.benchmarks.report import Figure, Section
from tests.benchmarks.systems import fixed_arm

__all__ = ["make_model_laws", "measure_model_laws"]

STEPS = 5000  #: against the open loop
AGREEMENT = 1e-6  # of two runs in the same steps of order 8


@dataclass(frozen=True)
class Loop:
    """Equations, a law, a start and a time [s] that is short enough to stay away from singular postures."""

    eom: EquationsOfMotion
    law: ControlLaw
    x0: np.ndarray
    duration: float = 1.0
    steps: int = 1000  # against the peer; its right-hand side is slow where constraints are solved
    command: Callable[[float, np.ndarray], np.ndarray] | None = None  # the law in numpy


def flexible_arm() -> EquationsOfMotion:
    """Two beams and a hand, driven at three joints (Sadigh 1995, Table 7.1)."""
    hand = RigidBody(name="hand", mass=5.0, com=(0.15, 0.0, 0.0), inertia=(0.0, 0.0, 0.0))
    parts, on = [], "world"
    for name, joint in (("upper", "shoulder"), ("lower", "elbow")):
        beam = Beam(name=name, length=0.8, mass=2.51, EI=930.0, damping=0.02)
        parts.append(Part(beam, on=on, joint=Revolute(name=joint, axis="z")))
        on = f"{name}.tip"
    parts.append(Part(hand, on=on, joint=Revolute(name="wrist", axis="z")))
    joints = tuple(JointTorque(joint=name) for name in ("shoulder", "elbow", "wrist"))
    return form_equations(System(name="flexible arm", parts=tuple(parts), actuators=joints))


def make_model_laws() -> dict[str, Loop]:
    """One loop for each kind of law."""
    seven, free, bent = form_equations(fixed_arm()), form_equations(library.free_flyer_arm()), flexible_arm()
    posture = {"joint2": 0.7, "joint4": -1.2, "joint6": 0.7}
    x7, x13 = seven.state(**posture), free.state(**posture)
    joints = tuple(f"joint{k + 1}_dot" for k in range(7))
    bar = form_equations(library.spatial_four_bar())
    x_bar = np.array(make_consistent(bar, bar.x_rest).x)
    level = Constraint(name="level", rule=lambda s: s.rotation("hand")[1, 0], kind=Artificial(by=("wrist",)))
    drives = design_pd(
        bent, kp=(30.0, 20.0), kd=(11.0, 8.0), inputs=("shoulder", "elbow"), reference=lambda s: [0.3, 2.1]
    )
    tracked = ArtificialConstraintTracking(bent, constraints=(level,), others=drives)
    x_bent = bent.state(shoulder=0.2, elbow=1.8, wrist=np.pi - 2.0)
    x_bent = np.array(make_consistent(tracked.constrained, x_bent, hold=("shoulder", "elbow")).x)
    start = x7 + np.concatenate([0.01 * np.cos(np.arange(7)), np.zeros(7)])
    hand = [float(value) for value in seven.along("placements", [0.0], start[None])[0][-1][9:12]]
    rows = tuple(
        Constraint(
            name=f"hold{k}",
            rule=lambda s, k=k: s.position("payload")[k] - hand[k] - 0.1 * s.t**2,
            kind=Artificial(by=(f"joint{joint}",)),
        )
        for k, joint in enumerate((1, 2, 4))
    )
    held = ArtificialConstraintTracking(
        seven,
        constraints=rows,
        others=design_pd(
            seven,
            kp=20.0,
            kd=20.0,
            inputs=("joint3", "joint5", "joint6", "joint7"),
            reference=lambda s: [0.0, 0.0, 0.7, 0.0],
        ),
    )
    return {
        "PD, 7 joints": Loop(
            seven, design_pd(seven, kp=40.0, kd=30.0, reference=lambda s: list(x7[:7])), start,
            command=lambda t, x: 40.0 * (x7[:7] - x[:7]) - 30.0 * x[7:],
        ),
        "feedback linearisation, 7 joints": Loop(seven, FeedbackLinearization(seven, frequency=2.0, reference=x7), start),
        "feedback linearisation, joints of a free flyer": Loop(
            free, FeedbackLinearization(free, frequency=1.0, reference=x13, speeds=joints), x13 + _moved(free, "joint2")
        ),
        "feedback linearisation, four-bar in space": Loop(
            bar, FeedbackLinearization(bar, frequency=2.0, reference=x_bar, speeds=bar.speeds[:1]), x_bar, 0.1, 200
        ),
        "modified feedback linearisation, flexible arm": Loop(
            bent, ModifiedFeedbackLinearization(bent, frequency=3.0, reference=x_bent), x_bent + _moved(bent, "elbow")
        ),
        "modified feedback linearisation, free flyer": Loop(
            free, ModifiedFeedbackLinearization(free, frequency=1.0, reference=x13), x13 + _moved(free, "joint2")
        ),
        "artificial constraint, flexible arm": Loop(bent, tracked, x_bent),
        "artificial constraints, 3 rows on 7 joints": Loop(seven, held, start, 0.5),
    }  # fmt: skip


def measure_model_laws(effort: Effort) -> Section:
    """Every law of `make_model_laws`."""
    section = Section(
        "Laws of the model in the closed loop",
        "Equal steps of dop853 (tolerances that never bind), 11 recorded times. Peer: the law's function (PD: numpy) called "
        "from Python with scipy's DOP853 on `eom.x_dot`, in the same steps. Goals: 50 times faster "
        f"than the peer, at most twice the time of an open-loop run ({STEPS} steps both).",
    )
    for name, loop in make_model_laws().items():
        _measure(section, name, loop, effort)
    return section.finish()


def _measure(section: Section, name: str, loop: Loop, effort: Effort) -> None:
    eom, law, span = loop.eom, loop.law, (0.0, loop.duration)
    options: dict[str, Any] = {"x0": loop.x0, "t_span": span, "grid": np.linspace(*span, 11)}
    few, most = (200, 200) if effort.is_tiny else (loop.steps, STEPS)
    step = loop.duration / few
    ours = simulate(eom, law, **options, max_step=step, **LOOSE)
    apart = float(np.max(np.abs(ours.x[-1] - _peer(loop)(step)())))
    section.figures.append(Figure(what=f"{name}: difference of the two at the end", value=apart, goal=AGREEMENT))
    time_against_peer(section, name, eom, law, options, _peer(loop), effort, (few,), peer_name="Python law, scipy")
    many = {**options, "max_step": loop.duration / most, **LOOSE}
    time_against_open_loop(section, name, eom, law, many, many, effort)


def _peer(loop: Loop) -> Peer:
    """The law as a Python callable: in numpy where it is given so, else its own function."""
    eom, law = loop.eom, loop.law
    f, p, x_dot = law.function, np.asarray(law.p), eom.x_dot
    nothing = np.zeros(0)
    u, places = np.zeros(eom.n_u), list(eom.labels.u.indices(law.inputs.names))

    def rate(t: float, x: np.ndarray) -> np.ndarray:
        u[places] = np.asarray(f(t, x, nothing, nothing, nothing, p)[0]).reshape(-1)
        return x_dot(t, x, u)

    command = loop.command
    chosen = rate if command is None else lambda t, x: x_dot(t, x, command(t, x))
    span, how = (0.0, loop.duration), {"method": "DOP853", **LOOSE}
    return lambda step: lambda: solve_ivp(chosen, span, loop.x0, max_step=step, **how).y[:, -1]


def _moved(eom: EquationsOfMotion, name: str) -> np.ndarray:
    return 0.05 * np.eye(eom.n_x)[eom.states.index(name)]
