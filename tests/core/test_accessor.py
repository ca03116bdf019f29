"""`Accessor` gives symbols by name; `evaluate_rule` explains what a rule did wrong."""

from __future__ import annotations

import casadi as ca
import pytest

from spacectl.core.accessor import Accessor, as_column, evaluate_rule
from spacectl.core.errors import ModelError, ShapeError
from spacectl.core.labels import Labels


def accessor() -> tuple[Accessor, ca.SX, ca.SX]:
    t, x, u = ca.SX.sym("t"), ca.SX.sym("x", 2), ca.SX.sym("u", 1)
    return Accessor({"x": (x, Labels(("elbow", "elbow_dot"))), "u": (u, Labels(("elbow",)))}, t), t, x


def test_a_guard_is_written_with_names_and_time() -> None:
    s, t, x = accessor()
    guard = ca.Function("g", [t, x], [evaluate_rule(lambda s: s["elbow"] - 2.0 * s.t, s, "guard")])
    assert float(guard(0.5, [3.0, 0.0])) == 2.0


def test_the_first_vector_wins_a_shared_name_and_the_other_stays_reachable() -> None:
    s, _, x = accessor()
    assert ca.is_equal(s["elbow"], x[0])
    assert s.u.shape == (1, 1)


def test_unknown_names_and_symbolic_mistakes_are_explained() -> None:
    s, _, _ = accessor()
    with pytest.raises(ModelError, match="guard 'stop': unknown quantity 'elbo'; did you mean 'elbow'"):
        evaluate_rule(lambda s: s["elbo"], s, "guard 'stop'")
    with pytest.raises(ModelError, match="not math.sin, numpy or Python's if"):
        evaluate_rule(lambda s: 1.0 if s["elbow"] > 0 else 0.0, s, "guard 'stop'")
    with pytest.raises(AttributeError, match="unknown vector 'q'"):
        _ = s.q


def test_columns_are_dense_and_checked() -> None:
    column = as_column([ca.SX.sym("a"), 0.0], 2, "u")
    assert column.nnz() == 2
    with pytest.raises(ShapeError, match="u: expected 3 values"):
        as_column([1.0, 2.0], 3, "u")
