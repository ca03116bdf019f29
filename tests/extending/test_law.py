"""A law with memory that a user writes: every tier runs it, and it is linearised, compared and reported as ours are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import expm

from spacectl import (
    ControlLaw,
    EquationsOfMotion,
    check_spillover,
    form_equations,
    library,
    linearize,
    make_law,
    simulate,
    write_report,
)


def design_lead(eom: EquationsOfMotion, *, gain: float, pole: float, period: float = 0.0) -> ControlLaw:
    """Position feedback through a filter, ``z_dot = pole (q - z)``, ``u = -gain (q + (q - z))``: no rate is measured."""
    joint = eom.inputs[0]

    def rule(s):
        error = s[joint] - s["filtered"]
        change = s["filtered"] + period * s["pole"] * error if period else s["pole"] * error
        return [-s["gain"] * (s[joint] + error)], [change]

    return make_law(
        rule, name="lead", states=eom.labels.x, inputs=eom.labels.u, memory={"filtered": 0.0},
        parameters={"gain": gain, "pole": pole}, period=period,
    )  # fmt: skip


@pytest.fixture(scope="module")
def eom() -> EquationsOfMotion:
    return form_equations(library.pendulum())


@pytest.mark.parametrize("tier", ["native", "vm"])
def test_small_motions_follow_the_closed_loop_matrix(eom: EquationsOfMotion, tier: str) -> None:
    law = design_lead(eom, gain=4.0, pole=6.0)
    sim = simulate(eom, law, x0=eom.state(hinge=1e-5), t_span=(0.0, 2.0), grid=21, tier=tier, rtol=1e-11, atol=1e-16)
    lin = linearize(eom, eom.state())
    A = np.zeros((3, 3))
    A[:2, :2] = lin.A
    A[:2] += np.outer(lin.B[:, 0], [-8.0, 0.0, 4.0])
    A[2] = [6.0, 0.0, -6.0]
    expected = np.array([expm(A * t) @ [1e-5, 0.0, 0.0] for t in sim.t])
    np.testing.assert_allclose(sim.x, expected[:, :2], atol=1e-13)
    np.testing.assert_allclose(sim["filtered"], expected[:, 2], atol=1e-13)


def test_a_sampled_form_keeps_its_memory_between_samples(eom: EquationsOfMotion) -> None:
    law = design_lead(eom, gain=4.0, pole=6.0, period=0.05)
    runs = [
        simulate(eom, law, x0=eom.state(hinge=0.2), t_span=(0.0, 1.0), grid=21, tier=tier, rtol=1e-10)
        for tier in ("native", "vm")
    ]
    np.testing.assert_allclose(runs[0].x, runs[1].x, atol=1e-9)
    z, q = 0.0, runs[0]["hinge"]
    for k in range(21):
        z = z + 0.05 * 6.0 * (q[k] - z)
        assert runs[0]["filtered"][k] == pytest.approx(z, abs=1e-12)


def test_its_poles_and_its_report(eom: EquationsOfMotion, tmp_path: Path) -> None:
    law = design_lead(eom, gain=4.0, pole=6.0)
    found = check_spillover(law, linearize(eom, eom.state()))
    assert found.is_stable and any("law.filtered" in mode.states for mode in found.modes)
    sim = simulate(eom, law, x0=eom.state(hinge=0.2), t_span=(0.0, 1.0))
    assert "lead" in write_report(sim, tmp_path / "lead.html").read_text(encoding="utf-8")
