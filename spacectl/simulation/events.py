"""Guards: named expressions whose sign changes are located during a run; `guard_functions` combines them into one function.

`run` reports each crossing as an event, and ends the run at terminal guards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl.core.accessor import Accessor
from spacectl.core.array import as_array
from spacectl.core.errors import ModelError
from spacectl.core.outcome import Status

__all__ = ["Event", "Guard", "describe_stop"]


@dataclass(frozen=True, kw_only=True)
class Guard:
    """Define a quantity to watch: an event occurs where it crosses zero.

    Rising means from below zero to zero or above, falling from above zero to zero or below.

    Parameters
    ----------
    name : str
        Name of the guard in events.
    expression : callable
        Function of an accessor s that returns one number. It may use entries by name (``s["elbow"]``: states, then inputs,
        then memory), vectors ``s.x``, ``s.u``, ``s.z``, ``s.p``, time ``s.t``, time since the start of the run (or stage)
        ``s.since``, reactions and residuals of constraint equations ``s.reaction("latch.x")``, ``s.gap("latch.x")``,
        ``s.gap_rate("latch.x")``, and outputs ``s.output("tip.x")``.
    direction : {0, 1, -1}
        Both directions, rising only, or falling only.
    is_terminal : bool
        Whether the simulation ends there.
    is_failure : bool
        Whether a run that ends there has failed: its motion diverged, or left the validity of the model. Its outcome is then
        ``diverged``, which is no success: `simulate` raises an error unless ``check=False``, and reports show a failed run.

    Examples
    --------
    >>> Guard(name="elbow stop", expression=lambda s: s["elbow"] - 1.0, direction=1).is_terminal
    True
    """

    name: str
    expression: Callable[[Accessor], Any]
    direction: int = 0
    is_terminal: bool = True
    is_failure: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ModelError(f"guard: name is {self.name!r}, expected a text such as 'elbow stop'")
        if not callable(self.expression):
            raise ModelError(
                f"guard '{self.name}': expression is {self.expression!r}, expected lambda s: s['elbow'] - 1.0"
            )
        if isinstance(self.direction, bool) or self.direction not in (-1, 0, 1):
            raise ModelError(
                f"guard '{self.name}': direction is {self.direction!r}, expected 0, 1 (rising) or -1 (falling)"
            )
        for key in ("is_terminal", "is_failure"):
            if not isinstance(getattr(self, key), (bool, np.bool_)):
                raise ModelError(f"guard '{self.name}': {key} is {getattr(self, key)!r}, expected True or False")
        if self.is_failure and not self.is_terminal:
            raise ModelError(f"guard '{self.name}': is_failure=True needs is_terminal=True; a failure ends the run")


@dataclass(frozen=True, kw_only=True)
class Event:
    """Describe a crossing of a guard.

    Parameters
    ----------
    time : float
        Time [s], after the sign has changed.
    name : str
        Name of the guard.
    state : array, shape (n_x,)
        State x at this time.
    """

    time: float
    name: str
    state: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "state", as_array(self.state, None, f"event '{self.name}': state"))


def describe_stop(guards: Sequence[Guard], t: float) -> tuple[Status, str]:
    """Return status and message of a run that these guards ended at time `t`."""
    names = ", ".join(f"'{guard.name}'" for guard in guards)
    failures = ", ".join(f"'{guard.name}'" for guard in guards if guard.is_failure)
    message = f"stopped by guard {names} at t = {t:g} s"
    return (Status.DIVERGED, f"{message}: {failures} marks a failure") if failures else (Status.EVENT, message)
