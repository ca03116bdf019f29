"""Inertia integrals of flexible bodies against energy and momentum of their moving points, without any expansion."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacectl.model.bodies.base.modal_integrals import ModalPoints, modal_integrals, pack_symmetric, unpack_symmetric
from spacectl.spatial.flexible import ModalInertia
from tests.oracles.flexible.flexible_points import kinetic, momentum, random_points, slope

SIZES = 2.0 ** -np.arange(
    5.0, 10.0
)  # of eta and eta_dot: 0.03 to 0.002, where the third order rules and rounding does not


def draw(seed: int, n: int, m: int, *, slices: bool = True):
    """A body, its integrals, and a motion: twist, eta, eta_dot of order one."""
    rng = np.random.default_rng(seed)
    body = random_points(rng, n, m, slices=slices)
    return body, modal_integrals(ModalPoints(**body)), rng.normal(size=6), rng.normal(size=m), rng.normal(size=m)


def by_formula(I: dict[str, np.ndarray], m: int, twist: np.ndarray, eta: np.ndarray, eta_dot: np.ndarray) -> float:
    """Kinetic energy, written out from the docstring of `modal_integrals`."""
    omega, v = twist[:3], twist[3:]
    pairs = [unpack_symmetric(row, m) for row in I["first2"]]
    c = I["first0"] + I["first1"] @ eta + 0.5 * np.array([eta @ A @ eta for A in pairs])
    c_dot = I["first1"] @ eta_dot + np.array([eta @ A @ eta_dot for A in pairs])
    six = I["inertia0"] + I["inertia1"] @ eta
    six = six + 0.5 * np.array([eta @ unpack_symmetric(row, m) @ eta for row in I["inertia2"]])
    xx, yy, zz, xy, xz, yz = six
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    h = I["couple0"] + np.stack([I["couple1"][3 * j : 3 * j + 3] @ eta for j in range(m)], axis=1)
    M = unpack_symmetric(I["modal_mass"], m)
    rigid = 0.5 * I["mass"] * v @ v + v @ np.cross(omega, c) + 0.5 * omega @ inertia @ omega
    return float(rigid + omega @ h @ eta_dot + v @ c_dot + 0.5 * eta_dot @ M @ eta_dot)


@given(seed=st.integers(0, 10_000), n=st.integers(1, 8), m=st.integers(1, 4), slices=st.booleans())
def test_energy_is_exact_to_second_order(seed: int, n: int, m: int, slices: bool) -> None:
    body, I, twist, eta, eta_dot = draw(seed, n, m, slices=slices)

    def error(s: float) -> float:
        return kinetic(body, twist, s * eta, s * eta_dot) - by_formula(I, m, twist, s * eta, s * eta_dot)

    s = SIZES[1]
    odd, even = ([0.5 * (error(h) + sign * error(-h)) for h in (s, 0.5 * s)] for sign in (-1.0, 1.0))
    # a_1 s + a_3 s^3 and a_2 s^2 + a_4 s^4: what is left of a_1 and a_2 without the higher order
    first, second = (8.0 * odd[1] - odd[0]) / (3.0 * s), (16.0 * even[1] - even[0]) / (3.0 * s**2)
    scale = kinetic(body, twist, eta, eta_dot)
    assert max(abs(first), abs(second)) < 1e-4 * scale  # a_5 s^4 and a_6 s^4 remain
    size = kinetic(body, twist, 0.0 * eta, 0.0 * eta_dot)
    assert by_formula(I, m, twist, 0.0 * eta, 0.0 * eta_dot) == pytest.approx(size, rel=1e-13)  # rounding of a sum


@given(seed=st.integers(0, 10_000), n=st.integers(1, 8), m=st.integers(1, 4))
def test_the_inertia_of_the_equations_is_this_energy(seed: int, n: int, m: int) -> None:
    body, I, twist, eta, eta_dot = draw(seed, n, m)
    modal = ModalInertia.of(I, eta)
    expected = by_formula(I, m, twist, eta, eta_dot)  # at eta of order one: the same polynomial, whatever its truth
    assert modal.kinetic(twist, eta_dot) == pytest.approx(
        expected, rel=1e-12, abs=1e-12
    )  # rounding of terms of order 10
    step = 1e-3  # quadratic in the twist: central differences are exact but for rounding, 1e-16 / 1e-3 times 10
    slopes = [
        by_formula(I, m, twist + step * e, eta, eta_dot) - by_formula(I, m, twist - step * e, eta, eta_dot)
        for e in np.eye(6)
    ]
    np.testing.assert_allclose(modal.momentum(twist, eta_dot), np.array(slopes) / (2.0 * step), atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_momentum_is_exact_to_second_order(seed: int) -> None:
    body, I, twist, eta, eta_dot = draw(seed, 6, 3)
    errors = [
        np.max(
            np.abs(
                momentum(body, twist, s * eta, s * eta_dot) - ModalInertia.of(I, s * eta).momentum(twist, s * eta_dot)
            )
        )
        for s in SIZES
    ]
    assert slope(SIZES, errors) > 2.8  # energy to second order: its slope by the twist keeps the second order as well


@pytest.mark.parametrize("seed", range(5))
def test_bias_is_the_rate_of_momentum_without_accelerations(seed: int) -> None:
    """``d/dt`` of momentum in body axes, and Lagrange's equations of the modes, by central differences."""
    _, I, twist, eta, eta_dot = draw(seed, 6, 3)
    eta, h, omega, v = 0.3 * eta, 1e-5, twist[:3], twist[3:]

    def along(s: float) -> ModalInertia:
        return ModalInertia.of(I, eta + s * eta_dot)

    p_dot = (along(h).momentum(twist, eta_dot) - along(-h).momentum(twist, eta_dot)) / (2.0 * h)
    p = along(0.0).momentum(twist, eta_dot)
    expected = p_dot + np.concatenate([np.cross(omega, p[:3]) + np.cross(v, p[3:]), np.cross(omega, p[3:])])
    wrench, modal = along(0.0).bias(twist, eta_dot)
    np.testing.assert_allclose(wrench, expected, atol=1e-8)  # rounding over the step, 1e-16 times 50 / 1e-5

    def p_modal(s: float) -> np.ndarray:
        at = along(s)
        return at.h.T @ omega + at.c_eta.T @ v + at.M @ eta_dot

    def energy(k: int, s: float) -> float:
        return float(ModalInertia.of(I, eta + s * np.eye(3)[k]).kinetic(twist, eta_dot))

    slopes = np.array([(energy(k, h) - energy(k, -h)) / (2.0 * h) for k in range(3)])
    # `load` takes the component-wise acceleration, so that along the modes ``w x v`` of the origin is part of the bias
    np.testing.assert_allclose(modal, (p_modal(h) - p_modal(-h)) / (2.0 * h) - slopes, atol=1e-8)


def test_classical_theory_leaves_second_order_shapes_out() -> None:
    body, _, twist, eta, eta_dot = draw(3, 5, 2)
    plain = {**body, "G": 0.0 * body["G"], "H": 0.0 * body["H"]}
    classical = modal_integrals(ModalPoints(**body), second_order=False)
    for key, value in modal_integrals(ModalPoints(**plain)).items():
        np.testing.assert_array_equal(classical[key], value)
    errors = [
        abs(kinetic(body, twist, s * eta, s * eta_dot) - by_formula(classical, 2, twist, s * eta, s * eta_dot))
        for s in SIZES
    ]
    assert slope(SIZES, errors) == pytest.approx(2.0, abs=0.1)  # what early linearisation loses is of second order


def test_shapes_left_out_are_zero() -> None:
    body, _, *_ = draw(4, 5, 2)
    short = modal_integrals(ModalPoints(body["X"], body["mass"], body["Phi"]))
    zeros = {key: 0.0 * body[key] for key in ("Psi", "G", "H", "rotary")}
    for key, value in modal_integrals(ModalPoints(**{**body, **zeros})).items():
        np.testing.assert_array_equal(short[key], value)


@pytest.mark.parametrize("m", [1, 2, 5])
def test_symmetric_matrices_are_packed_by_rows(m: int) -> None:
    A = np.random.default_rng(m).normal(size=(m, m))
    A = A + A.T
    packed = pack_symmetric(A)
    assert packed.tolist() == [A[j, k] for j in range(m) for k in range(j, m)]
    np.testing.assert_array_equal(unpack_symmetric(packed, m), A)


def test_shapes_of_the_integrals() -> None:
    _, I, *_ = draw(0, 4, 3)
    shapes = {key: value.shape for key, value in I.items()}
    assert shapes == {
        "mass": (), "first0": (3,), "first1": (3, 3), "first2": (3, 6), "inertia0": (6,), "inertia1": (6, 3),
        "inertia2": (6, 6), "couple0": (3, 3), "couple1": (9, 3), "modal_mass": (6,),
    }  # fmt: skip
