"""The calls of the documentation, `eom.x_dot` and its like, on real robots against Pinocchio."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from spacectl.dynamics.form import form_equations
from spacectl.dynamics.waist.equations import EquationsOfMotion
from tests.benchmarks.measure import Candidate, Effort, interleave
from tests.benchmarks.report import Figure, Section
from tests.benchmarks.robots.load import Robot, load_robots, to_system
from tests.benchmarks.systems import pin

__all__ = ["measure_documented_calls"]

AGREEMENT = 1e-9  # relative: rounding times the condition number of M
FOLDER = Path("out/robots")  # where the descriptions are downloaded to
#: Candidate of ours, of the peer, and the ratio to reach
PAIRS = (
    ("eom.x_dot", "aba", 2.0),
    ("eom.v_dot", "aba", 2.0),
    ("compiled().x_dot", "aba", None),
    ("eom.mass_matrix", "crba", 1.0),
    ("eom.linear_terms", "computeABADerivatives", 1.0 / 0.6),
)


def measure_documented_calls(effort: Effort) -> Section:
    """One Python call against one Python call, at a random state of each robot."""
    section = Section(
        "Documented calls, real robots",
        "Robots of the package example-robot-data, as Pinocchio reads them (fixed joints merged); the same bodies and joints "
        "as a system of ours. One Python call each, at a random state, on one thread.",
    )
    try:
        for robot in _sample() if effort.is_tiny else load_robots(FOLDER):
            _measure_robot(robot, effort, section)
    except subprocess.CalledProcessError:
        section.notes.append("The package of robots could not be downloaded.")
    return section.finish()


def _sample() -> list[Robot]:
    """Return the manipulator and the floating humanoid that Pinocchio builds itself."""
    models = {"manipulator": pin.buildSampleModelManipulator(), "humanoid": pin.buildSampleModelHumanoid()}
    return [Robot(name, model, to_system(name, model)) for name, model in models.items()]


def _measure_robot(robot: Robot, effort: Effort, section: Section) -> None:
    eom = form_equations(robot.system)
    rng = np.random.default_rng(0)
    x = eom.state(eom.state() + 0.4 * rng.standard_normal(eom.n_x))
    u = rng.standard_normal(eom.n_u)
    q, v = x[: eom.n_q].copy(), x[eom.n_q :].copy()
    q_p, v_p, R = robot.state_of_pinocchio(x, eom.n_q)
    tau, data = np.concatenate([np.zeros(eom.n_v - eom.n_u), u]), robot.model.createData()
    ours: dict[str, Any] = {"eom": eom, "compiled": eom.compiled(), "x": x, "u": u, "q": q, "v": v}
    peer: dict[str, Any] = {"pin": pin, "model": robot.model, "data": data, "q": q_p, "v": v_p, "tau": tau}
    _check(section, robot.name, eom, ours, peer, R)
    candidates: dict[str, Candidate] = {
        "eom.x_dot": ("eom.x_dot(0.0, x, u)", ours),
        "eom.v_dot": ("eom.v_dot(0.0, q, v, u)", ours),
        "compiled().x_dot": ("compiled.x_dot(0.0, x, u)", ours),
        "eom.mass_matrix": ("eom.mass_matrix(0.0, q)", ours),
        "eom.linear_terms": ("eom.linear_terms(0.0, q, v, u)", ours),
        "aba": ("pin.aba(model, data, q, v, tau)", peer),
        "crba": ("pin.crba(model, data, q)", peer),
        "computeABADerivatives": ("pin.computeABADerivatives(model, data, q, v, tau)", peer),
    }
    times = interleave(candidates, effort)
    for own, other, goal in PAIRS:
        section.add(f"{robot.name}, {eom.n_v} speeds", times[own], times[other], goal)


def _check(
    section: Section, name: str, eom: EquationsOfMotion, ours: dict[str, Any], peer: dict[str, Any], R: np.ndarray
) -> None:
    a = pin.aba(*(peer[key] for key in ("model", "data", "q", "v", "tau"))).copy()
    if eom.n_v - eom.n_u == 6:  # a floating base: ours are angular speeds in its axes, then rates in the root's
        a[:6] = [*a[3:6], *(R @ (a[:3] + np.cross(peer["v"][3:6], peer["v"][:3])))]
    own = eom.v_dot(0.0, ours["q"], ours["v"], ours["u"])
    difference = float(np.max(np.abs(own - a)) / np.max(np.abs(a)))
    what = f"{name}: largest difference of v_dot to Pinocchio, relative"
    section.figures.append(Figure(what=what, value=difference, goal=AGREEMENT))
