"""`Plan`: what every planner gives: how the system moves, which inputs move it, and what limits it on each arc."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spacectl.core.errors import ShapeError
from spacectl.core.outcome import Outcome
from spacectl.core.trajectory import Trajectory

__all__ = ["Arc", "Plan"]


@dataclass(frozen=True, kw_only=True)
class Arc:
    """A stretch of a plan between two switches.

    Parameters
    ----------
    begin, end : float
        Times [s].
    limit : str
        What limits the motion there, in words: ``"elbow at its upper limit"``, ``"shoulder_dot at its lower limit"``.
    """

    begin: float
    end: float
    limit: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """A planned maneuver, ready to be flown or drawn.

    Parameters
    ----------
    name : str
        Shown in results.
    x : Trajectory
        States over time, with the labels of the equations.
    u : Trajectory
        Inputs over time. Where they jump, two knots stand one rounding apart, so that `simulate` stops there.
    arcs : tuple of Arc
        From begin to end; a switch lies between each two.
    s : Trajectory, optional
        Path variable ``s`` and its rate ``s_dot`` over time, for plans along a path.
    outcome : Outcome
        How the planner ended; what is active, or why it failed and where.
    notes : mapping
        How it was made: scheme, tolerances, error estimates.
    """

    name: str
    x: Trajectory
    u: Trajectory
    arcs: tuple[Arc, ...] = ()
    s: Trajectory | None = None
    outcome: Outcome = field(default_factory=Outcome)
    notes: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ends = [float(np.asarray(item.t)[-1]) for item in (self.x, self.u)]
        if abs(ends[0] - ends[1]) > 1e-9 * max(1.0, abs(ends[0])):
            raise ShapeError(
                f"plan '{self.name}': states end at {ends[0]:g} s, inputs at {ends[1]:g} s; expected one end"
            )
        object.__setattr__(self, "arcs", tuple(self.arcs))

    @property
    def final_time(self) -> float:
        """End of the maneuver [s]."""
        return float(np.asarray(self.x.t)[-1])

    @property
    def switch_times(self) -> tuple[float, ...]:
        """Times between arcs [s]."""
        return tuple(arc.end for arc in self.arcs[:-1])
