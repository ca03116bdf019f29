"""Fast calls of native functions: the same numbers and errors as through ctypes, with nothing lent, lost or mixed up."""

from __future__ import annotations

import gc
import logging
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from spacectl import Part, Prismatic, Revolute, RigidBody, library
from spacectl.codegen import extension as caller
from spacectl.codegen import library as compiling
from spacectl.core.errors import ModelError, ShapeError, SolverError
from spacectl.dynamics.form import form_equations
from spacectl.dynamics.recursion.linear_kernel import LinearKernel, LinearTerms
from spacectl.model.system import System

N = 3  # joints


@pytest.fixture(scope="module")
def eom():
    return form_equations(library.chain(N))


@pytest.fixture(params=["extension", "ctypes"])
def way(request, monkeypatch) -> str:
    """Both ways to call native code."""
    if request.param == "ctypes":
        monkeypatch.setattr(caller, "_extension", lambda: None)
    elif caller._extension() is None:
        pytest.skip("no headers of Python here")
    return request.param


def arguments(eom, seed: int = 0):
    q, v, u = np.random.default_rng(seed).normal(size=(3, N))
    return q.copy(), v.copy(), u.copy()


def linear_kernel(eom) -> LinearKernel:
    return LinearKernel(eom.system, eom.parameters, eom.p)


def test_where_python_has_headers_there_is_an_extension() -> None:
    has_header = (Path(sysconfig.get_paths()["include"]) / "Python.h").is_file()
    assert (caller._extension() is not None) is (has_header and compiling.find_compiler() is not None)


def test_all_calls_give_the_right_numbers(eom, way) -> None:
    compiled, kernel = eom.compiled(), linear_kernel(eom)
    q, v, u = arguments(eom)
    x = np.concatenate([q, v])
    assert (compiled._x_dot.fast(0.0, x, u) is None) is (way == "ctypes")
    # rounding of order-one numbers, M of condition 1e3
    np.testing.assert_allclose(compiled.x_dot(0.0, x, u), eom.x_dot(0.0, x, u), atol=1e-12, rtol=1e-12)
    np.testing.assert_array_equal(compiled.v_dot(0.0, q, v, u), compiled.x_dot(0.0, x, u)[N:])
    terms = kernel.linearise(q, v, u)
    assert type(terms) is LinearTerms
    assert [item.shape for item in terms] == [(N,), (N, N), (N, N), (N, N)]
    for ours, buffer in zip(terms, kernel.terms, strict=True):
        np.testing.assert_array_equal(ours, buffer)
    np.testing.assert_allclose(terms.v_dot, compiled.v_dot(0.0, q, v, u), atol=1e-12, rtol=1e-12)


def unaligned(x: np.ndarray) -> np.ndarray:
    raw = np.zeros(8 * x.size + 1, dtype=np.uint8)
    raw[1:] = x.view(np.uint8)
    return raw[1:].view(float)


VIEWS = {
    "list": list,
    "tuple": tuple,
    "every second entry": lambda x: np.repeat(x, 2)[::2],
    "backwards": lambda x: x[::-1].copy()[::-1],
    "other byte order": lambda x: x.astype(x.dtype.newbyteorder()),
    "not aligned": unaligned,
    "read-only": lambda x: np.frombuffer(x.tobytes()),
    "subclass": lambda x: x.view(type("Other", (np.ndarray,), {})),
    "extended precision": lambda x: x.astype(np.longdouble),
    "memoryview": memoryview,
}


@pytest.mark.parametrize("kind", VIEWS)
def test_other_arrays_are_converted(eom, way, kind: str) -> None:
    compiled = eom.compiled()
    q, v, u = arguments(eom)
    x, change = np.concatenate([q, v]), VIEWS[kind]
    np.testing.assert_array_equal(compiled.x_dot(0.0, change(x), change(u)), compiled.x_dot(0.0, x, u))
    np.testing.assert_array_equal(compiled.v_dot(0.0, change(q), v, change(u)), compiled.v_dot(0.0, q, v, u))


def test_whole_numbers_are_converted(eom, way) -> None:
    compiled = eom.compiled()
    np.testing.assert_array_equal(
        compiled.x_dot(0.0, [1] * 6, [2] * 3), compiled.x_dot(0.0, np.ones(6), np.full(3, 2.0))
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda c, k: c.x_dot(0.0, np.zeros(N)), r"x_dot: x has shape \(3,\), expected \(6,\)"),
        (lambda c, k: c.x_dot(0.0), r"x_dot: x has shape \(\), expected \(6,\)"),
        (lambda c, k: c.x_dot(0.0, np.zeros(6), 1.0), r"x_dot: u has shape \(\), expected \(3,\)"),
        (lambda c, k: c.x_dot(0.0, np.zeros(5), np.zeros(N)), r"x_dot: x has shape \(5,\)"),
        (lambda c, k: c.x_dot(0.0, np.zeros(7), np.zeros(N)), r"x_dot: x has shape \(7,\)"),
        (lambda c, k: c.x_dot(0.0, np.zeros((6, 1)), np.zeros(N)), r"x_dot: x has shape \(6, 1\)"),
        (lambda c, k: c.x_dot(0.0, np.zeros(6)), r"x_dot: u has shape \(0,\), expected \(3,\)"),
        (lambda c, k: c.x_dot(0.0, np.zeros(6), np.zeros(1)), r"x_dot: u has shape \(1,\), expected \(3,\)"),
        (
            lambda c, k: c.v_dot(0.0, np.zeros(6), np.zeros(0), np.zeros(N)),
            r"v_dot: q has shape \(6,\), expected \(3,\)",
        ),
        (lambda c, k: c.v_dot(0.0, np.zeros(3), 0.0, np.zeros(N)), r"v_dot: v has shape \(\), expected \(3,\)"),
        (lambda c, k: k.linearise(np.zeros(3), np.zeros(2), np.zeros(N)), r"linearise: v has shape \(2,\)"),
    ],
)
def test_nothing_is_broadcast(eom, way, make, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        make(eom.compiled(), linear_kernel(eom))


def test_texts_are_no_numbers(eom, way) -> None:
    for wrong in (["1"] * 6, "1", [None] * 5 + ["x"]):
        with pytest.raises(ModelError, match="x_dot: x: expected 6 numbers"):
            eom.compiled().x_dot(0.0, wrong, np.zeros(N))


def test_inputs_may_be_left_out_where_there_are_none(way) -> None:
    eom = form_equations(System(name="bare", parts=library.chain(2).parts))
    compiled = eom.compiled()
    x = eom.state()
    np.testing.assert_array_equal(compiled.x_dot(0.0, x), compiled.x_dot(0.0, x, np.zeros(0)))
    assert linear_kernel(eom).linearise(x[: eom.n_q], x[eom.n_q :]).v_u.shape == (eom.n_v, 0)


def test_a_failing_function_is_reported_both_ways(eom, way) -> None:
    kernel = linear_kernel(eom)
    with pytest.raises(SolverError, match="mass matrix is singular: no body has inertia along speed 'joint"):
        kernel.linearise(np.full(N, np.nan), np.zeros(N), np.zeros(N))


def test_results_are_fresh_and_outlive_their_maker(eom, way) -> None:
    compiled = eom.compiled()
    q, v, u = arguments(eom)
    x = np.concatenate([q, v])
    first, second = compiled.x_dot(0.0, x, u), compiled.x_dot(0.0, x, u)
    kept = first.copy()
    assert first.flags.owndata and first.flags.writeable and not np.shares_memory(first, second)
    second[:] = 0.0
    compiled.rate[:] = 0.0
    terms = linear_kernel(eom).linearise(q, v, u)
    assert not any(np.shares_memory(a, b) for a, b in pairwise(terms))
    del compiled
    gc.collect()
    np.testing.assert_array_equal(first, kept)


def test_the_callable_keeps_what_it_needs(eom, way) -> None:
    compiled, kernel = eom.compiled(), linear_kernel(eom)
    q, v, u = arguments(eom)
    x = np.concatenate([q, v])
    expected, terms = compiled.x_dot(0.0, x, u), kernel.linearise(q, v, u)
    calls = [compiled._x_dot, kernel.call]
    del compiled, kernel
    gc.collect()
    trash = [np.full(size, np.nan) for size in range(1, 400)]  # would land on freed buffers
    np.testing.assert_array_equal(calls[0].checked(0.0, x, u), expected)
    np.testing.assert_array_equal(calls[1].checked(q, v, u).v_q, terms.v_q)
    assert len(trash) == 399


def test_the_buffers_themselves_can_be_passed(eom, way) -> None:
    compiled = eom.compiled()
    q, v, u = arguments(eom)
    x = np.concatenate([q, v])
    expected = compiled.x_dot(0.0, x, u)
    compiled.x[:], compiled.u[:] = x, u
    np.testing.assert_array_equal(compiled.x_dot(0.0, compiled.x, compiled.u), expected)


def test_threads_do_not_mix_their_states(eom, way) -> None:
    compiled, kernel = eom.compiled(), linear_kernel(eom)
    cases = [arguments(eom, seed) for seed in range(40)]
    states = [(np.concatenate([q, v]), u) for q, v, u in cases]
    rates = [compiled.x_dot(0.0, *state).copy() for state in states]
    slopes = [kernel.linearise(*case).v_q for case in cases]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            for got, expected in zip(pool.map(lambda s: compiled.x_dot(0.0, *s), states * 25), rates * 25, strict=True):
                np.testing.assert_array_equal(got, expected)
            for got, expected in zip(pool.map(lambda c: kernel.linearise(*c).v_q, cases * 5), slopes * 5, strict=True):
                np.testing.assert_array_equal(got, expected)
    finally:
        sys.setswitchinterval(interval)


def test_no_references_are_lost(eom, way) -> None:
    compiled, kernel = eom.compiled(), linear_kernel(eom)
    q, v, u = arguments(eom)
    x = np.concatenate([q, v])
    wrong = np.zeros(2)
    watched = [x, u, q, wrong, compiled.rate, LinearTerms]
    compiled.x_dot(0.0, x, u)  # the first calls bind the buffers
    kernel.linearise(q, v, u)
    gc.collect()
    before = [sys.getrefcount(item) for item in watched]
    for _ in range(500):
        compiled.x_dot(0.0, x, u)
        kernel.linearise(q, v, u)
        compiled._x_dot.fast(0.0, x, wrong)
        compiled._x_dot.fast(0.0, x)
    gc.collect()
    assert [sys.getrefcount(item) for item in watched] == before


def test_objects_go_when_nobody_holds_them(eom, way) -> None:
    q, v, u = arguments(eom)
    kernel = linear_kernel(eom)
    kernel.linearise(q, v, u)
    buffer, before = kernel.q, sys.getrefcount(kernel.q)
    del kernel
    gc.collect()
    assert sys.getrefcount(buffer) < before


def test_extension_refuses_what_cannot_be_a_buffer() -> None:
    module = caller._extension()
    if module is None:
        pytest.skip("no headers of Python here")
    good, locked = np.zeros(2), np.zeros(2)
    locked.setflags(write=False)
    places = (1, 0, 0, 0, 0, 0)  # of a virtual machine
    for wrong in (np.zeros(2, dtype=np.float32), np.zeros(4)[::2], locked, [0.0, 0.0]):
        with pytest.raises(TypeError, match="contiguous, writable float64"):
            module.bind(1, places, (wrong,), (good,), None, False, False, None)
    with pytest.raises(ValueError, match="address"):
        module.bind(0, places, (good,), (good,), None, False, False, None)
    with pytest.raises(ValueError, match="that of its buffers"):
        module.bind(1, (0, 1, 0, 0, 0, 0), (good,), (good,), None, False, False, None)
    with pytest.raises(ValueError, match="type of tuples"):
        module.bind(1, places, (good,), (good, good), None, False, False, None)
    with pytest.raises(TypeError, match="type of tuples"):
        module.bind(1, places, (good,), (good,), list, False, False, None)
    with pytest.raises(ValueError, match="at most"):
        module.bind(1, places, (good,) * 25, (good,), None, False, False, None)


def test_without_headers_calls_go_through_ctypes(tmp_path, monkeypatch, caplog, eom) -> None:
    paths = sysconfig.get_paths() | {"include": str(tmp_path)}
    monkeypatch.setattr(caller.sysconfig, "get_paths", lambda: paths)
    with caplog.at_level(logging.INFO):
        assert caller._extension.__wrapped__() is None
    assert any("Python.h" in line for line in caplog.messages)


def test_without_a_working_compiler_calls_go_through_ctypes(monkeypatch, caplog) -> None:
    def fail(*_: object, **__: object) -> None:
        raise SolverError("the compiler broke")

    monkeypatch.setattr(caller, "load_kernel", fail)
    with caplog.at_level(logging.INFO):
        assert caller._extension.__wrapped__() is None


def test_extension_comes_from_the_verified_cache(tmp_path, monkeypatch, caplog) -> None:
    if caller._extension() is None:
        pytest.skip("no headers of Python here")
    monkeypatch.setenv("SPACECTL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(compiling, "_loaded", {})
    loaded: list[str] = []
    load = caller._load_module

    def note(path: str) -> object:
        loaded.append(path)
        return load(path)

    monkeypatch.setattr(caller, "_load_module", note)
    assert hasattr(caller._extension.__wrapped__(), "bind")
    path = Path(loaded[0])
    assert tmp_path in path.parents
    with path.open("ab") as file:
        file.write(b"foreign")
    monkeypatch.setattr(compiling, "_loaded", {})
    with caplog.at_level(logging.WARNING):
        assert hasattr(caller._extension.__wrapped__(), "bind")
    assert any("does not match its manifest" in line for line in caplog.messages)
    assert not path.read_bytes().endswith(b"foreign")


def test_the_time_comes_first_as_in_the_equations(way) -> None:
    moved = System(
        name="moved",
        parts=(
            Part(
                RigidBody(name="cart", mass=1.0, inertia=(1, 1, 1)),
                joint=Prismatic(axis="x", prescribed=lambda s: s.t**3),
            ),
            Part(
                RigidBody(name="bob", mass=1.0, inertia=(1, 1, 1), com=(0, 0, -1)), on="cart", joint=Revolute(axis="y")
            ),
        ),
    )
    eom = form_equations(moved)
    compiled, x = eom.compiled(), np.array([0.3, 0.1])
    assert (compiled._x_dot.fast(1.5, x, ()) is None) is (way == "ctypes")
    for t in (0.0, 1.5, 2, np.float64(0.5)):
        np.testing.assert_allclose(compiled.x_dot(t, x), eom.x_dot(t, x), atol=1e-13)
        np.testing.assert_allclose(compiled.v_dot(t, x[:1], x[1:]), eom.v_dot(t, x[:1], x[1:]), atol=1e-13)


def test_calls_without_time_warn_and_use_that_in_t(eom, way) -> None:
    compiled = eom.compiled()
    q, v, u = arguments(eom)
    x = np.concatenate([q, v])
    expected = compiled.x_dot(0.0, x, u)
    with pytest.warns(DeprecationWarning, match=r"x_dot\(t, ...\)"):
        np.testing.assert_array_equal(compiled.x_dot(x, u), expected)
    with pytest.warns(DeprecationWarning, match=r"v_dot\(t, ...\)"):
        np.testing.assert_array_equal(compiled.v_dot(q, v, u), expected[N:])
    with pytest.warns(DeprecationWarning), pytest.raises(ShapeError, match="u has shape"):
        compiled.x_dot(x)
