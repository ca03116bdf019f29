"""Shared by the tests of studies."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module", autouse=True)
def figures(request: pytest.FixtureRequest) -> None:
    """Figures are laid out but not rendered, unless a module with ``RENDERED = True`` looks at its own."""
    if not getattr(request.module, "RENDERED", False):
        request.getfixturevalue("unrendered_figures")
