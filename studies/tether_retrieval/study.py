"""Retrieval of a tethered satellite: in one step or several, at an exponential or a constant rate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from spacectl import (
    ModelError,
    PublishedResult,
    Simulation,
    Study,
    StudyResult,
    find_operating_point,
    form_equations,
    library,
    simulate,
)

from .figures import draw_flights, draw_free, draw_jumps, draw_scan
from .free import fly_free, growth
from .phases import Flight, Reeling, fly_steps, reel, retrieval_law, scale_masses, start_state

Orbiter = library.TetherOrbiter


@dataclass(frozen=True)
class Parameters:
    """Parameters of the study; each can be set on the command line."""

    orbit_rate: float = 1e-3  # [rad/s], Sadigh (1995), section 6.2
    satellite_mass: float = 500.0  # [kg], Sadigh (1995), section 6.3
    free_length: float = 500.0  # [m], Sadigh (1995), Figure 6.10
    length: float = 200.0  # [m], at the start of the controlled retrievals; not published
    final_length: float = 50.0  # [m]; not published
    retrieval: float = 0.22  # [1], -L_dot / (orbit_rate L), Sadigh (1995), section 6.3
    steps: int = 2  # [1], of the multi-step retrieval
    station_orbits: float = 2.0  # [1], station keeping after each step
    frequency: float = 5.0  # [1], of the modified feedback linearisation, in orbital rates
    start_angle: float = 0.1  # [rad], of the tether in the uncontrolled motions; not published
    number_error: float = 0.2  # [1]
    noise_angle: float = 1e-4  # [rad]
    noise_rate: float = 1e-6  # [rad/s]


def run(parameters: Parameters, *, quick: bool, progress: Callable[[float, str], None]) -> StudyResult:
    """Simulate uncontrolled motions, retrievals in steps, profiles, weights, lengths, deployment, robustness."""
    check(parameters)
    data = Orbiter(rate=parameters.orbit_rate, satellite_mass=parameters.satellite_mass)
    progress(0.0, "without control")
    free = uncontrolled(data, parameters)
    metrics: dict[str, Any] = {f"free_growth_{name}": growth(sim, data.rate) for name, sim in free.items()}
    progress(0.2, "one step and several, exponential and constant")
    counts = (1, parameters.steps) if quick else tuple(sorted({1, parameters.steps, 4}))
    flights = {
        (kind, steps): fly(data, parameters, kind=kind, steps=steps)
        for kind in ("exponential", "constant")
        for steps in counts
    }
    for (kind, steps), flight in flights.items():
        metrics |= describe(f"{kind}_{steps}step", flight)
    progress(0.5, "lengths, rates and weights")
    lengths = {} if quick else scan_lengths(data, parameters)
    for (length, steps), flight in lengths.items():
        metrics |= describe(f"L{length:.0f}_{steps}step", flight)
    if lengths:
        metrics["shorter_is_easier"] = all(
            metrics[f"L{short:.0f}_{steps}step_{what}"] < metrics[f"L{long:.0f}_{steps}step_{what}"]
            for (short, steps), (long, other) in product(lengths, lengths)
            if steps == other and short < long
            for what in ("largest_torque", "arm_motion")
        )
    gentle = {
        steps: fly(data, parameters, kind="exponential", steps=steps, slower=0.5)
        for steps in (counts if not quick else ())
    }
    for steps, flight in gentle.items():
        metrics |= describe(f"gentle_{steps}step", flight)
    metrics |= try_weights(data, parameters)
    progress(0.8, "deployment, wrong parameters, noise")
    metrics |= deploy(data, parameters)
    one, more = flights[("exponential", 1)], flights[("exponential", parameters.steps)]
    wrong = {
        f"{factor:.1f}": fly(data, parameters, assumed=scale_masses(data, factor))
        for factor in (1.0 - parameters.number_error, 1.0 + parameters.number_error)
    }
    noisy = fly(data, parameters, is_noisy=True)
    metrics |= {
        "multi_step_is_better": more.largest < one.largest and more.final < one.final,
        "exponential_is_better_one_step": one.largest < flights[("constant", 1)].largest,
        "exponential_is_better_multi_step": more.largest < flights[("constant", parameters.steps)].largest,
        "wrong_numbers_largest_libration": max(flight.largest for flight in wrong.values()),
        "wrong_numbers_final_libration": max(flight.final for flight in wrong.values()),
        "noise_largest_libration": noisy.largest,
        "noise_final_libration": noisy.final,
    }
    figures = [
        draw_free(free, data.rate),
        draw_flights(
            "steps", "One step and several (Sadigh 1995, Figure 6.13)",
            {f"{steps} step{'s' if steps > 1 else ''}": flights[("exponential", steps)] for steps in (1, parameters.steps)},
            data.rate, "Exponential retrieval. Station keeping between the steps removes the libration before it grows.",
        ),
        draw_flights(
            "profiles", "Exponential and constant rate (Sadigh 1995, Figure 6.14)",
            {f"{kind}, {parameters.steps} steps": flights[(kind, parameters.steps)] for kind in ("constant", "exponential")},
            data.rate, "Same lengths, same time. Relative to the length, the constant rate is slow at first and fast at the end.",
        ),
        draw_jumps({**{f"{k}, {n}": f for (k, n), f in flights.items()}, **{f"gentle, {n}": f for n, f in gentle.items()}}, data),
    ]  # fmt: skip
    if lengths:
        figures.append(draw_scan(lengths))
    return StudyResult(
        metrics=metrics,
        simulations=free,
        figures=tuple(figures),
        notes=notes(metrics, parameters),
        printed=published_results(metrics),
    )


def uncontrolled(data: Orbiter, parameters: Parameters) -> dict[str, Simulation]:
    """Simulate the cases of Sadigh (1995), Figure 6.10, and a deployment."""
    down = Reeling(parameters.free_length, 0.1 * parameters.free_length, parameters.retrieval)
    end = down.duration(data.rate)
    constant = Reeling(down.start, down.end, down.rate, "constant")
    up = Reeling(down.end, down.start, parameters.retrieval)
    ways: dict[str, Reeling | float] = {
        "station": down.start,
        "exponential": down,
        "constant": constant,
        "deployment": up,
    }
    return {name: fly_free(data, way, parameters.start_angle, end) for name, way in ways.items()}


def fly(
    data: Orbiter,
    parameters: Parameters,
    *,
    kind: str = "exponential",
    steps: int | None = None,
    length: float | None = None,
    slower: float = 1.0,
    assumed: Orbiter | None = None,
    is_noisy: bool = False,
) -> Flight:
    """Simulate one controlled retrieval."""
    start = parameters.length if length is None else length
    count = parameters.steps if steps is None else steps
    noise = {name: parameters.noise_angle for name in Orbiter.JOINTS} | {
        f"{name}_dot": parameters.noise_rate for name in Orbiter.JOINTS
    }
    return fly_steps(
        data,
        Reeling(start, start * parameters.final_length / parameters.length, slower * parameters.retrieval, kind),
        steps=count,
        swing=0.0,
        frequency=parameters.frequency * data.rate,
        rest=count * parameters.station_orbits * 2.0 * np.pi / data.rate,
        assumed=assumed,
        noise=noise if is_noisy else None,
        period=10.0 if is_noisy else 0.0,
    )


def describe(name: str, flight: Flight) -> dict[str, Any]:
    """Return the metrics of one simulation."""
    return {
        f"{name}_largest_libration": flight.largest,
        f"{name}_final_libration": flight.final if flight.stations else None,
        f"{name}_largest_torque": float(np.max(np.abs(flight.torques))),
        f"{name}_torque_jump": flight.jump,
        f"{name}_arm_motion": flight.arm,
    }


def scan_lengths(data: Orbiter, parameters: Parameters) -> dict[tuple[float, int], Flight]:
    """Retrieve the same fraction of the line from other lengths."""
    return {
        (length, steps): fly(data, parameters, steps=steps, length=length)
        for length in (100.0, 200.0, 300.0, 500.0)
        for steps in (1, parameters.steps)
    }


def try_weights(data: Orbiter, parameters: Parameters) -> dict[str, Any]:
    """Compare the weight Q = 1 of Sadigh (1995) with Q = M^-1, during the reeling alone."""
    reeling = Reeling(parameters.length, parameters.final_length, parameters.retrieval)
    eom, end = reel(data, reeling), reeling.duration(data.rate)
    found: dict[str, Any] = {}
    for weight in ("identity", "inverse mass"):
        law = retrieval_law(eom, parameters.frequency * data.rate, weight)
        sim = simulate(
            eom, law, x0=start_state(eom, 0.0), t_span=(0.0, end), rtol=1e-8, atol=1e-10, max_steps=20_000, check=False
        )
        word = weight.replace(" ", "_")
        found[f"weight_{word}_largest_pole"] = largest_pole(data, parameters, weight)
        found[f"weight_{word}_arrives"] = sim.outcome.is_success
        found[f"weight_{word}_share_flown"] = float(sim.t[-1] / end)
    return found


def largest_pole(data: Orbiter, parameters: Parameters, weight: str) -> float:
    """Return the largest real part of the closed-loop poles at the constant initial length, over the orbital rate."""
    eom = form_equations(data.system(parameters.length))
    point = find_operating_point(eom, q=Orbiter.coordinates(Orbiter.FIXED_POINT))
    law = retrieval_law(eom, parameters.frequency * data.rate, weight)
    return float(np.max(law.report(point.x).poles.real) / data.rate)


def deploy(data: Orbiter, parameters: Parameters) -> dict[str, float]:
    """Simulate a deployment with the same law; return the libration over the first and the last period."""
    reeling = Reeling(parameters.final_length, parameters.length, parameters.retrieval)
    eom, end = reel(data, reeling), reeling.duration(data.rate)
    law = retrieval_law(eom, parameters.frequency * data.rate)
    sim = simulate(eom, law, x0=start_state(eom, parameters.start_angle), t_span=(0.0, end), grid=401)
    angle, period = Orbiter.libration(sim.x), 2.0 * np.pi / (np.sqrt(3.0) * data.rate)
    first, last = np.ptp(angle[sim.t < period]), np.ptp(angle[sim.t > end - period])
    return {"deployment_largest_libration": float(np.max(np.abs(angle))), "deployment_growth": float(last / first)}


def notes(metrics: dict[str, Any], parameters: Parameters) -> tuple[str, ...]:
    """Return the findings as sentences."""
    one, more = "exponential_1step", f"exponential_{parameters.steps}step"
    words = [
        f"{'yes' if metrics[f'exponential_is_better_{key}'] else 'no'} in {text}"
        for key, text in (("multi_step", f"{parameters.steps} steps"), ("one_step", "one"))
    ]
    return (
        f"In {parameters.steps} steps at an exponential rate the largest libration of the satellite is "
        f"{metrics[f'{more}_largest_libration']:.2f} rad, {metrics[f'{more}_final_libration']:.1e} rad at the end; in one step "
        f"it is {metrics[f'{one}_largest_libration']:.2f} rad. An exponential rate is better than a constant one: "
        f"{', '.join(words)}.",
        f"Without control the libration grows {metrics['free_growth_exponential']:.1f} times (exponential) and "
        f"{metrics['free_growth_constant']:.1f} times (constant rate) while nine tenths of the line are retrieved; it shrinks to "
        f"{metrics['free_growth_deployment']:.2f} in the deployment of the same line.",
        "With Q = M^-1 the modified feedback linearisation controls pitch and joints and does not act on the tether; with Q = 1 "
        + (
            "the retrieval succeeds too."
            if metrics["weight_identity_arrives"]
            else "the torques diverge, although the poles are stable."
        ),
    )


def check(parameters: Parameters) -> None:
    """Raise `ModelError` for parameters without physical meaning."""
    positive = (
        "orbit_rate",
        "satellite_mass",
        "free_length",
        "final_length",
        "retrieval",
        "station_orbits",
        "frequency",
    )
    for name in positive:
        if not getattr(parameters, name) > 0.0:
            raise ModelError(f"parameter '{name}': got {getattr(parameters, name):g}, expected a positive number")
    if not parameters.length > parameters.final_length:
        raise ModelError(f"parameter 'length': got {parameters.length:g}, expected more than final_length")
    if not parameters.retrieval < 0.75:
        raise ModelError(
            f"parameter 'retrieval': got {parameters.retrieval:g}, expected less than 0.75: beyond it no equilibrium exists"
        )
    if parameters.steps < 2:
        raise ModelError(f"parameter 'steps': got {parameters.steps}, expected 2 or more")


def published_results(metrics: dict[str, Any]) -> tuple[PublishedResult, ...]:
    """Compare with the conclusions of Sadigh (1995), section 9.1, as far as these simulations allow."""
    smaller = "the largest libration is smaller"
    claims = (
        ("several steps are better than one", "multi_step_is_better", f"{smaller}, and that at the end",
         "if station keeping has time to finish"),
        ("an exponential rate is better than a constant one, in one step", "exponential_is_better_one_step", smaller,
         "from rest"),
        ("an exponential rate is better than a constant one, in several steps", "exponential_is_better_multi_step", smaller, ""),
        ("shorter is easier", "shorter_is_easier", "largest torque and motion of the arm fall with each shorter length", ""),
    )  # fmt: skip
    return tuple(
        PublishedResult(
            what=what,
            source="Sadigh (1995), sections 6.3.3, 9.1",
            printed="yes",
            ours="yes" if metrics[key] else "no",
            holds=bool(metrics[key]),
            criterion=criterion,
            remark=remark,
        )
        for what, key, criterion, remark in claims
        if metrics.get(key) is not None
    )


STUDY = Study(
    question="Can an arm retrieve a tethered satellite, and is it better to do so in steps and at an exponential rate?",
    parameters=Parameters(),
    run=run,
)
