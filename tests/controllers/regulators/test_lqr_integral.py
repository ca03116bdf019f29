"""Integral action is refused exactly where inputs at rest cannot hold the integrated quantities, whatever their units."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from spacectl import ModelError, design_lqr, find_operating_point, form_equations, library, linearize
from tests.controllers.plants import double_integrator

Orbiter = library.TetherOrbiter
QUANTITIES = (*Orbiter.JOINTS, "end.x", "end.y")
#: At rest the tether hangs straight, so pitch + shoulder + elbow + swing is constant, and the arm's end depends on
#: pitch + shoulder and elbow alone; at the fixed point the lower link lies along y, so the elbow does not move end.y.
IMPOSSIBLE = {
    ("pitch", "shoulder", "end.y"),
    ("elbow", "swing", "end.x"),
    ("elbow", "swing", "end.y"),
    ("elbow", "end.x", "end.y"),
    ("swing", "end.x", "end.y"),
}


@pytest.fixture(scope="module", params=[20.0, 1000.0, 5000.0], ids="{:.0f} m".format)
def station(request):
    """The orbiter at its fixed point; poles of 1e-3 rad/s, weights that differ by 1e8 between speeds and integrals."""
    eom = form_equations(Orbiter().system(request.param))
    point = find_operating_point(eom, q=Orbiter.coordinates(Orbiter.FIXED_POINT))
    model = linearize(eom, point)
    Q = np.zeros((8, 8))
    Q[:4, :4], Q[4:, 4:] = np.eye(4), eom.mass_matrix(0.0, np.asarray(point.x)[:4])
    y_point = dict(zip(eom.labels.y.names, eom.outputs(0.0, np.asarray(point.x), np.asarray(point.u)), strict=True))
    return model, Q, y_point


@pytest.mark.parametrize("count", [1, 2, 3])
def test_only_impossible_integrals_are_refused(station, count):
    model, Q, y_point = station
    for names in combinations(QUANTITIES, count):
        given = {"Q": Q, "R": [0.1, 1.0, 1.0], "integral": dict.fromkeys(names, 1e-6), "y_point": y_point}
        if names in IMPOSSIBLE:
            with pytest.raises(ModelError, match=r"integral\..*2 of the 3"):
                design_lqr(model, **given)
        else:
            law = design_lqr(model, **given)
            assert law.residual < 1e-10 and np.max(law.poles.real) < 0.0


def test_more_integrals_than_inputs_are_refused_by_number(station):
    model, Q, _ = station
    with pytest.raises(ModelError, match="3 of the 4"):
        design_lqr(model, Q=Q, R=1.0, integral=dict.fromkeys(Orbiter.JOINTS, 1e-6))


def test_an_undamped_mode_that_only_an_integral_sees_is_weighted(station):
    model, _, _ = station
    law = design_lqr(
        model, Q={"craft": 0.0} if "craft" in model.x else 0.0, R=1.0, integral=dict.fromkeys(Orbiter.JOINTS[:3], 1e-6)
    )
    assert np.max(law.poles.real) < 0.0


def test_sampled_gains_with_an_integral_tend_to_the_continuous_ones():
    """Sum and cost of one period are those of the integral as the period goes to zero: errors halve with it."""
    model = double_integrator()
    given = {"Q": [2.0, 0.5], "R": 0.1, "integral": {"position": 3.0}}
    exact = design_lqr(model, **given)
    errors = []

    def gains(law):
        return np.hstack([law.K, law.K_integral])[0]

    for period in (2e-3, 1e-3):
        law = design_lqr(model, **given, period=period)
        errors.append(gains(law) - gains(exact))
    np.testing.assert_allclose(errors[0], 2.0 * errors[1], rtol=0.02)  # the next term is smaller by rate * period
    assert np.max(np.abs(errors)) < 0.05
