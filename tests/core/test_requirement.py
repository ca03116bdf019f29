"""Requirements are read as a user writes them, and what cannot be judged is not met."""

from __future__ import annotations

from typing import Any

import pytest

from spacectl.core.errors import ModelError
from spacectl.core.printed import Printed
from spacectl.core.requirement import parse_requirement

METRICS = {"peak": 800.0, "count": 3, "is_stable": True, "state": "ok", "gains": [1.0, [2.0, 5.0]], "peer": None}


@pytest.mark.parametrize(
    ("text", "is_met"),
    [
        ("peak<=800", True),
        (" peak < 800 ", False),
        ("peak >= 8e2", True),
        ("count != 4", True),
        ("is_stable == yes", True),
        ("is_stable == false", False),
        ("state == ok", True),
        ("gains < 5", False),
        ("gains <= 5", True),
        ("peer <= 1", False),
        ("state <= 1", False),
        ("peek <= 1", False),
    ],
)
def test_a_requirement_is_judged_by_its_metric(text: str, is_met: bool) -> None:
    assert parse_requirement(text).judge(METRICS).is_met is is_met


def test_a_wrong_name_is_told_with_the_nearest_one() -> None:
    assert "did you mean 'peak'" in parse_requirement("peakk <= 1").judge(METRICS).reason
    assert "not available" in parse_requirement("peer <= 1").judge(METRICS).reason


@pytest.mark.parametrize(
    "text", ["peak", "peak =< 3", "<= 3", "peak <=", "peak <= nan", "state <= ok", "is_stable > true"]
)
def test_other_forms_are_refused(text: str) -> None:
    with pytest.raises(ModelError, match="requirement"):
        parse_requirement(text)


@pytest.mark.parametrize(("ours", "verdict"), [(1.02, "agrees"), (0.98, "agrees"), (1.03, "differs"), (None, "")])
def test_the_verdict_on_a_printed_number_follows_from_the_numbers(ours: Any, verdict: str) -> None:
    assert Printed(what="period", source="000 p. 1", printed=1.0, ours=ours, within=0.021).verdict == verdict


def test_a_verdict_needs_a_reason() -> None:
    with pytest.raises(ModelError, match="give `within`, or a verdict"):
        Printed(what="period", source="000", printed=1.0, ours=2.0)
    with pytest.raises(ModelError, match="needs a remark"):
        Printed(what="period", source="000", printed=1.0, ours=2.0, verdict="corrected")
    with pytest.raises(ModelError, match="verdict 'fine'"):
        Printed(what="period", source="000", printed=1.0, ours=2.0, verdict="fine")
