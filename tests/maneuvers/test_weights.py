"""Weights that count energy."""

from __future__ import annotations

import numpy as np
import pytest

from spacectl import form_equations, library
from spacectl.maneuvers.near_minimum_time import energy_weights


@pytest.mark.parametrize("omega", [0.5, 3.0])
def test_errors_count_with_a_frequency_and_speeds_with_the_mass_matrix(omega: float) -> None:
    eom = form_equations(library.retrieval_arm())
    x = eom.state(shoulder=0.3, elbow=0.9, wrist=-0.4)
    n, M = eom.n_v, eom.mass_matrix(0.0, x[: eom.n_q])
    Q = energy_weights(eom, x, omega, 4.0)
    np.testing.assert_allclose(Q[:n, :n], omega**2 * M / 4.0, rtol=1e-13)
    np.testing.assert_allclose(Q[n:, n:], M / 4.0, rtol=1e-13)
    assert not np.any(Q[:n, n:]) and not np.any(Q[n:, :n])
