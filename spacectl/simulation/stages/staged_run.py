"""Advance a run through stages: each stage is a run of the native loop, and transitions lead from one to the next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spacectl.core.errors import ModelError, SolverError
from spacectl.core.outcome import Status
from spacectl.core.studies.study import Progress
from spacectl.dynamics.constraints.projection import project_state
from spacectl.dynamics.formulations.switching import stage_numbers
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.simulation.events import Event, Guard, describe_stop
from spacectl.simulation.run.run import Driver, Run, make_loop
from spacectl.simulation.run.simulate import build_run
from spacectl.simulation.stages.entry import check_transitions, close_gaps, enter_guards, is_rest
from spacectl.simulation.stages.impulses import Impulse, find_impulse
from spacectl.simulation.stages.records import Piece
from spacectl.simulation.stages.result import Transition
from spacectl.simulation.stages.stages import Exit, Stage, StageProduct

__all__ = ["StagedRun"]


@dataclass
class StagedRun:
    """Advance a run through stages and collect its records."""

    eom: EquationsOfMotion
    table: Mapping[str, Stage]
    stage: Stage
    t: float
    x: np.ndarray
    span: tuple[float, float]
    grid: np.ndarray
    parameters: np.ndarray
    gap_tolerance: float
    max_transitions: int
    driver: Driver
    options: dict[str, Any]
    pieces: list[Piece] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    transitions: list[Transition] = field(default_factory=list)
    guard_scales: dict[str, float] = field(default_factory=dict)
    n_recorded: int = 0
    law_begin: float = 0.0
    last: Run | None = None
    is_over: bool = False
    entered: dict[str, float] = field(default_factory=dict)
    cut_short: tuple[Status, str] | None = None  #: status and message of a run that was ended by an exception

    def __post_init__(self) -> None:
        if isinstance(self.table, StageProduct):
            self.entered = {item.split(":")[0]: self.t for item in self.stage.name.split(" ")}

    def advance(self, progress: Progress | None) -> tuple[Status, str]:
        """Advance from stage to stage to the end; return status and message."""
        self.law_begin = self.t
        while True:
            parameters = self.parameters_of(self.stage)
            run = self._build(parameters)
            past = enter_guards(run, self.stage, self.guard_scales, is_start=not self.transitions)
            if past is not None:
                self._leave(past, self.t, self.x, parameters)
                if self.is_over:
                    return self._ended(run, parameters, past.guard)
                continue
            try:
                status, message = run.advance(self._part(progress))
            except BaseException as error:
                self.cut_short = run.reason_of(error)
                self._store(run, parameters, self.cut_short[0], is_end=True)
                raise
            ended = status in (Status.EVENT, Status.DIVERGED)
            taken = (
                next(item for item, hit in zip(self.stage.exits, run.data.fired, strict=False) if hit)
                if ended
                else None
            )
            is_end = taken is None or not taken.to or not run.data.event_t < self.span[1]
            self._store(run, parameters, status, is_end=is_end)
            if taken is None:
                return status, message
            t, x = run.data.event_t, self.eom.state(run.data.event_s[: self.eom.n_x])
            if self.eom.constraint_rows:
                x = project_state(self.eom, t, x, parameters)
            self.last = run
            self._leave(taken, t, x, parameters)
            if self.is_over:
                return describe_stop([taken.guard], t)
            if not t < self.span[1]:
                return Status.OK, f"reached t = {t:g} s"

    def parameters_of(self, stage: Stage) -> np.ndarray:
        """Return the run-time parameters of a stage."""
        try:
            return stage_numbers(self.eom, stage, self.parameters)
        except ModelError as error:
            raise ModelError(f"stage '{stage.name}': {error}") from error

    def _build(self, parameters: np.ndarray) -> Run:
        """Build a run of the current stage from the current time and state, which continues the law and its inputs."""
        stage, times = self.stage, np.maximum(self.grid[self.n_recorded :], self.t)
        run = build_run(
            self.eom, stage.law, t_span=(self.t, self.span[1]), x0=self.x, grid=times if times.size else [self.span[1]],
            u=stage.u or None, guards=stage.guards, p=parameters, entry=self._entries(), **self.options,
        )  # fmt: skip
        data, inputs = run.data, self.eom.labels.u
        for name in stage.idle:
            k = inputs.index(name)
            if stage.u.get(name, 0.0) != 0.0:
                raise ModelError(f"stage '{stage.name}': input '{name}' is idle, but u gives it {stage.u[name]:g}")
            data.u_low[k] = data.u_high[k] = data.u[k] = 0.0
        if (
            self.last is None
            or self.last.eom is not self.eom
            or stage.law is None
            or stage.law is not self._law_before()
        ):
            self.law_begin = self.t
            return run
        before = self.last.data
        if data.period == 0.0:
            data.s[data.n_x :] = before.event_s[data.n_x :]
            data.z[:] = data.s[data.n_x :]
            return run
        data.z[:], data.u_commanded[:] = before.z, before.u_commanded
        data.u[:] = np.clip(data.u_commanded, data.u_low, data.u_high)
        data.t_start = self.law_begin
        data.k_sample = int(np.ceil((self.t - self.law_begin) / data.period - 1e-9))
        run.loop = make_loop(data, self.driver)
        return run

    def _entries(self) -> Any:
        """Return the time at which the stage of each guard was entered."""
        return self.table.entries(self.stage, self.entered) if isinstance(self.table, StageProduct) else self.t

    def _law_before(self) -> Any:
        return self.table[self.transitions[-1].source].law if self.transitions else None

    def _part(self, progress: Progress | None) -> Progress | None:
        """Return a function that reports the progress of the whole run from that of the stage."""
        if progress is None:
            return None
        t, (begin, end) = self.t, self.span
        return lambda done, what: progress((t + done * (end - t) - begin) / (end - begin), what)

    def _store(self, run: Run, parameters: np.ndarray, status: Status, *, is_end: bool) -> None:
        """Store the records of a stage."""
        run.warn_of_chatter()
        stopped = None
        if status is not Status.OK and is_end:
            is_event = status in (Status.EVENT, Status.DIVERGED)
            stopped = (run.data.event_t, run.data.event_s) if is_event else (run.data.t, run.data.s)
        wanted = len(self.grid) - self.n_recorded
        piece = Piece.of(run, self.stage.name, parameters, min(run.data.i_grid, wanted), stopped)
        self.n_recorded += min(run.data.i_grid, wanted)
        self.pieces.append(piece)
        self.events += run.events
        for guard, size in zip(self.stage.guards, run.data.g_scale, strict=False):
            self.guard_scales[guard.name] = max(self.guard_scales.get(guard.name, 0.0), float(size))

    def _ended(self, run: Run, parameters: np.ndarray, guard: Guard) -> tuple[Status, str]:
        """End a run whose last stage is left immediately."""
        data = run.data
        data.event_t, data.event_s[: self.eom.n_x] = self.t, self.x
        self._store(run, parameters, Status.EVENT, is_end=True)
        return describe_stop([guard], self.t)

    def _leave(self, taken: Exit, t: float, x: np.ndarray, parameters: np.ndarray) -> None:
        """Take an exit at time t in state x: compute the jump, record the transition, and enter the next stage."""
        source, to = self.stage, taken.to
        impact = taken.impact
        restitution, contacts = (0.0, ()) if impact is None else (impact.restitution, impact.contacts)
        if impact is not None and is_rest(self.eom, t, x, impact, parameters):
            to, restitution = impact.rest, 0.0
        target = self.table[to] if to else source
        jump = self._jump(source, target, contacts, restitution, t, x) if to else None
        after = x if jump is None else np.asarray(jump.x)
        self.transitions.append(
            Transition(
                time=t,
                guard=taken.guard.name,
                source=source.name,
                target=to,
                x_before=x,
                x_after=after,
                impulses={} if jump is None else jump.impulses,
                is_unique={} if jump is None else jump.is_unique,
                energy_loss=0.0 if jump is None else jump.energy_loss,
                momentum_change=np.zeros(6) if jump is None else jump.momentum_change,
            )
        )
        check_transitions(self.transitions, self.span, self.max_transitions)
        if isinstance(self.table, StageProduct) and to:
            self.entered = self.table.entered(self.entered, source.name, to, t)
        self.t, self.x, self.stage, self.is_over = t, np.array(after), target, not to

    def _jump(
        self, source: Stage, target: Stage, contacts: tuple[str, ...], restitution: float, t: float, x: np.ndarray
    ) -> Impulse | None:
        """Return the impulse between two stages; None if no constraint is added and no contact is hit."""
        caught = [name for name in target.active if name not in source.active]
        if not caught and not contacts:
            return None
        parameters = self.parameters_of(target)
        x = (
            close_gaps(self.eom, t, x, caught, parameters, self.gap_tolerance, (source.name, target.name))
            if caught
            else x
        )
        hit = tuple(name for name in contacts if name not in target.active)
        try:
            return find_impulse(
                self.eom, x, active=target.active, contacts=hit, restitution=restitution, t=t, p=parameters
            )
        except SolverError as error:
            raise SolverError(f"from stage '{source.name}' to '{target.name}': {error}") from error
