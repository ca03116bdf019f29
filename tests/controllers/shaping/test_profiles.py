"""Smoothed bang-bang: limits are kept and reached, the distance is met, and the known special cases come out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacectl import ModelError, smoothed_bang_bang

positive = st.floats(min_value=0.05, max_value=20.0)


@given(
    distance=positive, acceleration=positive, jerk=positive, rate=st.one_of(positive, st.just(np.inf)),
    shape=st.sampled_from(["ramp", "versine"]), sign=st.sampled_from([-1.0, 1.0]),
)  # fmt: skip
def test_limits_are_satisfied_and_one_is_reached(distance, acceleration, jerk, rate, shape, sign) -> None:
    slew = smoothed_bang_bang(sign * distance, acceleration=acceleration, jerk=jerk, rate=rate, shape=shape)
    assert slew.peak_acceleration <= acceleration * (1 + 1e-9)
    assert slew.peak_rate <= rate * (1 + 1e-9)
    assert slew.peak_jerk == pytest.approx(jerk)
    t = np.linspace(0.0, slew.duration, 2001)
    q, v, a = slew.position(t)[:, 0], slew.position.rate(t)[:, 0], slew.acceleration(t)[:, 0]
    # h^3 / (72 sqrt 3) of the fourth derivative, pi^2 a / (2 edge^2), with h = edge / 32
    between = 2e-6 * slew.peak_acceleration * slew.edge if shape == "versine" else 0.0
    assert np.max(np.abs(v)) <= slew.peak_rate * (1 + 1e-9) + between
    assert np.max(np.abs(a)) <= slew.peak_acceleration * (1 + 1e-9)
    assert q[0] == 0.0 and v[0] == a[0] == 0.0
    assert q[-1] == pytest.approx(sign * distance, rel=1e-9)  # rounding of seven pieces, times duration over edge
    assert slew.position(slew.duration)[0] == pytest.approx(sign * distance, rel=1e-9)
    assert slew.coast >= -1e-9 * slew.duration and slew.flat >= 0.0
    limits = {"acceleration": slew.peak_acceleration / acceleration, "rate": slew.peak_rate / rate}
    if max(limits.values()) < 1 - 1e-9:  # neither is reached: then jerk alone rules
        assert slew.flat == slew.coast == 0.0


def test_bang_bang_is_the_limit_of_large_jerk() -> None:
    slew = smoothed_bang_bang(2.0, acceleration=0.5, jerk=1e6)
    assert slew.duration == pytest.approx(2.0 * np.sqrt(2.0 / 0.5), rel=1e-6)
    assert slew.peak_rate == pytest.approx(np.sqrt(2.0 * 0.5), rel=1e-6)


def test_jerk_alone() -> None:
    """Four ramps of (d / 2 j)^(1/3)."""
    slew = smoothed_bang_bang(2.0, acceleration=100.0, jerk=3.0)
    assert slew.duration == pytest.approx(4.0 * (2.0 / (2.0 * 3.0)) ** (1.0 / 3.0))


@pytest.mark.parametrize("shape", ["ramp", "versine"])
def test_position_rate_and_acceleration_belong_together(shape: str) -> None:
    slew = smoothed_bang_bang(2.0, acceleration=0.5, jerk=1.0, rate=0.6, shape=shape, start=1.0, begin=3.0)
    t = np.linspace(3.0, 3.0 + slew.duration, 20001)
    a = slew.acceleration(t)[:, 0]
    h = t[1] - t[0]
    v = np.concatenate([[0.0], np.cumsum(0.5 * h * (a[1:] + a[:-1]))])
    # trapezoids: exact but where a kink lies in one; the table of a versine is off by (edge/32)^2 of its curvature
    np.testing.assert_allclose(slew.position.rate(t)[:, 0], v, atol=1e-7 if shape == "ramp" else 3e-4)
    q = 1.0 + np.concatenate([[0.0], np.cumsum(0.5 * h * (v[1:] + v[:-1]))])
    np.testing.assert_allclose(slew.position(t)[:, 0], q, atol=1e-6 if shape == "ramp" else 3e-4)
    assert slew.coast > 0.0 and slew.position(0.0)[0] == 1.0 and slew.position(99.0)[0] == pytest.approx(3.0)


def test_versine_table_is_as_good_as_it_says() -> None:
    slew = smoothed_bang_bang(2.0, acceleration=0.5, jerk=1.0, shape="versine")
    s = np.linspace(0.0, 1.0, 1001)
    exact = 0.5 * slew.edge**2 * 0.5 * (0.5 * s**2 - (1.0 - np.cos(np.pi * s)) / np.pi**2)
    error = np.max(np.abs(slew.position(s * slew.edge)[:, 0] - exact))
    assert error < 2e-8 * slew.peak_acceleration * slew.edge**2


def test_a_ramp_of_one_period_does_not_excite_the_mode() -> None:
    """The spectrum of the acceleration has a zero where an edge is a period; next to it, it has not."""
    acceleration, period = 0.4, 1.7
    slew = smoothed_bang_bang(5.0, acceleration=acceleration, jerk=acceleration / period)
    knots, a = np.asarray(slew.acceleration.t), np.asarray(slew.acceleration.values)[:, 0]

    def content(w: float) -> float:
        slopes = np.diff(a) / np.diff(knots)  # the transform of the second derivative, a sum over kinks, over w^2
        kinks = np.diff(np.concatenate([[0.0], slopes, [0.0]]))
        return abs(np.sum(kinks * np.exp(-1j * w * knots))) / w**2

    assert slew.edge == pytest.approx(period)
    assert content(2.0 * np.pi / period) < 1e-12 < 1e-3 < content(1.1 * 2.0 * np.pi / period)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"distance": 0.0}, ("distance", "zero")),
        ({"acceleration": -1.0}, ("acceleration -1", "positive")),
        ({"jerk": np.inf}, ("jerk inf", "shape_command")),
        ({"rate": 0.0}, ("rate 0",)),
        ({"shape": "sine"}, ("sine", "'versine'")),
    ],
)
def test_wrong_arguments_are_explained(options, words) -> None:
    given = {"distance": 1.0, "acceleration": 1.0, "jerk": 1.0, **options}
    with pytest.raises(ModelError) as caught:
        smoothed_bang_bang(given.pop("distance"), **given)
    for word in words:
        assert word in str(caught.value)
