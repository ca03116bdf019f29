"""Controllability and observability: closed cases, names of what is lost, independence of units, library systems."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacectl import Labels, LinearModel, ModelError, form_equations, library, linearize
from spacectl.linear.analysis.controllability import (
    check_controllability,
    check_observability,
    require_detectable,
    require_stabilizable,
)


def model_of(A, B, C=None, names=()) -> LinearModel:
    A, B = np.atleast_2d(np.asarray(A, dtype=float)), np.asarray(B, dtype=float)
    n = len(A)
    C = np.eye(n) if C is None else np.atleast_2d(np.asarray(C, dtype=float))
    x = Labels(tuple(names) or tuple(f"x{i + 1}" for i in range(n)), (), "state")
    u, y = (Labels(tuple(f"{a}{i + 1}" for i in range(k)), (), a) for a, k in (("u", B.shape[1]), ("y", len(C))))
    return LinearModel(A=A, B=B, C=C, D=np.zeros((len(C), B.shape[1])), x=x, u=u, y=y)


def oscillators(*frequencies: float, damping: float = 0.0) -> np.ndarray:
    """Chain of decoupled oscillators, state (q1, q1_dot, q2, q2_dot, ...)."""
    A = np.zeros((2 * len(frequencies),) * 2)
    for i, w in enumerate(frequencies):
        A[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[0.0, 1.0], [-(w**2), -2.0 * damping * w]]
    return A


@pytest.mark.parametrize("rate", [1e-4, 1.0, 1e4])
def test_margin_of_an_oscillator_does_not_depend_on_its_rate(rate: float) -> None:
    """The pair is the same in scaled time; unscaled, its margin would fall to rate**2."""
    found = check_controllability(model_of(oscillators(rate), [[0.0], [1.0]]))
    base = check_controllability(model_of(oscillators(1.0), [[0.0], [1.0]]))
    assert found.is_controllable and found.weak_modes == ()
    assert found.margins[0] > 0.1
    np.testing.assert_allclose(found.margins, base.margins, rtol=1e-9)  # rounding of an eigenvalue
    assert found.rate == pytest.approx(rate)


def test_a_mode_that_no_input_moves_is_named_by_frequency_damping_and_states() -> None:
    names = ("arm", "arm_dot", "boom", "boom_dot")
    model = model_of(oscillators(1.0, 5.0, damping=0.01), [[0.0], [1.0], [0.0], [0.0]], names=names)
    found = check_controllability(model)
    assert not found.is_controllable and found.is_stabilizable
    (mode,) = found.weak_modes
    assert mode.frequency == pytest.approx(5.0) and mode.damping == pytest.approx(0.01) and mode.count == 1
    assert set(mode.states) == {"boom", "boom_dot"}
    assert set(mode.directions[0]) == {"boom", "boom_dot"}
    assert "5 rad/s" in found.message and "boom" in found.message and "arm" not in found.message
    assert "but stabilizable" in found.message
    require_stabilizable(model)


def test_an_undamped_mode_that_nothing_moves_is_refused_by_name() -> None:
    model = model_of(oscillators(1.0, 5.0), [[0.0], [1.0], [0.0], [0.0]], names=("a", "a_dot", "boom", "boom_dot"))
    with pytest.raises(ModelError, match=r"lqr: not stabilizable: no input moves the mode at 5 rad/s.*boom"):
        require_stabilizable(model, what="lqr")
    blind = model_of(oscillators(1.0, 5.0), np.ones((4, 1)), [[1.0, 0.0, 0.0, 0.0]], names=("a", "a_dot", "b", "b_dot"))
    assert not check_observability(blind).is_detectable
    with pytest.raises(ModelError, match=r"not detectable: no output sees the mode at 5 rad/s.*mostly b"):
        require_detectable(blind)


def test_two_equal_oscillators_on_one_input_lose_their_difference() -> None:
    """A repeated pole: each oscillator alone is reached, but (q1 - q2) is not."""
    model = model_of(oscillators(2.0, 2.0), [[0.0], [1.0], [0.0], [1.0]])
    found = check_controllability(model)
    (mode,) = found.weak_modes
    assert mode.count == 1 and mode.frequency == pytest.approx(2.0)
    direction = mode.directions[0]
    assert direction["x2"] == pytest.approx(-direction["x4"], rel=1e-6)  # opposite signs: the difference
    two = check_controllability(model_of(oscillators(2.0, 2.0), [[0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [1.0, 1.0]]))
    assert two.is_controllable


@pytest.mark.parametrize("gap", [1e-2, 1e-3, 1e-5])
def test_margin_of_nearly_equal_oscillators_falls_with_their_distance(gap: float) -> None:
    found = check_controllability(model_of(oscillators(1.0, 1.0 + gap), [[0.0], [1.0], [0.0], [1.0]]))
    assert 0.05 * gap < np.min(found.margins) < gap
    assert found.is_controllable


def test_chains_of_integrators() -> None:
    """Defective poles at the origin: driven at the end all is reached, driven in the middle the end is not."""
    A = np.diag([1.0, 1.0], 1)
    assert check_controllability(model_of(A, [[0.0], [0.0], [1.0]])).is_controllable
    found = check_controllability(model_of(A, [[0.0], [1.0], [0.0]]))
    assert not found.is_stabilizable and set(found.weak_modes[0].directions[0]) == {"x3"}
    assert "origin" in found.message
    seen = check_observability(model_of(A, np.ones((3, 1)), [[0.0, 1.0, 0.0]]))
    assert not seen.is_detectable and set(seen.weak_modes[0].directions[0]) == {"x1"}


@given(seed=st.integers(0, 10_000), inputs=st.integers(1, 3))
def test_margins_do_not_depend_on_units(seed: int, inputs: int) -> None:
    """States, inputs and time in other units (factors from 1/30 to 30): the same margins."""
    rng = np.random.default_rng(seed)
    A, B = rng.standard_normal((5, 5)), rng.standard_normal((5, inputs))
    T, S = np.exp(rng.uniform(-3.4, 3.4, 5)), np.exp(rng.uniform(-3.4, 3.4, inputs))
    rate = float(np.exp(rng.uniform(-6.0, 6.0)))
    one = check_controllability(model_of(A, B))
    two = check_controllability(model_of(rate * A * T / T[:, None], rate * B * S / T[:, None]))
    assert one.is_controllable and two.is_controllable
    # the scaling follows units exactly; what is left is rounding in eigenvalues (condition below 1e4 here)
    np.testing.assert_allclose(two.margins, one.margins, rtol=1e-8)
    np.testing.assert_allclose(two.frequency, rate * one.frequency, rtol=1e-8)


@given(seed=st.integers(0, 10_000))
def test_a_hidden_part_is_found_in_any_coordinates(seed: int) -> None:
    """Kalman form with an uncontrollable part, turned by a random orthogonal matrix."""
    rng = np.random.default_rng(seed)
    A = np.block([[rng.standard_normal((4, 4)), rng.standard_normal((4, 2))], [np.zeros((2, 4)), -np.diag([0.7, 1.3])]])
    B = np.vstack([rng.standard_normal((4, 2)), np.zeros((2, 2))])
    Q = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    found = check_controllability(model_of(Q @ A @ Q.T, Q @ B))
    assert not found.is_controllable and found.is_stabilizable
    lost = sorted(mode.pole.real for mode in found.weak_modes if mode.count)
    np.testing.assert_allclose(lost, [-1.3, -0.7], rtol=1e-8)
    for mode in found.weak_modes:
        if mode.count:
            row = mode.vectors[0] / np.linalg.norm(mode.vectors[0])
            assert np.max(np.abs(row @ (Q @ B))) < 1e-8
            assert np.max(np.abs(row @ (Q @ A @ Q.T) - mode.pole * row)) < 1e-7
    dual = check_observability(model_of((Q @ A @ Q.T).T, np.ones((6, 1)), (Q @ B).T))
    np.testing.assert_allclose(dual.margins, found.margins, atol=1e-12)


def test_joint_torques_of_a_free_flyer_change_no_momentum() -> None:
    """What is lost spans the six rows of momentum by speeds."""
    eom = form_equations(library.free_flyer_arm())
    x = eom.state(joint2=0.5, joint4=-0.8, joint6=0.3)
    found = check_controllability(linearize(eom, x))
    assert not found.is_stabilizable
    (mode,) = [mode for mode in found.weak_modes if mode.count]
    assert mode.count == 6 and mode.frequency == 0.0
    assert all(name.endswith("_dot") or ".w" in name for direction in mode.directions for name in direction)
    assert "origin" in found.message and "base." in found.message
    q, n = x[: eom.n_q], eom.n_v
    momentum = np.stack([eom.momentum(0.0, q, row) for row in np.eye(n)], axis=1)  # linear in the speeds
    lost = mode.vectors.real
    np.testing.assert_allclose(lost[:, :n], 0.0, atol=1e-8 * np.max(np.abs(lost)))
    joined = np.vstack([momentum / np.linalg.norm(momentum, axis=1, keepdims=True), lost[:, n:]])
    joined = joined / np.linalg.norm(joined, axis=1, keepdims=True)
    assert np.linalg.matrix_rank(joined, tol=1e-7) == 6  # the same six-dimensional space
    with pytest.raises(ModelError, match="design_lqr: not stabilizable"):
        require_stabilizable(linearize(eom, x), what="design_lqr")


def test_torques_do_not_move_the_orbit_of_a_body() -> None:
    eom = form_equations(library.orbiting_body(inertia=(80.0, 100.0, 120.0), rate=1.1e-3))
    model = linearize(eom, eom.state())
    found = check_controllability(model)
    lost = [mode for mode in found.weak_modes if mode.count]
    names = {name for mode in lost for direction in mode.directions for name in direction}
    assert names <= {"base.x", "base.y", "base.z", "base.x_dot", "base.y_dot", "base.z_dot"}
    np.testing.assert_allclose([mode.frequency for mode in lost], [0.0, 1.1e-3], atol=1e-12)  # drift, and the orbit
    attitude = [model.x.index(name) for name in ("base.rx", "base.ry", "base.rz", "base.wx", "base.wy", "base.wz")]
    alone = check_controllability(model_of(model.A[np.ix_(attitude, attitude)], np.asarray(model.B)[attitude]))
    assert alone.is_controllable and np.min(alone.margins) > 0.05  # unscaled margins are of order rate**2 = 1e-6


def test_attitude_sensors_of_a_wheel_spacecraft_see_no_wheel_angle() -> None:
    eom = form_equations(library.wheel_spacecraft())
    x = eom.state()
    x[eom.labels.x.index("base.x")] = 7e6
    model = linearize(eom, x, check=False)  # it falls: a point of a motion
    found = check_observability(model)
    lost = [mode for mode in found.weak_modes if mode.count]
    names = {name for mode in lost for direction in mode.directions for name in direction}
    assert {"wheel_x", "wheel_y", "wheel_z"} <= names
    assert not found.is_detectable and "wheel_x" in found.message
    wheels_only = model.select(inputs=("wheel_x", "wheel_y", "wheel_z"))
    assert not check_controllability(wheels_only).is_stabilizable  # wheels move neither the orbit nor all momentum


def test_tables_and_empty_models() -> None:
    found = check_controllability(model_of(oscillators(1.0, 3.0), [[0.0], [1.0], [0.0], [1.0]]))
    assert len(found.table().splitlines()) == 3 and "margin" in found.table()
    nothing = check_controllability(model_of(oscillators(1.0), np.zeros((2, 0))))
    assert not nothing.is_controllable and not nothing.is_stabilizable
