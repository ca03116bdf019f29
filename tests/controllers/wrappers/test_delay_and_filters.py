"""Delay, low-pass and notch: frequency responses against closed forms, and a delayed loop against its difference equation."""

from __future__ import annotations

import dataclasses
from math import factorial

import numpy as np
import pytest
from scipy.signal import bilinear_zpk, freqz_zpk

from spacectl import (
    JointForce,
    ModelError,
    Part,
    Prismatic,
    RigidBody,
    System,
    add_delay,
    add_low_pass,
    add_notch,
    design_pd,
    form_equations,
    simulate,
)
from spacectl.controllers.wrappers.delay import pade_filter
from tests.controllers.carrier import carrier, frequency_response, run_samples

W = np.geomspace(0.1, 300.0, 40)  # [rad/s]


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5, 10])
def test_the_delay_filter_is_all_pass_and_lags_by_the_delay(order: int) -> None:
    delay = 0.2
    law = add_delay(carrier(), delay, order=order)
    response = frequency_response(law, W)
    np.testing.assert_allclose(np.abs(response), 1.0, atol=1e-12)  # rounding times the size of A, some hundred
    # leading term of the error, where it is above rounding and the next term (about x^2 / (8 order) of it) is small
    x = np.array([0.4, 0.8]) * order**0.5
    error = np.abs(frequency_response(law, x / delay) - np.exp(-1j * x))
    leading = factorial(order) ** 2 / (factorial(2 * order) * factorial(2 * order + 1)) * x ** (2 * order + 1)
    seen = leading > 1e-13
    np.testing.assert_allclose(error[seen], leading[seen], rtol=0.15)
    assert np.all(error[~seen] < 1e-12)


def test_the_delay_filter_has_the_coefficients_of_pade() -> None:
    """(12 - 6 x + x^2) / (12 + 6 x + x^2) for exp(-x), here in x / 2."""
    A, B, C, D = pade_filter(2)
    for s in (0.3, 1.7j, -0.2 + 0.9j):
        value = C @ np.linalg.solve(s * np.eye(2) - A, B) + D
        x = 2.0 * s
        assert value == pytest.approx((12 - 6 * x + x * x) / (12 + 6 * x + x * x), rel=1e-13)


def test_a_delay_starts_at_rest() -> None:
    law = add_delay(carrier(), 0.2, order=4, start=3.0)
    _, z_dot, _ = law.function(0.0, [3.0], [], law.z0, [], law.p)
    np.testing.assert_allclose(np.asarray(z_dot), 0.0, atol=1e-12)
    assert law(0.0, [3.0]) == pytest.approx(3.0)


def test_a_delayed_sampled_loop_follows_its_difference_equation() -> None:
    """A mass with a force that is two periods late: exact steps of a double integrator, and its instability."""
    mass, T, kp, kd, late = 2.0, 0.1, 4.0, 3.0, 2
    slider = RigidBody(name="slider", mass=mass, inertia=(1.0, 1.0, 1.0))
    part = Part(slider, joint=Prismatic(name="slide", axis="x"))
    eom = form_equations(System(name="slider", parts=(part,), actuators=(JointForce(joint="slide"),)))
    law = add_delay(design_pd(eom, kp=kp, kd=kd, period=T), late * T)
    sim = simulate(eom, law, x0={"slide": 1.0}, t_span=(0.0, 4.0), grid=T * np.arange(41), rtol=1e-12, atol=1e-12)
    q, v, line, expected = 1.0, 0.0, [0.0] * late, []
    for _ in range(41):
        expected.append([q, v])
        line = [-kp * q - kd * v, *line]
        a = line.pop() / mass
        q, v = q + T * v + 0.5 * T * T * a, v + T * a
    np.testing.assert_allclose(sim.x, expected, atol=1e-11)  # 40 steps at 1e-12


def test_a_delay_of_zero_passes() -> None:
    np.testing.assert_array_equal(run_samples(add_delay(carrier(0.1), 0.0), [1.0, 2.0]), [1.0, 2.0])
    assert len(add_delay(carrier(), 0.0).memory) == 0


def test_low_pass_and_notch_have_their_transfer_functions() -> None:
    s, w0 = 1j * W, 12.0
    low = frequency_response(add_low_pass(carrier(), w0, damping=0.4), W)
    np.testing.assert_allclose(low, w0**2 / (s**2 + 2 * 0.4 * w0 * s + w0**2), rtol=1e-10)
    first = frequency_response(add_low_pass(carrier(), w0, order=1), W)
    np.testing.assert_allclose(first, w0 / (s + w0), rtol=1e-12)
    notch = frequency_response(add_notch(carrier(), w0, damping=0.3, depth=0.1), W)
    expected = (s**2 + 2 * 0.1 * 0.3 * w0 * s + w0**2) / (s**2 + 2 * 0.3 * w0 * s + w0**2)
    np.testing.assert_allclose(notch, expected, rtol=1e-10)


@pytest.mark.parametrize("kind", ["low pass", "first order", "notch"])
def test_sampled_filters_are_the_bilinear_ones_of_scipy(kind: str) -> None:
    T, w0, damping, depth = 0.02, 60.0, 0.3, 0.2
    g = w0 / np.tan(0.5 * w0 * T)  # prewarped: s = g (q - 1) / (q + 1)
    poles = np.roots([1.0, 2 * damping * w0, w0**2])
    if kind == "low pass":
        law, zpk = add_low_pass(carrier(T), w0, damping=damping), ([], poles, w0**2)
    elif kind == "first order":
        law, zpk = add_low_pass(carrier(T), w0, order=1), ([], [-w0], w0)
    else:
        law = add_notch(carrier(T), w0, damping=damping, depth=depth)
        zpk = (np.roots([1.0, 2 * depth * damping * w0, w0**2]), poles, 1.0)
    w = np.linspace(0.5, 0.99 * np.pi / T, 50)
    expected = freqz_zpk(*bilinear_zpk(*zpk, fs=0.5 * g), worN=w * T)[1]
    np.testing.assert_allclose(frequency_response(law, w), expected, atol=1e-12)


def test_the_notch_is_where_it_was_asked_for_at_any_period() -> None:
    for T in (0.0, 0.001, 0.02, 0.04):
        assert abs(frequency_response(add_notch(carrier(T), 60.0), np.array([60.0]))[0]) < 1e-13


def test_filters_start_at_rest() -> None:
    for T in (0.0, 0.05):
        for law in (add_low_pass(carrier(T), 9.0, start=2.0), add_notch(carrier(T), 9.0, start={"out": 2.0})):
            u, z_dot, z_next = law.function(0.0, [2.0], [], law.z0, [], law.p)
            assert float(u) == pytest.approx(2.0)
            np.testing.assert_allclose(np.asarray(z_dot), 0.0, atol=1e-12)
            np.testing.assert_allclose(np.asarray(z_next).reshape(-1), law.z0, atol=1e-12)


@pytest.mark.parametrize(
    ("wrap", "words"),
    [
        (lambda law: add_delay(law, 0.025), ("carrier", "'out'", "0.02", "0.03")),
        (lambda law: add_delay(law, -0.01), ("carrier", "0 or a positive")),
        (lambda law: add_delay(dataclasses.replace(law, period=0.0), 0.1, order=0), ("order", "1 to 10")),
        (lambda law: add_low_pass(law, 400.0), ("carrier", "'out'", "sample faster")),
        (lambda law: add_low_pass(law, 10.0, order=3), ("order", "1 or 2")),
        (lambda law: add_low_pass(law, 10.0, damping=0.0), ("damping", "positive")),
        (lambda law: add_notch(law, 10.0, depth=1.0), ("depth", "below 1")),
        (lambda law: add_notch(law, {"in": 10.0}), ("carrier", "'in'", "out")),
    ],
)
def test_wrong_arguments_are_explained(wrap, words) -> None:
    with pytest.raises(ModelError) as caught:
        wrap(carrier(0.01))
    for word in words:
        assert word in str(caught.value)
