"""Shared by the tests of studies: figures are laid out, but not rendered."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from spacectl.reports.page import figures


@pytest.fixture(scope="module", autouse=True)
def unrendered_figures(request: pytest.FixtureRequest) -> Iterator[None]:
    """Writing one figure as png, svg and pdf and into the page takes a second, and a study draws up to eight.

    What can be wrong in the data of a study's figures shows when they are laid out. The renderer is tested in tests/reports,
    whole folders of studies in tests/cli/test_studies.py; a module with ``RENDERED = True`` looks at its own.
    """
    with pytest.MonkeyPatch.context() as patch:
        if not getattr(request.module, "RENDERED", False):
            patch.setattr(figures, "_bytes_of", lambda canvas, suffix, **options: suffix.encode())
        yield
