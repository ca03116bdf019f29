"""The order-N recursion (unrolled, native sweep, numpy reference, compiled) gives one result; random trees have further tests."""

from __future__ import annotations

import numpy as np
import pytest

from spacectl import library
from spacectl.codegen.bound_function import FUSED_FROM
from spacectl.core.errors import SolverError
from spacectl.dynamics.form import form_equations
from spacectl.dynamics.recursion.tree_kernel import TreeKernel
from spacectl.dynamics.recursion.tree_reference import TreeReference
from spacectl.dynamics.waist.compiled import CompiledEquations
from tests.dynamics.tree.test_random_trees import TREES, make_case
from tests.oracles.recursion.factor import factor, solve
from tests.peers.tree_properties import evaluate
from tests.strategies import Case


def random_state(eom, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = eom.state(eom.state() + 0.4 * rng.standard_normal(eom.n_x))
    if type(eom.system.environment).__name__ == "CentralGravity":
        x[eom.labels.x.index("base.x")] += 7e6
    return x, rng.standard_normal(eom.n_u)


@pytest.mark.parametrize("chunk", range(6))
def test_reference_equals_the_native_sweep(chunk: int) -> None:
    for seed in range(chunk, TREES, 30):
        case = make_case(seed)
        parameters = case.system.parameters()
        kernel, reference = (
            kind(case.system, parameters, np.array(parameters.values)) for kind in (TreeKernel, TreeReference)
        )
        q, v = np.array(list(case.q.values())), np.array(list(case.v.values()))
        u = np.array(list(case.u.values()))
        a, b = kernel.v_dot(q, v, u), reference.v_dot(q, v, u)
        # the same operations in the same order up to the inversion of divisors; amplified by the condition of M
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-9 * np.max(np.abs(a), initial=1.0))
        np.testing.assert_allclose(
            kernel.tau(q, v, a), reference.tau(q, v, a), rtol=1e-10, atol=1e-10 * np.max(np.abs(a), initial=1.0)
        )


@pytest.mark.parametrize("name", library.LIBRARY)
def test_every_implementation_gives_the_same_acceleration(name: str) -> None:
    system = library.LIBRARY[name]()
    kane, unrolled = (form_equations(system, formulation=kind) for kind in ("kane", "articulated"))
    x, u = random_state(kane, 5)
    q, v = x[: kane.n_q], x[kane.n_q :]
    named = (
        dict(zip(names, values, strict=True))
        for names, values in ((kane.coordinates, q), (kane.speeds, v), (kane.inputs, u))
    )
    terms = evaluate(kane, Case(system, *named))
    kernel = TreeKernel(system, kane.parameters, kane.p)
    for v_dot in (
        unrolled.v_dot(0.0, q, v, u),
        kernel.v_dot(q, v, u),
        TreeReference(system, kane.parameters, kane.p).v_dot(q, v, u),
    ):
        terms.check_recursion(v_dot)
    np.testing.assert_allclose(kernel.x_dot(x, u), unrolled.x_dot(0.0, x, u), rtol=1e-10, atol=1e-12)
    tau = unrolled.call("inverse_dynamics", 0.0, q, v, kernel.v_dot(q, v, u))[0][:, 0]
    np.testing.assert_allclose(
        tau, kane.input_map(0.0, q) @ u, atol=1e-10 * (1.0 + np.max(np.abs(kane.bias(0.0, q, v))))
    )


@pytest.mark.parametrize(
    ("formulation", "kind"), [("kane", "unrolled"), ("articulated", "unrolled"), ("articulated", "data-driven")]
)
def test_compiled_equations_equal_the_virtual_machine(formulation: str, kind: str) -> None:
    eom = form_equations(library.free_flyer_arm(), formulation=formulation)
    compiled = CompiledEquations(eom, kind=kind)
    states, inputs = zip(*(random_state(eom, seed) for seed in range(7)), strict=True)
    together = compiled.batch(np.array(states), np.array(inputs), threads=2)
    for row, x, u in zip(together, states, inputs, strict=True):
        np.testing.assert_array_equal(row, compiled.x_dot(0.0, x, u))
        np.testing.assert_array_equal(row[eom.n_q :], compiled.v_dot(0.0, x[: eom.n_q], x[eom.n_q :], u))
        np.testing.assert_allclose(row, eom.x_dot(0.0, x, u), rtol=1e-10, atol=1e-11)  # condition number 1e4


def test_small_expressions_round_as_the_virtual_machine_does() -> None:
    """Fused operations are for large ones, so that steps of small loops are the same with and without native code."""
    eom = form_equations(library.pendulum())
    assert eom.functions["x_dot"].n_instructions() < FUSED_FROM
    compiled = eom.compiled()
    for seed in range(20):
        x, u = np.random.default_rng(seed).normal(size=(2, 2))
        np.testing.assert_array_equal(compiled.x_dot(0.0, x, u[:1]), eom.call("x_dot", 0.0, x, u[:1])[0][:, 0])
    assert form_equations(library.free_flyer_arm()).functions["x_dot"].n_instructions() >= FUSED_FROM


def test_reference_of_the_factorisation_and_its_failure() -> None:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((9, 9))
    M, b = A @ A.T + np.eye(9), rng.standard_normal(9)
    np.testing.assert_allclose(solve(factor(M), b), np.linalg.solve(M, b), rtol=1e-10)
    M[4, 4] = -1.0
    with pytest.raises(SolverError, match="pivot 4"):
        factor(M)


def test_a_long_chain_needs_no_expression() -> None:
    """60 joints: numeric calls go through the sweep, agree with each other, and with Kane's equations of 26 joints."""
    for n in (26, 60):
        eom = form_equations(library.chain(n))
        assert eom.formulation == "articulated" and "x_dot" in eom.numeric
        rng = np.random.default_rng(n)
        q, v, u = (rng.standard_normal(n) for _ in range(3))
        v_dot = eom.v_dot(0.0, q, v, u)
        force = eom.input_map(0.0, q) @ u
        balance = eom.mass_matrix(0.0, q) @ v_dot + eom.bias(0.0, q, v) - force
        size = np.linalg.norm(eom.mass_matrix(0.0, q), 2) * np.linalg.norm(v_dot)
        assert np.linalg.norm(balance) < 1e-12 * size
        np.testing.assert_array_equal(eom.x_dot(0.0, np.concatenate([q, v]), u)[n:], v_dot)
        assert eom.along("v_dot", [0.0, 1.0], np.stack([np.concatenate([q, v])] * 2), np.stack([u] * 2)).shape == (2, n)
    kane = form_equations(library.chain(26), formulation="kane")
    eom = form_equations(library.chain(26))
    q, v, u = (np.random.default_rng(1).standard_normal(26) for _ in range(3))
    names = (
        dict(zip(labels, values, strict=True))
        for labels, values in ((kane.coordinates, q), (kane.speeds, v), (kane.inputs, u))
    )
    evaluate(kane, Case(kane.system, *names)).check_recursion(eom.v_dot(0.0, q, v, u))
