"""`replay`: simulate a plan's inputs open loop, by an independent integration."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from spacectl.core.control_law import make_law
from spacectl.core.errors import ModelError, warn
from spacectl.core.trajectory import Trajectory
from spacectl.dynamics.waist.equations import EquationsOfMotion, require_equations
from spacectl.planners.plan import Plan
from spacectl.simulation.results.simulation import Simulation
from spacectl.simulation.run.simulate import simulate

__all__ = ["refly", "replay"]


def replay(
    eom: EquationsOfMotion,
    plan: Plan,
    *,
    rest: float = 0.0,
    grid: Any = None,
    p: Any = None,
    rtol: float = 1e-11,
    atol: float = 1e-12,
    method: str = "dop853",
) -> Simulation:
    """Simulate a plan's inputs, without feedback, from its first state.

    The integration stops at every knot of the inputs, so it is accurate to its tolerance. Differences from
    the plan are errors of the plan or, with other parameters or equations, effects of the model difference.

    Parameters
    ----------
    eom : EquationsOfMotion
        The plant. States that the plan does not name start at rest, and inputs that it does not name are
        zero.
    plan : Plan
        A plan from any planner.
    rest : float
        Time after the end of the plan with zero inputs [s], to observe residual vibration.
    grid : int or array, optional
        Times to record; default 401 times and all switching times.
    p : array or mapping, optional
        Run-time parameters, for example to assess robustness.
    rtol, atol, method : float, float, str
        As in `simulate`.

    Returns
    -------
    Simulation
    """
    require_equations(eom, "replay")
    names = tuple(name for name in plan.u.labels.names if name in eom.inputs)
    if not names:
        raise ModelError(f"plan '{plan.name}' names inputs {plan.u.labels.names}; the equations have {eom.inputs}")
    _warn_of_limits(eom, plan, names, p)
    t = np.asarray(plan.u.t)
    begin, end = float(t[0]), plan.final_time
    law = make_law(
        lambda s: [s.r[plan.u.labels.index(name)] * _is_active(s.t, end, rest) for name in names],
        name=f"replay of {plan.name}",
        states=eom.labels.x,
        inputs=_labels(eom, names),
        reference=plan.u,
    )
    first = dict(zip(plan.x.labels.names, np.asarray(plan.x.values)[0], strict=True))
    x0 = eom.state(**{name: float(value) for name, value in first.items() if name in eom.states})
    stops = [*t[1:-1], end] if rest > 0.0 else t[1:-1]
    times = (
        np.unique(np.concatenate([np.linspace(begin, end + rest, 401), plan.switch_times])) if grid is None else grid
    )
    span = (begin, end + rest)
    return simulate(eom, law, x0=x0, t_span=span, grid=times, stops=stops, p=p, rtol=rtol, atol=atol, method=method)


def refly(eom: EquationsOfMotion, plan: Plan, *, grid: int = 2001, p: Any = None) -> Plan:
    """Simulate a plan with other equations, to obtain a guess from the plan of a simpler model.

    A plan for a rigid arm excites the vibration of the flexible arm and slightly misses its target.
    ``plan_collocation(problem, guess=refly(eom, plan))`` only has to correct these errors.

    Parameters
    ----------
    eom : EquationsOfMotion
        The equations of the new problem.
    plan : Plan
        A plan from any planner, for equations with the same inputs.
    grid : int
        Number of times.
    p : array or mapping, optional
        Run-time parameters.

    Returns
    -------
    Plan
        The simulated states and the inputs of `plan`.
    """
    sim = replay(eom, plan, grid=grid, p=p, rtol=1e-8, atol=1e-9)
    rates = eom.along("x_dot", sim.t, sim.x, sim.u, p=None if p is None else eom.check_parameters(p))
    x = Trajectory(t=sim.t, values=sim.x, rates=rates, labels=eom.labels.x)
    return replace(plan, name=f"{plan.name}, flown again", x=x, notes={**plan.notes, "flown_by": eom.system.name})


def _warn_of_limits(eom: EquationsOfMotion, plan: Plan, names: tuple[str, ...], p: Any) -> None:
    """Warn of inputs of the plan that exceed the limits of the actuators."""
    low, high = eom.limits(None if p is None else eom.check_parameters(p))
    for name in names:
        k, values = eom.inputs.index(name), np.asarray(plan.u.values)[:, plan.u.labels.index(name)]
        least, most = float(np.min(values)), float(np.max(values))
        if most - high[k] > 1e-3 * abs(high[k]) or low[k] - least > 1e-3 * abs(low[k]):
            warn(
                f"replay: plan '{plan.name}' asks '{name}' for {least:.4g} to {most:.4g} {eom.labels.u.unit(name)}, its limits "
                f"are {low[k]:.4g} and {high[k]:.4g}, and it is simulated clipped; plan with these limits, or change them"
            )


def _is_active(t: Any, end: float, rest: float) -> Any:
    """Return 1 until the end of the plan, 0 after it."""
    return (t < end) if rest > 0.0 else 1.0


def _labels(eom: EquationsOfMotion, names: tuple[str, ...]) -> Any:
    labels = eom.labels.u
    return type(labels)(names, tuple(labels.unit(name) for name in names), labels.kind)
