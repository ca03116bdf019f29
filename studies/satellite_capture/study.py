"""Capture of a spinning satellite by a two-link arm: three cases, a fourth with an impulse, best posture.

Sadigh (1995), section 6.2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from spacectl import (
    EquationsOfMotion,
    ModelError,
    PublishedResult,
    Simulation,
    Study,
    StudyResult,
    find_locked_frequencies,
    form_equations,
    simulate,
)

from .capture import BEFORE, fly_capture
from .cases import TIGHT, at_rest, fly_controlled, fly_free, invariants
from .figures import draw_capture, draw_controlled, draw_free, draw_motion, draw_postures
from .model import JOINTS, Parameters, build, build_apart, centred, distance, find_posture, start
from .postures import search


def run(parameters: Parameters, *, quick: bool, progress: Callable[[float, str], None]) -> StudyResult:
    """Simulate all cases and verify them."""
    check(parameters)
    progress(0.0, "free motion")
    free = fly_free(parameters, np.linspace(0.0, parameters.duration, 1001))
    metrics: dict[str, Any] = {}
    for name in ("case 1", "case 2", "case 3"):
        metrics[f"{name.replace(' ', '')}_distance_100s"] = distance(*free[name])[-1]
    metrics |= invariants(parameters, *free["case 3"])
    metrics["flexible_difference"] = np.max(
        [np.max(np.abs(free["case 1"][1][name] - free["case 2"][1][name])) for name in ("pitch", *JOINTS)]
    )
    metrics["loop_difference"] = compare_with_loop(parameters, free["case 3"][1])
    progress(0.3, "controlled motion")
    controlled = fly_controlled(parameters, np.linspace(0.0, parameters.duration, 401))
    metrics |= measure_control(parameters, controlled)
    progress(0.5, "capture with a relative speed")
    capture = fly_capture(parameters, grid=801)
    metrics |= measure_capture(parameters, capture)
    metrics |= compare_shapes(parameters, free["case 2"][0])
    progress(0.7, "postures")
    found = search(parameters, quick=quick)
    pitch, axis, side = found.best
    best = find_posture(parameters, pitch=pitch, axis=axis, elbow_side=side)
    eom = free["case 3"][0]
    sims = {"as in the thesis": (eom, free["case 3"][1]), "best": (eom, fly(parameters, eom, best))}
    metrics |= {
        "best_pitch": pitch,
        "best_axis": axis % (2.0 * np.pi),
        "best_elbow_side": side,
        "best_distance_100s": found.best_distance,
        "best_least_distance": found.least,
    }
    progress(0.95, "drawing")
    histories = {f"free_{name.replace(' ', '')}": sim for name, (_, sim) in free.items()}
    histories |= {f"controlled_{name.replace(' ', '')}": sim for name, (_, sim) in controlled.items()}
    figures = (
        draw_motion(parameters, free),
        draw_free(free),
        *draw_controlled(controlled),
        draw_capture(capture),
        draw_postures(parameters, found, sims),
    )
    return StudyResult(
        metrics=metrics,
        simulations={**histories, "capture": capture.sim, "best_posture": sims["best"][1]},
        figures=figures,
        printed=published_results(parameters, metrics),
        notes=(
            f"Without any torque the spin folds the arm and reduces the distance of the satellite from "
            f"{parameters.distance:g} m to "
            f"{metrics['case1_distance_100s']:.2f} m in 100 s. "
            f"Feedback stops the spin with torques of at most {metrics['case1_largest_torque']:.0f} N m; joint torques alone can "
            "also hold the attitude of the spacecraft.",
            f"If the grapple point arrives with {1e2 * parameters.approach_speed:g} cm/s, the impulse dissipates "
            f"{metrics['capture_energy_loss']:.3f} J and bends a link by {metrics['capture_largest_deflection']:.2f} m.",
            "The links have one cantilever mode each, as in Sadigh (1995). With two default shapes each, whose "
            "static compliance is exact, the lowest frequency in the posture of the capture, joints locked, is "
            f"{metrics['locked_frequency_default']:.4f} rad/s, "
            f"not {metrics['locked_frequency']:.4f} rad/s, and the grapple speed bends a link by "
            f"{metrics['capture_largest_deflection_default']:.2f} m.",
        ),
    )


def published_results(parameters: Parameters, metrics: dict[str, Any]) -> tuple[PublishedResult, ...]:
    """Compare with statements of Sadigh (1995), section 6.2; its curves have no numbers in the text."""
    one, three = metrics["case1_distance_100s"], metrics["case3_distance_100s"]
    return (
        PublishedResult(what="distance of the satellite without any torque", source="Sadigh (1995), section 6.2.1, Figure 6.3",
                        printed="moves towards the spacecraft", ours=f"{parameters.distance:g} m to {one:.2f} m",
                        holds=one < parameters.distance, criterion="the distance after 100 s is below that at the start"),
        PublishedResult(what="flexible against rigid links", source="Sadigh (1995), section 6.2.1",
                        printed="almost no difference", ours=f"{1e3 * metrics['flexible_difference']:.2f} mrad",
                        holds=metrics["flexible_difference"] < 0.01, criterion="angles differ by less than 10 mrad in 100 s"),
        PublishedResult(what="case 1 against case 3", source="Sadigh (1995), section 6.2.1", printed="considerable difference",
                        ours=f"{one:.2f} m, {three:.2f} m", holds=abs(one - three) > 0.1,
                        criterion="distances after 100 s differ by more than 0.1 m"),
        PublishedResult(what="attitude by joint torques alone", source="Sadigh (1995), section 6.2.2", printed="possible",
                        ours=f"held to {metrics['jointsalone_pitch_error']:.0e} rad",
                        holds=metrics["jointsalone_pitch_error"] < 1e-6, criterion="pitch at the end below 1e-6 rad"),
    )  # fmt: skip


def check(parameters: Parameters) -> None:
    """Raise `ModelError` for parameters without physical meaning."""
    for name in ("spacecraft_mass", "spacecraft_inertia", "satellite_mass", "satellite_inertia", "link_mass", "link_length",
                 "link_stiffness", "orbit_rate", "distance", "frequency", "damping", "approach_speed", "duration"):  # fmt: skip
        if not getattr(parameters, name) > 0.0:
            raise ModelError(f"parameter '{name}': got {getattr(parameters, name):g}, expected a positive number")
    try:
        find_posture(parameters)
    except ValueError as error:
        raise ModelError("parameter 'distance': the arm cannot reach that far; give less or longer links") from error


def fly(parameters: Parameters, eom: EquationsOfMotion, posture: Any) -> Simulation:
    """Simulate the free motion from a posture."""
    return simulate(eom, x0=start(eom, posture), t_span=(0.0, parameters.duration), grid=401, **TIGHT)


def compare_with_loop(parameters: Parameters, sim: Simulation) -> float:
    """Simulate case 3 with the satellite as a free body held by the grapple: largest difference of an angle [rad]."""
    eom = form_equations(build_apart(parameters, is_flexible=False))
    posture, length = find_posture(parameters), parameters.link_length
    first, second = posture.angles[0], posture.angles[0] + posture.angles[1]
    rates = np.array([posture.rates[0], posture.rates[0] + posture.rates[1]])
    tip = rates @ (length * np.array([[-np.sin(first), np.cos(first)], [-np.sin(second), np.cos(second)]]))
    axis, spin = second + posture.angles[2], parameters.spin_rate
    out = parameters.satellite_offset * np.array([np.cos(axis), np.sin(axis)])
    velocity = tip + spin * np.array([-out[1], out[0]])
    x0 = eom.state(
        **{"satellite.angle": axis, "satellite.y": parameters.distance, "satellite.angle_dot": spin},
        **{f"satellite.{name}_dot": value for name, value in zip("xy", velocity, strict=True)},
        **{name: value for name, value in zip(("shoulder", "elbow"), posture.angles, strict=False)},
        **{f"{name}_dot": value for name, value in zip(("shoulder", "elbow"), posture.rates, strict=False)},
    )
    again = simulate(eom, x0=centred(eom, x0), t_span=(0.0, parameters.duration), grid=sim.t, **TIGHT)
    satellite = sum(sim[name] for name in ("base.angle", *JOINTS))
    pairs = [(sim[name], again[name]) for name in ("base.angle", "shoulder", "elbow")]
    return float(np.max([np.max(np.abs(a - b)) for a, b in [*pairs, (satellite, again["satellite.angle"])]]))


def measure_control(parameters: Parameters, runs: dict[str, Any]) -> dict[str, Any]:
    """Return errors at the end and largest torques."""
    posture, found = find_posture(parameters), {}
    for name, (eom, sim) in runs.items():
        key = name.replace(" ", "")
        wanted = at_rest(eom, posture)
        error = np.abs(sim.x[-1] - wanted)
        angles = [k for k, label in enumerate(eom.states) if label in ("pitch", "base.angle", *JOINTS)]
        found[f"{key}_largest_torque"] = np.max(np.abs(sim.u))
        if name != "joints alone":
            found[f"{key}_angle_error"] = np.max(error[angles])
    eom, sim = runs["joints alone"]
    found["jointsalone_pitch_error"] = abs(sim["base.angle"][-1])
    found["jointsalone_shoulder_drift"] = sim["shoulder"][-1] - sim["shoulder"][0]
    eom, sim = runs["case 3"]
    found["case3_place_error"] = float(np.hypot(*(sim[f"base.{k}"][-1] - sim[f"base.{k}"][0] for k in "xy")))
    return found


def measure_capture(parameters: Parameters, capture: Any) -> dict[str, Any]:
    """Return the jump at capture and the arrest of the joined system."""
    sim, eom = capture.sim, capture.eom
    (caught,) = sim.transitions
    momentum = eom.momentum(caught.time, *np.split(np.asarray(caught.x_before), [eom.n_q]))
    return {
        "capture_time_error": abs(caught.time - BEFORE),
        "capture_energy_loss": caught.energy_loss,
        "capture_impulse": float(np.hypot(caught.impulses["grapple.x"], caught.impulses["grapple.y"])),
        "capture_momentum_error": np.max(np.abs(np.asarray(caught.momentum_change))) / np.max(np.abs(momentum)),
        "capture_largest_deflection": np.max(np.abs([sim["upper_tip.y"], sim["lower_tip.y"]])),
        "capture_spin_left": abs(sim["satellite.angle_dot"][-1]),
        "capture_largest_torque": np.max(np.abs(sim.u)),
    }


def compare_shapes(parameters: Parameters, eom: EquationsOfMotion) -> dict[str, Any]:
    """Return the lowest frequency with the joints locked, and the fourth capture, with two default shapes for each link."""
    other, posture = replace(parameters, link_shapes="auto", link_modes=2), find_posture(parameters)
    better = form_equations(build(other, base="held", is_flexible=True))
    jump = measure_capture(other, fly_capture(other, grid=801))
    keys = ("capture_energy_loss", "capture_impulse", "capture_largest_deflection")
    return {
        "locked_frequency": find_locked_frequencies(eom, start(eom, posture))[0],
        "locked_frequency_default": find_locked_frequencies(better, start(better, posture))[0],
        **{f"{key}_default": jump[key] for key in keys},
    }


STUDY = Study(
    question="How does a spinning satellite move the arm that captures it, and which torques stop it?",
    parameters=Parameters(),
    run=run,
)
