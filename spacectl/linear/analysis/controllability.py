"""`check_controllability`, `check_observability`: modes that are not controllable or observable, by name.

Every mode gets a margin (Popov-Belevitch-Hautus test in scaled units, `mode_margins`). Weak modes are reported with
the combination of states that is uncontrollable or unobservable. Design functions call `require_stabilizable`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.linear.analysis.mode_margins import ModeMargins, judge_modes
from spacectl.linear.models.linear_model import LinearModel

__all__ = [
    "Controllability",
    "Observability",
    "check_controllability",
    "check_observability",
    "require_detectable",
    "require_stabilizable",
]


@dataclass(frozen=True, kw_only=True)
class Controllability(ModeMargins):
    """Margins of controllability.

    Parameters
    ----------
    is_controllable : bool
        Whether every mode is controllable.
    is_stabilizable : bool
        Whether every uncontrollable mode is stable.
    """

    is_controllable: bool
    is_stabilizable: bool


@dataclass(frozen=True, kw_only=True)
class Observability(ModeMargins):
    """Margins of observability.

    Parameters
    ----------
    is_observable : bool
        Whether every mode is observable.
    is_detectable : bool
        Whether every unobservable mode is stable.
    """

    is_observable: bool
    is_detectable: bool


def check_controllability(model: LinearModel, *, tolerance: float = 1e-8, weak: float = 1e-4) -> Controllability:
    """Compute a margin of controllability for every mode.

    For every eigenvalue s of A the smallest singular value of ``[A' - s I, B']`` is the distance, in scaled units, to a
    model in which that mode is uncontrollable. Time is scaled by the spectral radius of ``|A|``; states and inputs
    by the effect of the inputs in that time (`scaling.scale_pair`), so the result is independent of units. A mode whose
    pole is close to that of an uncontrollable mode shares its small margin.

    Parameters
    ----------
    model : LinearModel
        The model; its outputs are not used.
    tolerance : float
        Margins below it count as zero. Rounding errors of a linearisation, amplified by scaling, are below 1e-9.
    weak : float
        Margins below it are reported in `weak_modes`.

    Returns
    -------
    Controllability

    Examples
    --------
    >>> from spacectl import form_equations, library, linearize
    >>> eom = form_equations(library.free_flyer_arm())
    >>> found = check_controllability(linearize(eom, eom.state(joint2=0.5)))
    >>> found.is_controllable, found.weak_modes[0].count  # joint torques change no momentum
    (False, 6)
    """
    A, B = np.asarray(model.A), np.asarray(model.B)
    return Controllability(**judge_modes(A, B, model, tolerance, weak, ("controllable", "stabilizable", "input moves")))


def check_observability(model: LinearModel, *, tolerance: float = 1e-8, weak: float = 1e-4) -> Observability:
    """Compute a margin of observability for every mode: `check_controllability` of the dual model (A.T, C.T).

    Parameters
    ----------
    model : LinearModel
        The model; its inputs are not used.
    tolerance : float
        Margins below it count as zero.
    weak : float
        Margins below it are reported in `weak_modes`.

    Returns
    -------
    Observability
    """
    A, C = np.asarray(model.A).T, np.asarray(model.C).T
    return Observability(**judge_modes(A, C, model, tolerance, weak, ("observable", "detectable", "output sees")))


def require_stabilizable(model: LinearModel, *, what: str = "design") -> Controllability:
    """Return the controllability of a model; raise `ModelError` with the mode that no input stabilises.

    Parameters
    ----------
    model : LinearModel
        The model.
    what : str
        Name of the caller, for the message.

    Returns
    -------
    Controllability
    """
    found = check_controllability(model)
    if not found.is_stabilizable:
        raise ModelError(f"{what}: {found.message}; add an actuator there, or remove the mode with reduce_modal")
    return found


def require_detectable(model: LinearModel, *, what: str = "design") -> Observability:
    """Return the observability of a model; raise `ModelError` with the mode that no output detects.

    Parameters
    ----------
    model : LinearModel
        The model.
    what : str
        Name of the caller, for the message.

    Returns
    -------
    Observability
    """
    found = check_observability(model)
    if not found.is_detectable:
        raise ModelError(f"{what}: {found.message}; add a sensor there, or remove the mode with reduce_modal")
    return found
