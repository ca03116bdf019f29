"""Linearisation: v_dot with its derivatives by coordinates, speeds and inputs, against `pin.computeABADerivatives`."""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl.dynamics.form import form_equations
from spacectl.dynamics.recursion.linear_kernel import LinearKernel
from tests.benchmarks.measure import Effort, interleave
from tests.benchmarks.report import Figure, Section
from tests.benchmarks.systems import generic_chain, pin, pinocchio_model, random_states

__all__ = ["GOALS", "measure_linearisation"]

GOALS = {7: 2.0, 20: 1.0, 50: 1.0, 100: 1.0, 200: 1.0}  #: ratios by number of joints
AGREEMENT = 1e-9  # relative to the largest entry: rounding times the condition number of M, 1e6 at 200 joints


def measure_linearisation(effort: Effort) -> Section:
    """Fixed buffers and copies against Pinocchio's analytic derivatives."""
    section = Section(
        "Linearisation",
        "v_dot and its derivatives by q, v and u of a generic chain at one random state, on one thread.",
    )
    for n in effort.linear_joints:
        system = generic_chain(n)
        eom = form_equations(system)
        kernel = LinearKernel(eom.system, eom.parameters, eom.p)
        model = pinocchio_model(system)
        q, v, u = (item[0].copy() for item in random_states(n, 1))
        names = {
            "derive": pin.computeABADerivatives, "model": model, "data": model.createData(),
            "linearise": kernel.linearise, "run": kernel.run, "q": q, "v": v, "u": u,
        }  # fmt: skip
        _check(section, n, kernel, names)
        times = interleave(
            {
                "LinearKernel.run": ("run()", names),
                "LinearKernel.linearise": ("linearise(q, v, u)", names),
                "computeABADerivatives": ("derive(model, data, q, v, u)", names),
            },
            effort,
        )
        for name in ("LinearKernel.run", "LinearKernel.linearise"):
            section.add(f"{n} joints, {kernel.solver}", times[name], times["computeABADerivatives"], GOALS.get(n))
    return section.finish()


def _check(section: Section, n: int, kernel: LinearKernel, names: dict[str, Any]) -> None:
    ours = kernel.linearise(names["q"], names["v"], names["u"])
    peers = names["derive"](*(names[name] for name in ("model", "data", "q", "v", "u")))
    differences = [
        np.max(np.abs(own - peer)) / np.max(np.abs(peer))
        for own, peer in zip((ours.v_q, ours.v_v, ours.v_u), peers, strict=True)
    ]
    what = f"{n} joints: largest difference of a derivative to Pinocchio, relative"
    section.figures.append(Figure(what=what, value=float(max(differences)), goal=AGREEMENT))
