"""Long straight-line code is cut into chunks without changing a bit of its results."""

from __future__ import annotations

import ctypes

import casadi as ca
import numpy as np
import pytest

from spacectl.codegen.bound_function import prepare_native
from spacectl.codegen.chunks import _LONGEST, CHUNKED_FROM, Line, emit_body
from spacectl.codegen.emit_c import EmittedC, emit_function
from spacectl.codegen.library import load_tuned


def random_function(seed: int, n: int, n_early: int) -> ca.Function:
    """(x, p) -> (y, z): values made of earlier ones, far and near, with shared divisors and outputs of p alone."""
    rng = np.random.default_rng(seed)
    x, p = ca.SX.sym("x", 6), ca.SX.sym("p", 40)
    makers = (
        lambda a, b: a + b,
        lambda a, b: a * b,
        lambda a, b: a - 0.5 * b,
        lambda a, b: ca.sin(a) + b,
        lambda a, b: a / (2 + ca.fabs(b)),
        lambda a, b: ca.if_else(a > b, a, -b),
    )

    def grow(values: list[ca.SX], count: int) -> None:
        for _ in range(count):
            far, near = rng.integers(len(values)), max(0, len(values) - 1 - int(rng.integers(30)))
            # bounded, so that no value overflows and hides a difference
            values.append(ca.cos(makers[rng.integers(len(makers))](values[far], values[near])))

    early = ca.vertsplit(p)
    grow(early, n_early)
    late = [*ca.vertsplit(x), *(early[i] for i in rng.integers(len(early), size=50))]
    grow(late, n)
    divisor = 3 + late[20]
    y = [late[i] / divisor for i in rng.integers(len(late), size=60)]
    z = [early[-1], late[0], p[3], ca.SX(1.5), *late[-5:]]
    return ca.Function("random", [x, p], [ca.vertcat(*y), ca.vertcat(*z)], ["x", "p"], ["y", "z"])


def run(emitted: EmittedC, function: ca.Function, x: np.ndarray, p: np.ndarray) -> np.ndarray:
    """All outputs by native code without fused products."""
    library = load_tuned({"expression.c": "#include <math.h>\n" + emitted.text}, name="chunks", flags=("-O1",))
    sizes = [[f(i) for i in range(2)] for f in (function.numel_in, function.numel_out)]
    native = prepare_native(library, emitted.n_prepared, p, *sizes)
    results = [np.full(size, np.nan) for size in native.sizes_out]
    arguments = (ctypes.c_void_p * 2)(x.ctypes.data, p.ctypes.data)
    places = (ctypes.c_void_p * 2)(*(r.ctypes.data for r in results))
    w = ctypes.c_void_p(native.w.ctypes.data)
    assert library.evaluate(arguments, places, None, w, 0) == 0
    return np.concatenate(results)


@pytest.mark.parametrize(("seed", "n", "n_early"), [(0, 700, 20), (1, 400, 400)])
def test_chunks_change_no_bit(seed: int, n: int, n_early: int) -> None:
    function = random_function(seed, n, n_early)
    whole = emit_function(function, "evaluate", chunked_from=10**9)
    cut = emit_function(function, "evaluate", chunked_from=0)
    assert "evaluate_1(" in cut.text and "noinline" not in whole.text
    assert ("evaluate_prepare_1(" in cut.text) == (n_early > 300)
    assert cut.n_prepared == whole.n_prepared
    rng = np.random.default_rng(seed)
    for _ in range(3):
        x, p = rng.normal(size=6), rng.normal(size=40)
        results = run(cut, function, x, p)
        np.testing.assert_array_equal(results, run(whole, function, x, p))
        expected = np.concatenate([item.full().ravel() for item in function(x, p)])
        # shared divisors are inverted first, one more rounding; the graph passes it on through contractive steps
        np.testing.assert_allclose(results, expected, rtol=1e-9, atol=1e-9)


def test_results_may_lie_where_inputs_are() -> None:
    lines = [Line("v0", "a[0]", ("a[0]",), "input"), Line("v1", "a[1]", ("a[1]",), "input")]
    lines += [Line(f"v{k}", f"v{k - 1} + v{k - 2}", (f"v{k - 1}", f"v{k - 2}")) for k in range(2, 2000)]
    stores = [Line("a[0]", "v2", ("v2",), "store"), Line("a[1]", "v0", ("v0",), "store")]
    chunks, body = emit_body(lines, stores, "f", [("double *", "a")], is_long=True)
    last = max(k for k, line in enumerate(chunks) if line.startswith("static"))
    assert len(body) > 3 and last < min(k for k, line in enumerate(chunks) if line.startswith("    a["))


def test_small_functions_stay_whole() -> None:
    function = random_function(2, 200, 20)
    assert function.n_instructions() < CHUNKED_FROM
    assert emit_function(function, "f").text == emit_function(function, "f", chunked_from=10**9).text


def test_chunks_are_short_and_their_number_grows_with_the_length() -> None:
    counts = []
    for n in (500, 1000, 2000):
        text = emit_function(random_function(3, n, 20), "f", chunked_from=0).text
        bodies = text.split("static __attribute__((noinline))")[1:]
        assert max(body.split("\n}")[0].count("\n") for body in bodies) <= 4 * _LONGEST  # loads and stores included
        counts.append(len(bodies))
    assert counts[2] > 1.5 * counts[1] > 2 * counts[0]
