"""Small plants written by hand as CasADi functions, in the form of `EquationsOfMotion`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np

from spacectl.core.accessor import Accessor, as_column
from spacectl.core.labels import Labels
from spacectl.core.parameters import Parameters
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.dynamics.waist.functions import EquationLabels


def make_plant(
    rule: Callable[[Any], Any],
    states: tuple[str, ...],
    inputs: tuple[str, ...] = (),
    *,
    outputs: Mapping[str, Callable[[Any], Any]] | None = None,
    parameters: Mapping[str, float] | None = None,
    limits: Mapping[str, tuple[float, float]] | None = None,
    quaternions: tuple[int, ...] = (),
) -> EquationsOfMotion:
    """A plant ``x_dot = rule(s)``; outputs are rules of s too."""
    numbers: dict[str, Any] = {**(parameters or {}), **{f"{name}.limit": pair for name, pair in (limits or {}).items()}}
    shapes = tuple(np.shape(value) for value in numbers.values())
    values = np.concatenate([np.ravel(value) for value in numbers.values()]) if numbers else np.zeros(0)
    table = Parameters(names=tuple(numbers), shapes=shapes, values=values, fixed=(False,) * values.size)
    x_labels, u_labels = Labels(states, (), "state"), Labels(inputs, (), "input")
    t, x, u, p = ca.SX.sym("t"), ca.SX.sym("x", len(states)), ca.SX.sym("u", len(inputs)), ca.SX.sym("p", values.size)
    s = Accessor({"x": (x, x_labels), "u": (u, u_labels)}, t)
    s._entries.update({name: p[i] for i, name in enumerate(parameters or {})})
    y = as_column([item(s) for item in (outputs or {}).values()], len(outputs or {}), "outputs")
    functions = {
        "x_dot": ca.Function(
            "x_dot", [t, x, u, p], [as_column(rule(s), len(states), "x_dot")], ["t", "x", "u", "p"], ["x_dot"]
        ),
        "outputs": ca.Function("outputs", [t, x, u, p], [y], ["t", "x", "u", "p"], ["y"]),
    }
    if not (inputs and ca.depends_on(y, u)):
        functions["sensors"] = ca.Function("sensors", [t, x, p], [y], ["t", "x", "p"], ["y"])
    rest = np.zeros(len(states))
    rest[list(quaternions)] = 1.0
    return EquationsOfMotion(
        system=SimpleNamespace(  # type: ignore[arg-type]
            name="stand-in",
            is_plain=True,
            elements=(),
            joint_elements=(),
            point_elements=(),
            flexible_bodies=(),
            tree=(),
            actuators=(),
            content_hash=lambda: "0" * 64,
        ),
        formulation="by hand",
        labels=EquationLabels(
            q=x_labels, v=Labels(kind="speed"), u=u_labels, y=Labels(tuple(outputs or ()), (), "output")
        ),
        parameters=table,
        functions=functions,
        quaternions=quaternions,
        x_rest=rest,
        structure_hash="1" * 64,
        rebuild=(make_plant, (rule, states)),
    )


def oscillator(**options: Any) -> EquationsOfMotion:
    """``x'' = -x + u``: x = cos t from (1, 0)."""
    return make_plant(lambda s: [s["rate"], -s["angle"] + s["torque"]], ("angle", "rate"), ("torque",), **options)


def double_integrator(**options: Any) -> EquationsOfMotion:
    """``x'' = u``."""
    return make_plant(lambda s: [s["speed"], s["force"]], ("place", "speed"), ("force",), **options)


def integrator(**options: Any) -> EquationsOfMotion:
    """``x' = u``."""
    return make_plant(lambda s: s["flow"], ("level",), ("flow",), **options)


def pendulum() -> EquationsOfMotion:
    """``x'' = -k sin x + u``."""
    return make_plant(
        lambda s: [s["rate"], -s["k"] * ca.sin(s["angle"]) + s["torque"]],
        ("angle", "rate"),
        ("torque",),
        parameters={"k": 9.81},
        outputs={"height": lambda s: 1.0 - ca.cos(s["angle"])},
        limits={"torque": (-2.0, 2.0)},
    )


def tumbling_body() -> EquationsOfMotion:
    """Torque-driven rigid body with a unit quaternion, inertia (1, 2, 3)."""

    def rule(s: Any) -> list[Any]:
        q, w = s.x[0:4], s.x[4:7]
        q_dot = 0.5 * ca.vertcat(
            -ca.dot(q[1:4], w),
            q[0] * w + ca.vertcat(q[2] * w[2] - q[3] * w[1], q[3] * w[0] - q[1] * w[2], q[1] * w[1] - q[2] * w[0]),
        )
        w_dot = ca.vertcat(-w[1] * w[2] + s["twist"], w[2] * w[0] / 1.0, -w[0] * w[1] / 3.0)
        return [q_dot, w_dot]

    return make_plant(rule, ("qw", "qx", "qy", "qz", "wx", "wy", "wz"), ("twist",), quaternions=(0,))
