"""Forward dynamics: seven joints (native batch, single calls), long chains (nothing to compile), time per body."""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl.dynamics.form import form_equations
from spacectl.dynamics.waist.compiled import CompiledEquations
from spacectl.model.library import chain
from spacectl.model.system import System
from tests.benchmarks.measure import Candidate, Effort, Timing, interleave
from tests.benchmarks.report import Figure, Section
from tests.benchmarks.systems import (
    fixed_arm,
    generic_chain,
    mujoco,
    mujoco_model,
    pin,
    pinocchio_model,
    random_states,
)

__all__ = ["measure_chains", "measure_long_chain", "measure_seven_joints"]

AGREEMENT = 1e-9  # relative: rounding times the condition number of M, about 1e6 for 200 bodies
STATES_IN_CHAIN = 20_000  # bodies times states of one batch, so that every length works on equally much memory
LOOP = "for q, v, u in states: aba(model, data, q, v, u)"
MUJOCO_CALL = "qpos[:] = q; qvel[:] = v; applied[:] = u; forward(model, data)"


def measure_seven_joints(effort: Effort) -> Section:
    """Native batch against a tight loop; a Python call against a Python call."""
    section = Section(
        "Forward dynamics, 7 joints",
        f"v_dot (ours: x_dot) of random states; one native batch of {effort.states} on one thread, and single Python "
        "calls. The generic chain has no zeros among its numbers; the arm carries a fixed payload.",
    )
    for system in (generic_chain(7), fixed_arm()):
        compiled = form_equations(system).compiled()
        times = _measure(system, compiled, effort.states, effort, section)
        batch, loop, call = times["compiled().batch"], times["aba, Python loop"], times["aba"]
        work = f"{system.name}, {compiled.kind}"
        section.add(f"{work}: per state of a batch", batch, loop, goal=3.0)
        section.add(f"{work}: per state of a batch", batch, times["abaInParallel, 1 thread"])
        for name in ("compiled().run", "write x and u, run", "compiled().x_dot", "compiled().v_dot"):
            section.add(f"{work}: one Python call", times[name], call, goal=2.0)
        section.add(f"{work}: one Python call", times["compiled().x_dot"], times["MuJoCo mj_forward"])
    return section.finish()


def measure_long_chain(effort: Effort) -> Section:
    """Data-driven sweep of a long chain against Pinocchio."""
    system = chain(effort.bodies)
    section = Section(
        f"Forward dynamics, {effort.bodies} bodies",
        "v_dot (ours: x_dot) of random states of `library.chain`; ours is data-driven, nothing is compiled for the model.",
    )
    compiled = form_equations(system).compiled(kind="data-driven")
    times = _measure(system, compiled, 50, effort, section)
    for name in ("compiled().run", "compiled().x_dot", "compiled().v_dot"):
        section.add("one Python call", times[name], times["aba"], goal=2.0)
    section.add("per state of a batch of 50", times["compiled().batch"], times["aba, Python loop"], goal=2.0)
    section.add("per state of a batch of 50", times["compiled().batch"], times["abaInParallel, 1 thread"])
    section.add("one Python call", times["compiled().x_dot"], times["MuJoCo mj_forward"])
    return section.finish()


def measure_chains(effort: Effort) -> Section:
    """Native time per body of chains of different length."""
    section = Section(
        "Order N: native time per body",
        "Data-driven sweep over `library.chain` in one native batch of random states, "
        f"{STATES_IN_CHAIN} bodies times states at every length.",
    )
    candidates: dict[str, Candidate] = {}
    units: dict[str, int] = {}
    for n in effort.chains:
        count = max(STATES_IN_CHAIN // n, 1)
        q, v, u = random_states(n, count)
        compiled = form_equations(chain(n)).compiled(kind="data-driven")
        name = f"{n} bodies"
        candidates[name] = ("batch(x, u)", {"batch": compiled.batch, "x": np.hstack([q, v]), "u": u})
        units[name] = n * count
    times = {name: timing.per(units[name]) for name, timing in interleave(candidates, effort).items()}
    for name, timing in times.items():
        section.figures.append(Figure(what=name, value=1e9 * timing.median, unit="ns/body", is_timed=True))
    medians = [timing.median for timing in times.values()]
    spread = max(medians) / min(medians) - 1.0
    what = "longest over shortest time per body, minus 1"
    section.figures.append(Figure(what=what, value=spread, goal=0.3, is_timed=True))
    return section.finish()


def _measure(
    system: System, compiled: CompiledEquations, count: int, effort: Effort, section: Section
) -> dict[str, Timing]:
    """All candidates on the same states, interleaved; what works on many states is given per state."""
    n = compiled.n_u
    q, v, u = random_states(n, count)
    x = np.hstack([q, v])
    ours = {"batch": compiled.batch, "x": x, "u": u}
    single = {"c": compiled, "x": x[0].copy(), "q": q[0].copy(), "v": v[0].copy(), "u": u[0].copy()}
    model = pinocchio_model(system)
    peer = {"aba": pin.aba, "model": model, "data": model.createData(), **{name: single[name] for name in "qvu"}}
    states = [(a.copy(), b.copy(), c.copy()) for a, b, c in zip(q, v, u, strict=True)]
    pool, out = pin.ModelPool(model, 1), np.zeros((n, count), order="F")
    columns = [np.asfortranarray(item.T) for item in (q, v, u)]
    other = _mujoco_names(system, single)
    candidates: dict[str, Candidate] = {
        "compiled().batch": ("batch(x, u)", ours),
        "compiled().run": ("run()", {"run": compiled.run}),
        "write x and u, run": (
            "at[:] = x; into[:] = u; run()",
            {"at": compiled.x, "into": compiled.u, "run": compiled.run, "x": single["x"], "u": single["u"]},
        ),
        "compiled().x_dot": ("c.x_dot(0.0, x, u)", single),
        "compiled().v_dot": ("c.v_dot(0.0, q, v, u)", single),
        "aba, Python loop": (LOOP, {**peer, "states": states}),
        "aba": ("aba(model, data, q, v, u)", peer),
        "abaInParallel, 1 thread": lambda: pin.abaInParallel(1, pool, *columns, out),
        "MuJoCo mj_forward": (MUJOCO_CALL, other),
    }
    truth = np.array([pin.aba(model, peer["data"], *state) for state in states])
    _check(section, system, "Pinocchio", compiled.batch(x, u)[:, n:], truth)
    exec(MUJOCO_CALL, dict(other))
    _check(section, system, "MuJoCo", compiled.v_dot(0.0, q[0], v[0], u[0]), np.array(other["data"].qacc))
    times = interleave(candidates, effort)
    many = ("compiled().batch", "aba, Python loop", "abaInParallel, 1 thread")
    return {name: timing.per(count) if name in many else timing for name, timing in times.items()}


def _mujoco_names(system: System, single: dict[str, Any]) -> dict[str, Any]:
    model = mujoco_model(system)
    data = mujoco.MjData(model)
    return {
        "forward": mujoco.mj_forward, "model": model, "data": data, "qpos": data.qpos, "qvel": data.qvel,
        "applied": data.qfrc_applied, **{name: single[name] for name in "qvu"},
    }  # fmt: skip


def _check(section: Section, system: System, peer: str, ours: np.ndarray, truth: np.ndarray) -> None:
    difference = float(np.max(np.abs(ours - truth)) / np.max(np.abs(truth)))
    what = f"{system.name}: largest difference of v_dot to {peer}, relative"
    section.figures.append(Figure(what=what, value=difference, goal=AGREEMENT))
