"""Disk margins: closed forms, published examples, sampled and worst perturbations, bounds of mu, peers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import solve_continuous_are

from spacectl import LinearModel, ModelError, ShapeError, form_equations, library, linearize
from spacectl.linear.margins.classical import classical_margins
from spacectl.linear.margins.disk import disk_margins, perturbed_poles
from spacectl.linear.margins.loops import closed_loop
from spacectl.linear.margins.norms import realisation, response
from spacectl.linear.margins.structured import find_structured_peak, lower_bound, upper_bound
from tests.linear.test_norms import model_of

INTEGRATOR = model_of([[0.0]], [[1.0]], [[1.0]])
# 25 / (s^3 + 10 s^2 + 10 s + 10), the example of Seiler, Packard and Gahinet (2020)
CUBIC = model_of([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-10.0, -10.0, -10.0]], [[0.0], [0.0], [25.0]], [[1.0, 0.0, 0.0]])


def spinning_body(a: float = 10.0) -> LinearModel:
    """[[s - a^2, a (s + 1)], [-a (s + 1), s - a^2]] / (s^2 + a^2): one loop at a time it looks perfect."""
    return model_of([[0.0, a], [-a, 0.0]], np.eye(2), [[1.0, a], [-a, 1.0]])


def loop_gain(seed: int, n: int, m: int) -> LinearModel:
    """A random decaying loop gain, small enough to be stable when closed."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n))
    A -= (np.max(np.linalg.eigvals(A).real) + 0.3) * np.eye(n)
    B, C = rng.standard_normal((n, m)), rng.standard_normal((m, n))
    for gain in (0.5, 0.2, 0.1, 0.05, 0.02):
        model = model_of(A, B, gain * C)
        if np.max(closed_loop(model).poles.real) < -0.02:
            return model
    raise RuntimeError("no stable loop")


def random_factors(rng: np.random.Generator, count: int, channels: int, alpha: float, skew: float) -> np.ndarray:
    """Factors inside the disk: half of them at 0.9999 of its edge, where they hurt most."""
    size = np.where(rng.random(count) < 0.5, 0.9999, np.sqrt(rng.random(count)))[:, None]
    size = size * np.where(rng.random((count, channels)) < 0.7, 1.0, rng.random((count, channels)))
    delta = alpha * size * np.exp(2j * np.pi * rng.random((count, channels)))
    return (1.0 + 0.5 * (1.0 - skew) * delta) / (1.0 - 0.5 * (1.0 + skew) * delta)


def largest_real_parts(loop: LinearModel, factors: np.ndarray) -> np.ndarray:
    """Growth of the fastest growing closed-loop mode, for many factors at once."""
    A, B, C, D = realisation(loop)
    F = factors[:, None, :] * np.eye(factors.shape[1])
    inner = np.linalg.solve(np.eye(len(D)) + D @ F, np.broadcast_to(C, (len(F), *C.shape)).astype(complex))
    return np.max(np.linalg.eigvals(A - B @ F @ inner).real, axis=1)


def test_an_integrator_tolerates_any_gain_and_a_phase_of_90_degrees() -> None:
    """S - 1/2 = (s - 1) / (2 (s + 1)) has size 1/2 everywhere, so alpha = 2: the right half-plane of factors."""
    found = disk_margins(INTEGRATOR).simultaneous
    # one-sided tolerance of the peak, 2e-9
    assert found.alpha == pytest.approx(2.0, rel=1e-8)
    assert found.gain[0] == pytest.approx(0.0, abs=1e-8) and found.gain[1] > 1e7
    assert found.phase == pytest.approx(np.pi / 2.0, abs=1e-7)


@pytest.mark.parametrize("k", [0.1, 1.0, 30.0])
def test_an_integrator_with_a_lag(k: float) -> None:
    """L = k / (s (s + 1)): alpha = 2 / max |(1 - L) / (1 + L)|, maximised over w^2 by hand.

    ``|1 - L|^2 / |1 + L|^2 = ((w^2 + k)^2 + w^2) / ((w^2 - k)^2 + w^2)`` is largest at w^2 = k, with value 4 k + 1.
    """
    found = disk_margins(model_of([[0.0, 1.0], [0.0, -1.0]], [[0.0], [k]], [[1.0, 0.0]])).simultaneous
    assert found.alpha == pytest.approx(2.0 / np.sqrt(4.0 * k + 1.0), rel=1e-8)
    assert found.frequency == pytest.approx(np.sqrt(k), rel=1e-3)  # a flat top
    low, high = (2.0 - found.alpha) / (2.0 + found.alpha), (2.0 + found.alpha) / (2.0 - found.alpha)
    assert found.gain == pytest.approx((low, high))
    assert np.tan(found.phase / 2.0) == pytest.approx(found.alpha / 2.0)  # the known relation for skew 0


@pytest.mark.parametrize("skew", [-1.0, -0.6, 0.0, 0.3, 1.0])
def test_guaranteed_gains_and_phases_end_on_the_edge_of_a_skewed_disk(skew: float) -> None:
    """The d of a factor f, ``(f - 1) / ((1 - skew)/2 + (1 + skew)/2 f)``, has size alpha at both gains and both phases."""
    found = disk_margins(CUBIC, skew=skew).simultaneous
    turn = np.exp(1j * found.phase)
    ends = np.array([*found.gain, turn, turn.conjugate()])
    sizes = np.abs((ends - 1.0) / (0.5 * (1.0 - skew) + 0.5 * (1.0 + skew) * ends))
    np.testing.assert_allclose(sizes, found.alpha, rtol=1e-12)
    assert found.gain[0] < 1.0 < found.gain[1] and 0.0 < found.phase < np.pi
    if abs(skew) == 1.0:  # |S| or |T| below 1 / alpha: the unit circle is met at |f - 1| = alpha
        assert found.phase == pytest.approx(2.0 * np.arcsin(0.5 * found.alpha), rel=1e-12)
    # a guarantee: no smaller change of phase destroys stability
    turns = np.exp(1j * found.phase * np.linspace(-0.999, 0.999, 41))
    assert np.max(largest_real_parts(CUBIC, turns[:, None])) < 0.0


def test_the_published_example_of_a_single_loop() -> None:
    """Published: alpha 0.46, gains 0.63 to 1.59, 25.8 degrees, at 1.94 rad/s; classical 3.6 and 29.1 degrees."""
    found = disk_margins(CUBIC).simultaneous
    assert found.alpha == pytest.approx(0.46, abs=0.005)
    assert found.gain == pytest.approx((0.63, 1.59), abs=0.006)
    assert np.degrees(found.phase) == pytest.approx(25.8, abs=0.05)
    assert found.frequency == pytest.approx(1.94, abs=0.03)
    classic = classical_margins(CUBIC)
    assert classic.gain == (0.0, pytest.approx(3.6, rel=1e-9))
    assert np.degrees(classic.phase) == pytest.approx(29.1, abs=0.05)
    assert classic.gain[1] >= found.gain[1] and classic.phase >= found.phase


def test_a_spinning_body_is_perfect_loop_by_loop_and_fragile_together() -> None:
    """S - 1/2 is a normal matrix with eigenvalues ((s - 1)/2 +- j a) / (s + 1), so mu is their largest size.

    Its square is a ratio of quadratics in w with maximum ``1/4 + (a^2 + sqrt(a^4 + a^2)) / 2``.
    """
    a = 10.0
    exact = 1.0 / np.sqrt(0.25 + 0.5 * (a**2 + np.sqrt(a**4 + a**2)))
    for at in ("input", "output"):
        found = disk_margins(spinning_body(a), np.eye(2), at=at)
        for single in found.channels.values():
            assert single.alpha == pytest.approx(2.0, rel=1e-8)
        assert found.simultaneous.alpha <= exact * (1.0 + 1e-9)
        assert found.simultaneous.alpha == pytest.approx(exact, rel=1.1e-4)  # the tolerance of the sweep
        assert found.simultaneous.alpha_worst == pytest.approx(exact, rel=1e-7)
    both = disk_margins(spinning_body(a), np.eye(2), at="both")
    assert tuple(both.channels) == ("u1", "u2", "y1", "y2")
    assert both.simultaneous.alpha < exact
    assert both.simultaneous.alpha == pytest.approx(0.0498, abs=1e-4)  # as published with this example
    assert "all together" in both.table()


@pytest.mark.parametrize("skew", [-1.0, -0.4, 0.0, 1.0])
@pytest.mark.parametrize("at", ["input", "output", "both"])
def test_ten_thousand_perturbations_inside_the_disk_are_stable_and_the_worst_one_is_not(skew: float, at: str) -> None:
    rng = np.random.default_rng(5)
    plant = model_of(
        [[0.0, 1.0, 0.0], [-2.0, -0.4, 0.5], [0.3, 0.0, -1.0]], [[0, 0], [1, 0.2], [0.1, 1]], np.eye(3)[:2]
    )
    K = np.array([[1.5, 0.8], [0.2, 1.0]])
    found = disk_margins(plant, K, at=at, skew=skew)
    worst = found.simultaneous
    factors = random_factors(rng, 10_000, len(found.channels), worst.alpha, skew)
    assert np.max(largest_real_parts(found.loop, factors)) < 0.0
    # the worst one lies on the edge, up to the tolerance of the sweep, and puts a pole on the axis
    sizes = np.abs(list(worst.perturbation.values()))
    np.testing.assert_allclose(sizes, worst.alpha_worst, rtol=1e-12)
    assert worst.alpha <= worst.alpha_worst <= worst.alpha * (1.0 + 2e-4)
    poles = perturbed_poles(found.loop, worst.factors)
    # rounding of an eigenvalue; close to the edge a second pole may be near: its root
    assert np.min(np.abs(poles - 1j * worst.frequency)) < 1e-9
    # a little beyond it the closed loop is unstable
    beyond = {name: 1.001 * delta for name, delta in worst.perturbation.items()}
    moved = [(1.0 + 0.5 * (1.0 - skew) * d) / (1.0 - 0.5 * (1.0 + skew) * d) for d in beyond.values()]
    assert largest_real_parts(found.loop, np.array([moved]))[0] > 0.0
    for name, single in found.channels.items():
        assert single.alpha >= worst.alpha * (1.0 - 1e-9)
        if np.isfinite(single.frequency) and np.isfinite(single.factors[name]):  # skew 1 may ask for an infinite gain
            poles = perturbed_poles(found.loop, {name: single.factors[name]})
            assert np.min(np.abs(poles - 1j * single.frequency)) < 1e-7


@given(seed=st.integers(0, 1000), channels=st.integers(2, 4))
def test_bounds_of_mu_enclose_it(seed: int, channels: int) -> None:
    """Any Q gives a lower, any D an upper bound; up to three channels they meet, known as the theorem of Doyle."""
    rng = np.random.default_rng(seed)
    M = rng.standard_normal((channels, channels)) + 1j * rng.standard_normal((channels, channels))
    M = M * np.exp(rng.uniform(-2.0, 2.0, channels)) / np.exp(rng.uniform(-2.0, 2.0, channels))[:, None]
    upper, d = upper_bound(M)
    lower, Q = lower_bound(M, d)
    assert lower <= upper * (1.0 + 1e-12)
    assert lower >= upper * (1.0 - (1e-4 if channels <= 3 else 0.05))  # the stop of the smooth search; the known gap
    np.testing.assert_allclose(np.abs(Q), 1.0, rtol=1e-12)
    assert (
        abs(np.linalg.det(np.eye(channels) - M @ np.diag(Q) / lower))
        < 1e-9 * (1.0 + np.linalg.norm(M) / lower) ** channels
    )
    np.testing.assert_allclose(np.linalg.norm(np.exp(d)[:, None] * M * np.exp(-d), 2), upper, rtol=1e-12)


def test_the_bound_holds_between_grid_points() -> None:
    """A lightly damped loop: no frequency of a fine grid, peaks included, has a larger bound than the proved one."""
    w = np.array([0.7, 1.9, 2.0, 11.0])
    A = np.block([[np.zeros((4, 4)), np.eye(4)], [-np.diag(w**2), -2e-3 * np.diag(w)]])
    B = np.vstack([np.zeros((4, 3)), np.random.default_rng(2).standard_normal((4, 3))])
    plant = model_of(A, B, B.T)  # rates where forces act: any positive feedback gain is stable
    loop = closed_loop(disk_margins(plant, 0.4 * np.eye(3)).loop)
    system = realisation(loop)
    shifted = (*system[:3], system[3] - 0.5 * np.eye(3))
    peak = find_structured_peak(shifted, 1e-3)
    grid = np.concatenate([np.logspace(-2, 2, 150), *(x * np.linspace(0.98, 1.02, 15) for x in w)])
    found = [upper_bound(response(shifted, x))[0] for x in grid]
    assert max(found) <= peak.upper
    assert peak.lower <= peak.upper <= peak.lower * 1.01


@settings(max_examples=8)  # each takes a tenth of a second
@given(seed=st.integers(0, 10_000))
def test_margins_do_not_depend_on_coordinates_or_on_units_of_channels_and_time(seed: int) -> None:
    loop = loop_gain(seed, 4, 2)
    rng = np.random.default_rng(seed)
    A, B, C, _ = realisation(loop)
    T = np.linalg.qr(rng.standard_normal((4, 4)))[0] * np.exp(rng.uniform(-2.0, 2.0, 4))
    S, rate = np.exp(rng.uniform(-4.0, 4.0, 2)), float(np.exp(rng.uniform(-5.0, 5.0)))
    other = model_of(rate * np.linalg.solve(T, A @ T), rate * np.linalg.solve(T, B * S), C @ T / S[:, None])
    one, two = disk_margins(loop), disk_margins(other)
    # twice the tolerance of the sweep
    assert two.simultaneous.alpha == pytest.approx(one.simultaneous.alpha, rel=2e-4)
    for name in one.channels:
        assert two.channels[name].alpha == pytest.approx(one.channels[name].alpha, rel=1e-7)


def test_state_feedback_of_riccati_has_its_known_margins() -> None:
    """With R = 1, |1 + L| >= 1 at the input: S has norm one, gains from 1/2 up and 60 degrees are guaranteed."""
    eom = form_equations(library.planar_arm())
    model = linearize(eom, eom.state(joint2=0.7), outputs=("joint1", "joint2", "joint1_dot", "joint2_dot"))
    A, B = np.asarray(model.A), np.asarray(model.B)
    K = B.T @ solve_continuous_are(A, B, np.diag([30.0, 20.0, 1.0, 1.0]), np.eye(2))
    found = disk_margins(model, K, skew=1.0)  # skew 1 is the sensitivity itself
    for margin in (found.simultaneous, *found.channels.values()):
        assert margin.alpha >= 1.0 - 2e-4
        assert margin.gain[0] <= 0.5 + 1e-4 and margin.gain[1] > 1e3
        assert np.degrees(margin.phase) >= 60.0 - 0.02
    assert tuple(found.channels) == model.u.names


def test_unstable_loops_have_no_margin_and_name_the_mode() -> None:
    found = disk_margins(model_of([[1.0]], [[1.0]], [[0.5]]))
    assert not found.is_stable and found.simultaneous.alpha == 0.0 and found.simultaneous.gain == (1.0, 1.0)
    assert found.simultaneous.phase == 0.0 and "x1" in found.message and "grows" in found.message
    eom = form_equations(library.free_flyer_arm())
    joints = tuple(f"joint{k}" for k in range(1, 8))
    model = linearize(eom, eom.state(joint2=0.5), outputs=(*joints, *(f"{name}_dot" for name in joints)))
    free = disk_margins(model, np.hstack([np.eye(7), np.eye(7)]))  # momentum stays whatever the joints do
    assert not free.is_stable and "base." in free.message


def test_wrong_calls_are_explained() -> None:
    with pytest.raises(ShapeError, match="expected \\(2, 2\\)"):
        disk_margins(spinning_body(), np.eye(3))
    with pytest.raises(ShapeError, match="2 inputs and 1 outputs"):
        disk_margins(spinning_body().select(outputs=("y1",)))
    with pytest.raises(ModelError, match="'input', 'output' or 'both'"):
        disk_margins(INTEGRATOR, at="middle")
    with pytest.raises(ModelError, match="needs a plant and a feedback"):
        disk_margins(INTEGRATOR, at="both")
    with pytest.raises(ModelError, match="skew"):
        disk_margins(INTEGRATOR, skew=2.0)
    with pytest.raises(ShapeError, match="expected one of each"):
        classical_margins(spinning_body())
    with pytest.raises(ModelError, match="well posed"):
        disk_margins(model_of([[-1.0]], [[1.0]], [[1.0]], [[-1.0]]))


def test_dynamic_feedback_enters_the_loop() -> None:
    """P = 1 / s^2 with the lead K = (3 s + 1) / (s + 3): the same loop gain as the product."""
    plant = model_of([[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]], [[1.0, 0.0]])
    lead = model_of([[-3.0]], [[1.0]], [[-8.0]], [[3.0]])
    for at in ("input", "output"):
        loop = disk_margins(plant, lead, at=at).loop
        w = np.array([0.3, 2.0])
        expected = (3j * w + 1.0) / (1j * w + 3.0) / (1j * w) ** 2
        np.testing.assert_allclose(loop.frequency_response(w)[:, 0, 0], expected, rtol=1e-12)
    both = disk_margins(plant, lead, at="both")
    # two factors f1 f2 in one loop: each may have half of the phase
    assert both.simultaneous.phase < disk_margins(plant, lead).simultaneous.phase


def test_upper_bounds_of_mu_equal_those_of_slycot_where_it_is_installed() -> None:
    """A cross-check with SLICOT's AB13MD; slycot is optional here and never a requirement."""
    slycot = pytest.importorskip("slycot", reason="slycot is an optional peer for this cross-check only")
    rng = np.random.default_rng(1)
    for n in (2, 3, 4, 6, 9):
        M = rng.standard_normal((n, n)) + 1j * rng.standard_normal((n, n))
        expected = slycot.ab13md(M, np.ones(n, dtype=int), 2 * np.ones(n, dtype=int))[0]
        # smooth approximation of the norm, order 8192: n**(1 / 8192) - 1
        assert upper_bound(M)[0] == pytest.approx(expected, rel=3e-4)
