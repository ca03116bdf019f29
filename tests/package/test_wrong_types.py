"""Values of a wrong type, empty, infinite or huge ones, at calls that users make: refused by name, never taken silently."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from spacectl import (
    Beam,
    ElasticTether,
    Figure,
    Guard,
    JointTorque,
    Line,
    LinearModel,
    ModelError,
    Panel,
    Part,
    Revolute,
    RigidBody,
    StudyResult,
    System,
    design_pd,
    disk_margins,
    find_operating_point,
    form_equations,
    linearize,
    simulate,
)
from spacectl.core.array import as_array, as_scalar
from spacectl.dynamics.waist.equations import EquationsOfMotion

LINK = RigidBody(name="link", mass=10.0, inertia=(0.1, 0.9, 0.9), com=(0.5, 0.0, 0.0))
ROPE: dict[str, Any] = {"name": "rope", "on": "world", "to": "link", "length": 3.0, "density": 0.1, "stiffness": 1.0}
PANEL = Panel(lines=(Line(x=[0.0, 1.0], y=[0.0, 1.0], label="a"),), y_label="a")


@cache
def equations() -> EquationsOfMotion:
    part = Part(LINK, joint=Revolute(name="hinge", axis="z"))
    return form_equations(System(name="one link", parts=(part,), actuators=(JointTorque(joint="hinge", limit=5.0),)))


@cache
def model() -> LinearModel:
    return linearize(equations(), equations().state(), outputs=equations().states)


def flight(**options: Any) -> Any:
    return simulate(equations(), **{"x0": {"hinge": 0.1}, "t_span": (0.0, 0.1), "tier": "vm", **options})


def line(**options: Any) -> Any:
    return linearize(equations(), **{"x": equations().state(), **options})


def balance(**options: Any) -> Any:
    return find_operating_point(equations(), **options)


@pytest.mark.parametrize(
    ("call", "wrong", "match"),
    [
        (flight, {"x0": np.array([1.0j, 0.0])}, "x0: expected real numbers"),
        (flight, {"method": ["rk45"]}, "unknown method"),
        (flight, {"project": "no"}, "project is 'no'"),
        (flight, {"check": None}, "check is None"),
        (flight, {"stops": 1.0j}, "stops"),
        (line, {"x": {"hinge": 0.1}}, "linearize: x"),
        (line, {"x": [np.nan, 0.0]}, "linearize: x"),
        (line, {"u": "x"}, "linearize: u"),
        (line, {"t": np.nan}, "linearize: t"),
        (line, {"sensitivities": "link.mass"}, r"write \('link.mass',\)"),
        (line, {"sensitivities": 3}, "sensitivities"),
        (balance, {"q": [0.1]}, "q is"),
        (balance, {"u": 3.0}, "u is 3.0"),
        (balance, {"free": "hinge"}, r"write \('hinge',\)"),
        (balance, {"guess": 0.1}, "guess"),
        (balance, {"t": np.inf}, "find_operating_point: t"),
        (balance, {"tolerance": np.inf}, "tolerance"),
        (balance, {"tolerance": 0.0}, "tolerance"),
        (lambda **k: design_pd(equations(), kp=1.0, kd=1.0, **k), {"period": None}, "period"),
        (lambda **k: disk_margins(model(), np.ones((1, 2)), **k), {"skew": None}, "skew"),
        (lambda **k: disk_margins(model(), np.ones((1, 2)), **k), {"tolerance": "small"}, "tolerance"),
        (lambda **k: disk_margins(model(), **k), {"K": "x"}, "K"),
        (lambda **k: equations().parameters.vector(**k), {"changes": 3.0}, "expected a mapping"),
        (lambda **k: equations().system.changed(**k), {"changes": [3.0]}, "expected a mapping"),
        (lambda **k: Guard(name="g", expression=lambda s: s["hinge"], **k), {"is_failure": "no"}, "is_failure is 'no'"),
        (lambda **k: StudyResult(**{"metrics": {}, **k}), {"notes": "The answer."}, r"write \('The answer.',\)"),
        (lambda **k: StudyResult(**{"metrics": {}, **k}), {"requirements": ["a <= 1"]}, "sequence of Requirement"),
        (lambda **k: StudyResult(**{"metrics": {}, **k}), {"metrics": [1.0]}, "metrics is"),
        (lambda **k: Figure(name="f", title="t", **k), {"panels": PANEL}, "sequence of Panel"),
        (lambda **k: Figure(title="t", panels=(PANEL,), **k), {"name": 3}, "figure name 3"),
        (lambda **k: ElasticTether(**ROPE, **k), {"masses": 10**17}, "10000 at most"),
        (lambda **k: Beam(name="b", length=1.0, mass=1.0, EI=1.0, **k), {"segments": 10**17}, "10000 at most"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_named(call: Callable[..., Any], wrong: dict[str, Any], match: str) -> None:
    with pytest.raises(ModelError, match=match):
        call(**wrong)


def test_no_name_gives_no_trajectory() -> None:
    wrong: tuple[Any, ...] = ([], "hinge", 3)
    for names in wrong:
        with pytest.raises(ModelError, match="trajectory"):
            flight().trajectory(names)


@pytest.mark.parametrize("value", [1.0j, np.complex128(1.0), np.array([1.0 + 0.0j])])
def test_complex_numbers_lose_no_imaginary_part(value: Any) -> None:
    with pytest.raises(ModelError, match="number"):
        as_array(value, None, "a")
    with pytest.raises(ModelError, match="number"):
        as_scalar(value, "a")
