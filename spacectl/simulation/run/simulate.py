"""Simulate the closed loop of equations of motion and a law.

`arguments` checks the arguments, `laws` binds the law, and the driver (loop.c or its reference implementation) integrates. This
module combines them into a `Run`, which advances the driver to the end.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from spacectl.codegen.binding import Tier, bind_casadi
from spacectl.codegen.kernels import origins
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

    Integrate ``x_dot = f(t, x, u, p)`` with ``u = clip(law(t, x, y, z, r), limits)`` by adaptive steps. The memory of a
    continuous law is integrated with the state. A sampled law is evaluated at ``t_span[0] + k period``; between samples u is
    held, and each sample replaces the memory. Quaternions are normalised. Limits belong to the plant: both u_commanded and u
    are recorded. At a sample or a jump, the records have the values just after it.

    Parameters
    ----------
    eom : EquationsOfMotion
        The plant.
    law : ControlLaw, CallableLaw, function u = f(t, x), or None
        Controller; a Python function is slower than a `ControlLaw`.
    t_span : (float, float)
        Start and end time [s].
    x0 : array (n_x,), mapping of names, or None
        Initial state; a mapping may omit states, which then have their values at rest.
    grid : int or array, optional
        Number of equally spaced times to record, or the times themselves; default: 201.
    u : array (n_u,) or mapping, optional
        Constant inputs that no law commands; default: zero.
    guards : sequence of Guard
        Expressions whose zero crossings are located. They are sampled in panels, which are bisected until a bound on the
        guard between samples excludes hidden pairs of crossings.
    rtol, atol : float, float or array (n_x,)
        Relative and absolute tolerances of the local error.
    method : {"dop853", "rk45", "adams", "radau"}
        Explicit of order 8 or 5, multistep of order 1 to 13 for smooth loops, or implicit of order 5 for stiff ones.
    max_step, max_steps : float, int
        Maximum step length [s]; number of steps after which the run is aborted.
    stops : sequence of float
        Times at which the right-hand side may jump: a step ends there, and the next one starts with the value just after.
        Knots of a reference with jumps or kinks are added automatically.
    p : array (n_p,) or mapping, optional
        Run-time parameters; default: those of the system.
    driver : {"auto", "native", "python"}
        The compiled driver or its reference implementation in Python; ``"auto"`` is the first that is available.
    tier : {"auto", "vm", "native", "data-driven", "callback"}
        How functions are evaluated: by CasADi's virtual machine without compilation, as native code for this structure
        (compiled once, then cached), by the native sweep for any tree, or through Python for comparison. ``"auto"`` is
        native if there is a compiler, else the virtual machine, so that all runs on a machine use the same tier. Embedded
        equations and large trees have no CasADi function; ``"vm"`` uses their native sweep. The attribute ``plant`` of the
        result names what was used.
    project : bool
        Whether the state of a constrained system is projected onto the constraints after each step and at each record.
        Without projection the residuals grow with the integration error, unless the equations use `Baumgarte`.
    check : bool
        Whether a numerical failure, or a guard with ``is_failure``, raises an error. Otherwise the simulation up to there is
        returned with its status.
    progress : callable, optional
        Called as ``progress(fraction, message)``; by default a long run shows a progress bar on a terminal.

    Returns
    -------
    Simulation
        Histories, events and outcome. A run that a guard ended has the event as its last record.

    Raises
    ------
    ModelError
        If an argument is invalid.
    SolverError
        If `check` and the integration fails or a guard marks a failure; its ``partial`` is the simulation up to there.
    Exception
        Any exception that a law or another Python function raises during the run; its ``partial`` is the simulation up to
        there. With ``check=False`` this failed simulation is returned instead.

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
    stored_law = law if isinstance(law, ControlLaw) else None  # a plain function may not be picklable
    try:
        ended = run.finish(*run.advance(progress))
    except Exception as error:  # raised by a law or another Python function
        partial = getattr(error, "partial", None)
        if check or isinstance(error, ModelError) or not isinstance(partial, Simulation):
            raise
        ended = partial
    simulation = replace(ended, equations=eom, law=stored_law)
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
    """Check all arguments of `simulate` and build a run that is ready to start."""
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
    # If the rank changes off the constraint manifold, exact derivatives are invalid there, but not differences of projected
    # states.
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
        "kernels": json.dumps(origins()),
        "versions": json.dumps(versions()),
    }
    names = [f"element '{name}'" for name in (kinks[1] if kinks is not None else ())]
    names += [f"law '{bound.name}'"] * data.n_law_kinks + [
        f"the limit of input '{eom.inputs[i]}'" for i in data.limit_inputs
    ]
    return Run(eom, bound, watched, data, make_loop(data, driver), attributes, parameters, begin, tuple(names))
