"""Mass distributions of the hand, which is not published: those with which the published gains give the published motion."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spacectl import Simulation, simulate

from .arm import LINE, Data, consistent_state, form_arm, line_error, tracking_law


@dataclass(frozen=True)
class Reading:
    """One interpretation: share of the mass at the tip, and the run as far as it is feasible."""

    tip_share: float
    rise: float  # [s], of the reference; 0 for a step
    sim: Simulation
    is_kept: bool


def try_reading(data: Data, tip_share: float, *, rise: float = 0.0, duration: float = 2.0) -> Reading:
    """Simulate the law of the thesis; it fails where the wrist is further from the line than the length of the hand."""
    eom = form_arm(replace(data, tip_share=tip_share))
    law = tracking_law(eom, LINE, frequency=0.0, rise=rise)
    sim = simulate(
        eom, law, x0=consistent_state(law, LINE.start), t_span=(0.0, duration), grid=201, max_steps=20_000, check=False
    )
    return Reading(tip_share, rise, sim, sim.outcome.is_success)


def try_readings(data: Data, *, quick: bool) -> tuple[dict[str, Any], list[Reading]]:
    """Simulate steps with several shares at the tip, and the uniform rod with a smooth reference."""
    shares = (0.0, 1.0) if quick else (0.0, 0.25, 0.5, 0.6, 0.75, 1.0)
    scan = [try_reading(data, share) for share in shares]
    smooth = try_reading(data, 0.0, rise=1.5, duration=2.5)
    rod = scan[0]
    metrics = {
        "rod_step_is_feasible": rod.is_kept,
        "rod_step_lost_at": float(rod.sim.t[-1]),
        "rod_smooth_is_feasible": smooth.is_kept,
        "rod_smooth_max_error": float(np.max(np.abs(line_error(smooth.sim)))),
        "tip_shares": list(shares),
        "tip_share_is_feasible": [item.is_kept for item in scan],
        "smallest_feasible_tip_share": min((item.tip_share for item in scan if item.is_kept), default=None),
    }
    return metrics, [*scan, smooth]
