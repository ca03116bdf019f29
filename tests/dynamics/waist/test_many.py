"""`eom.many` gives at each point what the single call gives, natively, in threads and in the general way."""

from __future__ import annotations

import numpy as np
import pytest

from spacectl import library
from spacectl.core.errors import ModelError, ShapeError
from spacectl.dynamics.form import form_equations
from spacectl.dynamics.waist.equations import EquationsOfMotion


def draw(eom: EquationsOfMotion, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    x = np.array([eom.state(eom.state() + 0.3 * rng.standard_normal(eom.n_x)) for _ in range(n)])
    return np.linspace(0.0, 1.0, n), x, rng.standard_normal((n, eom.n_u))


@pytest.mark.parametrize("name", ["free_flyer_arm", "flexible_four_bar", "five_bar"])
@pytest.mark.parametrize("threads", [1, 2])
def test_many_points_equal_single_calls(name: str, threads: int) -> None:
    eom = form_equations(getattr(library, name)())
    t, x, u = draw(eom, 5)
    q, v = x[:, : eom.n_q], x[:, eom.n_q :]
    for function, single in (
        ("x_dot", lambda k: eom.x_dot(t[k], x[k], u[k])),
        ("mass_matrix", lambda k: eom.mass_matrix(t[k], q[k])),
        ("bias", lambda k: eom.bias(t[k], q[k], v[k])),
        ("energy", lambda k: eom.energy(t[k], q[k], v[k])),
    ):
        if function not in eom.functions and function not in eom.numeric:
            continue
        found = eom.many(function, t, x, u, threads=threads)
        expected = np.array([single(k) for k in range(len(t))])
        np.testing.assert_allclose(found.reshape(expected.shape), expected, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(eom.along(function, t, x, u), found, rtol=1e-14, atol=1e-14)


def test_other_parameters_are_native_for_many_points() -> None:
    eom = form_equations(library.free_flyer_arm())
    p = eom.parameters.vector({"payload.mass": 80.0})
    _, x, u = draw(eom, 600)
    found = eom.many("v_dot", 0.0, x, u, p)
    few = eom.many("v_dot", 0.0, x[:20], u[:20], p)  # by the general way
    np.testing.assert_allclose(found[:20], few, rtol=1e-9, atol=1e-11)
    assert not np.allclose(found[:20], eom.many("v_dot", 0.0, x[:20], u[:20]))


def test_shapes_are_checked() -> None:
    eom = form_equations(library.free_flyer_arm())
    t, x, u = draw(eom, 3)
    for given in ((t, x[0], u), (t[:2], x, u), (t, x, u[:2]), (t, x[:, :-1], u)):
        with pytest.raises(ShapeError, match="many: "):
            eom.many("x_dot", *given)
    assert eom.many("x_dot", t[:0], x[:0], u[:0]).shape == (0, eom.n_x)
    assert eom.many("x_dot", 0.0, x).shape == (3, eom.n_x)


def test_functions_of_other_arguments_are_refused_by_name() -> None:
    eom = form_equations(library.free_flyer_arm())
    t, x, u = draw(eom, 3)
    with pytest.raises(ModelError, match="'inverse_dynamics' takes v_dot too"):
        eom.many("inverse_dynamics", t, x, u)
    with pytest.raises(ModelError, match="function 'linear_terms'"):
        eom.many("linear_terms", t, x, u)
