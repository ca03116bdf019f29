"""`make_law` builds laws from expressions; what the law computes is what the expression says."""

from __future__ import annotations

import math

import casadi as ca
import numpy as np
import pytest

from spacectl.core.control_law import CallableLaw, ControlLaw, make_law
from spacectl.core.errors import ModelError, ShapeError
from spacectl.core.labels import Labels
from spacectl.core.trajectory import Trajectory

X = Labels(("angle", "rate"), ("rad", "rad/s"), "state")
U = Labels(("torque",), ("N m",), "input")


def test_a_tracking_law_reads_its_reference_table() -> None:
    table = Trajectory(
        t=[0.0, 2.0], values=[[0.0], [1.0]], labels=Labels(("wanted",), ("rad",)), interpolation="linear"
    )
    law = make_law(
        lambda s: s["k"] * (s["wanted"] - s["angle"]) - s["rate"],
        name="track", states=X, inputs=U, parameters={"k": 4.0}, reference=table,
    )  # fmt: skip
    assert law(1.0, [0.25, 0.5]) == pytest.approx([4.0 * (0.5 - 0.25) - 0.5])
    assert not law.is_sampled


@pytest.mark.parametrize("period", [0.0, 0.1])
def test_integral_action_lives_in_the_memory(period: float) -> None:
    law = make_law(
        lambda s: (-s["sum"], s["angle"] if period == 0.0 else s["sum"] + period * s["angle"]),
        name="integral", states=X, inputs=U, memory={"sum": 0.5}, period=period,
    )  # fmt: skip
    u, z_dot, z_next = (float(item) for item in law.function(0.0, [2.0, 0.0], [], [0.5], [], []))
    assert u == -0.5
    # a continuous law moves its memory by z_dot, a sampled one by z_next; the other is at rest
    assert (z_dot, z_next) == ((2.0, 0.5) if period == 0.0 else (0.0, 0.5 + 0.1 * 2.0))
    assert law.is_sampled == (period > 0.0)


def test_measurements_are_used_by_name() -> None:
    law = make_law(
        lambda s: -2.0 * s["gyro"], name="rate", states=X, inputs=U, measurements=Labels(("gyro",), ("rad/s",))
    )
    assert law(0.0, [0.0, 0.0], y=[0.3]) == pytest.approx([-0.6])


def test_a_law_without_dependence_on_the_state_is_still_dense() -> None:
    law = make_law(lambda s: 0.0, name="off", states=X, inputs=U)
    assert law(0.0, np.zeros(2)).shape == (1,)


@pytest.mark.parametrize(
    ("rule", "error", "text"),
    [
        (lambda s: s["angel"], ModelError, "law 'bad': unknown quantity 'angel'; did you mean 'angle'"),
        (lambda s: s.w, ModelError, "law 'bad': unknown vector 'w'"),
        (lambda s: [s["angle"], s["rate"]], ShapeError, "law 'bad': u: expected 1 values"),
        (lambda s: math.sin(s["angle"]), ModelError, "use casadi functions"),
    ],
)
def test_wrong_rules_are_explained(rule: object, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        make_law(rule, name="bad", states=X, inputs=U)


def test_a_wrong_function_or_period_is_refused() -> None:
    t = ca.SX.sym("t")
    with pytest.raises(ModelError, match="law 'raw': function maps"):
        ControlLaw(name="raw", function=ca.Function("f", [t], [t], ["t"], ["u"]), states=X, inputs=U)
    good = make_law(lambda s: s["angle"], name="good", states=X, inputs=U)
    with pytest.raises(ModelError, match="period is -1.0 s"):
        ControlLaw(name="late", function=good.function, states=X, inputs=U, period=-1.0)
    with pytest.raises(ShapeError, match="takes 2 values of x, expected 1"):
        ControlLaw(name="small", function=good.function, states=Labels(("angle",)), inputs=U)
    with pytest.raises(ModelError, match="expected a function"):
        CallableLaw(function=3.0)  # type: ignore[arg-type]
