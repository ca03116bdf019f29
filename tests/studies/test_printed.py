"""Verdicts on published results are computed from numbers, and every result cites its document by author."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from spacectl.cli.lookup import load_study

ROOT = Path(__file__).resolve().parent.parent.parent
WITH_PUBLISHED = ("two_bar_linkage", "gravity_gradient")  # fast studies; the gallery shows all
AUTHORS = ("Aslanov", "Schutte", "Yaskevich", "Sadigh", "NASA")


@pytest.mark.parametrize("name", WITH_PUBLISHED)
def test_published_results_have_verdicts_and_sources(name: str) -> None:
    loaded = load_study(ROOT / "studies" / name / "study.py")
    result = loaded.study.run(loaded.study.parameters, quick=True, progress=lambda *_: None)
    assert result.printed
    for item in result.printed:
        assert item.verdict
        assert item.source.startswith(AUTHORS)
        assert item.verdict != "differs", item


def test_verdicts_depend_on_computed_values() -> None:
    calls = [
        (path, node)
        for path in ROOT.glob("studies/*/*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "PublishedResult"
    ]
    assert len(calls) > 30
    for path, call in calls:
        given = {item.arg: item.value for item in call.keywords}
        for name in {"ours", "holds", "independent"} & set(given):
            is_text = name == "ours" and "holds" in given  # a statement in words, judged by `holds`
            assert is_text or any(isinstance(node, ast.Name) for node in ast.walk(given[name])), (path, name)
