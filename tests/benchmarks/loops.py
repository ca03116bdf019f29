"""Loops: legs closed in closed form against Newton's method, and rates by sequential reduction against the shared kernel.

All native, in batches; Newton's method starts within a millimetre and a milliradian, as from the step before, and evaluates
each leg's own rows only.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from spacectl import close_positions, form_equations, library
from tests.benchmarks.measure import Effort, interleave
from tests.benchmarks.report import Figure, Section
from tests.dynamics.bar_systems import crank_slider, four_bar
from tests.dynamics.leg_systems import SPECIAL, leg_system

__all__ = ["measure_loops"]

SINGLE = ("R3-P1-R2", "R1-R3-R2", "R2-R2-R2", "R2-R2-R2, straight", *(name for name in SPECIAL if "along" in name))
LEGS: dict[str, Any] = {
    "R2-P1-R3, six legs": library.docking_ring,
    "R2-C2-R2, six legs": lambda: library.docking_ring(slider="cylindrical"),
    "R1-R2-R3 and R1-P1-R1, two legs": library.docking_probe,
    **{f"{name}, one leg": partial(leg_system, name) for name in SINGLE},
    "R1-(R1)-R1, a four-bar": four_bar,
    "R1-(R1)-P1, a crank-slider": crank_slider,
}


def measure_loops(effort: Effort) -> Section:
    """Time a closure takes, and an evaluation of the rates."""
    section = Section(
        "Loops of mechanisms",
        f"Closing {effort.states} positions natively, each leg by its closed form or by Newton's method from a millimetre away; "
        "and rates by sequential reduction against the kernel that the other formulations share.",
    )
    legs = {"R1-R2-R3 and R1-P1-R1": lambda: library.docking_probe(legs=1)} if effort.is_tiny else LEGS
    for name, make in legs.items():
        system = make()
        eom = form_equations(system, formulation="partitioned")
        start = near_positions(eom, effort.states)
        start = start[np.all(np.isfinite(start), axis=1)]
        form, newton = (close_positions(eom, start, method=method) for method in ("closed form", "newton"))
        gap = float(np.max(np.abs(form - newton)))
        section.figures.append(
            Figure(what=f"{name}: largest difference of the two", value=gap, unit="rad or m", goal=1e-12)
        )
        times = interleave(
            {"closed form": _closing(eom, start, "closed form"), "newton": _closing(eom, start, "newton")}, effort
        )
        section.add(f"closing {name}", times["closed form"].per(len(start)), times["newton"].per(len(start)), 2.0)
        one, two = eom.compiled(), form_equations(system).compiled()
        x = np.concatenate([form[0], np.zeros(eom.n_v)])
        one.x[:], two.x[:] = x, x
        rates = interleave({"reduction": one.run, "shared kernel": two.run}, effort)
        section.add(f"rates, {name}", rates["reduction"], rates["shared kernel"])
    return section.finish()


def _closing(eom: Any, start: np.ndarray, method: str) -> Callable[[], np.ndarray]:
    return lambda: close_positions(eom, start, method=method)


def near_positions(eom: Any, count: int) -> np.ndarray:
    """Positions whose dependent coordinates are off by a thousandth, as from the step before."""
    rng, rest = np.random.default_rng(0), eom.state()[: eom.n_q]
    q = rest + 0.03 * rng.standard_normal((count, eom.n_q))
    for k in eom.quaternions:
        q[:, k : k + 4] /= np.linalg.norm(q[:, k : k + 4], axis=1, keepdims=True)
    closed = close_positions(eom, q)
    return closed + 1e-3 * rng.standard_normal(closed.shape) * (np.abs(closed - q) > 1e-15)
