"""Advance one run of the driver to its end, and turn its reports into events, an outcome or an error."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from spacectl.core.errors import SolverError, warn
from spacectl.core.labels import Labels
from spacectl.core.outcome import Outcome, Status
from spacectl.core.studies.study import Progress
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.simulation.driver.loop_data import COUNTS, LoopData
from spacectl.simulation.driver.native_loop import CALLBACK_ERROR, DONE, FAILED, GUARD, LIMIT, NativeLoop, load_driver
from spacectl.simulation.driver.reference.loop import PythonLoop
from spacectl.simulation.driver.reference.steps import instant
from spacectl.simulation.events import Event, Guard, describe_stop
from spacectl.simulation.progress import RunProgress
from spacectl.simulation.results.doubts import constraint_residuals, judge_saturation, judge_theory, warn_if_pushing
from spacectl.simulation.results.simulation import Letter, Simulation, build_dataset, frozen
from spacectl.simulation.run.failures import explain_failure
from spacectl.simulation.run.guard_functions import warn_if_shared
from spacectl.simulation.run.laws import BoundLaw

if TYPE_CHECKING:
    import xarray

__all__ = ["Driver", "Run", "make_loop"]

Driver = Literal["auto", "native", "python"]

_SLICE = 0.05  # [s] after which the driver returns to handle Ctrl-C and report progress
_log = logging.getLogger(__name__)


@cache
def _native_trouble() -> str:
    """Return why there is no compiled driver, or an empty text; log the reason once."""
    try:
        load_driver()
    except SolverError as error:
        _log.warning(
            "simulating with the reference implementation in Python, which is slower: %s", str(error).splitlines()[0]
        )
        return str(error)
    return ""


def make_loop(data: LoopData, driver: Driver) -> NativeLoop | PythonLoop:
    """Return the compiled driver or its reference implementation."""
    if driver == "native" or (driver == "auto" and not _native_trouble()):
        return NativeLoop(data)
    return PythonLoop(data)


@dataclass
class Run:
    """Advance one run and build its `Simulation`."""

    eom: EquationsOfMotion
    bound: BoundLaw
    guards: tuple[Guard, ...]
    data: LoopData
    loop: NativeLoop | PythonLoop
    attributes: dict[str, Any]
    p: np.ndarray
    begin: float
    kink_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.events: list[Event] = []
        self._warned: set[Guard] = set()
        self._warn_if_shared(self.guards, self.data.t, self.data.s[: self.data.n_x])
        self.attributes["driver"] = self.loop.kind

    def advance(self, progress: Progress | None) -> tuple[Status, str]:
        """Advance to the end; any exception on the way gets the simulation so far as its ``partial``."""
        data = self.data
        try:
            with RunProgress(progress, (data.t_start, data.t_end)) as reporter:
                while True:
                    status = self.loop.advance(seconds=_SLICE)
                    if status == DONE:
                        reporter.update(data.t_end)
                        return Status.OK, f"reached t = {data.t_end:g} s"
                    if status == GUARD and (fired := self._note_events()):
                        return describe_stop(fired, data.event_t)
                    if status in (FAILED, LIMIT):
                        message = explain_failure(data, status == LIMIT, self.eom, self.bound, self.guards)
                        return Status.FAILED if status == FAILED else Status.LIMIT, message
                    if status == CALLBACK_ERROR:
                        self._raise_callback_error()
                    reporter.update(data.t)
        except BaseException as error:
            with suppress(Exception):  # the first exception is reported
                error.partial = self.finish(*self.reason_of(error))  # type: ignore[attr-defined]
            raise

    def reason_of(self, error: BaseException) -> tuple[Status, str]:
        """Return status and message of a run that was ended by an interrupt, or an exception of a law or another function."""
        t = self.data.t
        if isinstance(error, KeyboardInterrupt):
            return Status.INTERRUPTED, f"interrupted at t = {t:g} s"
        summary = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return Status.FAILED, f"{self._raised_by(error)} raised near t = {t:g} s: {summary}"

    def _raised_by(self, error: BaseException) -> str:
        """Return the name of the Python function that raised an exception."""
        names = {"law": f"law '{self.bound.name}'", "sensors": "a sensor", "guards": "a guard", "plant": "the plant"}
        for name, summary in names.items():
            if getattr(self.data, name).error is error:
                return summary
        return "a function of the run"

    def _note_events(self) -> list[Guard]:
        """Record an event for each guard that fired; return these guards if one of them ends the run."""
        data = self.data
        fired = [guard for guard, flag in zip(self.guards, data.fired, strict=False) if flag]
        state = data.event_s[: data.n_x].copy()
        self.events += [Event(time=data.event_t, name=guard.name, state=state) for guard in fired]
        self._warn_if_shared(fired, data.event_t, state)  # constraints may become redundant during the run
        return fired if any(guard.is_terminal for guard in fired) else []

    def _warn_if_shared(self, guards: Sequence[Guard], t: float, x: np.ndarray) -> None:
        """Warn once about each guard that depends on how redundant constraints share a load."""
        new = [guard for guard in guards if guard not in self._warned]
        if new:
            self._warned.update(warn_if_shared(self.eom, self.guards, self.bound.memory, t=t, x=x, p=self.p, only=new))

    def _raise_callback_error(self) -> None:
        data = self.data
        for function in (
            data.law,
            data.sensors,
            data.plant,
            data.guards,
            data.plant_derivatives,
            data.law_derivatives,
            data.project,
        ):
            if function.error is not None:
                if not isinstance(function.error, KeyboardInterrupt):
                    function.error.add_note(f"raised while simulating '{self.eom.system.name}' near t = {data.t:g} s")
                raise function.error
        raise SolverError(f"a Python function failed near t = {data.t:g} s without giving a reason")

    def warn_of_chatter(self) -> None:
        """Warn about kinks that were crossed too often to be located."""
        flags = zip(self.kink_names, self.data.is_ignored, strict=True)
        names = sorted({name for name, is_ignored in flags if is_ignored})
        if names:
            warn(
                f"simulating '{self.eom.system.name}': the kink of {', '.join(names)} is crossed again and again within a "
                "small part of a step, and is no longer located; the error there may be far above the tolerance. "
                'Smooth it (backlash_smoothing=, Friction(speed=)), or compare with method="radau" and a smaller rtol'
            )

    def finish(self, status: Status, message: str) -> Simulation:
        """Return the simulation from the records, with the state at which the run stopped as last row."""
        self.warn_of_chatter()
        data, rows = self.data, self.data.i_grid
        at_event = (data.event_t, data.event_s)
        places = {Status.EVENT: at_event, Status.DIVERGED: at_event, Status.OK: None}
        stopped = places.get(status, (data.t, data.s))
        times = data.grid[:rows]
        if stopped is not None and (rows == 0 or stopped[0] > times[-1] + instant(data, stopped[0])):
            if self.loop.record(rows, *stopped) < 0:
                times, rows = np.append(times, stopped[0]), rows + 1
        x, u = data.out_x[:rows], data.out_u[:rows]
        labels = self.eom.labels
        histories: dict[Letter, tuple[np.ndarray, Labels]] = {
            "x": (frozen(x), labels.x),
            "u": (frozen(u), labels.u),
            "u_commanded": (frozen(data.out_u_commanded[:rows]), labels.u),
            "z": (frozen(data.out_z[:rows]), self.bound.memory),
        }
        if self.eom.n_y == 0 or rows == 0:
            histories["y"] = (np.zeros((rows, self.eom.n_y)), labels.y)
        t = frozen(times)
        make = partial(_dataset, self.eom, t, histories, list(self.events), self.p, dict(self.attributes))
        counts = {name: getattr(data, name) for name in COUNTS}
        stats = {
            **counts,
            **constraint_residuals(self.eom, times, x, self.p),
            **judge_theory(self.eom, [(x, self.p)]),
            **judge_saturation(self.eom, [(times, data.out_u_commanded[:rows], self.p)]),
            **(warn_if_pushing(self.eom, [(times, x, u, self.p)]) if Outcome(status=status).is_success else {}),
            "seconds": time.perf_counter() - self.begin,
        }
        arrays: dict[str, tuple[np.ndarray, Labels]] = {"time": (t, Labels(kind="time"))}
        arrays.update({str(letter): pair for letter, pair in histories.items()})
        return Simulation(make, Outcome(status=status, message=message, stats=stats), arrays)


def _dataset(
    eom: EquationsOfMotion,
    t: np.ndarray,
    histories: dict[Letter, tuple[np.ndarray, Labels]],
    events: list[Event],
    p: np.ndarray,
    attributes: dict[str, Any],
) -> xarray.Dataset:
    """Build the dataset of a run when it is first used; outputs are evaluated only then."""
    if "y" not in histories:
        y = eom.along("outputs", t, histories["x"][0], histories["u"][0], p)
        histories = {**histories, "y": (frozen(y), eom.labels.y)}
    order: tuple[Letter, ...] = ("x", "u", "u_commanded", "y", "z")
    return build_dataset(t, {letter: histories[letter] for letter in order}, events, p, eom.parameters, attributes)
