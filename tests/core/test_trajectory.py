"""`Trajectory` reproduces what each interpolation promises."""

from __future__ import annotations

import numpy as np
import pytest

from spacectl.core.errors import ModelError, ShapeError
from spacectl.core.labels import Labels
from spacectl.core.trajectory import Trajectory

EPS = 1e-13  # rounding of a cubic of order one


def test_cubic_with_rates_reproduces_every_cubic_polynomial() -> None:
    t = np.array([0.0, 0.7, 1.0, 2.5])
    cubic = np.polynomial.Polynomial([1.0, -2.0, 0.5, 0.3])
    reference = Trajectory(
        t=t, values=cubic(t)[:, None], rates=cubic.deriv()(t)[:, None], labels=Labels(("x",), ("m",))
    )
    fine = np.linspace(0.0, 2.5, 41)
    assert np.max(np.abs(reference(fine)[:, 0] - cubic(fine))) < EPS * 10
    inside = fine[:-1]  # at the last knot the held end has zero rate
    assert np.max(np.abs(reference.rate(inside)[:, 0] - cubic.deriv()(inside))) < EPS * 10


def test_cubic_without_rates_reproduces_every_parabola() -> None:
    t = np.array([0.0, 0.4, 1.0, 1.3])
    parabola = np.polynomial.Polynomial([0.2, 1.0, -3.0])
    reference = Trajectory(t=t, values=parabola(t)[:, None])
    fine = np.linspace(0.0, 1.3, 27)
    assert np.max(np.abs(reference(fine)[:, 0] - parabola(fine))) < EPS * 10
    assert reference.labels.names == ("r1",)


def test_previous_holds_the_last_value_and_is_right_continuous() -> None:
    steps = Trajectory(t=[0.0, 1.0, 2.0], values=[[1.0], [2.0], [5.0]], interpolation="previous")
    assert steps([0.0, 0.999, 1.0, 1.5, 2.0, 9.0])[:, 0].tolist() == [1.0, 1.0, 2.0, 2.0, 5.0, 5.0]
    assert steps.rate(0.5).tolist() == [0.0]


def test_outside_the_knots_the_ends_are_held_at_rest() -> None:
    ramp = Trajectory(
        t=[1.0, 3.0], values=[[0.0, 10.0], [4.0, 10.0]], interpolation="linear", labels=Labels(("a", "b"))
    )
    assert ramp(0.0).tolist() == [0.0, 10.0]
    assert ramp(7.0).tolist() == [4.0, 10.0]
    assert ramp.rate([0.0, 2.0, 7.0])[:, 0].tolist() == [0.0, 2.0, 0.0]
    assert ramp.column("a").tolist() == [0.0, 4.0]


def test_shapes_never_depend_on_the_data() -> None:
    single = Trajectory(t=[0.0], values=[[3.0]])
    assert single(5.0).shape == (1,)
    assert single([5.0, 6.0]).shape == (2, 1)


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"t": [0.0, 0.0]}, ModelError, "increasing"),
        ({"values": [[1.0, 2.0]]}, ShapeError, "time comes first"),
        ({"labels": Labels(("a", "b"))}, ShapeError, "1 columns but 2 labels"),
        ({"interpolation": "spline"}, ModelError, "expected previous, linear or cubic"),
        ({"rates": [[1.0]]}, ShapeError, "rates"),
    ],
)
def test_mistakes_are_named(changes: dict[str, object], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        Trajectory(**{"t": [0.0, 1.0], "values": [[1.0], [2.0]], **changes})
