"""Input shapers: their defining properties, exact shaping of commands, and sensitivity."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from spacectl import (
    Labels,
    LinearModel,
    ModelError,
    Shaper,
    Trajectory,
    combine_shapers,
    design_shaper,
    draw_sensitivity,
    modes,
    shape_command,
    shape_modes,
    shape_trajectory,
)

W0 = 3.0  # [rad/s]
DAMPING = [0.0, 0.01, 0.1, 0.3]


def residual_of_oscillator(shaper: Shaper, w: float, z: float) -> float:
    """Envelope after the last impulse, by the equations of motion of an oscillator hit by the impulses."""
    x = np.zeros(2)
    times = np.asarray(shaper.times)
    for k, a in enumerate(np.asarray(shaper.amplitudes)):
        x[1] += a
        if k + 1 < times.size:
            rule = lambda t, s: [s[1], -(w**2) * s[0] - 2 * z * w * s[1]]  # noqa: E731
            x = solve_ivp(rule, (0.0, times[k + 1] - times[k]), x, rtol=1e-12, atol=1e-14).y[:, -1]
    wd = w * np.sqrt(1 - z * z)
    return float(np.hypot(x[0] * wd, x[1] + z * w * x[0]))  # one impulse of size 1: 1


@pytest.mark.parametrize("kind", ["ZV", "ZVD", "ZVDD", "EI", "UM-ZV"])
@pytest.mark.parametrize("z", [0.0, 0.1])
def test_residual_is_that_of_an_oscillator(kind: str, z: float) -> None:
    shaper = design_shaper(W0, z, kind=kind)
    for w in (0.6 * W0, W0, 1.3 * W0):
        assert shaper.residual(w, z) == pytest.approx(residual_of_oscillator(shaper, w, z), abs=1e-9)


@pytest.mark.parametrize("z", DAMPING)
def test_zero_vibration_and_its_derivatives(z: float) -> None:
    step = 1e-3 * W0
    for kind, order in (("ZV", 1), ("ZVD", 2), ("ZVDD", 3)):
        shaper = design_shaper(W0, z, kind=kind)
        assert shaper.residual(W0, z) < 1e-15
        half, full = shaper.residual(W0 + 0.5 * step, z), shaper.residual(W0 + step, z)
        assert full / half == pytest.approx(2.0**order, rel=2e-3)  # grows with the power of the zero, to first order
        assert shaper.duration == pytest.approx(order * np.pi / (W0 * np.sqrt(1 - z * z)))


def test_shapers_without_damping_are_those_of_the_textbooks() -> None:
    T, V = 2.0 * np.pi / W0, 0.05
    ei, unity = design_shaper(W0, kind="EI", level=V), design_shaper(W0, kind="UM-ZV")
    np.testing.assert_allclose(ei.times, [0.0, T / 2, T], rtol=1e-14)
    np.testing.assert_allclose(ei.amplitudes, [(1 + V) / 4, (1 - V) / 2, (1 + V) / 4], rtol=1e-14)
    np.testing.assert_allclose(unity.times, [0.0, T / 6, T / 3], rtol=1e-14)
    np.testing.assert_allclose(design_shaper(W0, kind="ZVD").amplitudes, [0.25, 0.5, 0.25])


@pytest.mark.parametrize("z", DAMPING)
def test_ei_has_its_level_at_the_frequency_and_a_maximum_there(z: float) -> None:
    level = 0.05
    shaper = design_shaper(W0, z, kind="EI", level=level)
    assert shaper.residual(W0, z) == pytest.approx(level, abs=1e-12)
    w = np.linspace(0.6 * W0, 1.5 * W0, 9001)
    V = shaper.residual(w, z)
    inner = np.abs(w - W0) < 0.05 * W0
    assert w[inner][np.argmax(V[inner])] == pytest.approx(W0, abs=2e-4 * W0)
    for side in (w < W0, w > W0):
        assert np.min(V[side]) < 1e-3  # a zero between two points of the grid: slope times spacing
    if z < 0.2:
        assert shaper.insensitivity(level) > design_shaper(W0, z, kind="ZVD").insensitivity(level)


def test_insensitivity_of_singhose() -> None:
    """5 % insensitivity without damping: 0.06 for ZV, 0.29 for ZVD, 0.40 for EI (Singhose's survey, two digits)."""
    for kind, width in (("ZV", 0.06), ("ZVD", 0.29), ("EI", 0.40)):
        assert design_shaper(W0, kind=kind).insensitivity(0.05) == pytest.approx(width, abs=0.006)
    # ZV in closed form: V = |cos(pi w / (2 w0))|
    assert design_shaper(W0, kind="ZV").insensitivity(0.05) == pytest.approx(4 / np.pi * np.arcsin(0.05), abs=2e-4)


def test_several_modes_are_all_at_rest() -> None:
    frequencies, damping = [2.0, 5.5, 9.0], [0.01, 0.005, 0.02]
    shaper = design_shaper(frequencies, damping, kind="ZV")
    assert shaper.times.size == 8 and float(np.sum(shaper.amplitudes)) == pytest.approx(1.0)
    assert np.max(shaper.residual(frequencies, damping)) < 1e-15
    parts = [design_shaper(w, z, kind="ZV") for w, z in zip(frequencies, damping, strict=True)]
    w = np.linspace(0.0, 12.0, 50)
    product = np.prod([item.residual(w, 0.02) for item in parts], axis=0)
    np.testing.assert_allclose(combine_shapers(parts).residual(w, 0.02), product, atol=1e-14)


def test_impulses_that_coincide_are_merged() -> None:
    shaper = combine_shapers([design_shaper(W0, kind="ZV")] * 2)
    np.testing.assert_allclose(shaper.amplitudes, [0.25, 0.5, 0.25])
    assert shaper.frequencies.tolist() == [W0, W0]


def oscillators() -> LinearModel:
    """A rigid mode, one that decays, and two oscillators, far from each other."""
    A = np.zeros((7, 7))
    A[0, 1] = 1.0
    A[2, 2] = -3.0
    for k, (w, z) in ((3, (2.0, 0.02)), (5, (7.0, 0.1))):
        A[k : k + 2, k : k + 2] = [[0.0, 1.0], [-w * w, -2 * z * w]]
    names = ("angle", "angle_dot", "lag", "eta1", "eta1_dot", "eta2", "eta2_dot")
    x = Labels(names, (), "state")
    return LinearModel(A=A, B=np.ones((7, 1)), C=np.eye(7), D=np.zeros((7, 1)), x=x, u=Labels(("f",)), y=x)


def test_modes_by_name_and_number() -> None:
    found = modes(oscillators())
    by_state = shape_modes(found, ("eta1", "eta2_dot"), kind="ZV")
    np.testing.assert_allclose(by_state.frequencies, [2.0, 7.0], rtol=1e-12)
    np.testing.assert_allclose(by_state.damping, [0.02, 0.1], rtol=1e-10)
    numbers = [k + 1 for k in range(len(found)) if found.poles[k].imag > 0.0]
    assert shape_modes(found, numbers, kind="ZV") == by_state
    assert shape_modes(found, f"mode{numbers[0]}").frequencies.tolist() == by_state.frequencies[:1].tolist()
    lag = next(k + 1 for k in range(len(found)) if abs(found.poles[k] + 3.0) < 1e-9)
    with pytest.raises(ModelError, match=f"mode{lag}.*does not oscillate.*mode{numbers[0]}"):
        shape_modes(found, lag)
    with pytest.raises(ModelError, match="eta3.*did you mean 'eta"):
        shape_modes(found, "eta3")
    with pytest.raises(ModelError, match="no mode given"):
        shape_modes(found, ())


@pytest.mark.parametrize("rule", ["previous", "linear", "cubic"])
def test_shaped_trajectories_are_exact(rule: str) -> None:
    rng = np.random.default_rng(4)
    t = np.cumsum(rng.uniform(0.05, 0.4, 9))
    plan = Trajectory(t=t, values=rng.normal(size=(9, 2)), labels=Labels(("a", "b"), ("rad", "m")), interpolation=rule)
    shaper = design_shaper([3.0, 11.0], 0.02, kind="ZVD")
    shaped = shape_trajectory(shaper, plan)
    assert shaped.labels == plan.labels and shaped.interpolation == rule
    times = np.sort(rng.uniform(-1.0, t[-1] + shaper.duration + 1.0, 500))
    copies = [(a, times - d) for a, d in zip(shaper.amplitudes, shaper.times, strict=True)]
    np.testing.assert_allclose(shaped(times), sum(a * plan(s) for a, s in copies), atol=1e-13)
    np.testing.assert_allclose(shaped.rate(times), sum(a * plan.rate(s) for a, s in copies), atol=1e-11)
    assert shaped(-10.0) == pytest.approx(plan(-10.0)) and shaped(99.0) == pytest.approx(plan(99.0))


def test_shaping_survives_knots_that_differ_by_rounding() -> None:
    """Steps every 0.1 s and a shaper of 0.3 s: sums of the two differ in the last digit."""
    plan = Trajectory(t=0.1 * np.arange(20), values=np.arange(20.0)[:, None], interpolation="previous")
    shaper = design_shaper(np.pi / 0.3, kind="ZV")
    shaped = shape_trajectory(shaper, plan)
    assert shaped.t.size == 23
    k = np.arange(23)
    expected = 0.5 * np.minimum(k, 19) + 0.5 * np.maximum(k - 3, 0)
    np.testing.assert_allclose(np.asarray(shaped.values)[:, 0], expected, atol=1e-13)


def test_a_smooth_trajectory_keeps_single_knots() -> None:
    plan = Trajectory(t=[0.0, 1.0, 2.0], values=[[0.0], [0.5], [1.0]], rates=[[0.0], [0.75], [0.0]])
    shaped = shape_trajectory(design_shaper(2.2, kind="ZV"), plan)
    assert np.min(np.diff(shaped.t)) > 0.1
    moving = Trajectory(t=[0.0, 1.0], values=[[0.0], [1.0]], rates=[[1.0], [1.0]])
    assert np.min(np.diff(shape_trajectory(design_shaper(2.2, kind="ZV"), moving).t)) < 1e-15


def test_shaped_steps_are_staircases_that_end_where_they_should() -> None:
    shaper = design_shaper(2.0, 0.05, kind="ZVD")
    shaped = shape_command(shaper, [1.0, 3.0, 5.0], [2.0, -2.0, 0.0], labels=Labels(("torque",), ("N m",)))
    times = np.linspace(-2.0, 12.0, 701)
    steps = lambda t: np.where(t < 1.0, 0.0, np.where(t < 3.0, 2.0, np.where(t < 5.0, -2.0, 0.0)))  # noqa: E731
    expected = sum(a * steps(times - d) for a, d in zip(shaper.amplitudes, shaper.times, strict=True))
    np.testing.assert_allclose(shaped(times)[:, 0], expected, atol=1e-14)
    assert shaped.labels.names == ("torque",) and shaped.interpolation == "previous"


def test_sensitivity_figure() -> None:
    shapers = [design_shaper(W0, 0.02, kind=kind) for kind in ("ZV", "ZVD", "EI")]
    panel = draw_sensitivity(shapers).panels[0]
    assert [line.label for line in panel.lines] == ["ZV", "ZVD", "EI", "design, 0.4775 Hz"]
    x, y = 2.0 * np.pi * np.asarray(panel.lines[0].x), np.asarray(panel.lines[0].y)  # shown in Hz
    assert panel.x_unit == "Hz"
    assert x[np.argmin(y)] == pytest.approx(W0, abs=x[1] - x[0])
    np.testing.assert_allclose(y, shapers[0].residual(x, 0.02))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: design_shaper(0.0), ("positive", "rigid mode")),
        (lambda: design_shaper(2.0, 1.0), ("damping ratio", "below 1")),
        (lambda: design_shaper(2.0, -0.1), ("damping ratio", "grow")),
        (lambda: design_shaper(2.0, kind="XYZ"), ("XYZ", "'ZVD'")),
        (lambda: design_shaper(2.0, kind="EI", level=1.5), ("level", "between 0 and 1")),
        (lambda: design_shaper([1.0, 2.0], [0.1, 0.1, 0.1]), ("one each",)),
        (lambda: Shaper(times=[0.0, 1.0], amplitudes=[0.5, 0.6]), ("sum to 1.1", "divide")),
        (lambda: Shaper(times=[0.1, 1.0], amplitudes=[0.5, 0.5]), ("start at 0",)),
        (lambda: Shaper(times=[0.0, 1.0], amplitudes=[1.0]), ("equal lengths",)),
        (lambda: Shaper(times=[0.0], amplitudes=[1.0]).insensitivity(), ("not designed",)),
        (lambda: Shaper(times=[0.0], amplitudes=[1.0]).residual(-1.0), ("frequencies",)),
        (lambda: combine_shapers([]), ("at least one",)),
        (lambda: shape_trajectory(design_shaper(1.0), 3.0), ("Trajectory", "float")),
        (lambda: shape_command(design_shaper(1.0), [0.0, 1.0], [1.0]), ("(n,)",)),
        (lambda: draw_sensitivity([]), ("frequencies=",)),
    ],
)
def test_wrong_arguments_are_explained(make, words) -> None:
    with pytest.raises(ModelError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)
