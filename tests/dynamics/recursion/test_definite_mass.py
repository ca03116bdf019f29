"""The consistent mass matrix stays positive definite at deflections where one truncated at second order does not."""

from __future__ import annotations

import numpy as np
import pytest

from spacectl import Beam, Part, Revolute, System, form_equations, simulate


@pytest.mark.parametrize(("modes", "deflection"), [(2, 0.3), (6, 0.1)])
def test_mass_matrix_of_a_hinged_beam_is_positive_definite(modes, deflection):
    beam = Beam(name="beam", length=1.0, mass=1.0, EI=1.0, modes=modes)
    eom = form_equations(
        System(name="beam", parts=(Part(beam, joint=Revolute(name="hinge", axis="z")),)), formulation="kane"
    )
    rng = np.random.default_rng(1)
    for direction in [np.eye(modes)[0], *rng.normal(size=(20, modes))]:
        q = np.concatenate([[0.3], deflection * direction / np.linalg.norm(direction)])
        assert np.linalg.eigvalsh(eom.mass_matrix(0.0, q))[0] > 0.0


def test_a_boom_with_every_kind_of_shape_can_be_simulated():
    beam = Beam(
        name="boom",
        length=2.0,
        mass=4.0,
        EI=50.0,
        GJ=40.0,
        EA=1e5,
        rotary=(0.01, 0, 0),
        bending=("y", "z"),
        modes=2,
        torsion=1,
        extension=1,
    )
    eom = form_equations(System(name="boom", parts=(Part(beam, joint=Revolute(name="hinge", axis="z")),)))
    x0 = eom.state(**{"boom.eta1": 0.05, "boom.eta3": -0.04, "boom.eta2": 0.01, "hinge_dot": 0.5})
    sim = simulate(eom, None, x0=x0, t_span=(0.0, 2.0), rtol=1e-8, atol=1e-10)
    energy = eom.along("energy", np.asarray(sim.t), np.asarray(sim.x))
    assert np.ptp(energy) < 1e-5 * np.max(np.abs(energy))  # tolerance times some thousand steps
