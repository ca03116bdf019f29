"""`simulate`: equations of motion, a law and a starting state become a `Simulation`.

`arguments` checks the arguments, `laws` binds the law, the driver (loop.c or its reference implementation) makes the steps.
This module puts them together, and `run` follows the driver to the end.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from spacectl.codegen.binding import Tier, bind_casadi
from spacectl.core.array import Array
from spacectl.core.control_law import ControlLaw
from spacectl.core.errors import ModelError, SolverError
from spacectl.core.provenance import versions
from spacectl.core.studies.study import Progress
from spacectl.dynamics.constraints.projection import rank_jumps
from spacectl.dynamics.tree.irregular import find_kinks
from spacectl.dynamics.waist.equations import EquationsOfMotion, require_equations
from spacectl.simulation.driver.loop_data import LoopData
from spacectl.simulation.driver.methods.tableau import find_tableau
from spacectl.simulation.driver.native_loop import bind_plant, bind_projection, choose_tier
from spacectl.simulation.events import Guard
from spacectl.simulation.results.simulation import Simulation
from spacectl.simulation.run import arguments as check_arguments
from spacectl.simulation.run.guard_functions import bind_guards
from spacectl.simulation.run.jacobian import bind_derivatives
from spacectl.simulation.run.laws import bind_law
from spacectl.simulation.run.run import Driver, Run, make_loop

__all__ = ["build_run", "simulate"]


def simulate(
    eom: EquationsOfMotion,
    law: Any = None,
    *,
    t_span: Any,
    x0: Any = None,
    grid: Any = None,
    u: Any = None,
    guards: Sequence[Guard] = (),
    rtol: float = 1e-9,
    atol: Any = 1e-9,
    method: str = "dop853",
    max_step: float = np.inf,
    max_steps: int = 10_000_000,
    stops: Any = (),
    p: Any = None,
    driver: Driver = "auto",
    tier: Tier = "auto",
    project: bool = True,
    check: bool = True,
    progress: Progress | None = None,
) -> Simulation:
    """Simulate the closed loop of equations and a law.

    ``x_dot = f(t, x, u, p)``, ``u = clip(law(t, x, y, z, r), limits)``, by adaptive steps. A
    continuous law's memory is integrated with the state; a sampled law is called at ``t_span[0] + k period``, its u
    held and its memory replaced. Quaternions keep unit length. Limits belong to the plant: both u_commanded and u are
    recorded. At a sample or jump, records hold the values just after it.

    Parameters
    ----------
    eom : EquationsOfMotion
        The plant.
    law : ControlLaw, CallableLaw, function u = f(t, x), or None
        The controller; a Python function is slower.
    t_span : (float, float)
        Begin and end [s].
    x0 : array (n_x,), mapping of names, or None
        Starting state; what a mapping leaves out is at rest.
    grid : int or array, optional
        Number of equally spaced times to record, or the times themselves; default 201.
    u : array (n_u,) or mapping, optional
        Constant inputs that no law commands; default zero.
    guards : sequence of Guard
        Expressions whose zero crossings are located. Steps are looked at in panels, which are halved until a bound on
        the guard between its values excludes hidden pairs of crossings.
    rtol, atol : float, float or array (n_x,)
        Relative and absolute tolerance of the local error.
    method : {"dop853", "rk45", "adams", "radau"}
        Explicit of order 8 or 5, multistep of order 1 to 13 for smooth loops, or implicit of order 5 for stiff ones.
    max_step, max_steps : float, int
        Longest step [s]; number of steps after which the run is given up.
    stops : sequence of float
        Times where the right-hand side may jump: a step ends there and the next one starts with the value just after.
        Knots of a reference that jumps or kinks are added by themselves.
    p : array (n_p,) or mapping, optional
        Run-time parameters, default the system's own.
    driver : {"auto", "native", "python"}
        The compiled driver, its reference implementation in Python, or the first that can be had.
    tier : {"auto", "vm", "native", "data-driven", "callback"}
        How functions are evaluated: at once by CasADi's virtual machine, as native code for this structure (compiled
        once, then cached), as the native sweep that serves every tree, or through Python for comparison. ``"auto"``
        is native wherever a compiler is found, else the virtual machine: the same on every run of a machine. Embedded
        equations and large trees have no such function: ``"vm"`` runs their native sweep too. The attribute ``plant`` of
        the result says which ran.
    project : bool
        Whether the state of a constrained system is projected on the constraints after each step and at each record;
        without it residuals grow with the errors of integration (unless the equations were formed with `Baumgarte`).
    check : bool
        Whether a numerical failure, or a guard with ``is_failure``, raises; otherwise the part before it is returned with
        its status.
    progress : callable, optional
        ``progress(fraction, message)``; by default a bar on a terminal if the run is long.

    Returns
    -------
    Simulation
        Histories, events, outcome. A run that a guard ended has the event as its last time.

    Raises
    ------
    ModelError
        If an argument cannot be right.
    SolverError
        If the integration fails or a guard marks a failure (and `check`); its ``partial`` holds the run up to there.
    Exception
        Whatever a law or another Python function raises during the run, unchanged, with the run up to there as its
        ``partial``; with ``check=False`` that is returned instead, as a failed run with the reason.

    Examples
    --------
    ``simulate(eom, law, x0={"elbow": 0.3}, t_span=(0.0, 20.0), grid=401)``
    """
    begin = time.perf_counter()
    require_equations(eom, "simulate")
    check_arguments.check_flags(check=check)
    run = build_run(
        eom, law, t_span=t_span, x0=x0, grid=grid, u=u, guards=guards, rtol=rtol, atol=atol, method=method,
        max_step=max_step, max_steps=max_steps, stops=stops, p=p, driver=driver, tier=choose_tier(eom, tier, driver),
        project=project, begin=begin,
    )  # fmt: skip
    check_arguments.warn_if_singular(eom, run.data.t, run.data.s[: eom.n_x], run.p)
    kept = law if isinstance(law, ControlLaw) else None  # a plain function may not travel to another process
    try:
        ended = run.finish(*run.advance(progress))
    except Exception as error:  # of a law or another function in Python
        partial = getattr(error, "partial", None)
        if check or isinstance(error, ModelError) or not isinstance(partial, Simulation):
            raise
        ended = partial
    simulation = replace(ended, equations=eom, law=kept)
    if check and not simulation.outcome.is_success:
        raise SolverError(simulation.outcome.message, partial=simulation)
    return simulation


def build_run(
    eom: EquationsOfMotion,
    law: Any,
    *,
    t_span: Any,
    x0: Any,
    grid: Any,
    u: Any,
    guards: Sequence[Guard],
    rtol: float,
    atol: Any,
    method: str,
    max_step: float,
    max_steps: int,
    stops: Any,
    p: Any,
    driver: Driver,
    tier: Tier,
    project: bool = True,
    begin: float,
    entry: Any = None,
) -> Run:
    """Check all arguments of `simulate` and put a run together that has not begun yet."""
    if driver not in ("auto", "native", "python"):
        raise ModelError(f"driver is {driver!r}, expected 'auto', 'native' or 'python'")
    span = check_arguments.check_span(t_span)
    watched = check_arguments.check_guards(guards)
    check_arguments.check_flags(project=project)
    tableau = find_tableau(method)
    parameters = check_arguments.check_parameters(eom, p)
    bound = bind_law(eom, law, parameters, tier)
    n_memory = len(bound.memory) if bound.period == 0.0 else 0
    atols, relative = check_arguments.check_atol(atol, rtol, eom.n_x, n_memory)
    start = check_arguments.check_state(eom, x0)
    atols[: eom.n_x] = np.maximum(atols[: eom.n_x], check_arguments.rounding_floor(eom, start))
    longest, count = check_arguments.check_steps(max_step, max_steps)
    if bound.period > 0.0 and bound.period < 1e3 * np.finfo(float).eps * max(abs(span[0]), abs(span[1])):
        raise ModelError(f"law '{bound.name}': period {bound.period:g} s is below the rounding of t = {span[1]:g} s")
    check_arguments.check_constraints(eom, span[0], start, parameters)
    plant = bind_plant(eom, tier, parameters)
    check_arguments.check_rates(eom, plant, span[0], start, parameters)
    jumps = project and rank_jumps(eom, span[0], start, parameters)
    guard_function, guards_use_u = None, False
    if watched:
        entered = span[0] if entry is None else entry
        guard_function, guards_use_u = bind_guards(eom, watched, bound.memory, parameters, tier, entered)
    kinks = find_kinks(eom)
    # where the rank jumps off the constraints, exact derivatives there are meaningless; differences of projected states are not
    exact = method == "radau" and not jumps
    plant_derivatives, law_derivatives = bind_derivatives(eom, law, parameters, tier) if exact else (None, None)
    data = LoopData(
        plant=plant,
        law=bound.law,
        sensors=bound.sensors,
        guards=guard_function,
        kinks=None if kinks is None else bind_casadi(kinks[0], tier, p=parameters),
        law_kinks=bound.kinks,
        plant_derivatives=plant_derivatives,
        law_derivatives=law_derivatives,
        project=bind_projection(eom, tier, parameters, careful=jumps, around=(span[0], start)) if project else None,
        project_stages=jumps,
        takes_long_steps=project and not jumps and bool(eom.position_rows),
        tableau=tableau,
        t_span=span,
        x0=start,
        z0=bound.z0,
        u0=check_arguments.check_inputs(eom, u, bound.u_map),
        grid=check_arguments.check_grid(grid, span, columns=eom.n_x + len(bound.memory) + 2 * eom.n_u),
        limits=eom.limits(parameters),
        u_map=bound.u_map,
        y_map=bound.y_map,
        period=bound.period,
        reference=bound.reference,
        reference_rates=bound.reference_rates,
        stops=check_arguments.check_stops(np.concatenate([np.ravel(stops), bound.stops]), span),
        quaternions=eom.quaternions,
        directions=[guard.direction for guard in watched],
        guards_use_u=guards_use_u,
        rtol=relative,
        atol=atols,
        max_step=longest,
        max_steps=count,
    )
    attributes = {
        "system": eom.system.name,
        "content_hash": eom.system.content_hash(),
        "structure_hash": eom.structure_hash,
        "formulation": eom.formulation,
        "parameters_hash": Array(parameters).sha256(),
        "law": bound.name or "none",
        "law_hash": bound.identity,
        "law_period": bound.period,
        "method": method,
        "rtol": relative,
        "atol": np.asarray(atol, dtype=float).tolist(),
        "max_step": longest,
        "project": int(bool(project)),
        "project_stages": int(jumps),
        "t_span": list(span),
        "tier": tier,
        "plant": plant.described,
        "versions": json.dumps(versions()),
    }
    names = [f"element '{name}'" for name in (kinks[1] if kinks is not None else ())]
    names += [f"law '{bound.name}'"] * data.n_law_kinks + [
        f"the limit of input '{eom.inputs[i]}'" for i in data.limit_inputs
    ]
    return Run(eom, bound, watched, data, make_loop(data, driver), attributes, parameters, begin, tuple(names))
