"""Simulated cantilevers on moving bases (Sadigh 1995, figures 5.6 and 5.7), and runs that verify the stability map."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from spacectl import Beam, Fixed, Part, Prismatic, Simulation, System, UniformGravity, form_equations, simulate


def run_beam(
    *,
    gravity: float = 0.0,
    amplitude: float = 0.0,
    ratio: float = 2.0,
    periods: float,
    start: float,
    modes: int = 1,
    order: str = "linearised",
    damping: float = 0.0,
) -> tuple[Simulation, np.ndarray, np.ndarray]:
    """Simulate an upright unit beam (L = m = EI = 1), deflected by `start` at its tip and released.

    Parameters
    ----------
    gravity, amplitude : float
        ``(g / L) / omega1^2`` and the base's acceleration ``(a0 / L) / omega1^2``, up along the beam, as a0 cos(w t).
    ratio : float
        Frequency of the base over omega1.
    periods : float
        Duration in first periods.
    start : float
        Deflection over length.
    modes, order, damping
        Those of the beam.

    Returns
    -------
    Simulation, array, array
        The run, time in first periods, tip deflection over length.
    """
    beam = Beam(name="beam", length=1.0, mass=1.0, EI=1.0, modes=modes, shapes="modes", order=order, damping=damping)
    w1 = beam.frequencies[0]
    joint: Any = Fixed()
    if amplitude:
        base = ratio * w1
        lift = float(amplitude * w1**2 / base**2)
        joint = Prismatic(name="base", axis="x", prescribed=lambda s: -lift * ca.cos(base * s.t))
    environment = UniformGravity(g=(-gravity * w1**2, 0.0, 0.0))
    eom = form_equations(System(name="cantilever", parts=(Part(beam, joint=joint),), environment=environment))
    duration = periods * 2.0 * np.pi / w1
    grid = np.linspace(0.0, duration, 60 * round(periods) + 1)
    sim = simulate(eom, x0={"beam.eta1": start}, t_span=(0.0, duration), grid=grid, rtol=1e-9, atol=1e-12)
    tip = sim.x[:, :modes] @ beam.shapes_at(np.array([1.0, 0.0, 0.0])).Phi[1]
    return sim, sim.t * w1 / (2.0 * np.pi), tip


def growth(t: np.ndarray, tip: np.ndarray) -> float:
    """Return the rate of exponential growth per first period, from the largest deflections of the second and last quarters."""
    n = len(t) // 4
    early, late = np.max(np.abs(tip[n : 2 * n])), np.max(np.abs(tip[3 * n :]))
    return float(np.log(late / early) / (t[-1] - t[2 * n - 1]))
