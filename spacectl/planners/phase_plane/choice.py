"""Plan several candidate paths and select the fastest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spacectl.core.errors import ModelError, SolverError
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.planners.paths.path import Path
from spacectl.planners.phase_plane.plan_phase_plane import plan_phase_plane
from spacectl.planners.plan import Plan

__all__ = ["PathChoice", "choose_path"]


@dataclass(frozen=True, eq=False)
class PathChoice:
    """The result of `choose_path`.

    Parameters
    ----------
    plan : Plan
        The fastest plan.
    plans : tuple of Plan or None
        One for each path, in order; None where planning failed.
    times : tuple of float
        Their final times [s]; infinite where planning failed.
    reasons : tuple of str
        The active limits of each plan, or the cause of failure.
    """

    plan: Plan
    plans: tuple[Plan | None, ...]
    times: tuple[float, ...]
    reasons: tuple[str, ...]

    @property
    def why(self) -> str:
        """Summary in one sentence: the path, its lead over the next one, and its active limits."""
        others = sorted(time for item, time in zip(self.plans, self.times, strict=True) if item is not self.plan)
        ahead = (
            f", {others[0] - self.plan.final_time:.4g} s before the next" if others and others[0] < float("inf") else ""
        )
        limits = ", ".join(dict.fromkeys(arc.limit for arc in self.plan.arcs))
        return f"'{self.plan.name}' takes {self.plan.final_time:.6g} s{ahead}; limited by {limits}"


def choose_path(
    eom: EquationsOfMotion, paths: Sequence[Path], *, limits: Any = None, p: Any = None, points: int = 1000
) -> PathChoice:
    """Plan each of several paths and select the fastest (Sadigh 1995, section 8.2.2).

    Parameters
    ----------
    eom : EquationsOfMotion
        The system.
    paths : sequence of Path
        Candidates.
    limits : Limit or tuple of Limit, optional
        Default: the limits of the actuators.
    p : array, optional
        Run-time parameters.
    points : int
        Number of grid cells of each plan.

    Returns
    -------
    PathChoice
        The fastest plan, all plans, and their active limits.

    Raises
    ------
    SolverError
        If none of the paths can be planned; the message states the cause for each.
    """
    if not paths:
        raise ModelError("choose_path: no paths; give one or more")
    plans: list[Plan | None] = []
    reasons = []
    for path in paths:
        try:
            plan = plan_phase_plane(eom, path, limits=limits, p=p, points=points)
        except SolverError as error:
            plans.append(None)
            reasons.append(str(error))
            continue
        plans.append(plan)
        reasons.append(", ".join(dict.fromkeys(arc.limit for arc in plan.arcs)))
    made = [plan for plan in plans if plan is not None]
    if not made:
        raise SolverError("choose_path: none of the paths can be planned: " + "; ".join(reasons))
    best = min(made, key=lambda item: item.final_time)
    times = tuple(float("inf") if plan is None else plan.final_time for plan in plans)
    return PathChoice(best, tuple(plans), times, tuple(reasons))
