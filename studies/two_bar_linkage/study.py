"""Planar two-bar linkage (Sadigh 1995, section 5.5.2): terms lost by premature linearisation, and their effect on motion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl import (
    Figure,
    Guard,
    Line,
    ModelError,
    Panel,
    PublishedResult,
    Simulation,
    Study,
    StudyResult,
    form_equations,
    simulate,
)

from .equations import compare
from .linkage import compare_toolbox, hinged, small


@dataclass(frozen=True)
class Parameters:
    """Parameters of the study; each can be set on the command line."""

    L1: float = 0.1  # [m], first bar
    L2: float = 1.0  # [m], second bar
    m1: float = 500.0  # [kg], at the end of the first bar
    m2: float = 1.0  # [kg], at the end of the second bar
    K: float = 4.0  # [N m/rad], spring between the bars
    torque: float = 2.0  # [N m], on the first bar
    start: float = 0.02  # [rad], first angle of the second bar
    duration: float = 9.0  # [s]


ORDERS = {"consistent": "consistent", "linearised": "proper (Eq 5.43)", "premature": "premature (Eq 5.42)"}


def run(parameters: Parameters, *, quick: bool, progress: Callable[[float, str], None]) -> StudyResult:
    """Compare the equations in symbols and in the toolbox, then simulate the motion."""
    for name in Parameters.__dataclass_fields__:
        if not getattr(parameters, name) > 0.0:
            raise ModelError(f"parameter '{name}': got {getattr(parameters, name):g}, expected a positive number")
    progress(0.0, "symbolic comparison")
    symbols = compare()
    progress(0.3, "toolbox")
    toolbox = compare_toolbox(parameters)
    progress(0.5, "motion")
    sims = {"hinged": move(parameters, hinged(parameters), "q1")}
    for order in ORDERS:  # the premature set is expected to diverge
        sims[order] = move(parameters, small(parameters, order), "bar2.eta1", check=order != "premature")
    exact = sims["hinged"]["q1"]
    size = np.max(np.abs(exact))
    errors = {order: sims[order]["bar2.eta1"] - np.interp(sims[order].t, sims["hinged"].t, exact) for order in ORDERS}
    metrics: dict[str, Any] = {
        **symbols,
        **toolbox,
        **{f"{order}_error": np.max(np.abs(error)) / size for order, error in errors.items()},
        "angle_max": size,
        "premature_lost_at": sims["premature"].t[-1] if sims["premature"].events else None,
        "spin_final": sims["hinged"]["q2_dot"][-1],
        "premature_critical_spin": np.sqrt(parameters.K / parameters.m2) / parameters.L2,
    }
    return StudyResult(
        metrics=metrics,
        simulations=sims,
        figures=(draw(sims, errors),),
        notes=(
            answer(metrics),
            "Derived in symbols, the nonlinear, premature and proper equations are those of Eqs 5.41, 5.42 and 5.43, and the "
            "correction of Eq 5.45 turns the premature set into the proper one, including the mass matrix."
            if all(value for key, value in symbols.items() if key != "premature_is_proper")
            else "A published set differs from the derived one; see the metrics.",
        ),
        printed=published_results(metrics),
    )


def answer(metrics: dict[str, Any]) -> str:
    """Describe the effect of the lost terms on the motion."""
    lost = metrics["premature_lost_at"]
    end = "" if lost is None else f", and diverges at {lost:.2f} s"
    return (
        "Premature linearisation loses the terms of Eq 5.45, by which the spin stiffens the second bar: its set has no "
        f"left at {metrics['premature_critical_spin']:.3g} rad/s{end}. The proper set follows the exact motion to "
        f"{metrics['linearised_error']:.1%} of the largest angle."
    )


def move(parameters: Parameters, system: Any, name: str, *, check: bool = True) -> Simulation:
    """Simulate the linkage under a constant torque from rest; the run ends if q1 reaches 1 rad, beyond any linearisation."""
    eom = form_equations(system)
    grid = np.linspace(0.0, parameters.duration, 361)
    large = Guard(name="large", expression=lambda s: s[name] ** 2 - 1.0, direction=1, is_failure=True)
    drive: dict[str, Any] = {"x0": {name: parameters.start}, "u": np.array([parameters.torque]), "check": check}
    return simulate(eom, **drive, t_span=(0.0, parameters.duration), grid=grid, guards=[large], rtol=1e-10, atol=1e-12)


def draw(sims: dict[str, Simulation], errors: dict[str, np.ndarray]) -> Figure:
    """Draw angle of the second bar, errors, and spin."""
    exact = sims["hinged"]
    bound = 2.0 * np.max(np.abs(exact["q1"]))
    lines = [Line(x=exact.t, y=exact["q1"], label="two hinges (Eq 5.41)")]
    wrong = []
    for order, label in ORDERS.items():
        t, q1 = sims[order].t, sims[order]["bar2.eta1"]
        shown = np.abs(q1) < bound
        end = len(t) if np.all(shown) else int(np.argmin(shown))
        lines.append(Line(x=t[:end], y=q1[:end], label=label, style="dashed"))
        wrong.append(Line(x=t[1:], y=np.maximum(np.abs(errors[order][1:]), 1e-7), label=label))
    return Figure(
        name="linkage",
        title="Two-bar linkage under a constant torque",
        caption="The proper equations follow the exact ones; in the premature ones the spin cancels the stiffness of the spring.",
        panels=(
            Panel(lines=tuple(lines), y_label="q1", unit="rad"),
            Panel(lines=tuple(wrong), y_label="|error of q1|", unit="rad", log_y=True),
            Panel(lines=(Line(x=exact.t, y=exact["q2_dot"], label="two hinges"),), y_label="u2", unit="rad/s"),
        ),
    )


def published_results(metrics: dict[str, Any]) -> tuple[PublishedResult, ...]:
    """Compare the published sets of equations with those derived in symbols."""
    sets = (
        ("nonlinear equations", "Sadigh (1995), Eq 5.41", "nonlinear_is_printed"),
        ("prematurely linearised equations", "Sadigh (1995), Eq 5.42", "premature_is_printed"),
        ("properly linearised equations", "Sadigh (1995), Eq 5.43", "proper_is_printed"),
        (
            "correction that turns the premature set into the proper one",
            "Sadigh (1995), Eq 5.45",
            "premature_plus_correction_is_proper",
        ),
    )
    return tuple(
        PublishedResult(
            what=what,
            source=source,
            printed="a set of equations",
            ours="equal, term by term" if metrics[key] else "another set",
            holds=bool(metrics[key]),
            criterion="the difference of both sets is zero in symbols",
        )
        for what, source, key in sets
    )


STUDY = Study(
    question="Which terms does premature linearisation lose in a two-bar linkage, and how does that change its motion?",
    parameters=Parameters(),
    run=run,
)
