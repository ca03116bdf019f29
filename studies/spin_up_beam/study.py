"""A cantilever on a hub is spun up to 6 rad/s (Kane, Ryan, Banerjee 1987): comparison of all orders and Exudyn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl import Figure, Line, ModelError, Panel, Simulation, Study, StudyResult

from .exudyn_peer import MISSING, is_installed, spin_up_exudyn
from .model import SEGMENT_MODES, SEGMENTS, lag_stiffness, spin, spin_up, spin_up_segments


@dataclass(frozen=True)
class Parameters:
    """Parameters of the study; each can be set on the command line. Beam data of Kane, Ryan and Banerjee."""

    length: float = 10.0  # [m]
    density: float = 1.2  # [kg/m], mass per length
    EI: float = 1.4e4  # [N m^2]
    EA: float = 2.8e7  # [N]
    GA: float = 1.0e7  # [N], used by Exudyn only
    rotary: float = 6.0e-4  # [kg m], inertia of slices per length, used by Exudyn only
    rate: float = 6.0  # [rad/s], final spin
    ramp: float = 15.0  # [s], duration of the spin-up
    duration: float = 20.0  # [s]
    modes: int = 4  # [1], bending shapes
    extension: int = 3  # [1], extension shapes
    elements: int = 32  # [1], of Exudyn
    step: float = 0.0025  # [s], of Exudyn


ORDERS = ("consistent", "linearised", "pseudo_potential", "strain", "premature")
SHAPES = (1, 6, 12)  # numbers of extension shapes to try with the nonlinear strain energy


def run(parameters: Parameters, *, quick: bool, progress: Callable[[float, str], None]) -> StudyResult:
    """Simulate the spin-up with every order and Exudyn; compute the lag stiffness over the spin."""
    check(parameters)
    grid = np.linspace(0.0, parameters.duration, 50 * round(parameters.duration) + 1)
    sims: dict[str, Simulation] = {}
    tips: dict[str, np.ndarray] = {}
    for k, order in enumerate(ORDERS):
        progress(0.5 * k / len(ORDERS), f"spin-up, order {order}")
        sims[order], tips[order] = spin_up(parameters, order, extension=parameters.extension, grid=grid)
    progress(0.5, "spin-up, beam in segments")
    sims["segments"], tips["segments"] = spin_up_segments(parameters, grid)
    strains = {}
    for extension in () if quick else SHAPES:
        progress(0.5 + 0.02 * extension, f"order strain with {extension} extension shapes")
        strains[extension] = spin_up(parameters, "strain", extension=extension, grid=grid)[1]
    progress(0.75, "lag stiffness")
    rates = np.linspace(0.0, 2.0 * parameters.rate, 13 if quick else 49)
    stiffness = {order: lag_stiffness(parameters, order, rates) for order in ("consistent", "premature")}
    progress(0.8, "Exudyn")
    peer = exudyn(parameters, quick=quick) if is_installed() else None
    metrics = measure(parameters, grid, tips, sims, strains, peer)
    first = stiffness["premature"][0]
    late = {order: lag_stiffness(parameters, order, np.array([parameters.rate]))[0] for order in stiffness}
    metrics |= {
        "first_frequency": np.sqrt(first),
        "premature_critical_rate": np.sqrt(np.interp(0.0, -stiffness["premature"], rates**2)),  # linear in the square
        "premature_lag_stiffness": late["premature"],
        "consistent_lag_stiffness": late["consistent"],
    }
    return StudyResult(
        metrics=metrics,
        simulations=sims,
        figures=figures(parameters, grid, tips, strains, peer, rates, stiffness),
        notes=notes(metrics),
    )


def check(parameters: Parameters) -> None:
    """Raise `ModelError` for parameters without physical meaning."""
    for name in Parameters.__dataclass_fields__:
        if not getattr(parameters, name) > 0.0:
            raise ModelError(f"parameter '{name}': got {getattr(parameters, name):g}, expected a positive number")
    if parameters.duration < parameters.ramp:
        raise ModelError(
            f"parameter 'duration': got {parameters.duration:g} s, expected at least the spin-up, {parameters.ramp:g} s"
        )


def exudyn(parameters: Parameters, *, quick: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return Exudyn's history; coarser if quick."""
    elements, step = (
        (max(parameters.elements // 2, 4), 2.0 * parameters.step) if quick else (parameters.elements, parameters.step)
    )
    return spin_up_exudyn(parameters, elements=elements, step=step, duration=parameters.duration)


def steady_stretch(parameters: Parameters, rate: Any) -> Any:
    """Return ``rho A Omega^2 L^3 / (3 EA)`` [m]."""
    return parameters.density * rate**2 * parameters.length**3 / (3.0 * parameters.EA)


def measure(parameters, grid, tips, sims, strains, peer) -> dict:
    """Return the metrics of the histories."""
    ours = tips["consistent"]
    depth = np.max(np.abs(ours[:, 1]))
    end = grid >= grid[-1] - 2.0
    metrics = {
        "tip_deflection_min": np.min(ours[:, 1]),
        "tip_deflection_final": ours[-1, 1],
        "steady_stretch": np.mean(ours[end, 2]),
        "steady_stretch_formula": parameters.density
        * parameters.rate**2
        * parameters.length**3
        / (3.0 * parameters.EA),
        "exudyn_max_difference": None,
        "exudyn_max_difference_linearised": None,
        "segments_max_difference": None,
        "exudyn_deflection_min": None,
        "exudyn_steady_stretch": None,
        "theory_error": sims["consistent"].outcome.stats["theory_error"],
        "segments_theory_error": sims["segments"].outcome.stats["theory_error"],
        "premature_lost_at": sims["premature"].t[-1] if sims["premature"].events else None,
    }
    for order in ("linearised", "pseudo_potential", "strain"):
        metrics[f"{order}_max_difference"] = np.max(np.abs(tips[order][:, 1] - ours[:, 1])) / depth
    for n in SHAPES:
        found = np.max(np.abs(strains[n][:, 1] - ours[:, 1])) / depth if n in strains else None
        metrics[f"strain_{n}_max_difference"] = found
    if peer is not None:
        t, tip = peer
        across = np.interp(grid, t, tip[:, 1])
        for model, key in (
            ("consistent", "exudyn_max_difference"),
            ("linearised", "exudyn_max_difference_linearised"),
            ("segments", "segments_max_difference"),
        ):
            metrics[key] = np.max(np.abs(across - tips[model][:, 1])) / np.max(np.abs(across))
        metrics["exudyn_deflection_min"] = np.min(tip[:, 1])
        metrics["exudyn_steady_stretch"] = np.mean(tip[t >= t[-1] - 2.0, 0])
    return metrics


def notes(metrics: dict) -> tuple[str, ...]:
    """Return the findings as sentences."""
    found = [
        f"The largest lag of the tip is {-metrics['tip_deflection_min']:.4f} m. Theories that include the geometric "
        f"stiffness of the spin predict it; the premature one diverges above "
        f"{metrics['premature_critical_rate']:.3f} rad/s, the first natural frequency.",
        f"The steady stretch is {metrics['steady_stretch']:.4g} m; rho A Omega^2 L^3 / (3 EA) is "
        f"{metrics['steady_stretch_formula']:.4g} m.",
        f"The premature model's lag stiffness is negative above {metrics['premature_critical_rate']:.3f} rad/s, the first "
        "natural frequency; the properly linearised one grows with the spin.",
    ]
    if metrics["exudyn_max_difference"] is None:
        found.append(MISSING)
    else:
        found.append(
            f"Exudyn's geometrically exact beam deflects by {-metrics['exudyn_deflection_min']:.4f} m; the histories differ by "
            f"{metrics['exudyn_max_difference']:.2%} of that at most, with {SEGMENTS} segments of {SEGMENT_MODES} bending shapes "
            f"by {metrics['segments_max_difference']:.2%}."
        )
    return tuple(found)


def figures(parameters, grid, tips, strains, peer, rates, stiffness) -> tuple[Figure, ...]:
    """Draw tip deflection of every order, difference to Exudyn, stretch and lag stiffness."""
    ours = tips["consistent"]
    bound = 1.6 * np.max(np.abs(ours[:, 1]))

    def inside(order: str) -> Line:
        shown = np.abs(tips[order][:, 1]) < bound
        stop = len(shown) if np.all(shown) else int(np.argmin(shown))
        t = grid[:stop] if len(tips[order]) == len(grid) else grid[: len(shown)][:stop]
        return Line(x=t, y=tips[order][:stop, 1], label=order, style="dashed")

    truth = Line(x=grid, y=ours[:, 1], label="consistent")
    top = [truth, inside("premature"), inside("strain")]
    lower = [
        Line(x=grid, y=1e3 * (tips[order][:, 1] - ours[:, 1]), label=f"{name} - consistent", style="dashed")
        for order, name in (("linearised", "linearised"), ("pseudo_potential", "pseudo-potential"))
    ]
    if peer is not None:
        t, tip = peer
        top.append(Line(x=t[::25], y=tip[::25, 1], label="Exudyn, geometrically exact", style="markers"))
        exact = np.interp(grid, t, tip[:, 1])
        lower.insert(0, Line(x=grid, y=1e3 * (exact - ours[:, 1]), label="Exudyn - consistent"))
        lower.insert(1, Line(x=grid, y=1e3 * (exact - tips["segments"][:, 1]), label=f"Exudyn - {SEGMENTS} segments"))
    stretch = (
        Line(x=grid, y=1e3 * ours[:, 2], label="consistent"),
        Line(
            x=grid,
            y=1e3 * steady_stretch(parameters, spin(parameters, grid)),
            label="steady value at this spin",
            style="dashed",
        ),
    )
    history = Figure(
        name="spin_up",
        title="Spin-up of a cantilever: deflection of the tip in the hub's frame",
        caption="The proper orders and Exudyn agree on the plot's scale, the beam in segments several times more closely. The "
        "premature model diverges; with the nonlinear strain energy and "
        f"{parameters.extension} extension shapes the beam is far too stiff. The stretch follows rho A Omega^2 L^3 / 3 EA.",
        panels=(
            Panel(lines=tuple(top), y_label="tip deflection", unit="m"),
            Panel(lines=tuple(lower), y_label="difference", unit="mm"),
            Panel(lines=stretch, y_label="stretch", unit="mm"),
        ),
    )
    first = stiffness["premature"][0]
    lag = Figure(
        name="lag_stiffness",
        title="Lowest stiffness of the beam in the plane of rotation",
        caption="The lag stiffness of the beam grows with the spin; that of the premature model vanishes at the first natural "
        "frequency and is negative beyond.",
        panels=(
            Panel(
                lines=tuple(
                    Line(x=rates / np.sqrt(first), y=stiffness[order] / first, label=order, style=style)
                    for order, style in (("consistent", "solid"), ("premature", "dashed"))
                ),
                y_label="stiffness / stiffness at rest",
                x_label="spin / first natural frequency",
                x_unit="",
            ),
        ),
    )
    if not strains:
        return history, lag
    lines = [
        Line(x=grid, y=tip[:, 1], label=f"strain, extension shapes: {n}", style="dashed") for n, tip in strains.items()
    ]
    locking = Figure(
        name="strain_energy",
        title="Nonlinear strain energy: effect of the number of extension shapes",
        caption="The quadratic strain must be balanced by extension; few extension shapes cannot represent it, "
        "and the beam locks.",
        panels=(Panel(lines=(truth, *lines), y_label="tip deflection", unit="m"),),
    )
    return history, lag, locking


STUDY = Study(
    question="How far does a cantilever lag when its hub is spun up, and which theories of flexible bodies predict it?",
    parameters=Parameters(),
    run=run,
)
