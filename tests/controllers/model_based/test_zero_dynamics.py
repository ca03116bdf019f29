"""Zero dynamics: a multiple pole on the boundary with too few eigenvectors drifts; and only what is controlled can be missed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import block_diag, expm

from spacectl import (
    Artificial,
    ArtificialConstraintTracking,
    Constraint,
    FeedbackLinearization,
    form_equations,
    simulate,
)
from spacectl.controllers.analysis.pole_growth import find_drift, find_growth
from tests.controllers.model_based.test_authority import two_links

INTEGRATORS = np.array([[0.0, 1.0], [0.0, 0.0]])
TURN = np.array([[0.0, 2.0], [-2.0, 0.0]])
CASES = {
    "double integrator": (INTEGRATORS, True),
    "two integrators apart": (np.zeros((2, 2)), False),
    "beside a fast mode": (block_diag(INTEGRATORS, 1e3 * TURN - np.eye(2)), True),
    "slow oscillator beside a fast one": (block_diag(1e-4 * TURN, 1e3 * TURN), False),
    "equal oscillators apart": (block_diag(TURN, TURN), False),
    "resonance": (np.block([[TURN, np.eye(2)], [np.zeros((2, 2)), TURN]]), True),
    "damped double pole": (INTEGRATORS - np.eye(2), False),
}


def rotated(A: np.ndarray) -> np.ndarray:
    """In other coordinates, so that nothing is zero exactly."""
    T = np.linalg.qr(np.random.default_rng(4).normal(size=A.shape))[0]
    return T @ A @ T.T


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("period", [0.0, 0.01])
def test_drift_is_found_where_the_matrix_exponential_grows(name, period):
    A, expected = CASES[name]
    rate = max(float(np.max(np.abs(np.linalg.eigvals(A)))), 1.0)
    sizes = [np.linalg.norm(expm(A * t)) for t in (1e4 / rate, 2e4 / rate)]
    assert (
        sizes[1] > 1.5 * sizes[0]
    ) == expected or name == "slow oscillator beside a fast one"  # independent solution
    if name in ("beside a fast mode", "slow oscillator beside a fast one") and period > 0.0:
        period = 1e-4  # fast modes must not alias
    loop = expm(rotated(A) * period) if period else rotated(A)
    values = np.linalg.eigvals(loop).astype(complex)
    rates = np.log(values) / period if period else values
    assert bool(find_drift(loop, values, rates, period)) == expected
    assert find_growth(rates) == []


def test_known_drift_is_not_reported():
    values = np.linalg.eigvals(INTEGRATORS).astype(complex)
    assert find_drift(INTEGRATORS, values, values, 0.0, known=(0.0, 0.0)) == []
    two = block_diag(INTEGRATORS, INTEGRATORS)
    assert (
        len(find_drift(two, *[np.zeros(4, dtype=complex)] * 2, 0.0, known=(0.0, 0.0))) == 4
    )  # one pair is not by design


@pytest.mark.parametrize("period", [0.0, 0.02])
def test_a_free_coordinate_drifts_and_is_not_missed(period):
    """The shoulder is held by the elbow, which runs on: what is controlled is met, the elbow is not asked."""
    eom = form_equations(two_links())
    law = FeedbackLinearization(
        eom, frequency=1.0, speeds=("shoulder_dot",), reference={"shoulder": 0.2}, period=period
    )
    found = law.report(eom.state(shoulder=0.1, elbow=0.3))
    assert found.missed < 1e-12 and found.message.startswith("all accelerations of the controlled speeds are achieved")
    rest = law.report(eom.state(shoulder=0.2, elbow=0.3))
    assert not rest.is_stable and "zero dynamics drift" in rest.message and "elbow" in rest.message
    assert np.max(np.abs(rest.zero_dynamics[:2])) < 1e-6  # then, if sampled, the designed ones, which samples move
    # independent solution: the motion itself, from a small speed of the elbow
    sim = simulate(eom, law, x0=eom.state(shoulder=0.2, elbow=0.3, elbow_dot=1e-3), t_span=(0.0, 40.0), grid=3)
    gone = np.asarray(sim["elbow"]) - 0.3
    assert gone[2] == pytest.approx(2.0 * gone[1], rel=0.01) and gone[1] > 0.015


def test_what_a_tracking_law_leaves_free_drifts():
    eom = form_equations(two_links())
    still = Constraint(name="still", rule=lambda s: s["shoulder"], kind=Artificial(by=("elbow",)))
    found = ArtificialConstraintTracking(eom, constraints=(still,)).examine(
        [0.0, 1.0], [eom.state(), eom.state(elbow=0.5)]
    )
    assert found.is_adequate and not found.is_stable
    assert "the remaining motion drifts at t = 0 s" in found.message and "others=" in found.message
    # the adequacy is the cosine M12 / sqrt(M11 M22) by which laws are refused and stopped
    c = np.cos([0.0, 0.5])
    np.testing.assert_allclose(found.adequacy, (1 / 3 + c / 2) / np.sqrt((5 / 3 + c) / 3), rtol=1e-9)
