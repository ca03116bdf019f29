"""Shared by all tests: repeatable random draws, and a small study for the command line and the reports."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Generator, Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import settings

# Small matrices gain nothing from threads of BLAS, and those that wait use a processor that another test process could use.
# This must come before numpy is imported; processes that tests start inherit it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from spacectl.reports.page import figures

# The same examples in every run, and no time limits: a busy machine is no defect. `make test-all` draws ten times as many.
for name, count in (("few", 10), ("many", 100)):
    settings.register_profile(name, derandomize=True, deadline=None, database=None, max_examples=count)
settings.load_profile(os.environ.get("SPACECTL_DRAWS", "few"))

TOY_STUDY = dedent(
    '''
    """How long does a decaying oscillation ring?"""

    from __future__ import annotations

    import warnings
    from dataclasses import dataclass

    import numpy as np
    import xarray

    from spacectl.core.errors import ModelError, SolverError
    from spacectl.core.figure import Band, Figure, Line, Panel
    from spacectl.core.outcome import Outcome
    from spacectl.core.studies.study import Study, StudyResult


    @dataclass(frozen=True)
    class Parameters:
        damping: float = 0.5  # [1/s]
        trouble: str = "none"


    @dataclass(frozen=True)
    class Run:
        dataset: xarray.Dataset
        outcome: Outcome


    def run(parameters, *, quick, progress):
        progress(0.1, "ringing")
        if parameters.damping <= 0.0:
            raise ModelError(f"damping is {parameters.damping:g} 1/s, expected a positive number")
        if parameters.trouble == "solver":
            raise SolverError("the step became too small at t = 1.5 s; try a stiff method")
        if parameters.trouble == "bug":
            raise KeyError("nobody expected this")
        if parameters.trouble == "end":
            raise EOFError("half a file")
        if parameters.trouble == "interrupt":
            raise KeyboardInterrupt
        if parameters.trouble == "warning":
            warnings.warn("the <b>peer</b> is not installed", stacklevel=1)
        t = np.linspace(0.0, 2.0 if quick else 8.0, 201)
        x = np.exp(-parameters.damping * t) * np.cos(3.0 * t)
        data = xarray.Dataset(
            {"x": (("time", "state"), x[:, None])}, coords={"time": t, "state": ["angle"], "state_unit": ("state", ["rad"])}
        )
        panel = Panel(lines=(Line(x=t, y=x, label="angle"),), y_label="angle", unit="rad", bands=(Band(low=-1.2, high=1.2),))
        return StudyResult(
            metrics={"ringing_time": 3.0 / parameters.damping, "final_angle": x[-1], "peer_difference": None, "is_quick": quick},
            simulations={"ringing": Run(data, Outcome(stats={"n_steps": 200, "rtol": 1e-9}))},
            figures=(Figure(name="angle", title="Ringing", panels=(panel,), caption="It decays."),),
            notes=("The peer is not installed.",),
        )


    STUDY = Study(question="How long does it ring?", parameters=Parameters(), run=run)
    '''
)


@pytest.fixture
def toy_study(tmp_path: Path) -> Path:
    """Folder of a small study that takes milliseconds and can be made to fail."""
    folder = tmp_path / "toy"
    folder.mkdir()
    (folder / "study.py").write_text(TOY_STUDY, encoding="utf-8")
    (folder / "README.md").write_text("**Metrics.** `ringing_time` [s], `final_angle` [rad].\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def unrendered_figures(request: pytest.FixtureRequest) -> Iterator[None]:
    """Lay figures out, but write next to nothing, except into the page of a module with ``RENDERED = True``.

    To write one as png, svg and pdf and into the page takes a second. What can be wrong in its data shows when it is laid
    out; the renderer is tested in tests/reports, and whole folders of studies in tests/cli/test_studies.py.
    """
    write, is_shown = figures._bytes_of, getattr(request.module, "RENDERED", False)

    def write_less(canvas: Any, suffix: str, *, is_transparent: bool = False, **options: Any) -> bytes:
        is_in_page = is_shown and is_transparent
        return write(canvas, suffix, is_transparent=True, **options) if is_in_page else suffix.encode()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "_bytes_of", write_less)
        yield


@pytest.fixture
def keyboard() -> Iterator[None]:
    """Ctrl-C raises `KeyboardInterrupt` also where the tests were started with SIGINT ignored (a background job)."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Search for no garbage while tests are collected, nor later among what was: hundreds of thousands of objects that stay."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


_SUMMARY: list[str] = []


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Collect what tests want shown at the end (also from the workers of a parallel run)."""
    if report.when == "call":
        _SUMMARY.extend(str(value) for name, value in report.user_properties if name == "summary")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Show it."""
    for text in _SUMMARY:
        terminalreporter.write_line(text)
