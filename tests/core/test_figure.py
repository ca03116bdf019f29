"""Figures are checked data: a wrong line or name is refused where it is made."""

from __future__ import annotations

import pytest

from spacectl.core.errors import ModelError, ShapeError
from spacectl.core.figure import Figure, Line, Panel
from spacectl.core.outcome import Outcome, Status


def test_a_figure_is_comparable_data() -> None:
    def make() -> Figure:
        return Figure(
            name="tip",
            title="Tip",
            panels=[Panel(lines=[Line(x=[0, 1], y=[2, 3], label="tip")], y_label="height", unit="m")],
        )

    assert make() == make()
    assert isinstance(make().panels[0].lines, tuple)


def test_wrong_lines_and_names_are_refused() -> None:
    with pytest.raises(ShapeError, match="line 'tip': x has shape"):
        Line(x=[0, 1], y=[2], label="tip")
    with pytest.raises(ModelError, match="line 'tip': style 'wavy'"):
        Line(x=[0], y=[2], label="tip", style="wavy")
    with pytest.raises(ModelError, match="not finite"):
        Line(x=[0], y=[float("nan")], label="tip")
    with pytest.raises(ModelError, match="it becomes a file name"):
        Figure(name="../tip", title="Tip", panels=())


def test_an_outcome_counts_a_wanted_stop_as_success() -> None:
    assert Outcome().is_success
    assert Outcome(status=Status.EVENT).is_success
    assert not Outcome(status=Status.LIMIT).is_success
