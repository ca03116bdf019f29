"""Simulate a run through stages, with the native loop of `simulate` between events and transitions at events.

A release does not change the state. A capture applies the impulse of `impulses`. A stage that is entered past one of its guards
is left immediately.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from spacectl.codegen.binding import Tier
from spacectl.core.array import as_scalar
from spacectl.core.errors import ModelError, SolverError, unknown_name
from spacectl.core.outcome import Outcome, Status
from spacectl.core.studies.study import Progress
from spacectl.dynamics.waist.equations import EquationsOfMotion, require_equations
from spacectl.simulation.driver.native_loop import choose_tier
from spacectl.simulation.results.doubts import judge_saturation, judge_theory, warn_if_pushing
from spacectl.simulation.run import arguments as check_arguments
from spacectl.simulation.run.run import Driver
from spacectl.simulation.stages.records import gather
from spacectl.simulation.stages.result import StagedSimulation
from spacectl.simulation.stages.staged_run import StagedRun
from spacectl.simulation.stages.stages import stage_table

__all__ = ["simulate_stages"]


def simulate_stages(
    eom: EquationsOfMotion,
    stages: Any,
    *,
    t_span: Any,
    x0: Any = None,
    start: str | None = None,
    grid: Any = None,
    rtol: float = 1e-9,
    atol: Any = 1e-9,
    method: str = "dop853",
    max_step: float = np.inf,
    max_steps: int = 10_000_000,
    max_transitions: int = 10_000,
    stops: Any = (),
    p: Any = None,
    gap_tolerance: float = 1e-6,
    driver: Driver = "auto",
    tier: Tier = "auto",
    check: bool = True,
    progress: Progress | None = None,
) -> StagedSimulation:
    """Simulate a system whose structure changes: separation, release, capture, docking, impacts.

    Each stage has its active constraints, law, loads and parameters; guards lead from one stage to the next. The coordinates
    are the same in all stages. At a release the state does not change. At a capture the speeds jump by the impulse
    ``M dv = J_n' Lambda``, which satisfies the new constraints and conserves momentum.

    Parameters
    ----------
    eom : EquationsOfMotion
        Equations formed with ``switchable=True``, from a system with the constraints of all stages.
    stages : sequence of Stage, or StageProduct
        The stages.
    t_span : (float, float)
        Start and end time [s].
    x0 : array (n_x,), mapping of names, or None
        Initial state; it must satisfy the constraints of the first stage and lie on the valid side of its guards.
    start : str, optional
        Name of the first stage; default: the first one listed.
    grid, rtol, atol, method, max_step, max_steps, stops, driver, tier, check, progress
        As in `simulate`. The grid does not affect steps or event times.
    max_transitions : int
        Number of transitions after which the run is aborted.
    p : array (n_p,) or mapping, optional
        Run-time parameters; a stage may change some of them.
    gap_tolerance : float
        Largest residual [m, rad] at which a constraint can be captured, relative to the largest coordinate (at least 1).

    Returns
    -------
    StagedSimulation
        One history with the stage at each time, transitions, impulses, energy losses and reactions.

    Raises
    ------
    ModelError
        If a guard is past zero at the start, or an argument is invalid.
    SolverError
        If a captured constraint is open or contradicts others, if transitions accumulate (Zeno), or if the integration fails;
        with ``check=False`` a failed integration returns the simulation up to there.
    Exception
        Any exception of a law, or an interrupt; its ``partial`` has all stages up to there.

    Examples
    --------
    ``simulate_stages(eom, [held, free], x0=x0, t_span=(0.0, 5.0)).transitions[0].time``
    """
    begin = time.perf_counter()
    require_equations(eom, "simulate_stages")
    table = stage_table(stages)
    first = next(iter(table)) if start is None else start
    if first not in table:
        raise ModelError(f"simulate_stages: start names an {unknown_name('stage', first, list(table)[:50])}")
    span = check_arguments.check_span(t_span)
    run = StagedRun(
        eom=eom,
        table=table,
        stage=table[first],
        t=span[0],
        x=check_arguments.check_state(eom, x0),
        span=span,
        grid=check_arguments.check_grid(grid, span, columns=eom.n_x + 2 * eom.n_u),
        parameters=check_arguments.check_parameters(eom, p),
        gap_tolerance=as_scalar(gap_tolerance, "gap_tolerance"),
        max_transitions=max_transitions,
        driver=driver,
        options={
            "rtol": rtol, "atol": atol, "method": method, "max_step": max_step, "max_steps": max_steps, "stops": stops,
            "driver": driver, "tier": choose_tier(eom, tier, driver), "begin": begin,
        },
    )  # fmt: skip
    try:
        result = _gather(run, *run.advance(progress), begin)
    except BaseException as error:  # an interrupt, or raised by a law or another Python function
        if run.cut_short is None:
            raise
        result = _gather(run, *run.cut_short, begin)
        error.partial = result  # type: ignore[attr-defined]
        if check or not isinstance(error, Exception) or isinstance(error, ModelError):
            raise
    if check and not result.outcome.is_success:
        raise SolverError(result.outcome.message, partial=result)
    return result


def _gather(run: StagedRun, status: Status, message: str, begin: float) -> StagedSimulation:
    """Return the simulation from the records of all stages."""
    counts = {key: sum(piece.counts[key] for piece in run.pieces) for key in run.pieces[0].counts}
    stats = {**counts, "n_transitions": len(run.transitions), "seconds": time.perf_counter() - begin}
    stats |= judge_theory(run.eom, [(piece.histories["x"], piece.p) for piece in run.pieces])
    stats |= judge_saturation(run.eom, [(item.t, item.histories["u_commanded"], item.p) for item in run.pieces])
    if Outcome(status=status).is_success:
        motions = [(item.t, item.histories["x"], item.histories["u"], item.p) for item in run.pieces]
        stats |= warn_if_pushing(run.eom, motions)
    outcome = Outcome(status=status, message=message, stats=stats)
    return gather(run.eom, run.pieces, run.events, run.transitions, run.parameters, outcome)
