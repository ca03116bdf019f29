"""Reduction: Hankel values in closed form, the error bound, unstable parts, light damping, peers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import block_diag

from spacectl import LinearModel, ModelError, form_equations, library, linearize
from spacectl.linear.analysis.modes import modes
from spacectl.linear.margins.norms import h_infinity_norm
from spacectl.linear.reduction.decompose import factor_gramian, modal_blocks
from spacectl.linear.reduction.reduce import reduce_balanced, reduce_modal
from tests.linear.test_norms import flexible, model_of, random_model


def difference(one: LinearModel, two: LinearModel) -> LinearModel:
    A, B, C, D = ([np.asarray(getattr(item, name)) for item in (one, two)] for name in "ABCD")
    return model_of(block_diag(*A), np.vstack(B), np.hstack([C[0], -C[1]]), D[0] - D[1])


def unstable_model(seed: int) -> LinearModel:
    """A decaying part of order 6 with two growing states and a double integrator, in mixed coordinates."""
    rng = np.random.default_rng(seed)
    A = block_diag(np.asarray(random_model(seed).A), [[0.5, 1.0], [-1.0, 0.5]], [[0.0, 1.0], [0.0, 0.0]])
    T = rng.standard_normal((10, 10))
    return model_of(T @ A @ np.linalg.inv(T), T @ rng.standard_normal((10, 2)), rng.standard_normal((3, 10)))


def test_factor_of_a_gramian_solves_the_equation_and_keeps_small_values() -> None:
    rng = np.random.default_rng(0)
    for n, m in ((1, 1), (2, 3), (7, 1), (12, 4)):
        A = np.asarray(random_model(n, n).A)
        B = rng.standard_normal((n, m))
        L = factor_gramian(A, B)
        P = L @ L.T
        np.testing.assert_allclose(A @ P + P @ A.T, -B @ B.T, atol=1e-12 * np.linalg.norm(A) * np.linalg.norm(P))
    # the Cauchy-like Gramian of A = diag(-a), B = 1 is 1 / (a_i + a_j); its determinant is known exactly
    a = np.arange(1.0, 9.0)
    L = factor_gramian(-np.diag(a), np.ones((8, 1)))
    pairs = [(i, j) for i in range(8) for j in range(i)]
    log_det = sum(2.0 * np.log(abs(a[i] - a[j])) for i, j in pairs) - np.sum(np.log(a[:, None] + a))
    # relative accuracy although the determinant is 1e-37: a computed P would have lost it
    assert 2.0 * np.linalg.slogdet(L)[1] == pytest.approx(log_det, abs=1e-9)


def test_hankel_values_of_a_symmetric_system() -> None:
    """A = A.T, C = B.T: both Gramians are equal, so Hankel values are the eigenvalues of one of them."""
    a = np.array([0.5, 1.0, 3.0, 10.0])
    b = np.array([1.0, -2.0, 0.7, 3.0])
    gramian = np.outer(b, b) / (a[:, None] + a)
    found = reduce_balanced(model_of(-np.diag(a), b[:, None], b[None, :]), order=2)
    np.testing.assert_allclose(found.hankel_values, np.linalg.eigvalsh(gramian)[::-1], rtol=1e-10)
    first = reduce_balanced(model_of([[-2.0]], [[3.0]], [[4.0]]), order=1)  # b c / (2 a)
    assert first.hankel_values[0] == pytest.approx(3.0)


@pytest.mark.parametrize("zeta", [0.01, 1e-4, 1e-8])
def test_hankel_values_of_lightly_damped_modes(zeta: float) -> None:
    """Of 1 / (s^2 + 2 zeta w s + w^2) both tend to 1 / (4 zeta w^2) as zeta vanishes, with an error of order zeta."""
    w = 2.0
    model = model_of([[0.0, 1.0], [-(w**2), -2.0 * zeta * w]], [[0.0], [1.0]], [[1.0, 0.0]])
    values = reduce_balanced(model, order=1).hankel_values
    exact = (np.sqrt(1.0 + zeta**2) + np.array([zeta, -zeta])) / (4.0 * zeta * w**2)
    np.testing.assert_allclose(values, exact, rtol=1e-8)  # rounding over the damping of 1e-8


@given(seed=st.integers(0, 10_000), order=st.integers(1, 5), match_dc=st.booleans())
def test_the_error_stays_below_the_bound(seed: int, order: int, match_dc: bool) -> None:
    model = random_model(seed)
    found = reduce_balanced(model, order=order, match_dc=match_dc)
    assert len(found.model.x) == order and found.bound == pytest.approx(2.0 * np.sum(found.hankel_values[order:]))
    error = h_infinity_norm(difference(model, found.model)).value
    # never above the bound, and never below the first value left out, which no model of this order can beat
    assert found.hankel_values[order] * (1.0 - 1e-7) <= error <= found.bound * (1.0 + 1e-7)
    if match_dc:
        static = model.frequency_response(0.0)
        np.testing.assert_allclose(found.model.frequency_response(0.0), static, atol=1e-9 * np.max(np.abs(static)))
    np.testing.assert_allclose(found.left @ found.right, np.eye(order), atol=1e-8)


def test_balanced_models_have_equal_diagonal_gramians() -> None:
    model = random_model(2)
    full = reduce_balanced(model, order=6)
    A, B, C = (np.asarray(getattr(full.model, name)) for name in "ABC")
    S = np.diag(full.hankel_values)
    np.testing.assert_allclose(A @ S + S @ A.T, -B @ B.T, atol=1e-10)
    np.testing.assert_allclose(A.T @ S + S @ A, -C.T @ C, atol=1e-10)
    assert full.model.x.names == tuple(f"balanced{k + 1}" for k in range(6)) and full.bound == 0.0


@given(seed=st.integers(0, 10_000))
def test_hankel_values_do_not_depend_on_coordinates(seed: int) -> None:
    model = random_model(seed)
    rng = np.random.default_rng(seed + 7)
    T = np.linalg.qr(rng.standard_normal((6, 6)))[0] * np.exp(rng.uniform(-4.0, 4.0, 6))
    A, B, C = (np.asarray(getattr(model, name)) for name in "ABC")
    other = model_of(np.linalg.solve(T, A @ T), np.linalg.solve(T, B), C @ T, model.D)
    one, two = (reduce_balanced(item, order=3) for item in (model, other))
    np.testing.assert_allclose(two.hankel_values, one.hankel_values, rtol=1e-6, atol=1e-10 * one.hankel_values[0])
    w = [0.0, 0.3, 2.0, 50.0]
    np.testing.assert_allclose(
        two.model.frequency_response(w), one.model.frequency_response(w), atol=1e-7 * one.hankel_values[0]
    )


@pytest.mark.parametrize("match_dc", [False, True])
def test_parts_that_do_not_decay_are_retained_exactly(match_dc: bool) -> None:
    model = unstable_model(4)
    found = reduce_balanced(model, order=7, match_dc=match_dc)
    assert found.model.x.names[:5] == ("kept1", "kept2", "kept3", "kept4", "balanced1")
    poles = found.model.poles
    for pole in (0.5 + 1.0j, 0.5 - 1.0j):
        assert np.min(np.abs(poles - pole)) < 1e-9
    assert np.sum(np.abs(poles) < 1e-5) == 2  # a double pole is known to the root of rounding
    w = np.logspace(-1, 2, 60)
    error = np.linalg.norm(model.frequency_response(w) - found.model.frequency_response(w), 2, axis=(1, 2))
    assert np.max(error) <= found.bound * (1.0 + 1e-6)
    with pytest.raises(ModelError, match="expected 4 to 10; 4 do not decay"):
        reduce_balanced(model, order=3)


def test_tolerance_chooses_the_order() -> None:
    model = flexible(3, 8, 0.02)
    found = reduce_balanced(model, tolerance=0.01)
    assert found.bound <= 0.01 * found.hankel_values[0]
    k = len(found.model.x)
    assert k < 16 and 2.0 * np.sum(found.hankel_values[k - 1 :]) > 0.01 * found.hankel_values[0]  # one less fails
    error = h_infinity_norm(difference(model, found.model)).value
    assert error <= found.bound and error <= 0.01 * h_infinity_norm(model).value
    with pytest.raises(ModelError, match="one of order"):
        reduce_balanced(model)


def test_modal_reduction_keeps_poles_and_falls_apart_into_blocks() -> None:
    model = flexible(1, 5, 0.01)
    found = reduce_modal(model, keep=2)
    assert found.model.x.names == ("mode1.cos", "mode1.sin", "mode2.cos", "mode2.sin")
    kept = modes(model)
    np.testing.assert_allclose(modes(found.model).poles, kept.poles[:2], rtol=1e-9)
    A = np.asarray(found.model.A)
    np.testing.assert_allclose(A[:2, 2:], 0.0, atol=1e-12)
    for i in (0, 2):
        pole = kept.poles[i // 2]
        expected = [[pole.real, pole.imag], [-pole.imag, pole.real]]
        np.testing.assert_allclose(A[i : i + 2, i : i + 2], expected, rtol=1e-9, atol=1e-12)
    assert h_infinity_norm(difference(model, found.model)).value == pytest.approx(found.bound, rel=1e-5)


def test_notations_of_the_states_to_retain() -> None:
    model = flexible(1, 5, 0.01)
    w = modes(model).frequency
    by_number = reduce_modal(model, keep=3)
    for other in (
        reduce_modal(model, below=1.001 * w[2]),
        reduce_modal(model, keep=("mode1", "mode2", "mode3")),
        reduce_modal(model, keep=lambda pole: abs(pole) < 1.001 * w[2]),
        reduce_modal(model, keep=("x1", "x2", "x3")),  # decoupled modes: states name them
    ):
        np.testing.assert_array_equal(other.model.A, by_number.model.A)
        assert other.model.x == by_number.model.x
    with pytest.raises(ModelError, match="unknown mode or state 'mode9'"):
        reduce_modal(model, keep=("mode9",))
    with pytest.raises(ModelError, match="specify what to keep"):
        reduce_modal(model)


def test_static_residual_matches_constant_inputs() -> None:
    model = flexible(1, 5, 0.01)
    static = model.frequency_response(0.0)
    plain, matched = (reduce_modal(model, keep=2, match_dc=flag) for flag in (False, True))
    assert np.max(np.abs(plain.model.frequency_response(0.0) - static)) > 1e-6
    np.testing.assert_allclose(matched.model.frequency_response(0.0), static, rtol=1e-10)
    rigid = model_of([[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]], [[1.0, 0.0]])
    with pytest.raises(ModelError, match="origin"):
        reduce_modal(rigid, keep=0, match_dc=True)
    assert reduce_modal(rigid, keep=0).bound == np.inf


def test_repeated_poles_share_a_block() -> None:
    """Rigid motion has a chain at the origin; splitting it would need eigenvectors that are not there."""
    eom = form_equations(library.free_flyer_arm())
    model = linearize(eom, eom.state(joint2=0.5, joint4=-0.8))
    blocks = modal_blocks(np.asarray(model.A))
    assert len(blocks.poles) == 1 and len(blocks.poles[0]) == 26
    mixed = block_diag([[0.0, 1.0], [0.0, 0.0]], [[-0.1, 2.0], [-2.0, -0.1]], [[-0.1, 2.0], [-2.0, -0.1]], [[-3.0]])
    T = np.random.default_rng(5).standard_normal((7, 7))
    found = modal_blocks(T @ mixed @ np.linalg.inv(T))
    assert [len(poles) for poles in found.poles] == [2, 4, 1]
    D = found.left @ (T @ mixed @ np.linalg.inv(T)) @ found.right
    for columns in found.columns:
        D[columns, columns] = 0.0
    np.testing.assert_allclose(
        D, 0.0, atol=1e-6
    )  # half of the digits, times the condition of T: the chain is defective


def test_singular_perturbation_equals_the_elimination_of_python_control() -> None:
    control = pytest.importorskip("control")
    model = random_model(8)
    full = reduce_balanced(model, order=6).model
    other = control.ss(*(np.array(getattr(full, name)) for name in "ABCD"))
    w = np.array([0.0, 0.2, 1.0, 8.0])
    for match_dc, method in ((True, "matchdc"), (False, "truncate")):
        expected = control.model_reduction(other, [3, 4, 5], method=method)
        expected = np.moveaxis(expected(1j * w), 2, 0)
        mine = reduce_balanced(model, order=3, match_dc=match_dc).model.frequency_response(w)
        np.testing.assert_allclose(mine, expected, atol=1e-9 * full.frequency_response(0.0).max())


@pytest.mark.parametrize("zeta", [1e-2, 1e-4, 1e-7])
def test_balanced_truncation_equals_that_of_slycot_where_it_is_installed(zeta: float) -> None:
    """A cross-check with SLICOT's AB09AD; slycot is optional here and never a requirement.

    Its AB09BD (singular perturbation) agreed too, but the wrapper in slycot 0.7.1 writes beyond its arrays, so it is not
    called here; python-control's elimination checks that variant above.
    """
    slycot = pytest.importorskip("slycot", reason="slycot is an optional peer for this cross-check only")
    for model in (flexible(2, 8, zeta), random_model(5, 9)):
        A, B, C, D = (np.array(getattr(model, name)) for name in "ABCD")
        n, m, k = len(A), B.shape[1], len(C)
        order = n // 2
        w = np.logspace(-2, 3, 50)
        size = h_infinity_norm(model).value
        _, a, b, c, values = slycot.ab09ad("C", "B", "N", n, m, k, A.copy(), B.copy(), C.copy(), nr=order)[:5]
        mine = reduce_balanced(model, order=order)
        # nearly undamped Hankel values come in pairs that differ by zeta: rounding over zeta is what both share
        np.testing.assert_allclose(mine.hankel_values, values, rtol=1e-14 / min(zeta, 1e-2) + 1e-11)
        response = mine.model.frequency_response(w)
        np.testing.assert_allclose(response, model_of(a, b, c, D).frequency_response(w), atol=1e-8 * size)
