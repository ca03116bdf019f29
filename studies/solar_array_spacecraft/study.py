"""Slew of a spacecraft with two flexible solar arrays and a boom: unshaped and shaped commands under a regulator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spacectl import (
    EquationsOfMotion,
    Figure,
    Line,
    ModelError,
    Panel,
    Position,
    Simulation,
    Study,
    StudyResult,
    effective_masses,
    form_equations,
    linearize,
    simulate,
)

from .slew import command, regulator, shaper_for, table, vibrations
from .spacecraft import array, spacecraft


@dataclass(frozen=True)
class Parameters:
    """Parameters of the study; each can be set on the command line."""

    hub_mass: float = 600.0  # [kg]
    array_length: float = 6.0  # [m]
    array_width: float = 2.0  # [m]
    array_mass: float = 25.0  # [kg], each
    array_stiffness: float = 400.0  # [N m], bending stiffness D of the sandwich
    array_modes: int = 3  # [1], of each array
    boom_length: float = 5.0  # [m]
    boom_mass: float = 3.0  # [kg]
    boom_EI: float = 1500.0  # [N m^2]
    instrument_mass: float = 6.0  # [kg], at the tip of the boom
    damping: float = 0.005  # [1], of all modes
    angle: float = 40.0  # [deg], slew about x
    duration: float = 30.0  # [s], of the unshaped command
    edge: float = 0.2  # [s], rise of the acceleration
    torque_limit: float = 20.0  # [N m]
    attitude_scale: float = 0.5  # [deg], error that weighs as much as torque_scale
    rate_scale: float = 0.02  # [rad/s], the same
    vibration_scale: float = 0.5  # [m/s], the same
    torque_scale: float = 2.0  # [N m]
    kind: str = "ZVD"  # shaper: "ZV", "ZVD", "EI"
    off: float = 0.1  # [1], relative error of the design frequencies in the robustness runs
    settle: float = 40.0  # [s], after the command


def run(parameters: Parameters, *, quick: bool, progress: Callable[[float, str], None]) -> StudyResult:
    """Design regulator and shapers; simulate four slews (unshaped, shaped, shaped with wrong frequencies)."""
    check(parameters)
    parameters = replace(parameters, array_modes=min(parameters.array_modes, 2)) if quick else parameters
    progress(0.0, "equations")
    seen = (Position(name="tip1", on="array1.tip"), Position(name="tip2", on="array2.tip"))
    eom = form_equations(replace(spacecraft(parameters), sensors=seen))
    model = linearize(eom, eom.state(**{"hub.qw": 1.0}))
    progress(0.3, "regulator")
    law = regulator(parameters, model)
    frequencies, damping = vibrations(law, model)
    plan = command(parameters)
    inertia = float(
        eom.mass_matrix(0.0, eom.state(**{"hub.qw": 1.0})[: eom.n_q])[
            eom.speeds.index("hub.wx"), eom.speeds.index("hub.wx")
        ]
    )
    shapers = {"unshaped": None, "shaped": shaper_for(frequencies, damping, parameters.kind)}
    wrong = {"fast": 1.0 + parameters.off, "slow": 1.0 - parameters.off}
    shapers |= {name: shaper_for(factor * frequencies, damping, parameters.kind) for name, factor in wrong.items()}
    sims, ends = {}, {}
    for k, (name, shaper) in enumerate(shapers.items()):
        progress(0.4 + 0.1 * k, f"slew, {name}")
        ends[name] = plan.duration + (0.0 if shaper is None else float(np.asarray(shaper.times)[-1]))
        sims[name] = fly(parameters, eom, model, table(eom, plan, shaper, inertia, ends[name]), ends[name])
    metrics = measure(parameters, sims, ends, frequencies, damping, law)
    figures = (draw(parameters, sims, ends), draw_left(sims, ends))
    return StudyResult(metrics=metrics, simulations=sims, figures=figures, notes=notes(parameters, metrics))


def check(parameters: Parameters) -> None:
    """Raise `ModelError` for parameters without physical meaning."""
    for name in Parameters.__dataclass_fields__:
        value = getattr(parameters, name)
        if name != "kind" and not value > 0.0:
            raise ModelError(f"parameter '{name}': got {value:g}, expected a positive number")
    if parameters.off >= 1.0:
        raise ModelError(f"parameter 'off': got {parameters.off:g}, expected less than 1")


def fly(parameters: Parameters, eom: EquationsOfMotion, model: Any, reference: Any, end: float) -> Simulation:
    """Simulate the nonlinear slew under the regulator that follows the table."""
    law = regulator(parameters, model, reference)
    last = end + parameters.settle
    return simulate(
        eom, law, x0={"hub.qw": 1.0}, t_span=(0.0, last), grid=np.linspace(0.0, last, 1401), rtol=1e-7, atol=1e-9
    )


def swing(sim: Simulation) -> np.ndarray:
    """Return the antisymmetric deflection of the first mode of both arrays [m], which a turn about x excites."""
    return 0.5 * (sim["array1.eta1"] - sim["array2.eta1"])


def pointing(sim: Simulation, angle: float) -> np.ndarray:
    """Return the angle between the attitude and the final reference attitude [rad]."""
    wanted = np.array([np.cos(0.5 * angle), np.sin(0.5 * angle), 0.0, 0.0])
    q = np.stack([sim[f"hub.{part}"] for part in ("qw", "qx", "qy", "qz")], axis=1)
    return 2.0 * np.arccos(np.clip(np.abs(q @ wanted) / np.linalg.norm(q, axis=1), 0.0, 1.0))


def measure(parameters: Parameters, sims: Any, ends: Any, frequencies: Any, damping: Any, law: Any) -> dict[str, Any]:
    """Return the metrics of the histories."""
    angle = np.radians(parameters.angle)
    panel = effective_masses(array(parameters, "array"))
    metrics: dict[str, Any] = {
        "first_excited_frequency": frequencies[0],
        "first_excited_damping": damping[0],
        "excited_modes": len(frequencies),
        "array_first_frequency": panel.frequencies[0],
        "array_effective_mass_share": panel.share[2],
        "disk_margin": law.margins.simultaneous.alpha,
    }
    for name, sim in sims.items():
        after = sim.t >= ends[name]
        metrics |= {
            f"duration_{name}": ends[name],
            f"swing_peak_{name}": np.max(np.abs(swing(sim))),
            f"residual_{name}": np.max(np.abs(swing(sim)[after])),
            f"pointing_after_{name}": np.degrees(np.max(pointing(sim, angle)[after])),
            f"torque_peak_{name}": np.max(np.abs(sim["torque_x"])),
        }
    metrics["residual_ratio"] = metrics["residual_shaped"] / metrics["residual_unshaped"]
    metrics["pointing_ratio"] = metrics["pointing_after_shaped"] / metrics["pointing_after_unshaped"]
    return metrics


NAMES = {
    "unshaped": "unshaped",
    "shaped": "shaped",
    "fast": "shaped, frequencies 10 % high",
    "slow": "shaped, 10 % low",
}


def draw(parameters: Parameters, sims: Any, ends: Any) -> Figure:
    """Draw attitude, arrays and torque of the two slews."""
    both = [(name, sims[name]) for name in ("unshaped", "shaped")]
    angle = [Line(x=sim.t, y=2.0 * np.arctan2(sim["hub.qx"], sim["hub.qw"]), label=name) for name, sim in both]
    tips = [Line(x=sim.t, y=swing(sim), label=name) for name, sim in both]
    torque = [Line(x=sim.t, y=sim["torque_x"], label=name) for name, sim in both]
    time = {"x_label": "time", "x_unit": "s"}
    return Figure(
        name="slew",
        title=f"Slew by {parameters.angle:g} degrees about x, across the arrays",
        caption="The shaped command takes slightly longer and leaves the arrays at rest when it ends.",
        panels=(
            Panel(lines=tuple(angle), y_label="angle", unit="rad", **time),
            Panel(lines=tuple(tips), y_label="array tips, first mode", unit="m", **time),
            Panel(lines=tuple(torque), y_label="torque about x", unit="N m", **time),
        ),
    )


def draw_left(sims: Any, ends: Any) -> Figure:
    """Draw the vibration after the command, on a logarithmic scale, also for wrong frequencies."""
    lines = []
    for name, sim in sims.items():
        after = sim.t >= ends[name]
        largest = np.maximum.accumulate(np.abs(swing(sim)[after])[::-1])[::-1]  # from then on
        lines.append(Line(x=sim.t[after] - ends[name], y=np.maximum(largest, 1e-7), label=NAMES[name]))
    return Figure(
        name="residual",
        title="Vibration of the arrays after the command has ended",
        caption="Largest remaining deflection of the antisymmetric first mode. A shaper with frequencies that are "
        "wrong by 10 % still removes most of the vibration.",
        panels=(
            Panel(
                lines=tuple(lines),
                y_label="largest remaining deflection",
                unit="m",
                x_label="time after the command",
                x_unit="s",
                log_y=True,
            ),
        ),
    )


def notes(parameters: Parameters, m: dict[str, Any]) -> tuple[str, ...]:
    """Return the findings as sentences."""
    return (
        f"Shaping lengthens the command from {m['duration_unshaped']:.1f} to {m['duration_shaped']:.1f} s and reduces the "
        f"residual vibration to {m['residual_ratio']:.1%}, "
        f"{1e3 * m['residual_shaped']:.2f} mm in place of {1e3 * m['residual_unshaped']:.1f} mm.",
        f"With design frequencies {parameters.off:.0%} too high or too low it leaves {1e3 * m['residual_fast']:.1f} "
        f"and {1e3 * m['residual_slow']:.1f} mm.",
        f"The largest pointing error after the command is {m['pointing_after_unshaped']:.3f} and "
        f"{m['pointing_after_shaped']:.4f} degrees.",
    )


STUDY = Study(
    question=(
        "How much residual vibration does a slew leave in flexible solar arrays and a boom, and how much does "
        "command shaping remove?"
    ),
    parameters=Parameters(),
    run=run,
)
