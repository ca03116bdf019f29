"""Arguments that several calls share: names, a state and a time, checked before anything is done with them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from spacectl.core.errors import ModelError, ShapeError, as_number

if TYPE_CHECKING:
    from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["as_given_state", "as_names", "as_time"]


def as_names(given: Any, what: str) -> tuple[str, ...]:
    """Return names as a tuple; a single one may be given by itself, as in ``Artificial(by="wrist")``.

    Examples
    --------
    >>> as_names("crank_pin", "form_equations: independent")
    ('crank_pin',)
    """
    if isinstance(given, str):
        return (given,)
    names = tuple(given) if isinstance(given, Iterable) else (None,)
    if not all(isinstance(name, str) for name in names):
        raise ModelError(f"{what} is {given!r}, expected names: a tuple such as ('crank_pin',), or () for none")
    return names


def as_given_state(eom: EquationsOfMotion, x0: Any, what: str) -> np.ndarray:
    """Return a state of these equations, with quaternions of unit length."""
    try:
        given = np.array(x0, dtype=float)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"{what} is {x0!r}, expected {eom.n_x} numbers; eom.state(name=...) makes them") from error
    if given.shape != (eom.n_x,):
        raise ShapeError(f"{what} has shape {given.shape}, expected ({eom.n_x},); eom.state(name=...) makes one")
    state: np.ndarray = eom.state(given)
    return state


def as_time(t: Any, what: str) -> float:
    """Return a finite time."""
    time = as_number(t, what)
    if not np.isfinite(time):
        raise ModelError(f"{what} is {time}, expected a finite time in seconds")
    return time
