"""Gain, phase and delay margins of single loops: python-control, closed forms, and loops with their delay in them."""

from __future__ import annotations

from math import comb, factorial

import numpy as np
import pytest

from spacectl import LinearModel
from spacectl.linear.margins.classical import classical_margins
from spacectl.linear.margins.disk import disk_margins
from tests.linear.test_norms import model_of

LOOPS = {
    "cubic": ([25.0], [1.0, 10.0, 10.0, 10.0]),
    "servo": ([10.0], [1.0, 6.0, 5.0, 0.0]),
    "conditional": ([3.0], [1.0, -1.0]),
    "zero": ([-0.2, 0.2], [1.0, 2.0, 0.0]),
    "lead": ([5.0, 5.0], [1.0, 10.0, 0.0, 0.0]),
    "resonant": ([50.0], np.polymul([1.0, 4.0, 100.0], [1.0, 1.0])),
    # a zero at the origin, so that the phase leads at low frequencies
    "rate of a mode": ([2.0, 0.0], [1.0, 0.1, 1.0]),
    "acceleration of a mode": ([0.6, 0.0, 0.0], [1.0, 0.1, 1.0]),
}


@pytest.mark.parametrize("name", LOOPS)
def test_single_loops_equal_python_control(name: str) -> None:
    control = pytest.importorskip("control")
    transfer = control.tf(*LOOPS[name])
    loop = LinearModel.from_control(control.ss(transfer))
    mine = classical_margins(loop)
    gains, phases, _, at_gain, at_phase, _ = control.stability_margins(transfer, returnall=True)
    assert mine.is_stable
    np.testing.assert_allclose(mine.gain_crossings, at_phase, rtol=1e-6)
    at_gain = at_gain[np.isfinite(gains)]  # it counts zeros of the loop gain too
    np.testing.assert_allclose(mine.phase_crossings, at_gain, rtol=1e-6, atol=1e-9)
    assert mine.gain[1] == pytest.approx(min([g for g in gains if g > 1.0], default=np.inf), rel=1e-7)
    assert mine.gain[0] == pytest.approx(max([g for g in gains if g < 1.0], default=0.0), rel=1e-7)
    assert np.degrees(mine.phase) == pytest.approx(min(np.abs(phases), default=np.inf), rel=1e-6)
    if hasattr(control, "disk_margins"):  # on a grid: it may miss the peak from one side only
        grid = np.unique(np.concatenate([np.logspace(-4, 4, 4000), [disk_margins(loop).simultaneous.frequency]]))
        expected = control.disk_margins(transfer, grid[grid > 0.0])[0]
        assert disk_margins(loop).simultaneous.alpha == pytest.approx(expected, rel=1e-5)


def test_entries_of_the_size_of_rounding_do_not_hide_a_crossing() -> None:
    """0.2 (1 - s) / (s (s + 2)) in a realisation whose zeros are rounding, as a peer makes it: balancing them hid all."""
    A = [[-2.0, 2.2e-16], [-1.0, 1.1e-16]]
    found = classical_margins(model_of(A, [[-1.0], [0.0]], [[0.2, 0.2]]))
    assert found.gain == (0.0, pytest.approx(10.0, rel=1e-9))  # at w^2 = 2, L = -0.1
    assert found.phase_crossings == pytest.approx([np.sqrt(2.0)], rel=1e-9)
    # |L| = 1: 0.04 (1 + w^2) = w^2 (w^2 + 4)
    square = (-3.96 + np.sqrt(3.96**2 + 0.16)) / 2.0
    assert found.gain_crossings == pytest.approx([np.sqrt(square)], rel=1e-9)


def poles_with_delay(name: str, delay: float, order: int = 10) -> np.ndarray:
    """Closed-loop poles with the delay as Pade's all-pass: exact in size, in phase to 1e-6 up to w delay = 7."""
    k = np.arange(order, -1, -1)
    bottom = np.array([comb(order, j) * factorial(2 * order - j) / factorial(2 * order) for j in k]) * delay**k
    numerator, denominator = LOOPS[name]
    return np.roots(np.polyadd(np.polymul(denominator, bottom), np.polymul(numerator, bottom * (-1.0) ** k)))


@pytest.mark.parametrize("name", LOOPS)
def test_delay_margin_is_the_first_delay_that_destroys_stability(name: str) -> None:
    """Crossings with a leading phase count too: there the delay turns the loop gain by more than half a turn."""
    control = pytest.importorskip("control")
    delay = classical_margins(LinearModel.from_control(control.ss(control.tf(*LOOPS[name])))).delay
    assert (delay == np.inf) == (name == "resonant")  # smaller than one at all frequencies
    for part in (0.1, 0.5, 0.9, 0.99):
        assert np.max(poles_with_delay(name, part * min(delay, 100.0)).real) < 0.0
    if np.isfinite(delay):
        assert np.max(poles_with_delay(name, 1.01 * delay).real) > 0.0


def test_delay_margin_of_acceleration_feedback_has_its_closed_form() -> None:
    """L = k s^2 / (s^2 + c s + 1) leads at both crossings, ``(1 - k^2) w^4 - (2 - c^2) w^2 + 1 = 0``.

    There ``-L`` lags by ``2 pi - angle``: the delay is the smaller of both lags over their frequencies.
    """
    k, c = 0.6, 0.1
    found = classical_margins(model_of([[0.0, 1.0], [-1.0, -c]], [[0.0], [1.0]], [[-k, -k * c]], [[k]]))
    w = np.sqrt(np.sort(np.roots([1.0 - k**2, -(2.0 - c**2), 1.0])))
    np.testing.assert_allclose(found.gain_crossings, w, rtol=1e-9)
    lead = np.pi - np.arctan2(c * w, 1.0 - w**2)  # of L: between 0 and pi
    assert np.all(lead > 0.0)
    assert found.delay == pytest.approx(np.min((np.pi + lead) / w), rel=1e-9)
    assert found.phase == pytest.approx(np.min(np.pi - lead), rel=1e-7)


@pytest.mark.parametrize("direct", [1.0, 2.0, -1.5])
def test_any_delay_destroys_a_loop_whose_direct_gain_is_not_small(direct: float) -> None:
    """1 + D exp(-s delay) = 0 has roots with real part ln|D| / delay, which those of the loop approach far out."""
    found = classical_margins(model_of([[-1.0]], [[0.2]], [[1.0]], [[direct]]))  # its pole is -1 - 0.2 / (1 + D)
    assert found.is_stable and found.delay == 0.0
