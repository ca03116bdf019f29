"""The inverse of M by recursion over the tree: native code and reference compared with dense factors, on random trees."""

from __future__ import annotations

import numpy as np
import pytest

from spacectl import library
from spacectl.core.errors import ModelError, SolverError
from spacectl.dynamics.form import form_equations
from spacectl.dynamics.recursion.elements import Elements, form_elements
from spacectl.dynamics.recursion.linear_kernel import RECURSIVE_FROM, LinearKernel, Solver
from spacectl.dynamics.recursion.links import form_links
from spacectl.dynamics.tree.nodes import Tree, numeric_numbers
from spacectl.model.actuators import JointTorque
from spacectl.model.bodies.rigid import RigidBody
from spacectl.model.joints import Revolute
from spacectl.model.part import Part
from spacectl.model.system import System
from tests.oracles.recursion.inverse import solve_by_recursion
from tests.strategies import ENVIRONMENT_KINDS, KINDS, Case, first_of, random_tree

EPS = np.finfo(float).eps


def make_case(seed: int, bodies: int) -> Case:
    """Every joint kind, branches, none to three free bases; all kinds of environment."""
    environment = ENVIRONMENT_KINDS[seed % len(ENVIRONMENT_KINDS)]
    return random_tree(np.random.default_rng(seed), bodies=bodies, free_bases=seed % 4, environment=environment)


def elements_of(system: System) -> Elements:
    parameters = system.parameters()
    numbers = numeric_numbers(parameters, np.array(parameters.values))
    return form_elements(form_links(Tree.of(system), numbers, np.zeros(1)))


def kernel_of(system: System, solver: Solver) -> LinearKernel:
    parameters = system.parameters()
    return LinearKernel(system, parameters, np.array(parameters.values), solver=solver)


@pytest.mark.parametrize("seed", first_of(range(24), 8))
def test_reference_is_the_inverse_of_the_mass_matrix(seed: int) -> None:
    case = make_case(seed, bodies=1 + seed % 9)
    eom = form_equations(case.system, formulation="kane")
    q, _, _ = case.vectors(eom)
    M = eom.mass_matrix(0.0, q)
    inverse = solve_by_recursion(elements_of(case.system), q, np.eye(eom.n_v))
    # rounding of both methods times the condition of M
    expected = np.linalg.inv(M)
    np.testing.assert_allclose(inverse, expected, atol=20 * EPS * np.linalg.cond(M) * np.max(np.abs(expected)))


def test_the_random_trees_have_every_joint_kind_and_several_roots() -> None:
    parts = [part for seed in range(24) for part in make_case(seed, bodies=1 + seed % 9).system.parts]
    assert {type(part.joint).__name__ for part in parts} >= set(KINDS)
    roots = [sum(part.on == "world" for part in make_case(seed, 1 + seed % 9).system.parts) for seed in range(24)]
    assert max(roots) >= 3


@pytest.mark.parametrize("seed", first_of(range(24), 8))
def test_both_solvers_give_the_same_linearisation(seed: int) -> None:
    case = make_case(seed, bodies=1 + seed % 9)
    eom = form_equations(case.system, formulation="kane")
    q, v, u = case.vectors(eom)
    dense, recursive = (kernel_of(case.system, solver).linearise(q, v, u) for solver in ("dense", "recursive"))
    # rounding of both times the condition of M
    scale = 20 * EPS * np.linalg.cond(eom.mass_matrix(0.0, q))
    for name in dense._fields:
        a, b = getattr(dense, name), getattr(recursive, name)
        assert np.max(np.abs(a - b), initial=0.0) <= scale * np.max(np.abs(a), initial=1.0), name


@pytest.mark.parametrize("seed", first_of(range(8), 4))
def test_derivatives_by_joint_inputs_are_the_inverse_of_the_mass_matrix(seed: int) -> None:
    """A driven joint at every speed: v_u = 1 / M, to the condition of M, from native code."""
    rng = np.random.default_rng(seed)
    bare = random_tree(rng, bodies=12, free_bases=0, kinds=("Revolute",)).system
    drives = tuple(JointTorque(joint=part.joint_name) for part in bare.parts)
    system = System(name="driven", parts=bare.parts, actuators=drives)
    eom = form_equations(system, formulation="kane")
    q, v = rng.normal(size=eom.n_q), rng.normal(size=eom.n_v)
    M = eom.mass_matrix(0.0, q)
    v_u = kernel_of(system, "recursive").linearise(q, v, np.zeros(eom.n_u)).v_u
    order = [eom.speeds.index(f"{drive.joint}_dot") for drive in drives]
    expected = np.linalg.inv(M)[:, order]
    np.testing.assert_allclose(v_u, expected, atol=20 * EPS * np.linalg.cond(M) * np.max(np.abs(expected)))


def test_long_chains_take_the_recursion_and_keep_their_digits() -> None:
    """120 joints: M v_u = 1 with M from the inverse dynamics, column by column."""
    system = library.chain(120)
    assert RECURSIVE_FROM <= 120
    eom = form_equations(system)
    rng = np.random.default_rng(1)
    q, v, u = (rng.normal(size=120) for _ in range(3))
    kernel = LinearKernel(system, eom.parameters, eom.p)
    assert kernel.solver == "recursive"
    terms = kernel.linearise(q, v, u)
    M = eom.mass_matrix(0.0, q)
    # residual of a backward stable solution: rounding times |M| |X|, some of it for each of 120 steps
    assert np.max(np.abs(M @ terms.v_u - np.eye(120))) <= 120 * EPS * np.linalg.norm(M) * np.linalg.norm(terms.v_u)
    np.testing.assert_allclose(terms.v_dot, eom.v_dot(0.0, q, v, u), rtol=1e-9, atol=1e-9 * np.max(np.abs(terms.v_dot)))


def test_short_chains_take_the_factors() -> None:
    assert kernel_of(library.chain(4), "auto").solver == "dense"


@pytest.mark.parametrize("angle", [0.0, 0.7])
def test_a_singular_position_names_the_speed(angle: float) -> None:
    rod = RigidBody(name="rod", mass=1.0, inertia=(1.0, 1.0, 0.0), com=(0.0, 0.0, 1.0))
    arm = Part(RigidBody(name="arm", mass=1.0, inertia=(1.0, 1.0, 1.0)), joint=Revolute(name="shoulder", axis="x"))
    system = System(name="s", parts=(arm, Part(rod, on="arm", joint=Revolute(name="spin", axis="z"))))
    with pytest.raises(SolverError, match="speed 'spin_dot'"):
        kernel_of(system, "recursive").linearise([angle, angle], np.zeros(2))


def test_an_unknown_solver_is_named() -> None:
    with pytest.raises(ModelError, match="'sparse'.*'recursive'"):
        kernel_of(library.chain(4), "sparse")  # type: ignore[arg-type]
