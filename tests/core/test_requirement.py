"""Requirements are read as a user writes them, and what cannot be judged is not met."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import spacectl
from spacectl.core.errors import ModelError
from spacectl.core.studies.published import PublishedResult
from spacectl.core.studies.requirement import parse_requirement

METRICS = {
    "peak": 800.0,
    "count": 3,
    "is_stable": True,
    "state": "ok",
    "gains": [1.0, [2.0, 5.0]],
    "peer": None,
    "none": [],
    "rows": [[]],
}


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


def test_a_wrong_name_is_reported_with_the_nearest_one() -> None:
    assert "did you mean 'peak'" in parse_requirement("peakk <= 1").judge(METRICS).reason
    assert "not available" in parse_requirement("peer <= 1").judge(METRICS).reason


@pytest.mark.parametrize("text", ["none <= 1", "none != 1", "rows > 0", "none == ok"])
def test_an_empty_list_of_requirements_has_no_verdict(text: str) -> None:
    verdict = parse_requirement(text).judge(METRICS)
    assert not verdict.is_met
    assert "empty list" in verdict.reason


@pytest.mark.parametrize(
    "text", ["peak", "peak =< 3", "<= 3", "peak <=", "peak <= nan", "state <= ok", "is_stable > true"]
)
def test_other_forms_are_refused(text: str) -> None:
    with pytest.raises(ModelError, match="requirement"):
        parse_requirement(text)


@pytest.mark.parametrize(("ours", "verdict"), [(1.02, "agrees"), (0.98, "agrees"), (1.03, "differs"), (None, "")])
def test_the_verdict_on_a_published_number_follows_from_the_values(ours: Any, verdict: str) -> None:
    assert (
        PublishedResult(what="period", source="handbook p. 1", printed=1.0, ours=ours, within=0.021).verdict == verdict
    )


NUMBER = {"what": "period", "source": "handbook", "printed": 1.0, "ours": 2.0}
STATEMENT = {"what": "sign", "source": "handbook", "printed": "plus", "ours": "minus"}
CHECKED = {"independent_by": "closed form", "remark": "misprint"}


@pytest.mark.parametrize(
    ("independent", "verdict"), [(2.05, "corrected"), (2.06, "differs"), (1.0, "differs"), (None, "differs")]
)
def test_a_correction_needs_an_independent_value_that_confirms_ours(independent: Any, verdict: str) -> None:
    more = CHECKED if independent is not None else {}
    assert PublishedResult(**NUMBER, within=0.055, independent=independent, **more).verdict == verdict


@pytest.mark.parametrize(("independent", "verdict"), [(1.008, "differs"), (1.014, "corrected")])
def test_an_independent_value_that_agrees_with_the_publication_corrects_nothing(
    independent: float, verdict: str
) -> None:
    item = PublishedResult(
        what="a", source="b", printed=1.0, ours=1.012, within=0.01, independent=independent, **CHECKED
    )
    assert item.verdict == verdict


@pytest.mark.parametrize("changed", [(), ("mass",)])
def test_without_a_remark_nothing_is_corrected_and_no_run_is_lost(changed: tuple[str, ...]) -> None:
    """Other parameters (--set) move a value that agrees; that must not end the study that found it."""
    item = PublishedResult(**NUMBER, within=0.1, independent=2.0, independent_by="closed form", changed=changed)
    assert item.verdict == ("not comparable" if changed else "differs")


def test_what_is_not_finite_is_not_available() -> None:
    lost = PublishedResult(**{**NUMBER, "ours": float("nan")}, within=0.1)
    assert (lost.ours, lost.verdict) == (None, "")
    assert PublishedResult(**NUMBER, within=0.1, independent=float("inf"), **CHECKED).verdict == "differs"


def test_a_value_that_agrees_is_never_corrected() -> None:
    assert PublishedResult(**NUMBER, within=1.0, independent=2.0, **CHECKED).verdict == "agrees"


@pytest.mark.parametrize(
    ("holds", "independent", "verdict"),
    [
        (True, None, "agrees"),
        (True, False, "agrees"),
        (False, None, "differs"),
        (False, False, "corrected"),
        (False, True, "differs"),
    ],
)
def test_the_verdict_on_a_statement_follows_from_what_was_computed(holds: bool, independent: Any, verdict: str) -> None:
    more = CHECKED if independent is not None else {}
    item = PublishedResult(**STATEMENT, holds=np.bool_(holds), criterion="above 0", independent=independent, **more)
    assert item.verdict == verdict


def test_nothing_is_judged_where_the_case_was_changed() -> None:
    item = PublishedResult(**NUMBER, within=1.0, changed=["mass"])
    assert (item.verdict, item.changed) == ("not comparable", ("mass",))


@pytest.mark.parametrize(
    ("given", "match"),
    [
        (NUMBER, "a number needs `within`"),
        ({**NUMBER, "within": 0.1, "holds": True}, "a number needs `within`"),
        ({**NUMBER, "within": 0.1, "independent": 2.0}, "together"),
        ({**NUMBER, "within": 0.1, "independent": False, **CHECKED}, "a number for a number"),
        ({**NUMBER, "ours": "two", "within": 0.1}, "two numbers or two texts"),
        ({**NUMBER, "within": float("inf")}, "within is inf"),
        ({**NUMBER, "within": -0.1}, "within is -0.1"),
        ({**NUMBER, "printed": float("nan"), "within": 0.1}, "printed is nan"),
        ({**NUMBER, "printed": (1.0, 2.0), "within": 0.1}, "printed is"),
        (STATEMENT, "a statement needs `holds`"),
        ({**STATEMENT, "holds": False}, "a statement needs `holds`"),
        (
            {**STATEMENT, "holds": False, "criterion": "above 0", "independent": 1.0, **CHECKED},
            "a bool for a statement",
        ),
    ],
)
def test_fields_that_a_verdict_needs_are_required(given: dict[str, Any], match: str) -> None:
    with pytest.raises(ModelError, match=match):
        PublishedResult(**given)


def test_a_verdict_cannot_be_typed() -> None:
    with pytest.raises(TypeError, match="verdict"):
        PublishedResult(**NUMBER, within=0.1, verdict="agrees")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("text", "value"),
    [("a <= 3", [1.0, None]), ("a >= 0", True), ("a == 1", True), ("a == true", 1.0), ("a != x", None)],
)
def test_what_does_not_compare_is_not_met(text: str, value: Any) -> None:
    verdict = parse_requirement(text).judge({"a": value})
    assert not verdict.is_met
    assert verdict.reason


def test_a_requirement_is_a_text() -> None:
    with pytest.raises(ModelError, match="expected metric"):
        parse_requirement(3)  # type: ignore[arg-type]


def test_the_former_name_of_published_results_warns_and_is_the_same_class() -> None:
    vars(spacectl).pop("Printed", None)
    with pytest.warns(DeprecationWarning, match="now called PublishedResult") as caught:
        former = spacectl.Printed
    assert former is PublishedResult
    assert caught[0].filename == __file__
