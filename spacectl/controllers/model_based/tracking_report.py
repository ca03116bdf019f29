"""Diagnosis of a tracking law before a run: adequacy of its actuators, and stability of the remaining motion.

The adequacy is the leverage of `check_adequacy`, which also rejects and stops laws; the zero dynamics are the
constrained equations, linearised, with the law of the other inputs closed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl.controllers.analysis.law_loop import close_loop, linearise_law
from spacectl.controllers.analysis.pole_growth import find_drift
from spacectl.core.control_law import ControlLaw
from spacectl.core.errors import ShapeError, SolverError
from spacectl.dynamics.adequacy import check_adequacy
from spacectl.dynamics.constraints.authority import LOST
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.linear.linearize import linearize

__all__ = ["TrackingReport", "examine_path"]


@dataclass(frozen=True, kw_only=True)
class TrackingReport:
    """Properties of a tracking law along a path.

    Parameters
    ----------
    t : array, shape (n_t,)
        Times [s].
    adequacy : array, shape (n_t,)
        Leverage (see `AdequacyReport`): 0 where the actuators cannot enforce the constraints, 1 where they act along
        them.
    poles : array, shape (n_t, n), complex
        Poles of the remaining motion, with the other law closed [1/s], slowest decay first; nan where the constraints
        cannot be kept at all.
    is_adequate, is_stable : bool
        Whether the adequacy stays above 1e-3, and no pole grows or drifts (a multiple pole on the boundary of
        stability with too few eigenvectors), anywhere.
    message : str
        The result in words, with the worst time and a remedy.
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
    adequacy = np.array(check_adequacy(eom, times, states).leverage)
    looks = [_poles(eom, others, *item, name) for item in zip(times, states, given, strict=True)]
    rows, drifts = [item[0] for item in looks], [item[1] for item in looks]
    found = np.full((times.size, max(map(len, rows))), np.nan, dtype=complex)
    for k, row in enumerate(rows):
        found[k, : len(row)] = row
    limit = 1e-6 * np.nanmax(np.abs(found), initial=0.0)
    grows = bool(np.nanmax(found.real, initial=-np.inf) > limit)
    is_adequate = bool(np.min(adequacy) > LOST)
    return TrackingReport(
        t=times,
        adequacy=adequacy,
        poles=found,
        is_adequate=is_adequate,
        is_stable=not grows and not any(drifts),
        message=_message(eom, times, adequacy, found, is_adequate, grows, drifts),
    )


def _poles(
    eom: EquationsOfMotion,
    others: ControlLaw | None,
    t: float,
    x: np.ndarray,
    u: np.ndarray,
    name: str,
) -> tuple[np.ndarray, bool]:
    """Return the poles of the remaining motion at one state, and whether some drift; none without authority."""
    try:
        model = linearize(eom, x, u, t=t, check=False)
    except SolverError:
        return np.zeros(0, dtype=complex), False
    A, period = np.asarray(model.A), 0.0
    if others is not None:
        A, period = close_loop(linearise_law(others, model, what=f"law '{name}'", t=t)), others.period
    values = np.linalg.eigvals(A).astype(complex)
    rates = np.log(values) / period if period > 0.0 else values
    return np.asarray(rates[np.lexsort((rates.imag, -rates.real))]), bool(find_drift(A, values, rates, period))


def _message(
    eom: EquationsOfMotion,
    t: np.ndarray,
    adequacy: np.ndarray,
    poles: np.ndarray,
    is_adequate: bool,
    grows: bool,
    drifts: list[bool],
) -> str:
    k, kept = int(np.argmin(adequacy)), ", ".join(eom.constraint_inputs)
    first = f"{kept} can enforce the constraints: adequacy at least {adequacy[k]:.2g} (t = {t[k]:.3g} s)"
    if not is_adequate:
        first = (
            f"{kept} can hardly enforce the constraints: adequacy {adequacy[k]:.2g} at t = {t[k]:.3g} s; choose other actuators "
            "(kind=Artificial(by=...)) or another path"
        )
    if poles.shape[1] == 0:
        return f"{first}; no motion is left free"
    worst = int(np.nanargmax(poles[:, 0].real))
    slowest = f"{poles[worst, 0]:.3g} 1/s at t = {t[worst]:.3g} s"
    cure = "give it a law (others=...) or choose other actuators"
    if grows:
        return f"{first}; the remaining motion grows, {slowest}: {cure}"
    if any(drifts):
        when = f"t = {t[drifts.index(True)]:.3g} s"
        return f"{first}; the remaining motion drifts at {when}, as powers of time (too few modes of a multiple pole): {cure}"
    return f"{first}; the remaining motion does not grow, slowest {slowest}"
