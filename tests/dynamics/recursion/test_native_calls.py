"""The calls of the equations are native for plain trees: the same results as the functions, the same errors."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from spacectl import library
from spacectl.codegen.binding import Evaluator
from spacectl.core.errors import ModelError, ShapeError, SolverError
from spacectl.dynamics.form import form_equations
from spacectl.dynamics.recursion.native_calls import tree_calls
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.linear.linearize import linear_terms
from tests.dynamics.tree.test_random_trees import make_case
from tests.strategies import first_of

SMALL = [name for name in library.LIBRARY if form_equations(library.LIBRARY[name]()).handover.native is not None]


def by_functions(eom: EquationsOfMotion, function: str, *arguments: Any, p: Any = None) -> np.ndarray:
    """The result of CasADi's virtual machine for the expressions."""
    return Evaluator(eom.functions[function])(*arguments, eom.p if p is None else p)[0]


def require_equal_calls(eom: EquationsOfMotion, t: float, x: np.ndarray, u: np.ndarray, p: Any = None) -> None:
    q, v = x[: eom.n_q], x[eom.n_q :]
    v_dot = np.cos(np.arange(eom.n_v))
    M = by_functions(eom, "mass_matrix", t, q, p=p)
    rates = by_functions(eom, "v_dot", t, q, v, u, p=p).reshape(-1)
    forces = np.abs(M) @ (np.abs(rates) + 1.0) + np.abs(by_functions(eom, "bias", t, q, v, p=p)).reshape(-1)
    loss = np.linalg.cond(M) * 1e-13
    for found, expected, size, loss_of in (
        (eom.x_dot(t, x, u, p), by_functions(eom, "x_dot", t, x, u, p=p), np.max(np.abs(rates), initial=1.0), loss),
        (eom.v_dot(t, q, v, u, p), rates, np.max(np.abs(rates), initial=1.0), loss),
        (eom.mass_matrix(t, q, p), M, np.max(np.abs(M)), 1e-14),
        (eom.bias(t, q, v, p), by_functions(eom, "bias", t, q, v, p=p), np.max(forces), 1e-13),
        (eom.input_map(t, q, p), by_functions(eom, "input_map", t, q, p=p), 1.0 + np.max(np.abs(M)), 1e-13),
        (eom.inverse_dynamics(t, q, v, v_dot, p), by_functions(eom, "inverse_dynamics", t, q, v, v_dot, p=p),
         np.max(forces), 1e-13),
    ):  # fmt: skip
        assert np.max(np.abs(found - expected.reshape(found.shape)), initial=0.0) <= loss_of * size


@pytest.mark.parametrize("seed", first_of(range(60), 24))
def test_calls_of_random_trees_equal_their_expressions(seed: int) -> None:
    case = make_case(seed)
    eom = form_equations(case.system, formulation="articulated")
    assert set(tree_calls(case.system, eom.parameters, eom.p)) >= {"x_dot", "v_dot", "bias", "inverse_dynamics"}
    x = np.array([*case.q.values(), *case.v.values()])
    require_equal_calls(eom, 0.4, x, np.array(list(case.u.values())))


@pytest.mark.parametrize("name", SMALL)
def test_calls_of_the_library_equal_their_expressions(name: str) -> None:
    eom = form_equations(library.LIBRARY[name]())
    rng = np.random.default_rng(3)
    x = eom.state(eom.state() + 0.3 * rng.standard_normal(eom.n_x))
    if type(eom.system.environment).__name__ == "CentralGravity":
        x[eom.labels.x.index("base.x")] += 7e6
    require_equal_calls(eom, 0.0, x, rng.standard_normal(eom.n_u))


def test_other_parameters_take_the_general_call() -> None:
    eom = form_equations(library.free_flyer_arm())
    rng = np.random.default_rng(1)
    x, u = eom.state(0.2 * rng.standard_normal(eom.n_x)), rng.standard_normal(eom.n_u)
    p = eom.parameters.vector({"payload.mass": 80.0})
    require_equal_calls(eom, 0.0, x, u, p)
    assert not np.allclose(eom.x_dot(0.0, x, u, p), eom.x_dot(0.0, x, u))
    np.testing.assert_array_equal(eom.x_dot(0.0, x, u, eom.p), eom.x_dot(0.0, x, u))
    np.testing.assert_array_equal(eom.mass_matrix(0.0, x[: eom.n_q], eom.p), eom.mass_matrix(0.0, x[: eom.n_q]))


def test_arguments_of_any_kind_are_taken_as_by_the_general_call() -> None:
    eom = form_equations(library.chain(2))
    x, u = np.linspace(0.1, 0.4, eom.n_x), np.linspace(0.5, 0.7, eom.n_u)
    q, expected = x[: eom.n_q], eom.x_dot(0.0, x, u)
    for t, given, inputs in ((0, x, u), (np.float64(0.0), list(x), tuple(u)), (0.0, x[:, None], u[:, None])):
        np.testing.assert_array_equal(eom.x_dot(t, given, inputs), expected)
    np.testing.assert_array_equal(eom.mass_matrix(0, list(q)), eom.mass_matrix(0.0, q))
    assert eom.x_dot(0.0, x, u) is not eom.x_dot(0.0, x, u)  # fresh arrays, which the caller may change


def test_faulty_arguments_raise_as_by_the_general_call() -> None:
    eom = form_equations(library.chain(2))
    x, u = np.zeros(eom.n_x), np.zeros(eom.n_u)
    with pytest.raises(ShapeError, match="'x' has 3 entries, expected 4"):
        eom.x_dot(0.0, x[:3], u)
    with pytest.raises(ModelError, match="is nan; give finite numbers"):
        eom.x_dot(0.0, x * np.nan, u)
    with pytest.raises(ShapeError, match="entries"):
        eom.mass_matrix(0.0, x)
    with pytest.raises(ModelError, match="'t' is 'now', expected a number"):
        eom.x_dot("now", x, u)
    assert np.any(np.isnan(eom.mass_matrix(0.0, np.array([0.0, np.nan]))))


def test_without_compiled_kernels_calls_are_general(monkeypatch: pytest.MonkeyPatch) -> None:
    eom, plain = (form_equations(library.chain(3)) for _ in range(2))

    def fail(*_: Any) -> Any:
        raise SolverError("no C compiler")

    monkeypatch.setattr("spacectl.dynamics.recursion.tree_kernel.tree_library", fail)
    x, u = np.linspace(0.1, 0.4, eom.n_x), np.ones(eom.n_u)
    slow = eom.x_dot(0.0, x, u), eom.mass_matrix(0.0, x[: eom.n_q])
    np.testing.assert_array_equal(slow[0], by_functions(eom, "x_dot", 0.0, x, u).reshape(-1))
    monkeypatch.undo()
    fast = plain.x_dot(0.0, x, u), plain.mass_matrix(0.0, x[: eom.n_q])
    for a, b in zip(slow, fast, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def test_without_the_extension_calls_are_native_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spacectl.codegen.extension._extension", lambda: None)
    eom = form_equations(library.chain(3))
    x, u = np.linspace(0.1, 0.4, eom.n_x), np.ones(eom.n_u)
    kernel = tree_calls(eom.system, eom.parameters, eom.p)["x_dot"]
    np.testing.assert_array_equal(eom.x_dot(0.0, x, u), kernel.copied(np.array(0.0), x, u))
    with pytest.raises(ModelError, match="give finite numbers"):
        eom.x_dot(0.0, x * np.inf, u)


def test_threads_may_share_equations() -> None:
    eom = form_equations(library.free_flyer_arm())
    rng = np.random.default_rng(0)
    states = [eom.state(0.3 * rng.standard_normal(eom.n_x)) for _ in range(40)]
    u = np.zeros(eom.n_u)
    expected = [eom.x_dot(0.0, x, u) for x in states]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(20):
            np.testing.assert_array_equal(list(pool.map(lambda x: eom.x_dot(0.0, x, u), states)), expected)


@pytest.mark.parametrize("formulation", ["articulated", "kane"])
def test_linear_terms_equal_those_of_the_linearisation(formulation: str) -> None:
    eom = form_equations(library.free_flyer_arm(), formulation=formulation)
    rng = np.random.default_rng(2)
    x, u = eom.state(0.3 * rng.standard_normal(eom.n_x)), rng.standard_normal(eom.n_u)
    q, v = x[: eom.n_q], x[eom.n_q :]
    for found, expected in zip(eom.linear_terms(0.0, q, v, u), linear_terms(eom, 0.0, q, v, u), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10 * np.max(np.abs(expected), initial=1.0))


def test_linear_terms_are_by_coordinates_where_speeds_are_user_defined() -> None:
    """The coordinate b turns at a rate that is not its speed; the derivative is by b all the same."""
    system = library.planar_arm()
    names = form_equations(system).speeds
    rules = {names[1]: ("whole", lambda s: s[names[0]] + 2.0 * s[names[1]], "rad/s")}
    eom = form_equations(system, speeds=rules)
    q, v, u, h = np.full(eom.n_q, 0.3), np.full(eom.n_v, 0.4), np.zeros(eom.n_u), 1e-5
    steps = [h * e for e in np.eye(eom.n_q)]
    differences = [(eom.v_dot(0.0, q + d, v, u) - eom.v_dot(0.0, q - d, v, u)) / (2.0 * h) for d in steps]
    found = eom.linear_terms(0.0, q, v, u).v_q
    np.testing.assert_allclose(found, np.stack(differences, axis=1), rtol=1e-6, atol=1e-7)
