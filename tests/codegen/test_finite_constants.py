"""No constant that is infinite or undefined becomes C: both emitters raise, and name the function and its output."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from spacectl import ModelError, form_equations, library, make_law, simulate
from spacectl.codegen.binding import bind_casadi
from spacectl.codegen.emit_c import emit_function, emit_step
from spacectl.codegen.finite_constants import require_finite_constants


def scalar(value: float) -> ca.Function:
    """(x) -> (good, bad): entry 1 of the second output contains a constant."""
    x = ca.SX.sym("x", 2)
    return ca.Function("plant", [x], [x * 2.0, ca.vertcat(x[0], x[1] * value)], ["x"], ["good", "bad"])


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, float("1e400")])
@pytest.mark.parametrize("emit", [emit_function, emit_step])
def test_the_own_emitter_names_function_output_and_entry(emit, value):
    with pytest.raises(
        ModelError, match=r"function 'plant': output 'bad'\[1\] uses the constant (-?inf|nan)"
    ) as caught:
        emit(scalar(value), "evaluate")
    assert "good" not in str(caught.value) and "[0]" not in str(caught.value)


def test_finite_constants_of_any_size_are_emitted_exactly():
    values = np.array([1e-320, -0.0, np.finfo(float).max, -np.pi])  # a subnormal, a signed zero, the largest
    x = ca.SX.sym("x", 4)
    bound = bind_casadi(ca.Function("f", [x], [x * ca.SX(ca.DM(values))], ["x"], ["y"]), "native")
    bound.arguments[0][:] = 1.0
    assert bound.call()
    assert np.array_equal(bound.results[0], values)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize(("kind", "named"), [(ca.MX, "output 'y'"), (ca.SX, r"output 'y'\[0\]")])
def test_code_generated_by_casadi_is_refused_alike(kind, named, value):
    """A function with an interpolant has no scalar form; CasADi would write ``casadi_inf`` and compile it."""
    table = ca.interpolant("table", "linear", [[0.0, 1.0]], [0.0, 1.0])
    x, y = ca.MX.sym("x"), kind.sym("y")
    inner = ca.Function("inner", [y], [y + value], ["x"], ["y"])
    f = ca.Function("lookup", [x], [table(x), inner(x)], ["x"], ["smooth", "lost"])
    with pytest.raises(ModelError, match=rf"function 'inner': {named} uses the constant"):
        bind_casadi(f, "native")
    good = ca.Function("lookup", [x], [table(x)], ["x"], ["smooth"])
    require_finite_constants(good)
    assert bind_casadi(good, "native").call()


def test_a_law_with_a_constant_that_is_not_finite_is_named():
    eom = form_equations(library.planar_arm())
    law = make_law(lambda s: [s["joint1"] * 1e400, 0.0], name="broken", states=eom.labels.x, inputs=eom.labels.u)
    with pytest.raises(ModelError, match=r"law 'broken': function 'law': output 'u'\[0\] uses the constant inf"):
        simulate(eom, law, x0={"joint1": 0.1}, t_span=(0.0, 1.0))


def test_limits_that_are_infinite_go_by_data():
    """Actuators without limits have infinite ones: they reach the driver as numbers, not as code."""
    eom = form_equations(library.planar_arm())
    assert not np.all(np.isfinite(eom.limits()))
    law = make_law(lambda s: [-s["joint1"], -s["joint2"]], name="spring", states=eom.labels.x, inputs=eom.labels.u)
    assert np.all(np.isfinite(simulate(eom, law, x0={"joint1": 0.1}, t_span=(0.0, 0.1)).x))
