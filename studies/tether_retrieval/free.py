"""Motion without control: arm locked; tether of constant length, retrieved, or deployed (Sadigh 1995, Figure 6.10)."""

from __future__ import annotations

import numpy as np

from spacectl import Simulation, form_equations, library, simulate

from .phases import Reeling

Orbiter = library.TetherOrbiter


def fly_free(data: Orbiter, reeling: Reeling | float, swing: float, end: float) -> Simulation:
    """Simulate pitch and tether, without any torque."""
    length = reeling if isinstance(reeling, float) else reeling.profile(data.rate)
    eom = form_equations(data.system(length, is_locked=True))
    arm = Orbiter.FIXED_POINT[1] + Orbiter.FIXED_POINT[2]
    x0 = eom.state(pitch=Orbiter.FIXED_POINT[0], swing=Orbiter.FIXED_POINT[3] + swing - Orbiter.FIXED_POINT[0] - arm)
    return simulate(eom, x0=x0, t_span=(0.0, end), grid=401)


def free_tether(sim: Simulation) -> np.ndarray:
    """Return the angle of the tether from the downward vertical [rad]."""
    return sim["pitch"] + sim["swing"] + Orbiter.FIXED_POINT[1] + Orbiter.FIXED_POINT[2] - Orbiter.FIXED_POINT[3]


def growth(sim: Simulation, rate: float) -> float:
    """Return half the range of the tether's angle over the last period of libration over that of the first."""
    angle, period = free_tether(sim), 2.0 * np.pi / (np.sqrt(3.0) * rate)
    return float(np.ptp(angle[sim.t > sim.t[-1] - period]) / np.ptp(angle[sim.t < period]))
