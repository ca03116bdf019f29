"""The factorised mass matrix as operators, and the scheme of tree and correction (NPO-46950), on all loop systems."""

from __future__ import annotations

import numpy as np
import pytest

from spacectl import (
    Constraint,
    ModelError,
    Part,
    Prismatic,
    Revolute,
    ShapeError,
    System,
    correct_tree,
    factor_mass,
    form_equations,
    library,
    make_consistent,
)
from spacectl.model.library.rods import rod
from tests.dynamics.embedding.test_embedded import LOOPS, consistent

SYSTEMS = {
    **LOOPS,
    **{
        name: library.CONSTRAINED[name]
        for name in ("redundant_four_bar", "two_arm_flyer", "flexible_four_bar", "momentum_flyer", "line_arm")
    },
}
NATURAL = [name for name in SYSTEMS if name not in ("kept_chain", "kept_rigid_chain", "line_arm")]


@pytest.mark.parametrize("name", NATURAL)
def test_operators_are_the_reduced_mass_matrix_and_its_inverse(name: str) -> None:
    eom = form_equations(SYSTEMS[name](), formulation="embedded")
    _, q, _, _ = consistent(eom)
    mass = factor_mass(eom, 0.3, q)
    unit = np.eye(len(mass.independent))
    N = np.stack([mass.expand(row) for row in unit], axis=1)
    J = eom.call("constraints", 0.3, q, np.zeros(eom.n_v))[2]
    assert np.max(np.abs(J @ N)) < 1e-12 * np.max(np.abs(J)) * np.max(np.abs(N))
    chosen = [eom.speeds.index(name) for name in mass.independent]
    np.testing.assert_array_equal(N[chosen], unit)
    M = N.T @ eom.mass_matrix(0.3, q) @ N
    apply, solve, factor = (
        np.stack([call(row) for row in unit], axis=1) for call in (mass.apply, mass.solve, mass.residual)
    )
    np.testing.assert_allclose(apply, M, atol=1e-12 * np.max(np.abs(M)))
    scale = np.sqrt(np.outer(np.diag(M), np.diag(M)))
    np.testing.assert_allclose(solve * scale, np.linalg.inv(M) * scale, rtol=1e-9, atol=1e-9)
    D = np.zeros_like(M)
    for block in mass.blocks:
        D[block.place, block.place] = block.D
    L = np.linalg.inv(factor)
    np.testing.assert_allclose(L @ D @ L.T, M, atol=1e-11 * np.max(np.abs(M)))
    assert mass.log_determinant == pytest.approx(np.linalg.slogdet(M)[1], abs=1e-9)
    f = np.arange(1.0, eom.n_v + 1.0)
    np.testing.assert_allclose(mass.reduce(f), N.T @ f, rtol=1e-12)


@pytest.mark.parametrize("name", SYSTEMS)
def test_tree_and_correction_agree(name: str) -> None:
    eom = form_equations(SYSTEMS[name](), formulation="embedded")
    x, q, v, u = consistent(eom)
    found = correct_tree(eom, 0.3, x, u)
    expected = eom.v_dot(0.3, q, v, u)
    np.testing.assert_allclose(found.v_dot, expected, atol=1e-10 * np.max(np.abs(expected)))
    np.testing.assert_allclose(np.asarray(found.tree) + np.asarray(found.correction), found.v_dot, rtol=1e-14)
    if name != "momentum_flyer":  # whose rule needs no force
        assert np.max(np.abs(np.asarray(found.correction))) > 1e-3 * np.max(np.abs(expected))


def test_operators_refuse_what_they_do_not_mean() -> None:
    kane = form_equations(library.four_bar())
    with pytest.raises(ModelError, match="embedded"):
        factor_mass(kane, 0.0, kane.state()[:3])
    kept = form_equations(library.kept_chain(2), formulation="embedded")
    with pytest.raises(ModelError, match="not symmetric"):
        factor_mass(kept, 0.0, kept.state()[: kept.n_q])
    eom = form_equations(library.geared_chain(2), formulation="embedded")
    with pytest.raises(ShapeError, match=r"expected \(2,\)"):
        factor_mass(eom, 0.0, eom.state()[:4]).solve(np.ones(4))
    with pytest.raises(ModelError, match="no constraints"):
        correct_tree(form_equations(library.pendulum()), 0.0, [0.0, 0.0])


def test_operators_serve_long_chains() -> None:
    """A hundred gears: the inverse undoes the matrix, whose dense form is never made."""
    eom = form_equations(library.geared_chain(100), formulation="embedded")
    rng = np.random.default_rng(2)
    x = np.asarray(make_consistent(eom, eom.state() + 0.02 * rng.standard_normal(eom.n_x)).x)
    mass = factor_mass(eom, 0.0, x[: eom.n_q])
    y = rng.standard_normal(100)
    # the condition number of a chain grows with its length: 1e5 here
    np.testing.assert_allclose(mass.solve(mass.apply(y)), y, atol=1e-9)


def test_prescribed_joints_are_held_in_the_tree_and_its_correction() -> None:
    """A base that turns and slides as prescribed, with two links geared to each other."""
    parts = (
        Part(rod("a", 0.5, 1.0), joint=Revolute(name="turn", axis="z", prescribed=lambda s: 0.3 * s.t + 0.1 * s.t**2)),
        Part(
            rod("b", 0.5, 1.0), on="a.end", joint=Prismatic(name="slide", axis="x", prescribed=lambda s: 0.2 * s.t**2)
        ),
        Part(rod("c", 0.5, 1.0), on="b.end", joint=Revolute(name="j1", axis="z")),
        Part(rod("d", 0.5, 1.0), on="c.end", joint=Revolute(name="j2", axis="z")),
    )
    gear = Constraint(name="gear", rule=lambda s: s["j2"] - 2.0 * s["j1"])
    eom = form_equations(System(name="carried", parts=parts, constraints=(gear,)), formulation="embedded")
    x = np.asarray(make_consistent(eom, eom.state(j1=0.3, j1_dot=0.7), t=0.8).x)
    expected = eom.v_dot(0.8, x[:2], x[2:], [])
    assert np.max(np.abs(expected)) > 0.1
    for t in (0.8, np.array([0.8])):
        np.testing.assert_allclose(correct_tree(eom, t, x).v_dot, expected, rtol=1e-12)


def test_arguments_of_another_size_are_refused() -> None:
    eom = form_equations(library.four_bar(), formulation="embedded")
    x = eom.state()
    with pytest.raises(ShapeError, match=r"factor_mass: q has shape \(6,\), expected \(3,\); give x\[: eom.n_q\]"):
        factor_mass(eom, 0.0, x)
    with pytest.raises(ShapeError, match=r"q has shape \(2,\), expected \(3,\)"):
        factor_mass(eom, 0.0, x[:2])
    with pytest.raises(ModelError, match="'coupler_pin' is not finite"):
        factor_mass(eom, 0.0, [0.0, np.nan, 0.0])
    for u in ([], [1.0, 99.0], 1.0):
        with pytest.raises(ShapeError, match=r"correct_tree: .* expected \(6,\) and \(1,\)"):
            correct_tree(eom, 0.0, x, u)
    with pytest.raises(ShapeError, match=r"x has shape \(7,\)"):
        correct_tree(eom, 0.0, np.append(x, 1.0), [1.0])
