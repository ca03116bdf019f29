"""Shared by the tests of studies."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module", autouse=True)
def figures(unrendered_figures: None) -> None:
    """Figures are laid out but not rendered."""
