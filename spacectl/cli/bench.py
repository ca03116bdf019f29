"""The command ``bench``: how long the steps from a system file to a simulation take on this machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import numpy as np
import typer

from spacectl.cli.app import Debug, Json, app, say, say_json
from spacectl.core.errors import ModelError
from spacectl.core.provenance import versions
from spacectl.dynamics.form import form_equations
from spacectl.linear.linearize import linearize
from spacectl.model.files import load_system
from spacectl.simulation.run.simulate import simulate

__all__ = ["bench_command"]


@app.command("bench")
def bench_command(
    file: Annotated[Path, typer.Argument(help="A system as .toml or .json.")],
    seconds: Annotated[float, typer.Option("--seconds", help="Length of the simulated free motion [s].")] = 10.0,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Measure forming, native code, one evaluation, linearisation and a simulation of a system (medians)."""
    if not seconds > 0.0:
        raise ModelError(f"--seconds: got {seconds:g} s, expected a positive number")
    system = load_system(file)
    begin = time.perf_counter()
    eom = form_equations(system)
    x, u = eom.state(), np.zeros(eom.n_u)
    eom.x_dot(0.0, x, u)
    times = {"form equations, first value": time.perf_counter() - begin}
    begin = time.perf_counter()
    simulate(eom, x0=x, t_span=(0.0, 1e-3))
    times["native code, first run (cached afterwards)"] = time.perf_counter() - begin
    times["x_dot from Python"] = _typical(lambda: eom.x_dot(0.0, x, u))
    if not eom.constraint_rows:
        times["linearisation"] = _typical(lambda: linearize(eom, x=x, u=u))
    times[f"simulation of {seconds:g} s"] = _typical(lambda: simulate(eom, x0=x, t_span=(0.0, seconds)))
    if as_json:
        say_json({"system": system.name, "n_q": eom.n_q, "n_v": eom.n_v, "seconds": times, "versions": versions()})
        return
    say(f"{system.name}: {len(system.tree)} bodies, {eom.n_v} speeds, formulation {eom.formulation}")
    for name, value in times.items():
        say(f"  {name:<44} {_readable(value)}")


def _typical(work: Callable[[], Any]) -> float:
    """Return the median time of a call, after one to warm up; up to 51 calls or about a second [s]."""
    work()
    times: list[float] = []
    while len(times) < 51 and sum(times) < 1.0:
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return median(times)


def _readable(seconds: float) -> str:
    for factor, unit in ((1.0, "s"), (1e-3, "ms")):
        if seconds >= factor:
            return f"{seconds / factor:.3g} {unit}"
    return f"{1e6 * seconds:.3g} us"
