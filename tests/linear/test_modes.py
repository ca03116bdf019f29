"""Modes: closed forms for frequencies, damping, shapes, and where the energy is."""

from __future__ import annotations

import numpy as np
import pytest

from spacectl import form_equations, library
from spacectl.core.labels import Labels
from spacectl.linear.analysis.modes import modes
from spacectl.linear.linearize import linearize
from spacectl.linear.models.linear_model import LinearModel


def oscillator(w: float, zeta: float) -> LinearModel:
    A = [[0.0, 1.0], [-(w**2), -2.0 * zeta * w]]
    x = Labels(("position", "rate"), ("m", "m/s"), "state")
    return LinearModel(A=A, B=np.zeros((2, 0)), C=np.eye(2), D=np.zeros((2, 0)), x=x, u=Labels(), y=x)


@pytest.mark.parametrize(("w", "zeta"), [(3.0, 0.1), (0.02, 0.7)])
def test_frequency_and_damping_of_an_oscillator(w: float, zeta: float) -> None:
    found = modes(oscillator(w, zeta))
    assert len(found) == 1
    assert found.frequency[0] == pytest.approx(w, rel=1e-12)
    assert found.damping[0] == pytest.approx(zeta, rel=1e-12)
    np.testing.assert_allclose(found.participation.sum(axis=1), 1.0)


def test_shapes_satisfy_the_eigenvalue_equation() -> None:
    eom = form_equations(library.free_flyer_arm())
    model = linearize(eom, eom.state(joint2=0.5, joint4=-0.8))
    found = modes(model, eom=eom)
    A = np.asarray(model.A)
    for pole, shape in zip(found.poles, found.shapes, strict=True):
        assert np.max(np.abs(A @ shape - pole * shape)) < 1e-10 * np.linalg.norm(A)


def test_energy_of_a_mode_is_where_its_motion_is() -> None:
    """The pitch libration of a body in orbit moves nothing but the body; shares add up to one."""
    eom = form_equations(library.orbiting_body(inertia=(80.0, 100.0, 120.0), rate=1e-3))
    found = modes(linearize(eom, eom.state()), eom=eom)
    pitch = int(np.argmin(np.abs(found.frequency - 1e-3 * np.sqrt(3.0 * (100.0 - 80.0) / 120.0))))
    assert set(found.dominant(pitch, 2)) == {"base.rz", "base.wz"}
    assert found.parts == ("body",) and found.energy[pitch, 0] == pytest.approx(1.0)
    assert "base.rz" in found.table()
