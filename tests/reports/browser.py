"""A headless Chromium of the distribution, driven by playwright, that notes all complaints and all requests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

LARGEST = 10e6  # [byte] of a report

OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
)


@dataclass
class Seen:
    """What a page said and asked for while it was open."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def wait(self, name: str) -> str:
        """Wait until the page's script has marked a stage (plots, replay) and give the mark."""
        self.page.wait_for_selector(f"html[data-{name}]", state="attached", timeout=120_000)
        return str(self.page.evaluate(f"document.documentElement.dataset.{name}"))

    def check(self, path: Path) -> None:
        """No complaint, and nothing asked for besides the file itself and what it holds."""
        assert self.complaints == []
        assert [url for url in self.requests if not url.startswith("blob:")] == [path.as_uri()]


def missing(reason: str) -> None:
    """Skip, or fail where a browser is demanded."""
    if os.environ.get("SPACECTL_REQUIRE_BROWSER") == "1":
        pytest.fail(f"SPACECTL_REQUIRE_BROWSER=1, but {reason}")
    pytest.skip(f"{reason}; set SPACECTL_REQUIRE_BROWSER=1 to insist")


@contextmanager
def open_browser() -> Iterator[Any]:
    """Chromium or Chrome of this machine."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright is not installed")
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        missing("neither chromium nor google-chrome was found")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(OPTIONS))
        try:
            yield browser
        finally:
            browser.close()


def open_page(browser: Any, path: Path, **options: Any) -> Seen:
    """A page, with everything it says and asks for noted; `options` as for playwright's new_page."""
    page = browser.new_page(**options)
    seen = Seen(page)
    page.on("console", lambda message: seen.complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: seen.complaints.append(str(error)))
    page.on("request", lambda request: seen.requests.append(request.url))
    page.goto(path.as_uri())
    return seen


def play_report(browser: Any, path: Path) -> None:
    """Open a report of a study with flexible parts: it is small, complains of nothing, plots, plays, and a beam bends."""
    assert path.stat().st_size < LARGEST
    seen = open_page(browser, path)
    assert seen.wait("plots") == "ready"
    assert seen.wait("replay") == "ready"
    page = seen.page
    assert page.locator(".js-plotly-plot").count() == page.locator("figure").count() > 0
    name = page.evaluate("spacectlReplay.flexible()")[0]
    first, last = (page.evaluate("spacectlReplay.times()")[k] for k in (0, -1))
    shapes = []
    for part in np.linspace(0.0, 1.0, 9):
        page.evaluate(f"spacectlReplay.seek({first + part * (last - first)})")
        shapes.append(np.array(page.evaluate("name => spacectlReplay.vertices(name)", name)))
    extent = np.ptp(shapes[0].reshape(-1, 3), axis=0).max()
    assert max(np.max(np.abs(shape - shapes[0])) for shape in shapes) > 1e-5 * extent, f"{name} bends"
    page.click("#replay-play")
    before = page.evaluate("spacectlReplay.time()")
    page.wait_for_timeout(1000)
    assert page.evaluate("spacectlReplay.time()") != before
    seen.check(path)
    page.close()
