"""Constraint embedding of local loops in the order-N recursion: cost, agreement with the augmented system, and gears.

NASA Tech Brief NPO-46950 (2011).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl import Figure, Line, ModelError, Panel, Study, StudyResult

from .chains import CHAINS, Measured, exponent, measure
from .gears import arm, diagonal_arm, follow, push, reach, reference_angle


@dataclass(frozen=True)
class Parameters:
    """Parameters of the study; each can be set on the command line."""

    ratio: float = 50.0  # [1], of the gears of the plane arm and of the moving chain
    links: int = 8  # geared links of the moving chain
    torque: float = 0.01  # [N m], of the elbow's motor
    duration: float = 2.0  # [s]


def run(parameters: Parameters, *, quick: bool, progress: Callable[[float, str], None]) -> StudyResult:
    """Measure cost by number of loops, simulate a motion, and evaluate the coupling of a rotor."""
    check(parameters)
    counts = (5, 10, 20) if quick else (5, 10, 20, 50, 100, 200)
    found: dict[str, Measured] = {}
    for k, name in enumerate(CHAINS):
        own = (2,) if quick and "flexible" in name else counts
        found[name] = measure(
            name, own, 9 if quick else 25, lambda done, k=k, name=name: progress((k + done) / 5.0, name)
        )
    progress(0.6, "a chain of geared links in motion")
    tier = "vm" if quick else "auto"  # the interpreter avoids compilation
    eom, sim = follow(parameters.links, parameters.ratio, parameters.duration * (0.1 if quick else 1.0), tier)
    residual = float(np.max(np.abs(eom.along("residual", sim.t, sim.x))))
    progress(0.8, "a rotor on a moving link")
    pushed = {
        name: push(make(parameters.ratio), parameters.torque, parameters.duration, tier) for name, make in ARMS.items()
    }
    ratios = np.geomspace(1.0, 300.0, 4 if quick else 25)
    reached = [reach(float(ratio)) for ratio in ratios]
    missed = np.array([np.abs((exact - plain) / exact) for exact, plain in reached])
    turned = {name: float(np.max(np.abs(angle))) for name, (_, angle) in pushed.items()}
    differences = np.concatenate([item.difference for item in found.values()])
    metrics: dict[str, Any] = {
        "max_difference_to_kkt": float(np.nanmax(differences)),
        "loglog_slope": max(exponent(item.loops, item.embedded) for item in found.values() if item.loops.size > 2),
        "loglog_slope_kkt": exponent(found["four-bar chain"].loops, found["four-bar chain"].augmented),
        "time_per_gear": 1e6 * found["geared chain"].embedded[-1] / found["geared chain"].loops[-1],
        "time_per_four_bar": 1e6 * found["four-bar chain"].embedded[-1] / found["four-bar chain"].loops[-1],
        "loop_residual": residual,
        "shoulder_exact": turned["exact"],
        "shoulder_diagonal": turned["diagonal"],
        "worst_acceleration_error": float(np.max(missed)),
    }
    return StudyResult(
        metrics=metrics,
        simulations={"chain": sim},
        figures=(draw_cost(found), draw_motion(parameters, sim), draw_rotor(pushed, ratios, missed)),
        notes=(
            f"Embedded loops and the augmented system give the same accelerations to {metrics['max_difference_to_kkt']:.0e}. "
            f"It takes {metrics['time_per_gear']:.2f} us per gear and {metrics['time_per_four_bar']:.2f} us per four-bar.",
            f"If the inertia of a rotor on a moving link is placed on the diagonal only, the free shoulder turns by "
            f"{metrics['shoulder_diagonal']:.3f} rad instead of {metrics['shoulder_exact']:.3f} rad.",
            "Times are the shortest of several runs on this machine; for the augmented system, only the solution is timed.",
        ),
    )


ARMS = {"exact": arm, "diagonal": diagonal_arm}


def check(parameters: Parameters) -> None:
    """Raise `ModelError` for parameters without physical meaning."""
    for name in ("ratio", "torque", "duration"):
        if not getattr(parameters, name) > 0.0:
            raise ModelError(f"parameter '{name}': got {getattr(parameters, name):g}, expected a positive number")
    if not 1 <= parameters.links <= 200:
        raise ModelError(f"parameter 'links': got {parameters.links}, expected a number from 1 to 200")


def draw_cost(found: dict[str, Measured]) -> Figure:
    """Draw time and difference by number of loops."""
    times, differences = [], []
    for name, item in found.items():
        times.append(Line(x=item.loops, y=1e6 * item.embedded, label=f"embedded, {name}"))
        kept = np.isfinite(item.augmented)
        if np.sum(kept) > 3:
            label = f"augmented system, solution alone, {name}"
            times.append(Line(x=item.loops[kept], y=1e6 * item.augmented[kept], label=label, style="dashed"))
        differences.append(Line(x=item.loops[kept], y=item.difference[kept], label=name, style="markers"))
    longest = max(item.loops[-1] for item in found.values())
    first = found["geared chain"]
    line = np.array([first.loops[0], longest])
    times.append(
        Line(x=line, y=0.6e6 * first.embedded[0] * line / line[0], label="proportional to the loops", style="dotted")
    )
    shared = {"x_label": "local loops", "x_unit": "1", "log_x": True, "log_y": True}
    return Figure(
        name="cost",
        title="Cost of accelerations by number of local loops",
        panels=(
            Panel(lines=tuple(times), y_label="one evaluation", unit="us", **shared),
            Panel(lines=tuple(differences), y_label="difference to the augmented system", unit="1", **shared),
        ),
        caption="The cost of embedded loops is proportional to their number; that of the dense solution approaches the third "
        "power. Both give the same accelerations.",
    )


def draw_motion(parameters: Parameters, sim: Any) -> Figure:
    """Draw joints and motors of the moving chain."""
    shown = (0, parameters.links // 2, parameters.links - 1)
    joints = tuple(Line(x=sim.t, y=sim[f"joint{k}"], label=f"joint {k}") for k in dict.fromkeys(shown))
    joints += tuple(
        Line(x=sim.t, y=reference_angle(sim.t, k), label=f"reference {k}", style="dotted") for k in dict.fromkeys(shown)
    )
    torques = tuple(Line(x=sim.t, y=sim.column("u", f"motor{k}"), label=f"motor {k}") for k in dict.fromkeys(shown))
    return Figure(
        name="motion",
        title=f"A chain of {parameters.links} geared links tracking sines",
        panels=(
            Panel(lines=joints, y_label="joint", unit="rad"),
            Panel(lines=torques, y_label="motor torque", unit="N m"),
        ),
        caption="PD control at the motors, under gravity; plant, law and projection of the loops run in native code.",
    )


def draw_rotor(pushed: dict[str, Any], ratios: np.ndarray, missed: np.ndarray) -> Figure:
    """Draw the free shoulder, with the exact rotor and with its inertia on the diagonal only."""
    labels = {"exact": "rotor on the moving link", "diagonal": "ratio squared times inertia, on the diagonal"}
    lines = tuple(
        Line(x=t, y=angle, label=labels[name], style="solid" if name == "exact" else "dashed")
        for name, (t, angle) in pushed.items()
    )
    return Figure(
        name="rotor",
        title="A geared rotor turns the link that carries it",
        panels=(
            Panel(lines=lines, y_label="free shoulder", unit="rad"),
            Panel(
                lines=tuple(
                    Line(x=ratios, y=missed[:, k], label=f"{name}: error of the diagonal model")
                    for k, name in enumerate(("shoulder", "elbow"))
                ),
                y_label="acceleration, relative error",
                unit="1",
                x_label="gear ratio",
                x_unit="1",
                log_x=True,
                log_y=True,
            ),
        ),
        caption="The elbow's motor applies a torque in one direction, then in the other. Its rotor spins at link rate plus ratio "
        "times joint rate. Omitting this coupling changes the rotation of the free shoulder.",
    )


STUDY = Study(
    question=(
        "What is the cost of local loops in the order-N recursion, does it agree with the augmented system, "
        "and what is the effect of gears?"
    ),
    parameters=Parameters(),
    run=run,
)
