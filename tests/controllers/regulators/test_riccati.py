"""Riccati equations: closed forms, python-control, hard scalings, and exact sampling."""

from __future__ import annotations

import control
import numpy as np
import pytest
from scipy.linalg import expm

from spacectl import SolverError, linearize
from spacectl.controllers.analysis.discretise import integrate_weight, sample_cost, sample_noise, sample_plant
from spacectl.controllers.regulators.riccati import solve_continuous, solve_discrete, sort_poles
from spacectl.controllers.regulators.riccati_flow import flow_back, riccati_rate
from tests.controllers.plants import flexible_modes, tethered_arm

NONE = np.zeros((2, 1))


def relative_residual(A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray, S: np.ndarray) -> float:
    """Of the continuous equation, over the norms of its terms, in plain double precision."""
    gain = np.linalg.solve(R, B.T @ S)
    rest = A.T @ S + S @ A - gain.T @ R @ gain + Q
    return float(np.linalg.norm(rest) / (2 * np.linalg.norm(A) * np.linalg.norm(S) + np.linalg.norm(Q)))


@pytest.mark.parametrize(("q", "v", "r"), [(1.0, 0.0, 1.0), (4.0, 3.0, 0.25), (1e-6, 0.0, 1e4)])
def test_double_integrator_has_its_closed_form(q: float, v: float, r: float) -> None:
    A, B = np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0], [1.0]])
    found = solve_continuous(A, B, np.diag([q, v]), np.array([[r]]), NONE)
    k1 = np.sqrt(q / r)
    k2 = np.sqrt(v / r + 2.0 * k1)
    np.testing.assert_allclose(found.K, [[k1, k2]], rtol=1e-14)  # rounding
    np.testing.assert_allclose(found.S, r * np.array([[k1 * k2, k1], [k1, k2]]), rtol=1e-14)


def test_scalar_discrete_equation_has_its_closed_form() -> None:
    a, b, q, r = 1.2, 0.5, 2.0, 3.0
    # b^2 s^2 + (r - a^2 r - b^2 q) s - q r = 0
    s = max(np.roots([b**2, r - a**2 * r - b**2 * q, -q * r]).real)
    A, B, Q, R = (np.array([[item]]) for item in (a, b, q, r))
    found = solve_discrete(A, B, Q, R, np.zeros((1, 1)))
    assert found.S[0, 0] == pytest.approx(s, rel=1e-14)
    assert found.K[0, 0] == pytest.approx(a * b * s / (r + b**2 * s), rel=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_both_agree_with_python_control_with_cross_weights(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A, B = rng.normal(size=(5, 5)), rng.normal(size=(5, 2))
    root = rng.normal(size=(7, 7))
    W = root @ root.T + 0.1 * np.eye(7)
    Q, N, R = W[:5, :5], W[:5, 5:], W[5:, 5:]
    K, S, poles = control.lqr(A, B, Q, R, N)
    found = solve_continuous(A, B, Q, R, N)
    np.testing.assert_allclose(found.S, S, rtol=1e-8, atol=1e-9)  # theirs, times conditioning of a random problem
    np.testing.assert_allclose(found.K, K, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(found.poles, sort_poles(np.linalg.eigvals(A - B @ K)), rtol=1e-7)
    A, B = expm(0.1 * A), 0.1 * B
    K, S, _ = control.dlqr(A, B, Q, R, N)
    found = solve_discrete(A, B, Q, R, N)
    np.testing.assert_allclose(found.S, S, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(found.K, K, rtol=1e-8, atol=1e-9)
    assert found.residual < 1e-14


@pytest.mark.parametrize(
    "weight", [pytest.param(1e-4, marks=pytest.mark.slow), 1.0, pytest.param(1e4, marks=pytest.mark.slow)]
)
def test_flexible_model_of_a_hundred_states_is_solved_to_rounding(weight: float) -> None:
    model = flexible_modes(50)
    A, B, Q, R = np.asarray(model.A), np.asarray(model.B), weight * np.eye(100), np.eye(3)
    found = solve_continuous(A, B, Q, R, np.zeros((100, 3)))
    assert found.residual <= 1e-11  # 1e-15 with extended precision, which not every machine has
    assert relative_residual(A, B, Q, R, found.S) <= 1e-12
    assert np.max(found.poles.real) < 0.0
    np.testing.assert_allclose(found.K, B.T @ found.S, rtol=1e-6, atol=1e-7 * np.max(np.abs(found.K)))


@pytest.mark.parametrize("length", [100.0, 1000.0])
@pytest.mark.parametrize("r", [1.0, 1e-4])
def test_tether_in_orbit_with_hardly_controlled_growing_mode(length: float, r: float) -> None:
    model = linearize(tethered_arm(length), tethered_arm(length).state())
    A, B = np.asarray(model.A), np.asarray(model.B)
    found = solve_continuous(A, B, np.eye(8), r * np.eye(3), np.zeros((8, 3)))
    assert found.residual <= 1e-10
    # K from the solution's own coordinates is better than R^-1 B.T S of the rounded S: it does stabilise
    # (a double pole at -2e-3, of which half of the digits are known, among entries of 1e4)
    assert np.max(np.linalg.eigvals(A - B @ found.K).real) < -1e-3


@pytest.mark.parametrize("seed", range(4))
def test_units_of_states_and_time_do_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A, B = rng.normal(size=(6, 6)), rng.normal(size=(6, 2))
    Q, R = np.diag(rng.uniform(0.1, 10.0, 6)), np.diag([0.3, 2.0])
    units, rate, force = 10.0 ** rng.uniform(-6.0, 6.0, 6), 1e-3, np.array([1e-5, 1e4])
    plain = solve_continuous(A, B, Q, R, np.zeros((6, 2)))
    scaled = solve_continuous(
        rate * A * units[:, None] / units,
        rate * B * units[:, None] / force,
        Q / np.outer(units, units),
        R / np.outer(force, force),
        np.zeros((6, 2)),
    )
    assert scaled.residual < 1e-14
    np.testing.assert_allclose(scaled.K * units / force[:, None], plain.K, rtol=1e-9)  # conditioning of the problem
    np.testing.assert_allclose(scaled.poles, rate * plain.poles, rtol=1e-9)


def test_mode_that_nothing_damps_has_no_solution() -> None:
    A, B = np.array([[0.0, 1.0], [-4.0, 0.0]]), np.zeros((2, 1))
    with pytest.raises(SolverError, match="no stabilising solution"):
        solve_continuous(A, B, np.eye(2), np.eye(1), NONE)
    with pytest.raises(SolverError, match="no stabilising solution"):
        solve_discrete(expm(0.1 * A), B, np.eye(2), np.eye(1), NONE)


@pytest.mark.parametrize("rate", [1.0, 1e3])
def test_sampled_integrals_match_quadrature(rate: float) -> None:
    rng = np.random.default_rng(3)
    F, root = rng.normal(size=(4, 4)), rng.normal(size=(4, 4))
    F = F - (np.max(np.linalg.eigvals(F).real) + 0.1) * np.eye(4)
    F[0] *= rate  # stiff, for the larger rate
    F[0, 0] = -abs(F[0, 0]) - rate
    W = root @ root.T
    nodes, weights = np.polynomial.legendre.leggauss(60)
    pieces = np.concatenate([[0.0], 0.7 * 2.0 ** -np.arange(14, -1, -1.0)])
    total = np.zeros((4, 4))
    for a, b in zip(pieces[:-1], pieces[1:], strict=True):
        for node, weight in zip(nodes, weights, strict=True):
            turn = expm(F * (0.5 * (a + b) + 0.5 * (b - a) * node))
            total += 0.5 * (b - a) * weight * turn.T @ W @ turn
    np.testing.assert_allclose(integrate_weight(F, W, 0.7), total, rtol=1e-10, atol=1e-11 * np.max(np.abs(total)))
    np.testing.assert_allclose(sample_noise(F.T, W, 0.7), integrate_weight(F, W, 0.7), rtol=1e-12)


def test_double_integrator_is_sampled_exactly() -> None:
    T = 0.3
    A, B = np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0], [1.0]])
    Ad, Bd = sample_plant(A, B, T)
    np.testing.assert_allclose(Ad, [[1.0, T], [0.0, 1.0]], rtol=1e-15)
    np.testing.assert_allclose(Bd, [[T**2 / 2], [T]], rtol=1e-15)
    cost = sample_cost(A, B, np.diag([1.0, 0.0]), np.eye(1), np.zeros((2, 1)), T)
    # position x + v s + u s^2/2: integrals of its square over the period
    np.testing.assert_allclose(cost.Q, [[T, T**2 / 2], [T**2 / 2, T**3 / 3]], rtol=1e-14)
    np.testing.assert_allclose(cost.N, [[T**3 / 6], [T**4 / 8]], rtol=1e-14)
    np.testing.assert_allclose(cost.R, [[T + T**5 / 20]], rtol=1e-14)
    np.testing.assert_allclose(
        sample_noise(A, np.diag([0.0, 1.0]), T), [[T**3 / 3, T**2 / 2], [T**2 / 2, T]], rtol=1e-14
    )


def test_scalar_riccati_flow_has_its_closed_form() -> None:
    H = np.array([[0.0, -1.0], [-1.0, 0.0]])  # -s_dot = 1 - s^2, s = tanh(end - t)
    knots = flow_back(lambda t: H, 0.0, 3.0, np.zeros((1, 1)), rtol=1e-9, longest=3.0, first=0.01)
    for knot in knots:
        assert knot.S[0, 0] == pytest.approx(np.tanh(3.0 - knot.t), abs=1e-9)
        assert knot.S_dot[0, 0] == pytest.approx(-1.0 / np.cosh(3.0 - knot.t) ** 2, abs=1e-9)


def test_stiff_riccati_flow_reaches_the_steady_solution_in_few_steps() -> None:
    A, B = np.array([[0.0, 1.0], [-1e8, -10.0]]), np.array([[0.0], [1e4]])  # 1e4 rad/s, over 100 s
    Q, G = np.diag([1.0, 1e-8]), B @ B.T
    H = np.block([[A, -G], [-Q, -A.T]])
    scale = np.array([1.0, 1e-4])
    units = np.concatenate([1.0 / scale, scale])
    knots = flow_back(
        lambda t: H * units / units[:, None], 0.0, 100.0, np.zeros((2, 2)), rtol=1e-6, longest=100.0, first=1e-5
    )
    S = knots[0].S * np.outer(scale, scale)
    np.testing.assert_allclose(S, solve_continuous(A, B, Q, np.eye(1), NONE).S, rtol=1e-6)
    assert len(knots) < 5000
    assert np.max(np.abs(riccati_rate(H * units / units[:, None], knots[0].S))) < 1e-4 * np.max(np.abs(Q))
