"""Chains of local loops: embedded in the order-N recursion, against Pinocchio's constrained dynamics; cost by number of loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl import form_equations, make_consistent
from spacectl.model.library import four_bar_chain, geared_chain
from spacectl.model.system import System
from tests.benchmarks.measure import Candidate, Effort, interleave
from tests.benchmarks.report import Figure, Section
from tests.benchmarks.systems import pin
from tests.peers.pinocchio_loops import LoopPeer

__all__ = ["measure_embedded"]

AGREEMENT = 1e-9  # relative, as asked for; rounding times the condition number of a chain of 20


def measure_embedded(effort: Effort) -> Section:
    """Gears and four-bars against Pinocchio, and the exponent of the cost over the number of loops."""
    section = Section(
        f"Local loops: chains of {effort.gears}",
        "v_dot (ours: x_dot) of a random state that closes the loops. Pinocchio: gears as rows of a Jacobian "
        "(`forwardDynamics`), pins as contacts of a point (`constraintDynamics`, and `lcaba`, its own recursion for loops); the "
        "tree alone (`aba`) for comparison. Its bodies are in depth-first order, joints about fixed axes, arrays made before.",
    )
    _compare(section, geared_chain(effort.gears), effort)
    _compare(section, four_bar_chain(effort.gears), effort)
    for make in (geared_chain, four_bar_chain):
        _follow(section, make, effort)
    return section.finish()


def _state(system: System) -> tuple[Any, np.ndarray, np.ndarray]:
    """Equations, a random state that closes the loops, and inputs."""
    eom, rng = form_equations(system, formulation="embedded"), np.random.default_rng(0)
    x = np.asarray(make_consistent(eom, eom.state() + 0.05 * rng.standard_normal(eom.n_x)).x)
    return eom, x, rng.standard_normal(eom.n_u)


def _compare(section: Section, system: System, effort: Effort) -> None:
    eom, x, u = _state(system)
    compiled, peer = eom.compiled(), LoopPeer(system)
    q, v, order = x[: eom.n_q].copy(), x[eom.n_q :].copy(), peer.order(eom)
    compiled.x[:], compiled.u[:] = x, u
    tau = (eom.input_map(0.0, q) @ u)[order]
    given = {"model": peer.model, "data": peer.data, "q": q[order], "v": v[order], "tau": tau}
    candidates: dict[str, Candidate] = {
        "compiled().run": ("run()", {"run": compiled.run}),
        "compiled().v_dot": ("c.v_dot(0.0, q, v, u)", {"c": compiled, "q": q, "v": v, "u": u}),
        "aba of the tree": ("aba(model, data, q, v, tau)", {**given, "aba": pin.aba}),
    }
    peers = _loop_peers(peer, given)
    ours = compiled.v_dot(0.0, q, v, u)[order]
    for name, candidate in peers.items():
        statement, names = candidate
        found = np.array(eval(statement, dict(names)))
        difference = float(np.max(np.abs(found - ours)) / np.max(np.abs(ours)))
        what = f"{system.name}: largest difference of v_dot to {name}, relative"
        section.figures.append(Figure(what=what, value=difference, goal=AGREEMENT))
    times = interleave({**candidates, **peers}, effort)
    for name in peers:
        for own in ("compiled().run", "compiled().v_dot"):
            section.add(f"{system.name}: one Python call", times[own], times[name], goal=1.0)
    section.add(f"{system.name}: one Python call", times["compiled().v_dot"], times["aba of the tree"])


def _loop_peers(peer: LoopPeer, given: dict[str, Any]) -> dict[str, tuple[str, dict[str, Any]]]:
    if peer.gears:
        J, drift = peer.gear_rows()
        names = {**given, "solve": pin.forwardDynamics, "J": J, "drift": drift}
        return {"forwardDynamics": ("solve(model, data, q, v, tau, J, drift, 0.0)", names)}
    found = {}
    for name in ("constraintDynamics", "lcaba"):
        # the third row of each pin holds nothing new: regularised, iterated until the accelerations are right to 1e-9
        settings = pin.ProximalSettings(1e-11, 1e-11, 1e-4, 20)
        if name == "lcaba":
            pin.computeJointMinimalOrdering(peer.model, peer.data, peer.contacts)
        names = {**given, "solve": getattr(pin, name), "c": peer.contacts, "d": peer.contact_data, "s": settings}
        found[name] = ("solve(model, data, q, v, tau, c, d, s)", names)
    return found


def _follow(section: Section, make: Any, effort: Effort) -> None:
    """Native time by number of loops, and its exponent."""
    candidates: dict[str, Candidate] = {}
    keep = []
    for n in effort.loops:
        eom, x, u = _state(make(n))
        compiled = eom.compiled()
        compiled.x[:], compiled.u[:] = x, u
        keep.append(compiled)
        candidates[f"{n} loops"] = ("run()", {"run": compiled.run})
    times = interleave(candidates, effort)
    medians = np.array([timing.median for timing in times.values()])
    title = make.__name__.replace("_", " ")
    for n, seconds in zip(effort.loops, medians, strict=True):
        section.figures.append(
            Figure(what=f"{title}, {n} loops", value=1e6 * seconds / n, unit="us/loop", is_timed=True)
        )
    exponent = float(np.polyfit(np.log(effort.loops), np.log(medians), 1)[0])
    what = f"{title}: exponent of the time over the number of loops"
    section.figures.append(Figure(what=what, value=exponent, goal=1.05, is_timed=True))
