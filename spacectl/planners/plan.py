"""`Plan`: the result of every planner: states, inputs, and the active limits of each arc."""

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
    """A segment of a plan between two switching times.

    Parameters
    ----------
    begin, end : float
        Times [s].
    limit : str
        Active limits: ``"elbow at its upper limit"``, ``"shoulder_dot at its lower limit"``.
    """

    begin: float
    end: float
    limit: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """A planned maneuver.

    Parameters
    ----------
    name : str
        Shown in results.
    x : Trajectory
        States over time, with the labels of the equations.
    u : Trajectory
        Inputs over time. At a jump, two knots are one rounding error apart, so that `simulate` stops there.
    arcs : tuple of Arc
        Consecutive arcs, separated by switches.
    s : Trajectory, optional
        Path parameter ``s`` with ``s_dot`` and ``s_ddot`` over time, for plans along a path.
    outcome : Outcome
        Status of the planner, with a summary or the cause of failure.
    notes : mapping
        Details of the solution: scheme, tolerances, error estimates.
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
        """Final time [s]."""
        return float(np.asarray(self.x.t)[-1])

    @property
    def switch_times(self) -> tuple[float, ...]:
        """Switching times between arcs [s]."""
        return tuple(arc.end for arc in self.arcs[:-1])
