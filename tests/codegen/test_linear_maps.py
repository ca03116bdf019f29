"""Linear maps become matrices and loops, sines a table, without changing a bit of the results."""

from __future__ import annotations

import ctypes

import casadi as ca
import numpy as np
import pytest

from spacectl.codegen.bound_function import compile_expression
from spacectl.codegen.emit_c import emit_function
from spacectl.codegen.library import load_tuned


def law(rows: int, columns: int) -> ca.Function:
    """(x, p) -> (y, z): two maps of the same vector, one of a nonlinear one, and sums that must not be taken for rows."""
    x, p = ca.SX.sym("x", columns), ca.SX.sym("p", rows * columns)
    M = ca.reshape(p, rows, columns)
    bent = ca.sin(x) / (1 + p[0] ** 2)
    first = M @ x
    partial = p[0] * x[0] + p[1] * x[1]  # read three times: no part of a row
    y = first + ca.cos(M) @ bent
    z = ca.vertcat(partial, partial + p[2] * x[2], partial + p[2] * x[2] + p[3] * x[3], 2 * first[-1] + 3 * x[0])
    return ca.Function("law", [x, p], [y, z], ["x", "p"], ["y", "z"])


def call(function: ca.Function, x: np.ndarray, p: np.ndarray, chunked_from: int) -> np.ndarray:
    emitted = emit_function(function, "evaluate", chunked_from=chunked_from)
    library = load_tuned({"expression.c": "#include <math.h>\n" + emitted.text}, name="maps")
    w, out = np.zeros(emitted.n_prepared), [np.zeros(function.numel_out(i)) for i in range(2)]
    pointer = ctypes.c_void_p
    library.evaluate_prepare(pointer(p.ctypes.data), pointer(w.ctypes.data))
    given, made = (pointer * 2)(x.ctypes.data, p.ctypes.data), (pointer * 2)(*(item.ctypes.data for item in out))
    library.evaluate(given, made, None, pointer(w.ctypes.data), 0)
    return np.concatenate(out)


@pytest.mark.parametrize(("rows", "columns"), [(4, 4), (7, 14), (37, 6)])
@pytest.mark.parametrize("chunked_from", [1, 10**6])
def test_maps_change_no_bit(rows: int, columns: int, chunked_from: int) -> None:
    function, rng = law(rows, columns), np.random.default_rng(rows)
    x, p = rng.normal(size=columns), rng.normal(size=rows * columns)
    # no fused products here, so that every product and sum is rounded as CasADi's machine does
    wanted = np.concatenate([np.asarray(item).reshape(-1) for item in function(x, p)])
    np.testing.assert_array_equal(call(function, x, p, chunked_from), wanted)


def test_maps_are_found_and_keep_the_code_short() -> None:
    lengths = [emit_function(law(n, n), "evaluate").text.split("int evaluate(")[1].count("\n") for n in (10, 20)]
    assert lengths[1] < 2.2 * lengths[0]  # grows with the rows, not with the products
    assert emit_function(law(10, 10), "evaluate").text.count("for (int j") == 2


def test_coefficients_that_are_numbers_are_prepared_too() -> None:
    """Long code with literals in its matrix: they have no value of their own to be stored behind."""
    x, p = ca.SX.sym("x", 6), ca.SX.sym("p", 6)
    M = np.random.default_rng(0).normal(size=(40, 6))
    function = ca.Function("fixed", [x, p], [M @ x, ca.cos(M) @ ca.sin(p) + x[0]], ["x", "p"], ["y", "z"])
    at, numbers = np.arange(6) / 7.0, np.arange(6) / 5.0
    wanted = np.concatenate([np.asarray(item).reshape(-1) for item in function(at, numbers)])
    np.testing.assert_array_equal(call(function, at, numbers, 1), wanted)


def test_a_function_reads_the_sines_it_is_handed() -> None:
    x, p = ca.SX.sym("x", 4), ca.SX.sym("p")
    y = ca.vertcat(p * ca.sin(x[1]) + ca.cos(x[3]), ca.sin(x[1] + x[2]), ca.cos(x[1]) * x[0])
    function = ca.Function("turning", [x, p], [y], ["x", "p"], ["y"])
    native = compile_expression(function, [2.0])
    assert native.angles == (1, 3)  # not the sum of two
    at, numbers, out = np.array([0.3, 0.7, -0.2, 1.1]), np.array([2.0]), np.zeros(3)
    turns = np.array([np.nan, np.nan, 10.0, 20.0, np.nan, np.nan, np.nan, 40.0])  # sin x1, cos x1, cos x3 are read
    pointer, prototype = ctypes.c_void_p, ctypes.CFUNCTYPE(ctypes.c_int, *([ctypes.c_void_p] * 4), ctypes.c_int)
    arguments = (pointer * 3)(at.ctypes.data, numbers.ctypes.data, turns.ctypes.data)
    results = (pointer * 1)(out.ctypes.data)
    work = pointer(native.w.ctypes.data)
    prototype(native.turned)(arguments, results, None, work, 0)
    np.testing.assert_allclose(out, [2.0 * 10.0 + 40.0, np.sin(0.5), 20.0 * 0.3], rtol=1e-15)
    prototype(native.entry)(arguments, results, None, work, 0)  # makes its own
    np.testing.assert_array_equal(out, np.asarray(function(at, numbers)).reshape(-1))
