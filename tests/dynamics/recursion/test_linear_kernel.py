"""Exact linearisation by recursion: compared with CasADi's Jacobians, differences in extended precision, and its reference."""

from __future__ import annotations

import numpy as np
import pytest

from spacectl import library
from spacectl.core.errors import SolverError
from spacectl.dynamics.form import form_equations
from spacectl.dynamics.recursion.elements import form_elements
from spacectl.dynamics.recursion.linear_kernel import LinearKernel
from spacectl.dynamics.recursion.links import form_links
from spacectl.dynamics.recursion.sweeps import forward_dynamics, move
from spacectl.dynamics.tree.nodes import ROOT, Tree, numeric_numbers
from spacectl.model.bodies.rigid import RigidBody
from spacectl.model.joints import Revolute
from spacectl.model.part import Part
from spacectl.model.system import System
from tests.oracles.recursion.derivatives import differentiate
from tests.strategies import ENVIRONMENT_KINDS, Case, first_of, random_tree


def make_case(seed: int, bodies: int = 5) -> Case:
    environment = ENVIRONMENT_KINDS[seed % 4]
    return random_tree(np.random.default_rng(seed), bodies=bodies, free_bases=seed % 3, environment=environment)


def tangent_map(eom, q) -> np.ndarray:
    """dq for a unit tangent displacement of each speed: the columns of W in q_dot = W v."""
    return np.stack([eom.call("q_dot", 0.0, q, unit)[0][:, 0] for unit in np.eye(eom.n_v)], axis=1)


@pytest.mark.parametrize("seed", first_of(range(16), 6))
def test_kernel_equals_casadi_on_random_trees(seed: int) -> None:
    case = make_case(seed)
    eom = form_equations(case.system, formulation="kane")
    q, v, u = case.vectors(eom)
    terms = LinearKernel(case.system, eom.parameters, eom.p).linearise(q, v, u)
    exact = {
        "v_dot": eom.v_dot(0.0, q, v, u),
        "v_q": eom.jacobian("v_dot", "v_dot", "q", 0.0, q, v, u) @ tangent_map(eom, q),
        "v_v": eom.jacobian("v_dot", "v_dot", "v", 0.0, q, v, u),
        "v_u": eom.jacobian("v_dot", "v_dot", "u", 0.0, q, v, u),
    }
    # rounding times the condition of M (up to 1e5 in these trees)
    scale = 1e-16 * np.linalg.cond(eom.mass_matrix(0.0, q)) + 1e-12
    for name, value in exact.items():
        error = np.max(np.abs(getattr(terms, name) - value), initial=0.0)
        assert error <= scale * np.max(np.abs(value), initial=1.0), name


def long_v_dot(system, parameters, p, q, v, tau) -> np.ndarray:
    """Forward dynamics of a chain in free space in extended precision, by the generic recursion."""
    links = form_links(Tree.of(system), numeric_numbers(parameters, p), np.zeros(1)).items
    motions = []
    for link in links:
        above = np.zeros(6, dtype=np.longdouble) if link.parent == ROOT else motions[link.parent].twist
        motions.append(move(link, q[link.node.q], v[link.node.v], above))
    return np.array(forward_dynamics(links, motions, tau, [np.zeros(6)] * len(links), np.zeros(6)), dtype=np.longdouble)


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="this machine has no extended precision")
@pytest.mark.parametrize("n", [7, 12])
def test_kernel_equals_differences_in_extended_precision(n: int) -> None:
    system = library.chain(n)
    parameters = system.parameters()
    p = np.array(parameters.values)
    rng = np.random.default_rng(n)
    q, v, u = (rng.standard_normal(n).astype(np.longdouble) for _ in range(3))
    terms = LinearKernel(system, parameters, p).linearise(*(item.astype(float) for item in (q, v, u)))
    q, v, u = (item.astype(float).astype(np.longdouble) for item in (q, v, u))
    h = np.longdouble(1e-3)  # truncation h^6 = 1e-18, rounding 1e-19 cond(M) / h = 1e-12

    def difference(k: int, which: str) -> np.ndarray:
        values = {}
        for step in (-3, -2, -1, 1, 2, 3):
            moved = {"q": q.copy(), "v": v.copy()}
            moved[which][k] += step * h
            values[step] = long_v_dot(system, parameters, p, moved["q"], moved["v"], u)
        return (45 * (values[1] - values[-1]) - 9 * (values[2] - values[-2]) + (values[3] - values[-3])) / (60 * h)

    for which, exact in (("q", terms.v_q), ("v", terms.v_v)):
        numeric = np.stack([difference(k, which) for k in range(n)], axis=1).astype(float)
        assert np.max(np.abs(exact - numeric)) <= 1e-11 * np.max(np.abs(numeric))


@pytest.mark.parametrize("seed", [0, 1, 4, 5])
def test_reference_gives_the_same_terms(seed: int) -> None:
    case = make_case(seed)
    system = System(name="no body loads", parts=case.system.parts, environment=case.system.environment)
    parameters = system.parameters()
    tree, numbers = Tree.of(system), numeric_numbers(parameters, np.array(parameters.values))
    kernel = LinearKernel(system, parameters, np.array(parameters.values))
    q, v = (
        np.array([values[name] for name in names])
        for values, names in ((case.q, tree.coordinates), (case.v, tree.speeds))
    )
    terms = kernel.linearise(q, v)
    elements = form_elements(form_links(tree, numbers, np.zeros(1)))
    reference = differentiate(elements, q, v, terms.v_dot, kernel.data.arrays["root"], {})
    for name, value in (("v_q", reference.tau_q), ("v_v", reference.tau_v)):
        expected = -np.linalg.solve(reference.M, value)
        np.testing.assert_allclose(getattr(terms, name), expected, atol=1e-9 * np.max(np.abs(expected)))


def test_far_from_the_origin_no_digits_are_lost() -> None:
    """In an orbit of 7000 km the derivatives keep the digits that the positions have."""
    system = library.wheel_spacecraft()
    eom = form_equations(system, formulation="kane")
    x = eom.state(**{"base.x": 7.0e6, "base.wy": 0.01, "wheel_x_dot": 100.0})
    q, v, u = x[: eom.n_q], x[eom.n_q :], np.full(eom.n_u, 0.1)
    terms = LinearKernel(system, eom.parameters, eom.p).linearise(q, v, u)
    for name, argument, turn in (("v_q", "q", tangent_map(eom, q)), ("v_v", "v", np.eye(eom.n_v))):
        exact = eom.jacobian("v_dot", "v_dot", argument, 0.0, q, v, u) @ turn
        np.testing.assert_allclose(getattr(terms, name), exact, atol=1e-9 * np.max(np.abs(exact)), rtol=1e-6)


def test_a_singular_position_names_the_speed() -> None:
    rod = RigidBody(name="rod", mass=1.0, inertia=(1.0, 1.0, 0.0), com=(0.0, 0.0, 1.0))
    arm = Part(RigidBody(name="arm", mass=1.0, inertia=(1.0, 1.0, 1.0)), joint=Revolute(name="shoulder", axis="x"))
    system = System(name="s", parts=(arm, Part(rod, on="arm", joint=Revolute(name="spin", axis="z"))))
    parameters = system.parameters()
    with pytest.raises(SolverError, match="speed 'spin_dot'"):
        LinearKernel(system, parameters, np.array(parameters.values)).linearise(np.zeros(2), np.zeros(2))
