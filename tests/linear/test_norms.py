"""Norms: closed forms of first- and second-order systems, light damping, peers, invariance, infinite cases by name."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacectl import Labels, LinearModel, ModelError, form_equations, library, linearize
from spacectl.linear.margins.norms import h2_norm, h_infinity_norm


def model_of(A, B, C, D=None) -> LinearModel:
    A, B, C = (np.atleast_2d(np.asarray(item, dtype=float)) for item in (A, B, C))
    x, u, y = (
        Labels(tuple(f"{a}{i + 1}" for i in range(k)), (), a)
        for a, k in zip("xuy", (len(A), B.shape[1], len(C)), strict=True)
    )
    return LinearModel(A=A, B=B, C=C, D=np.zeros((len(C), B.shape[1])) if D is None else D, x=x, u=u, y=y)


def oscillator(w: float, zeta: float) -> LinearModel:
    """1 / (s^2 + 2 zeta w s + w^2)."""
    return model_of([[0.0, 1.0], [-(w**2), -2.0 * zeta * w]], [[0.0], [1.0]], [[1.0, 0.0]])


def random_model(seed: int, n: int = 6, m: int = 2, k: int = 3) -> LinearModel:
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n))
    A -= (np.max(np.linalg.eigvals(A).real) + rng.uniform(0.01, 1.0)) * np.eye(n)
    return model_of(A, rng.standard_normal((n, m)), rng.standard_normal((k, n)), 0.3 * rng.standard_normal((k, m)))


def flexible(seed: int, count: int, zeta: float) -> LinearModel:
    """A structure with modes from 0.1 to 100 rad/s, all with damping zeta."""
    rng = np.random.default_rng(seed)
    w = np.logspace(-1.0, 2.0, count)
    A = np.block([[np.zeros((count, count)), np.eye(count)], [-np.diag(w**2), -2.0 * zeta * np.diag(w)]])
    B = np.vstack([np.zeros((count, 2)), rng.standard_normal((count, 2))])
    return model_of(A, B, np.hstack([rng.standard_normal((2, count)), np.zeros((2, count))]))


@pytest.mark.parametrize("w", [1e-3, 1.0, 500.0])
@pytest.mark.parametrize("zeta", [0.5, 0.1, 1e-3, 1e-6])
def test_peak_of_an_oscillator(w: float, zeta: float) -> None:
    """1 / (2 zeta sqrt(1 - zeta^2) w^2) at w sqrt(1 - 2 zeta^2)."""
    found = h_infinity_norm(oscillator(w, zeta))
    # rounding of 1 - zeta**2 against one, over zeta
    assert found.value == pytest.approx(1.0 / (2.0 * zeta * np.sqrt(1.0 - zeta**2) * w**2), rel=1e-9)
    # a flat top: a relative error of 1e-9 in height allows its root times the width of the peak
    assert found.frequency == pytest.approx(w * np.sqrt(1.0 - 2.0 * zeta**2), rel=1e-4 * zeta + 1e-12)


def test_overdamped_systems_peak_at_zero_and_direct_gains_at_infinity() -> None:
    slow = h_infinity_norm(oscillator(2.0, 0.9))
    assert slow.value == pytest.approx(0.25, rel=1e-9) and slow.frequency == 0.0
    high_pass = h_infinity_norm(model_of([[-1.0]], [[1.0]], [[-1.0]], [[1.0]]))  # s / (s + 1)
    assert high_pass.value == pytest.approx(1.0, rel=1e-7) and high_pass.frequency == np.inf
    gain = h_infinity_norm(model_of(np.zeros((0, 0)), np.zeros((0, 2)), np.zeros((2, 0)), np.diag([3.0, 4.0])))
    assert gain.value == pytest.approx(4.0)


def test_all_pass_has_unit_gain() -> None:
    found = h_infinity_norm(model_of([[-2.0]], [[4.0]], [[-1.0]], [[1.0]]))  # (s - 2) / (s + 2)
    assert found.value == pytest.approx(1.0, rel=1e-7)


@pytest.mark.parametrize(("w", "zeta"), [(1e-3, 0.7), (1.0, 0.1), (40.0, 1e-5)])
def test_h2_norm_of_an_oscillator(w: float, zeta: float) -> None:
    """Variance 1 / (4 zeta w^3) under white noise."""
    assert h2_norm(oscillator(w, zeta)).value == pytest.approx(np.sqrt(1.0 / (4.0 * zeta * w**3)), rel=1e-9)


def test_no_frequency_has_a_larger_gain_and_the_directions_reach_it() -> None:
    for model in (random_model(3), flexible(1, 8, 1e-3)):
        found = h_infinity_norm(model)
        peaks = np.concatenate([np.logspace(-3, 3, 4000), np.abs(model.poles.imag)])
        gains = np.linalg.norm(model.frequency_response(peaks), 2, axis=(1, 2))
        assert np.max(gains) <= found.value * (1.0 + 1e-9)
        u, y = (np.array(list(item.values())) for item in (found.input_direction, found.output_direction))
        G = model.frequency_response(found.frequency)[0]
        np.testing.assert_allclose(G @ u, found.value * y, rtol=1e-7, atol=1e-9 * found.value)
        assert tuple(found.input_direction) == model.u.names


@given(seed=st.integers(0, 10_000))
def test_norms_do_not_depend_on_the_coordinates_of_the_state(seed: int) -> None:
    model = random_model(seed)
    rng = np.random.default_rng(seed + 1)
    T = np.linalg.qr(rng.standard_normal((6, 6)))[0] * np.exp(rng.uniform(-3.0, 3.0, 6))
    A, B, C = (np.asarray(item) for item in (model.A, model.B, model.C))
    other = model_of(np.linalg.solve(T, A @ T), np.linalg.solve(T, B), C @ T, model.D)
    # rounding times the condition of T, about 400, and of the gain near a pole
    assert h_infinity_norm(other).value == pytest.approx(h_infinity_norm(model).value, rel=1e-8)
    plain = [model_of(*(np.asarray(getattr(item, name)) for name in "ABC")) for item in (model, other)]
    assert h2_norm(plain[1]).value == pytest.approx(h2_norm(plain[0]).value, rel=1e-8)


@given(seed=st.integers(0, 10_000), rate=st.floats(1e-4, 1e4))
def test_norms_follow_a_change_of_the_unit_of_time(seed: int, rate: float) -> None:
    model = random_model(seed)
    A, B, C, D = (np.asarray(getattr(model, name)) for name in "ABCD")
    faster = model_of(rate * A, rate * B, C, D)
    one, two = h_infinity_norm(model), h_infinity_norm(faster)
    assert two.value == pytest.approx(one.value, rel=1e-8)
    plain, quick = model_of(A, B, C), model_of(rate * A, rate * B, C)
    assert h2_norm(quick).value == pytest.approx(np.sqrt(rate) * h2_norm(plain).value, rel=1e-8)


def test_models_that_do_not_decay_have_infinite_norms_and_the_mode_is_named() -> None:
    eom = form_equations(library.pendulum())
    swinging = h_infinity_norm(linearize(eom, eom.state()))
    assert swinging.value == np.inf and "hinge" in swinging.message and "does not decay" in swinging.message
    assert swinging.frequency == pytest.approx(abs(linearize(eom, eom.state()).poles[0]))
    falling = h2_norm(linearize(eom, eom.state(hinge=np.pi)))
    assert falling.value == np.inf and "grows" in falling.message and "hinge" in falling.message
    direct = h2_norm(model_of([[-1.0]], [[1.0]], [[1.0]], [[2.0]]))
    assert direct.value == np.inf and "'y1' depends on input 'u1'" in direct.message
    with pytest.raises(ModelError, match="tolerance"):
        h_infinity_norm(oscillator(1.0, 0.1), tolerance=0.0)


@pytest.mark.parametrize(
    "model", [random_model(0, k=2), random_model(1, k=2), flexible(0, 6, 1e-2)], ids=["a", "b", "flexible"]
)
def test_norms_equal_those_of_python_control(model: LinearModel) -> None:
    """Its own functions in scipy: a bisection and a Lyapunov equation (as many outputs as inputs: it needs that)."""
    control = pytest.importorskip("control")
    other = control.ss(*(np.array(getattr(model, name)) for name in "ABCD"))
    expected = control.system_norm(other, p="inf", tol=1e-8, method="scipy")
    assert h_infinity_norm(model).value == pytest.approx(expected, rel=1e-6)
    plain = model_of(model.A, model.B, model.C)
    assert h2_norm(plain).value == pytest.approx(
        control.system_norm(control.ss(*(np.array(getattr(plain, name)) for name in "ABCD")), p=2, method="scipy"),
        rel=1e-8,
    )


@pytest.mark.parametrize("zeta", [1e-2, 1e-5, 1e-8])
def test_norms_equal_those_of_slycot_where_it_is_installed(zeta: float) -> None:
    """A cross-check with SLICOT's AB13DD and AB13BD; slycot is optional here and never a requirement."""
    slycot = pytest.importorskip("slycot", reason="slycot is an optional peer for this cross-check only")
    for model in (flexible(2, 10, zeta), random_model(5)):
        A, B, C, D = (np.array(getattr(model, name)) for name in "ABCD")
        n, m, k = len(A), B.shape[1], len(C)
        peak, where = slycot.ab13dd("C", "I", "S", "D", n, m, k, A, np.eye(n), B, C, D, tol=1e-10)
        found = h_infinity_norm(model, tolerance=1e-10)
        assert found.value == pytest.approx(peak, rel=1e-9)
        assert found.frequency == pytest.approx(where, rel=1e-4)
        root = slycot.ab13bd("C", "H", n, m, k, A.copy(), B.copy(), C.copy(), np.zeros((k, m)))
        assert h2_norm(model_of(A, B, C)).value == pytest.approx(root, rel=1e-9)
