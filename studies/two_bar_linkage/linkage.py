"""The linkage in the toolbox: two hinged bars, and the second bar as a body with one small coordinate."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from spacectl import (
    EquationsOfMotion,
    Frame,
    JointSpring,
    JointTorque,
    ModalBody,
    Part,
    Revolute,
    RigidBody,
    System,
    correction_terms,
    form_equations,
)

from . import equations as symbolic


def first_bar(parameters: Any) -> Part:
    """Return a massless bar with a point mass at its end, driven by a torque."""
    end = Frame(name="end", at=(parameters.L1, 0.0, 0.0))
    bar = RigidBody(name="bar", mass=parameters.m1, inertia=(0.0, 0.0, 0.0), com=end.at, frames=(end,))
    return Part(bar, joint=Revolute(name="q2", axis="z"))


def small(parameters: Any, order: str) -> System:
    """Return the second bar as a `ModalBody`: ``r = L2 (-q1, 1 - q1^2 / 2)``."""
    L2 = parameters.L2
    bar = ModalBody(
        name="bar2",
        points=[[0.0, L2, 0.0]],
        masses=[parameters.m2],
        shapes=[[[-L2], [0.0], [0.0]]],
        second=[[[[0.0]], [[L2]], [[0.0]]]],
        stiffness=[parameters.K],
        order=order,
    )
    parts = (first_bar(parameters), Part(bar, on="bar.end"))
    return System(name=f"linkage, {order}", parts=parts, actuators=(JointTorque(joint="q2"),))


def hinged(parameters: Any) -> System:
    """Return two bars with hinges and a spring: no coordinate is small."""
    bar = RigidBody(name="bar2", mass=parameters.m2, inertia=(0.0, 0.0, 0.0), com=(0.0, parameters.L2, 0.0))
    parts = (first_bar(parameters), Part(bar, on="bar.end", joint=Revolute(name="q1", axis="z")))
    spring = JointSpring(name="spring", joint="q1", stiffness=parameters.K)
    return System(name="linkage, hinged", parts=parts, actuators=(JointTorque(joint="q2"),), elements=(spring,))


def rows(eom: EquationsOfMotion, q1: float, v: np.ndarray, v_dot: np.ndarray, u: float) -> np.ndarray:
    """Return ``M v_dot + h - B_tau u`` in the order (q1, q2) of Sadigh (1995)."""
    q, v, v_dot = np.array([0.4, q1]), v[::-1], v_dot[::-1]
    return (eom.mass_matrix(0.0, q) @ v_dot + eom.bias(0.0, q, v) - eom.input_map(0.0, q) @ np.array([u]))[::-1]


def compare_toolbox(parameters: Any) -> dict[str, float]:
    """Return the largest difference between the toolbox's equations and the published ones, over random motions."""
    paper = symbolic.published()
    forms = {
        "nonlinear": form_equations(hinged(parameters), formulation="kane"),
        "premature": form_equations(small(parameters, "premature")),
        "proper": form_equations(small(parameters, "linearised")),
    }
    lost = correction_terms(small(parameters, "premature"))
    published = {name: ca.Function(name, [symbolic.ALL], [rows_]) for name, rows_ in paper.items()}
    numbers = [parameters.L1, parameters.L2, parameters.m1, parameters.m2, parameters.K]
    rng = np.random.default_rng(2)
    worst = dict.fromkeys((*forms, "correction"), 0.0)
    for _ in range(20):
        q1, *motion, u = rng.uniform(-1.0, 1.0, size=6)
        v, v_dot = np.array(motion[:2]), np.array(motion[2:])
        point = np.array([q1, *v, *v_dot, *numbers, u])
        for name, eom in forms.items():
            difference = rows(eom, q1, v, v_dot, u) - np.array(published[name](point)).ravel()
            worst[name] = max(worst[name], float(np.max(np.abs(difference))))
        E = lost(0.0, np.array([0.4, q1]), v[::-1], v_dot[::-1], np.array([u]))
        worst["correction"] = max(worst["correction"], float(abs(E[0] - float(published["correction"](point)))))
    return {f"{name}_toolbox_difference": value for name, value in worst.items()}
