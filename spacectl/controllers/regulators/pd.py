"""Proportional-derivative control of actuated joints along a reference.

Gains and a reference (a table or an expression of time) give a `ControlLaw`; limits belong to the plant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from spacectl.core.accessor import Accessor, evaluate_rule
from spacectl.core.array import as_array
from spacectl.core.control_law import ControlLaw, make_law
from spacectl.core.errors import ModelError, unknown_name
from spacectl.core.labels import Labels
from spacectl.core.trajectory import Trajectory
from spacectl.dynamics.waist.equations import EquationsOfMotion, require_equations
from spacectl.model.validation.validate import find_component

__all__ = ["design_pd"]

Reference = Trajectory | Callable[[Accessor], Any]


def design_pd(
    eom: EquationsOfMotion,
    *,
    kp: Any,
    kd: Any,
    reference: Reference | None = None,
    inputs: tuple[str, ...] | None = None,
    period: float = 0.0,
    name: str = "PD",
) -> ControlLaw:
    """Design a PD law ``u = kp (q_ref - q) + kd (q_ref_dot - q_dot)`` for joints with an actuator of their own.

    Parameters
    ----------
    eom : EquationsOfMotion
        The plant.
    kp, kd : float or array, shape (n,)
        Gains [N m/rad, N m s/rad] (or per metre), one for each controlled input.
    reference : Trajectory or callable, optional
        A table whose columns are named after the controlled coordinates (in any order), or an expression of time,
        ``lambda s: [0.3 * casadi.sin(s.t), ...]``, in the order of `inputs`; its rate is exact. Default: zero.
    inputs : tuple of str, optional
        Commanded inputs; default: every joint actuator that has a coordinate of its own.
    period : float
        Sampling period [s]; 0 means continuous.
    name : str
        Shown in results and messages.

    Returns
    -------
    ControlLaw

    Examples
    --------
    >>> from spacectl import form_equations, library
    >>> law = design_pd(form_equations(library.pendulum()), kp=10.0, kd=2.0)
    >>> law(0.0, [0.1, 0.0])
    array([-1.])
    """
    require_equations(eom, "design_pd")
    driven = _driven_coordinates(eom)
    chosen = tuple(driven) if inputs is None else tuple(inputs)
    for item in chosen:
        if item not in driven:
            raise ModelError(f"PD law '{name}': {unknown_name('joint input with a coordinate', item, driven)}")
    if not chosen:
        raise ModelError(
            f"PD law '{name}': system '{eom.system.name}' has no joint actuator; add JointTorque(joint=...)"
        )
    gains = {key: _gains(value, len(chosen), f"PD law '{name}': {key}") for key, value in (("kp", kp), ("kd", kd))}
    coordinates = [driven[item] for item in chosen]
    table, ask = _reference(reference, coordinates, name)

    def rule(s: Accessor) -> list[Any]:
        q_ref, v_ref = ask(s)
        return [
            s[f"kp.{item}"] * (q_ref[i] - s[coordinate]) + s[f"kd.{item}"] * (v_ref[i] - s[f"{coordinate}_dot"])
            for i, (item, coordinate) in enumerate(zip(chosen, coordinates, strict=True))
        ]

    labels = Labels(chosen, tuple(eom.labels.u.unit(item) for item in chosen), "input")
    numbers = {
        f"{key}.{item}": value for key, values in gains.items() for item, value in zip(chosen, values, strict=True)
    }
    notes = {"kind": "PD", "kp": gains["kp"].tolist(), "kd": gains["kd"].tolist()}
    return make_law(
        rule,
        name=name,
        states=eom.labels.x,
        inputs=labels,
        parameters=numbers,
        reference=table,
        reference_rates=table is not None,
        period=period,
        notes=notes,
    )


def _driven_coordinates(eom: EquationsOfMotion) -> dict[str, str]:
    """Return inputs that drive the rate of a coordinate, with that coordinate."""
    driven = {}
    parts = {part.joint_name: part for part in eom.system.tree}
    for actuator in eom.system.actuators:
        effort = next(iter(actuator.joint_efforts), None)
        # an angle of its own (of a wheel) is not there to be controlled, and a gain would scale kp and kd
        if (
            effort is None
            or len(actuator.efforts()) > 1
            or effort.gain
            or actuator.parts()
            or effort.joint not in parts
        ):
            continue
        part = parts[effort.joint]
        place = find_component(f"actuator '{actuator.input_name}'", effort.component, part)[1]
        speed = part.joint_name + part.joint.speeds[place][0]
        if speed.endswith("_dot"):
            driven[actuator.input_name] = speed.removesuffix("_dot")
    return driven


def _gains(value: Any, n: int, what: str) -> np.ndarray:
    array = as_array(value, None, what)
    if array.shape not in ((), (n,)):
        raise ModelError(f"{what}: expected a number or {n} numbers, got shape {array.shape}")
    if np.any(np.asarray(array) < 0.0):
        raise ModelError(f"{what}: got {array.tolist()}; gains of a PD law are not negative (the law subtracts them)")
    return np.broadcast_to(np.asarray(array), (n,)).copy()


def _reference(
    reference: Reference | None, coordinates: list[str], name: str
) -> tuple[Trajectory | None, Callable[[Accessor], tuple[Any, Any]]]:
    """Return the table (if any) and a function that reads reference coordinates and rates from the accessor."""
    n = len(coordinates)
    if reference is None:
        return None, lambda s: ([0.0] * n, [0.0] * n)
    if isinstance(reference, Trajectory):
        columns = list(reference.labels.indices(coordinates))
        width = reference.values.shape[1]
        return reference, lambda s: ([s.r[k] for k in columns], [s.r[width + k] for k in columns])
    if not callable(reference):
        raise ModelError(f"PD law '{name}': reference is {reference!r}, expected a Trajectory or lambda s: [...]")

    def ask(s: Accessor) -> tuple[Any, Any]:
        items = evaluate_rule(reference, s, f"PD law '{name}': reference")
        column = ca.vertcat(*items) if isinstance(items, (list, tuple)) else ca.SX(items)
        if column.shape != (n, 1):
            raise ModelError(
                f"PD law '{name}': the reference gives {column.shape[0]} values, expected {n} ({', '.join(coordinates)})"
            )
        return column, ca.jacobian(column, s.t)

    return None, ask
