"""What can be said of a tracking law before it runs: can its actuators keep the constraints, and is the rest stable?

The adequacy is the smallest singular value of ``J M^-1 B_c`` with rows and columns scaled; the zero dynamics are the
constrained equations, linearised, with the law of the other inputs closed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl.controllers.law_loop import close_loop, linearise_law
from spacectl.core.control_law import ControlLaw
from spacectl.core.errors import ShapeError, SolverError
from spacectl.dynamics.diagnosis import diagnose_constraints
from spacectl.dynamics.equations import EquationsOfMotion
from spacectl.linear.linearize import linearize

__all__ = ["TrackingReport", "examine_path"]

_POOR = 1e-3  # adequacy below which torques are a thousand times those of the best actuators


@dataclass(frozen=True, kw_only=True)
class TrackingReport:
    """A tracking law along a path.

    Parameters
    ----------
    t : array, shape (n_t,)
        Times [s].
    adequacy : array, shape (n_t,)
        0 where the actuators cannot keep the constraints, of order 1 or more where they push well.
    poles : array, shape (n_t, n), complex
        Of what the constraints leave free, with the other law closed [1/s], slowest decay first; nan where the constraints
        cannot be kept at all.
    is_adequate, is_stable : bool
        Whether the adequacy stays above 1e-3, and no pole grows, anywhere.
    message : str
        The same in words, with the worst time and what to do.
    """

    t: np.ndarray
    adequacy: np.ndarray
    poles: np.ndarray
    is_adequate: bool
    is_stable: bool
    message: str


def examine_path(
    eom: EquationsOfMotion, others: ControlLaw | None, t: Any, x: Any, u: Any, name: str
) -> TrackingReport:
    """Examine constrained equations, with a law for the inputs that are left, at states along a path."""
    times, states = np.atleast_1d(np.asarray(t, dtype=float)), np.atleast_2d(np.asarray(x, dtype=float))
    if states.shape != (times.size, eom.n_x):
        raise ShapeError(f"law '{name}': examine: x has shape {states.shape}, expected ({times.size}, {eom.n_x})")
    given = np.zeros((times.size, eom.n_u)) if u is None else np.broadcast_to(u, (times.size, eom.n_u))
    adequacy = np.array([diagnose_constraints(eom, time, x).adequacy for time, x in zip(times, states, strict=True)])
    rows = [_poles(eom, others, *item, name) for item in zip(times, states, given, strict=True)]
    found = np.full((times.size, max(map(len, rows))), np.nan, dtype=complex)
    for k, row in enumerate(rows):
        found[k, : len(row)] = row
    limit = 1e-6 * np.nanmax(np.abs(found), initial=0.0)
    is_adequate, is_stable = bool(np.min(adequacy) > _POOR), bool(np.nanmax(found.real, initial=-np.inf) <= limit)
    return TrackingReport(
        t=times,
        adequacy=adequacy,
        poles=found,
        is_adequate=is_adequate,
        is_stable=is_stable,
        message=_message(eom, times, adequacy, found, is_adequate, is_stable),
    )


def _poles(
    eom: EquationsOfMotion,
    others: ControlLaw | None,
    t: float,
    x: np.ndarray,
    u: np.ndarray,
    name: str,
) -> np.ndarray:
    """Poles of what is left free at one state; none where the constraints cannot be kept."""
    try:
        model = linearize(eom, x, u, t=t, check=False)
    except SolverError:
        return np.zeros(0, dtype=complex)
    values = np.asarray(model.poles)
    if others is not None:
        values = np.linalg.eigvals(close_loop(linearise_law(others, model, what=f"law '{name}'", t=t)))
        values = np.log(values.astype(complex)) / others.period if others.period > 0.0 else values
    return np.asarray(values[np.lexsort((values.imag, -values.real))])


def _message(
    eom: EquationsOfMotion, t: np.ndarray, adequacy: np.ndarray, poles: np.ndarray, is_adequate: bool, is_stable: bool
) -> str:
    k, kept = int(np.argmin(adequacy)), ", ".join(eom.constraint_inputs)
    first = f"{kept} can keep the constraints: adequacy at least {adequacy[k]:.2g} (t = {t[k]:.3g} s)"
    if not is_adequate:
        first = (
            f"{kept} can hardly keep the constraints: adequacy {adequacy[k]:.2g} at t = {t[k]:.3g} s; choose other actuators "
            "(kind=Artificial(by=...)) or another path"
        )
    if poles.shape[1] == 0:
        return f"{first}; nothing is left free"
    worst = int(np.nanargmax(poles[:, 0].real))
    slowest = f"{poles[worst, 0]:.3g} 1/s at t = {t[worst]:.3g} s"
    if is_stable:
        return f"{first}; what they leave free does not grow, slowest {slowest}"
    return f"{first}; what they leave free grows, {slowest}: give it a law (others=...) or choose other actuators"
