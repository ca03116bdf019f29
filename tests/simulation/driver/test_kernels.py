"""Kernels of the native driver by themselves: factors with row exchanges, and reference tables."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from spacectl.codegen.compiler import c_source, find_compiler
from spacectl.codegen.library import load_library
from spacectl.core.labels import Labels
from spacectl.core.trajectory import Trajectory

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no compiler")

CALLER = """
#include "lu.h"
#include "table.h"

int solve(long long n, double *a, double *b)
{
    sc_int pivot[16];
    if (!sc_lu(n, a, pivot)) return 0;
    sc_lu_solve(n, a, pivot, b);
    return 1;
}

int solve_complex(long long n, double *re, double *im, double *x, double *y)
{
    sc_int pivot[16];
    if (!sc_lu_complex(n, re, im, pivot)) return 0;
    sc_lu_solve_complex(n, re, im, pivot, x, y);
    return 1;
}

void table(long long n, long long k, long long rule, double *knots, double *values, double *rates, double t, double *r)
{
    static sc_loop L;
    L.n_knots = n;
    L.n_r = k;
    L.table_rule = rule;
    L.table_rates = 1;
    L.knots = knots;
    L.values = values;
    L.rates = rates;
    L.i_knot = 0;
    sc_table(&L, t, r);
}
"""


@pytest.fixture(scope="module")
def kernels() -> ctypes.CDLL:
    own = {name: c_source("spacectl.simulation.driver", name) for name in ("loop.h", "lu.h", "table.h")}
    library: ctypes.CDLL = load_library({"caller.c": CALLER, **own}, name="kernels")
    library.table.argtypes = [ctypes.c_longlong] * 3 + [ctypes.c_void_p] * 3 + [ctypes.c_double, ctypes.c_void_p]
    return library


def given(*arrays: np.ndarray) -> list[Any]:
    return [ctypes.c_longlong(len(arrays[0])), *(ctypes.c_void_p(item.ctypes.data) for item in arrays)]


@pytest.mark.parametrize("corner", [0.0, 1e-17, 1.0])
def test_real_factors_exchange_rows(kernels: ctypes.CDLL, corner: float) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((6, 6)), rng.standard_normal(6)
    a[0, 0] = corner  # zero, or so small that to divide by it loses the other entries
    x, factors = b.copy(), a.copy()
    assert kernels.solve(*given(factors, x)) == 1
    np.testing.assert_allclose(x, np.linalg.solve(a, b), rtol=1e-12)
    assert kernels.solve(*given(np.ones((6, 6)), x)) == 0  # singular


@pytest.mark.parametrize("corner", [0.0, 1e-17, 1.0])
def test_complex_factors_exchange_rows(kernels: ctypes.CDLL, corner: float) -> None:
    rng = np.random.default_rng(1)
    re, im, x, y = (rng.standard_normal(shape) for shape in ((6, 6), (6, 6), 6, 6))
    re[0, 0], im[0, 0] = corner, corner
    expected = np.linalg.solve(re + 1j * im, x + 1j * y)
    assert kernels.solve_complex(*given(re, im, x, y)) == 1
    np.testing.assert_allclose(x + 1j * y, expected, rtol=1e-12)


@pytest.mark.parametrize("rule", ["previous", "linear", "cubic"])
def test_tables_are_those_of_a_trajectory_also_outside_their_knots(kernels: ctypes.CDLL, rule: Any) -> None:
    rng = np.random.default_rng(2)
    knots = np.array([0.5, 1.0, 2.5, 3.0])
    values, rates, r = rng.standard_normal((4, 2)), rng.standard_normal((4, 2)), np.empty(4)
    more = {"rates": rates} if rule == "cubic" else {}
    expected = Trajectory(t=knots, values=values, labels=Labels(("a", "b")), interpolation=rule, **more)
    for t in (-1.0, 0.5, 0.7, 1.0, 2.2, 2.9, 3.0, 7.0):
        kernels.table(
            4, 2, ["previous", "linear", "cubic"].index(rule), knots.ctypes.data, values.ctypes.data, rates.ctypes.data,
            t, r.ctypes.data,
        )  # fmt: skip
        np.testing.assert_allclose(r, [*expected(t), *expected.rate(t)], rtol=1e-13, atol=1e-14)
