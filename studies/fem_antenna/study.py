"""An antenna reflector as a finite-element model: reduced, mounted on a gimbal, and pointed by a closed loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csc_array
from scipy.sparse.linalg import eigsh

from spacectl import (
    ControlLaw,
    FemModel,
    Figure,
    Guard,
    Line,
    LinearModel,
    ModelError,
    Panel,
    Simulation,
    Study,
    StudyResult,
    add_delay,
    check_spillover,
    design_lqr,
    effective_masses,
    form_equations,
    linearize,
    simulate,
)

from .model import HUB, RIM, beam_errors, read, reflector, spacecraft


@dataclass(frozen=True)
class Parameters:
    """Parameters of the study; each can be set on the command line."""

    modes: int = 8  # [1], normal modes with hub and feed held
    cutoff: float = 75.0  # [rad/s], modes of the reduced reflector up to here are kept
    feed_mass: float = 1.0  # [kg], at the rim
    damping: float = 0.004  # [1]
    angle: float = 0.5  # [deg], step of the gimbal's second axis
    limit: float = 30.0  # [N m], of the gimbal
    bandwidth: float = 4.0  # [rad/s], about, of the pointing loop
    delay: float = 0.02  # [s], of the loop's commands
    duration: float = 5.0  # [s]


DRIFTING = ("bus.x", "bus.y", "bus.z", "bus.x_dot", "bus.y_dot", "bus.z_dot")


def run(parameters: Parameters, *, quick: bool, progress: Callable[[float, str], None]) -> StudyResult:
    """Import and reduce the reflector; compare two regulators, with and without its modes, both with delay, on one plant."""
    for name in Parameters.__dataclass_fields__:
        if not getattr(parameters, name) > 0:
            raise ModelError(f"parameter '{name}': got {getattr(parameters, name):g}, expected a positive number")
    parameters = replace(parameters, cutoff=min(parameters.cutoff, 45.0)) if quick else parameters
    progress(0.0, "import and reduction")
    fem = read()
    dish = reflector(parameters, fem)
    metrics = compare(fem, dish, parameters)
    progress(0.2, "equations")
    eom = form_equations(spacecraft(parameters, dish))
    model = linearize(eom, eom.state(**{"bus.qw": 1.0}))
    sims: dict[str, Simulation] = {}
    for k, knows in enumerate((True, False)):
        name = "modal" if knows else "rigid"
        progress(0.5 + 0.2 * k, f"loop, {name} design")
        law = add_delay(regulator(parameters, model, knows), parameters.delay)
        verdict = check_spillover(law, model)
        moving = verdict.poles[np.abs(verdict.poles) > 1e-3]  # the drift of the whole spacecraft stays at zero
        metrics[f"{name}_is_stable"] = bool(np.all(np.real(moving) < 0.0))
        metrics[f"{name}_slowest_decay"] = float(-np.max(np.real(moving)))
        metrics[f"{name}_modes_destabilised"] = len(verdict.destabilised)
        sims[name] = fly(parameters, eom, law, quick)
        metrics |= {f"{key}_{name}": value for key, value in measure(parameters, dish, sims[name]).items()}
    return StudyResult(
        metrics=metrics,
        simulations=sims,
        figures=(draw(parameters, dish, sims), draw_modes(dish)),
        notes=notes(metrics),
    )


def compare(fem: FemModel, dish: Any, parameters: Parameters) -> dict[str, Any]:
    """Compare the reduced reflector with its own matrices, hub held and feed mounted."""
    free = np.flatnonzero(~np.isin(fem.dofs[:, 0], HUB))
    K, M = (csc_array(A[free][:, free]) for A in (fem.stiffness, fem.mass))
    seat = np.isin(free, fem.index[RIM])
    load = np.zeros(len(free))
    load[seat] = np.array([parameters.feed_mass] * 3 + [0.01] * 3)
    heavy = csc_array(M + csc_array(np.diag(load)))
    n = 4
    start = np.sin(np.arange(len(free)) + 1.0)
    exact = np.sqrt(np.sort(eigsh(K, n, heavy, sigma=0.0, v0=start, return_eigenvectors=False)))
    tip = dish.shapes_at(np.asarray(dish.frames[0].at))
    mounted = np.vstack([tip.Phi, tip.Psi])
    inertia = np.diag([parameters.feed_mass] * 3 + [0.01] * 3)
    whole = dish.modal_mass + mounted.T @ inertia @ mounted
    ours = np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(whole, dish.elasticity)).real))[:n]
    sums = effective_masses(dish)
    return {
        "rows": int(len(fem.dofs)),
        "modes_kept": dish.n_modes,
        "mass": float(fem.rigid_mass[0, 0]),
        "first_frequency": float(ours[0]),
        "first_frequency_unreduced": float(exact[0]),
        "reduction_max_difference": float(np.max(np.abs(ours / exact - 1.0))),
        "effective_mass_share_x": float(sums.share[0]),
        "effective_mass_share_z": float(sums.share[2]),
    }


def regulator(parameters: Parameters, model: LinearModel, knows_modes: bool) -> ControlLaw:
    """Design an LQR on bus attitude, gimbal and (if `knows_modes`) the reflector's modes."""
    kept = [name for name in model.x.names if name not in DRIFTING and (knows_modes or ".eta" not in name)]
    angles = [
        name for name in kept if not name.endswith("_dot") and ".eta" not in name and not name.startswith("bus.w")
    ]
    weights = {name: 1.0 for name in angles}
    # for an inertia J alone, the loop's bandwidth is (1 / (J^2 r))^(1/4); J about 30 kg m^2 in the gimbal, 150 for the bus
    effort = {"gimbal": 30.0, "bus": 150.0}
    inputs = {name: 1.0 / (effort[name.split("_")[0]] ** 2 * parameters.bandwidth**4) for name in model.u.names}
    return design_lqr(model, Q=weights, R=inputs, reduction=kept, name="pointing")


def fly(parameters: Parameters, eom: Any, law: ControlLaw, quick: bool) -> Simulation:
    """Simulate the nonlinear step from a gimbal angle to zero; stop an unstable loop at three times the first angle."""
    start = np.radians(parameters.angle)
    x0 = {"bus.qw": 1.0, "gimbal.second": start}
    grid = np.linspace(0.0, parameters.duration, 601 if quick else 1501)
    lost = Guard(
        name="lost",
        expression=lambda s: s["gimbal.first"] ** 2 + s["gimbal.second"] ** 2 - (3.0 * start) ** 2,
        direction=1,
        is_failure=True,
    )
    settings: dict[str, Any] = {"grid": grid, "guards": [lost], "rtol": 1e-6, "atol": 1e-9}
    return simulate(eom, law, x0=x0, t_span=(0.0, parameters.duration), check=False, **settings)  # some laws diverge


def histories(dish: Any, sim: Simulation) -> tuple[np.ndarray, np.ndarray]:
    """Return beam direction about the gimbal's second axis, bus and surface included [rad], and surface error [m rms]."""
    eta = np.stack([sim[f"dish.eta{k + 1}"] for k in range(dish.n_modes)], axis=1)
    tilt, rest = beam_errors(dish, eta)
    bus = 2.0 * np.arctan2(sim["bus.qy"], sim["bus.qw"])
    return bus + sim["gimbal.second"] + tilt[:, 1], rest


def measure(parameters: Parameters, dish: Any, sim: Simulation) -> dict[str, Any]:
    """Return settling to 2 %, the remaining error, and the time at which an unstable loop was stopped."""
    beam, rest = histories(dish, sim)
    late = sim.t > 0.8 * parameters.duration
    outside = np.flatnonzero(np.abs(beam) > 0.02 * np.radians(parameters.angle))
    is_lost = bool(sim.events)
    return {
        "settling": None if is_lost else float(sim.t[min(outside[-1] + 1, len(sim.t) - 1)]),
        "lost_at": float(sim.events[0].time) if is_lost else None,
        "beam_late": None if is_lost else float(np.max(np.abs(beam[late]))),
        "surface_peak": float(np.max(rest)),
        "torque_peak": float(np.max(np.abs(sim["gimbal_second"]))),
    }


def draw(parameters: Parameters, dish: Any, sims: dict[str, Simulation]) -> Figure:
    """Draw beam, surface and torque."""
    labels = {"modal": "design includes the modes", "rigid": "design on rigid bodies only"}
    beams, surfaces, torques = [], [], []
    for name, sim in sims.items():
        beam, rest = histories(dish, sim)
        beams.append(Line(x=sim.t, y=beam, label=labels[name]))
        surfaces.append(Line(x=sim.t, y=rest, label=labels[name]))
        torques.append(Line(x=sim.t, y=sim["gimbal_second"], label=labels[name]))
    return Figure(
        name="pointing",
        title=f"The beam after a step of {parameters.angle:g} degrees in the gimbal",
        caption="Direction of the best-fitting paraboloid (bus, gimbal and deformation), the remaining surface error, and "
        "the torque.",
        panels=(
            Panel(lines=tuple(beams), y_label="beam", unit="rad"),
            Panel(lines=tuple(surfaces), y_label="surface error, rms", unit="m"),
            Panel(lines=tuple(torques), y_label="gimbal torque", unit="N m"),
        ),
    )


def draw_modes(dish: Any) -> Figure:
    """Draw effective masses over frequency as cumulative steps."""
    sums = effective_masses(dish)
    hertz = np.repeat(sums.frequencies / (2.0 * np.pi), 2)
    x = np.concatenate([[0.0], hertz, [1.1 * hertz[-1]]])
    lines = []
    for k, label, style in (
        (0, "along x", "solid"),
        (2, "along z", "solid"),
        (3, "about x", "solid"),
        (4, "about y", "dashed"),
    ):
        total = np.concatenate([[0.0], np.cumsum(sums.masses[:, k])]) / sums.rigid[k]
        lines.append(Line(x=x, y=np.repeat(total, 2), label=label, style=style))
    return Figure(
        name="effective_masses",
        title="Effective mass of the reflector's modes, cumulative",
        caption="Share of the rigid reflector's mass and inertia in the modes up to a frequency, hub held. The pair that rocks "
        "on the thin hub has most of its inertia; the others only change the shape of the dish.",
        panels=(Panel(lines=tuple(lines), y_label="share", x_label="frequency", x_unit="Hz"),),
    )


def notes(m: dict[str, Any]) -> tuple[str, ...]:
    """Return the findings as sentences."""
    words = {True: "stable", False: "unstable"}
    return (
        f"Reduction of {m['rows']} degrees of freedom leaves {m['modes_kept']} modal coordinates. With the feed mounted, the "
        f"lowest frequencies differ by at most {m['reduction_max_difference']:.1e} from those of the matrices. "
        f"With the delay, the loop designed with the modes is {words[m['modal_is_stable']]}, the one designed on rigid bodies "
        f"{words[m['rigid_is_stable']]}.",
    )


STUDY = Study(
    question=(
        "How is an antenna given as a finite-element model included in a pointing loop, and must the "
        "controller know its modes?"
    ),
    parameters=Parameters(),
    run=run,
)
