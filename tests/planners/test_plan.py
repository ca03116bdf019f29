"""A plan knows its end and its switches, and refuses histories that do not end together."""

from __future__ import annotations

import pytest

from spacectl.core.errors import ShapeError
from spacectl.core.labels import Labels
from spacectl.core.trajectory import Trajectory
from spacectl.planners.plan import Arc, Plan


def history(end: float) -> Trajectory:
    return Trajectory(t=[0.0, end], values=[[0.0], [1.0]], labels=Labels(("a",), ("m",)), interpolation="linear")


def test_switches_lie_between_arcs() -> None:
    arcs = (Arc(begin=0.0, end=1.0, limit="up"), Arc(begin=1.0, end=3.0, limit="down"))
    plan = Plan(name="slide", x=history(3.0), u=history(3.0), arcs=arcs)
    assert plan.final_time == 3.0 and plan.switch_times == (1.0,)


def test_histories_end_together() -> None:
    with pytest.raises(ShapeError, match="one end"):
        Plan(name="slide", x=history(3.0), u=history(2.0))
