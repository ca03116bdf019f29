"""Frequencies of beams, bars and strings against textbook equations; shapes of every kind; damping; convergence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.special import iv, jv, kv, yv

from spacectl import Beam, Fixed, ModalBody, Part, RigidBody, System, form_equations, linearize
from spacectl.model.bodies.base.damping import Proportional
from spacectl.model.bodies.base.profile import Profile
from tests.oracles.flexible.beam_frequencies import EULER, huang, pinned_timoshenko, roots, tip_body, transfer, warping

LENGTH, DENSITY, EI = 2.0, 1.5, 50.0
UNIT = np.sqrt(EI / (DENSITY * LENGTH**4))
EXACT = 1e-12  # rounding of polynomials of degree 30 and of the eigenvalue problem; the worst seen is 1e-13


def beam(**changes) -> Beam:
    given = {"name": "boom", "length": LENGTH, "mass": DENSITY * LENGTH, "EI": EI, **changes}
    return Beam(**given)


@pytest.mark.parametrize("ends", EULER, ids="-".join)
def test_uniform_beams_have_the_textbook_frequencies(ends: tuple[str, str]) -> None:
    found = beam(root=ends[0], tip=ends[1], modes=6).frequencies
    expected = UNIT * roots(EULER[ends], 6, 1.0, 25.0) ** 2
    np.testing.assert_allclose(found, expected, rtol=EXACT)


@pytest.mark.parametrize("ends", [ends for ends in EULER if ends[0] != ends[1]], ids="-".join)
def test_turning_a_beam_round_changes_no_frequency(ends: tuple[str, str]) -> None:
    forth, back = beam(root=ends[0], tip=ends[1], modes=3), beam(root=ends[1], tip=ends[0], modes=3)
    np.testing.assert_allclose(forth.frequencies, back.frequencies, rtol=EXACT)


def test_a_body_at_the_tip_gives_the_transcendental_equation() -> None:
    mass, inertia = 0.7, 0.3  # of the beam's mass, and of its mass times length squared
    total = DENSITY * LENGTH
    boom = beam(modes=5, tip_mass=mass * total, tip_inertia=inertia * total * LENGTH**2)
    small = 1e-3 * inertia * total * LENGTH**2  # about x: it has no part in the bending
    ball = RigidBody(name="ball", mass=mass * total, inertia=(small, *(2 * [inertia * total * LENGTH**2])))
    system = System(name="tip", parts=(Part(boom, joint=Fixed()), Part(ball, on="boom.tip")))
    eom = form_equations(system)
    A = linearize(eom, eom.state()).A
    expected = UNIT * roots(lambda b: tip_body(b, mass, inertia), 5, 0.1, 20.0) ** 2
    found = np.sort(np.sqrt(np.linalg.eigvals(-A[5:, :5]).real))
    # squares of frequencies span 1e4, so that an eigenvalue of A keeps 1e-12 of the largest
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_timoshenko_cantilever_meets_huangs_equation() -> None:
    GA, rotary = 400.0, 0.2
    found = beam(GA=GA, rotary=(0.0, 0.0, rotary), modes=3).frequencies
    r, s = np.sqrt(rotary / DENSITY) / LENGTH, np.sqrt(EI / GA) / LENGTH
    expected = UNIT * roots(lambda b: huang(b, r, s), 3, 0.5, 0.999 / (r * s))
    np.testing.assert_allclose(found, expected, rtol=EXACT)


def test_timoshenko_pinned_beam_has_both_branches() -> None:
    data = {"mass": DENSITY, "EI": EI, "GA": 400.0, "rotary": 0.2}
    found = beam(GA=400.0, rotary=(0.0, 0.0, 0.2), modes=6, root="pinned", tip="pinned").frequencies
    waves = [pinned_timoshenko(n, length=LENGTH, **data) for n in range(1, 8)]
    thickness_shear = np.sqrt(400.0 / 0.2)  # n = 0: slices turn, the axis rests
    np.testing.assert_allclose(found, np.sort(np.r_[np.ravel(waves), thickness_shear])[:6], rtol=EXACT)


@pytest.mark.parametrize("extra", [{"rotary": 0.2}, {"tension": 30.0}, {"GA": 400.0, "rotary": 0.2, "tension": 30.0}])
@pytest.mark.parametrize(
    "ends", [("clamped", "free"), ("clamped", "pinned"), ("pinned", "pinned"), ("clamped", "sliding")]
)
def test_rotary_inertia_shear_and_tension_meet_the_differential_equation(ends: tuple[str, str], extra: dict) -> None:
    given = {**extra, "rotary": (0.0, 0.0, extra.get("rotary", 0.0))}
    found = beam(root=ends[0], tip=ends[1], modes=3, **given).frequencies
    data = {"length": LENGTH, "mass": DENSITY, "EI": EI, **extra}
    expected = roots(lambda w: transfer(w, ends, **data), 3, 0.5, 250.0)
    np.testing.assert_allclose(found, expected, rtol=EXACT)


def test_stiff_in_shear_is_euler_bernoulli() -> None:
    slender = beam(modes=2).frequencies
    errors = [beam(modes=2, GA=GA).frequencies / slender - 1.0 for GA in (1e5, 1e6)]
    assert np.all(errors[0] < 0.0)  # shear makes it softer
    np.testing.assert_allclose(errors[0] / errors[1], 10.0, rtol=0.05)  # like EI / (GA L^2), less the next order


@pytest.mark.parametrize("direction", ["y", "z"])
def test_the_two_planes_have_their_own_properties(direction: str) -> None:
    pair = {"EI": (EI, 2.0 * EI), "GA": (400.0, 300.0), "rotary": (0.0, 0.1, 0.2)}
    own = {"y": (EI, 400.0, 0.2), "z": (2.0 * EI, 300.0, 0.1)}[direction]  # deflection along y turns about z
    found = beam(bending=(direction,), modes=3, **pair)
    data = {"length": LENGTH, "mass": DENSITY, "EI": own[0], "GA": own[1], "rotary": own[2]}
    expected = roots(lambda w: transfer(w, ("clamped", "free"), **data), 3, 0.5, 80.0)
    np.testing.assert_allclose(found.frequencies, expected, rtol=EXACT)
    k = "xyz".index(direction)
    assert np.all(found.material.Phi[:, [i for i in range(3) if i != k]] == 0.0)
    both = beam(bending=("y", "z"), modes=(1, 3), **pair)
    assert both.n_modes == 4
    np.testing.assert_allclose(both.elasticity[0, 1:], 0.0, atol=1e-12 * EI)  # planes do not couple at first order


def test_gradients_are_rotations_by_the_right_hand_rule() -> None:
    tip = beam(bending=("y", "z")).shapes_at(np.array([LENGTH, 0.0, 0.0]))
    assert tip.Phi[1, 0] == pytest.approx(1.0) and tip.Phi[2, 1] == pytest.approx(1.0)
    assert tip.Psi[2, 0] > 0.0 > tip.Psi[1, 1]  # w' turns about +z for y, about -y for z


def test_bars_and_strings() -> None:
    n = np.arange(1.0, 6.0)
    bar = beam(bending=(), EA=3000.0, extension=5).frequencies
    np.testing.assert_allclose(bar, np.sqrt(3000.0 / DENSITY) * np.pi / LENGTH * (n - 0.5), rtol=EXACT)
    free = beam(bending=(), EA=3000.0, extension=5, root="free").frequencies
    np.testing.assert_allclose(free, np.sqrt(3000.0 / DENSITY) * np.pi / LENGTH * n, rtol=EXACT)
    shaft = beam(bending=(), GJ=30.0, rotary=(0.3, 0.0, 0.0), torsion=5).frequencies
    np.testing.assert_allclose(shaft, np.sqrt(30.0 / 0.3) * np.pi / LENGTH * (n - 0.5), rtol=EXACT)
    string = beam(EI=0.0, tension=30.0, modes=5, root="pinned", tip="pinned").frequencies
    np.testing.assert_allclose(string, np.sqrt(30.0 / DENSITY) * np.pi / LENGTH * n, rtol=EXACT)


def test_a_bar_with_a_tip_mass_meets_its_equation() -> None:
    ratio, total = 0.7, DENSITY * LENGTH
    bar = beam(bending=(), EA=3000.0, extension=3, tip_mass=ratio * total)
    tip = bar.shapes_at(np.array([LENGTH, 0.0, 0.0])).Phi[0]
    M = bar.modal_mass + ratio * total * np.outer(tip, tip)
    expected = roots(lambda b: np.cos(b) - ratio * b * np.sin(b), 3, 0.1, 12.0)
    found = np.sqrt(eigh(bar.elasticity, M, eigvals_only=True)) / np.sqrt(3000.0 / DENSITY) * LENGTH
    np.testing.assert_allclose(found, expected, rtol=EXACT)


def test_torsion_with_warping_meets_its_equation() -> None:
    shaft = beam(bending=(), GJ=30.0, warping=12.0, rotary=(0.3, 0.0, 0.0), torsion=3)
    expected = roots(lambda w: warping(w, length=LENGTH, GJ=30.0, E_Gamma=12.0, polar=0.3), 3, 0.5, 400.0)
    np.testing.assert_allclose(shaft.frequencies, expected, rtol=1e-11)  # rounding of hyperbolic functions of 13
    plain = replace(shaft, warping=0.03)
    straight = np.sqrt(30.0 / 0.3) * np.pi / LENGTH * 0.5
    # a boundary layer of width sqrt(E Gamma / GJ) = 0.03 m holds the twist: it shortens the shaft by so much, plus 3 %
    assert plain.frequencies[0] / straight - 1.0 == pytest.approx(np.sqrt(0.03 / 30.0) / LENGTH, rel=0.05)


def tapered(omega: float, n: int, tip: float) -> float:
    """Wedge (n = 1) or cone (n = 2), held at distance 1 from its apex and cut at `tip`: a determinant.

    ``(x^(n+2) w'')'' = omega^2 x^n w`` has the solutions ``x^(-n/2) Z_n(2 k sqrt(x))``, k^2 = omega, Z = J, Y, I, K.
    """
    k = np.sqrt(omega)

    def row(place: float, order: int, signs: tuple[float, ...]) -> list[float]:
        z = 2.0 * k * np.sqrt(place)
        return [sign * Z(order, z) for sign, Z in zip(signs, (jv, yv, iv, kv), strict=True)]

    rows = [row(1.0, n, (1, 1, 1, 1)), row(1.0, n + 1, (-1, -1, 1, -1))]  # w, w' up to factors
    rows += [row(tip, n + 2, (1, 1, 1, 1)), row(tip, n + 1, (1, 1, 1, -1))]  # moment, force
    scaled = np.array(rows)
    return float(np.linalg.det(scaled / np.linalg.norm(scaled, axis=1)[:, None]))


def cut(n: int, tip: float, **changes) -> Beam:
    given = {"mass": lambda x: (1.0 - x) ** n, "EI": lambda x: (1.0 - x) ** (n + 2), "length": 1.0 - tip}
    return beam(**{**given, **changes})


@pytest.mark.parametrize(("n", "tip"), [(1, 0.5), (1, 0.3), (2, 0.5), (2, 0.3)])
def test_wedges_and_cones_meet_their_bessel_equation(n: int, tip: float) -> None:
    expected = roots(lambda w: tapered(w, n, tip), 3, 3.0, 300.0)
    np.testing.assert_allclose(cut(n, tip, modes=3).frequencies, expected, rtol=1e-10)  # rounding of the determinant


@pytest.mark.parametrize(("n", "published"), [(1, 5.315), (2, 8.719)])
def test_sharp_wedge_and_cone_have_kirchhoffs_frequencies(n: int, published: float) -> None:
    """Kirchhoff 1879 (in Conway, Becker, Dubil 1964), omega = published sqrt(E I0 / m0 L^4) for a sharp tip."""
    found = [cut(n, tip, modes=4).frequencies[0] for tip in (0.02, 0.005)]
    assert found[1] == pytest.approx(
        published, rel=1.5e-3
    )  # what is cut off counts like tip, a fifth of it for a wedge
    assert abs(found[1] - published) < abs(found[0] - published)


def test_a_table_is_the_function_that_it_tabulates() -> None:
    line = Profile(x=(0.0, LENGTH), values=(50.0, 20.0))
    by_table = beam(EI=line, mass=Profile(x=(0.0, LENGTH), values=(2.0, 1.0)), modes=3).frequencies
    by_function = beam(EI=lambda x: 50.0 - 15.0 * x, mass=lambda x: 2.0 - 0.5 * x, modes=3).frequencies
    np.testing.assert_allclose(by_table, by_function, rtol=EXACT)


def test_frequencies_with_a_kink_converge_from_above() -> None:
    kink = Profile(x=(0.0, 0.7, LENGTH), values=(60.0, 60.0, 10.0))
    first = [beam(EI=kink, modes=n).frequencies[0] for n in (1, 4, 8)]
    assert first[0] >= first[1] >= first[2]  # Ritz: more shapes, lower frequency
    assert first[1] / first[2] - 1.0 < 1e-6  # curvature has a kink: polynomials of degree n meet it like 1 / n^4


@pytest.mark.parametrize(
    "ends", [("clamped", "free"), ("clamped", "pinned"), ("clamped", "clamped"), ("pinned", "pinned")]
)
def test_polynomials_converge_to_the_modes_from_above(ends: tuple[str, str]) -> None:
    exact = beam(root=ends[0], tip=ends[1], modes=2).frequencies
    found = [beam(root=ends[0], tip=ends[1], modes=n, shapes="polynomials").frequencies[:2] for n in (2, 4, 6, 8)]
    errors = np.array(found) / exact - 1.0
    assert np.all(np.diff(errors, axis=0) < 0.0) and np.all(errors > -EXACT)
    assert np.all(errors[-1] < 1e-6) and np.all(errors[1] < 0.02 * errors[0])  # faster than any power


@pytest.mark.parametrize("ends", [("pinned", "free"), ("free", "free"), ("free", "pinned")])
def test_polynomials_leave_the_rigid_motion_to_the_frame(ends: tuple[str, str]) -> None:
    shapes = beam(root=ends[0], tip=ends[1], modes=3, shapes="polynomials")
    assert shapes.frequencies[0] > 0.0


def test_a_users_function_is_a_shape() -> None:
    root = 1.8751040687119611
    factor = (np.cosh(root) + np.cos(root)) / (np.sinh(root) + np.sin(root))

    def mode(x: float) -> float:
        b = root * x / LENGTH
        return np.cosh(b) - np.cos(b) - factor * (np.sinh(b) - np.sin(b))

    user = beam(shapes=mode)
    assert user.frequencies[0] == pytest.approx(UNIT * root**2, rel=1e-11)  # curvature of a fitted polynomial
    parabola = beam(shapes=(lambda x: x**2, lambda x: x**3), modes=2)
    polynomials = beam(shapes="polynomials", modes=2)
    np.testing.assert_allclose(parabola.frequencies, polynomials.frequencies, rtol=EXACT)  # same span
    assert parabola.elasticity[0, 0] == pytest.approx(EI * 4.0 * LENGTH, rel=EXACT)
    assert parabola.modal_mass[0, 0] == pytest.approx(DENSITY * LENGTH**5 / 5.0, rel=EXACT)


def test_mass_properties_of_the_undeformed_beam() -> None:
    boom = beam(rotary=(0.1, 0.2, 0.3))
    I = {key: np.asarray(value) for key, value in boom.integrals.items()}
    total = DENSITY * LENGTH
    assert I["mass"] == pytest.approx(total, rel=1e-14)
    np.testing.assert_allclose(I["first0"], [total * LENGTH / 2.0, 0.0, 0.0], rtol=1e-14)
    about = total * LENGTH**2 / 3.0
    expected = [0.1 * LENGTH, about + 0.2 * LENGTH, about + 0.3 * LENGTH, 0.0, 0.0, 0.0]
    np.testing.assert_allclose(I["inertia0"], expected, rtol=1e-14)


def modal_poles(body: Beam | ModalBody) -> np.ndarray:
    n = body.n_modes
    inverse = np.linalg.inv(body.modal_mass)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-inverse @ body.elasticity, -inverse @ body.damping_matrix]])
    poles = np.linalg.eigvals(A)
    return poles[poles.imag > 0.0][np.argsort(poles[poles.imag > 0.0].imag)]


@pytest.mark.parametrize("ratios", [0.02, (0.01, 0.02, 0.05)])
def test_damping_ratios_are_those_of_the_modes(ratios) -> None:
    body = beam(modes=3, shapes="polynomials", damping=ratios)  # shapes that are no modes: M and K are full
    poles = modal_poles(body)
    np.testing.assert_allclose(-poles.real / np.abs(poles), np.broadcast_to(ratios, 3), rtol=1e-9)
    np.testing.assert_allclose(np.abs(poles), body.frequencies, rtol=1e-9)  # rounding times a condition number of 1e4


def test_damping_as_matrix_and_as_proportion() -> None:
    body = beam(modes=2, damping=Proportional(alpha=0.3, beta=1e-3))
    np.testing.assert_allclose(body.damping_matrix, 0.3 * body.modal_mass + 1e-3 * body.elasticity, rtol=1e-14)
    ratio = 0.5 * (0.3 / body.frequencies + 1e-3 * body.frequencies)
    poles = modal_poles(body)
    np.testing.assert_allclose(-poles.real / np.abs(poles), ratio, rtol=1e-9)
    D = np.array([[2.0, 0.5], [0.5, 1.0]])
    np.testing.assert_array_equal(beam(modes=2, damping=D).damping_matrix, D)
    single = beam(modes=1, damping=[[3.0]])
    np.testing.assert_array_equal(single.damping_matrix, [[3.0]])


def test_a_soft_mode_beside_a_stiff_one_keeps_its_stiffness() -> None:
    wire = beam(EI=1e-6, EA=1e9, length=50.0, extension=1)
    n = wire.numbers()
    assert np.asarray(n["stiffness"].value)[0] == wire.elasticity[0, 0] > 0.0  # 1e-20 of the other, yet no rounding


def test_equal_beams_are_equal_and_hash_alike() -> None:
    first, second = (beam(EI=(EI, 2.0 * EI), mass=lambda x: 1.0 + x, bending=("y", "z"), frames=()) for _ in range(2))
    assert first == second and hash(first) == hash(second)
    assert first != replace(first, EI=EI)
    assert beam(EI=[EI, EI]) == beam(EI=(EI, EI)) == beam(EI=np.array([EI, EI]))
