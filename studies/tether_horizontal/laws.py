"""The constraint (the arm's end stays on a horizontal line, kept by the elbow) and LQR for what it leaves free."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spacectl import (
    Artificial,
    ArtificialConstraintTracking,
    Constraint,
    EquationsOfMotion,
    Labels,
    LinearModel,
    OperatingPoint,
    design_lqr,
    find_operating_point,
    linearize,
    make_law,
)

from .orbiter import ABSOLUTE, FIXED_POINT, Data, form_orbiter, relative

H = np.diag([1.0, 5.0, 10.0, 1.0])  # as in tether_stationkeeping
R = np.array([0.1, 1.0])  # torques on spacecraft and shoulder; the elbow keeps the constraint


@dataclass(frozen=True)
class Horizontal:
    """Equations, the constraint, the point of rest on it, the constrained linear model and the height of the line [m]."""

    eom: EquationsOfMotion
    constraint: Constraint
    point: OperatingPoint
    model: LinearModel
    height: float
    adequacy: float

    def start(self, swing: float) -> np.ndarray:
        """At rest on the line, tether off the vertical."""
        return self.eom.state(**relative(np.array(FIXED_POINT) + [0.0, 0.0, 0.0, swing]))


def form_horizontal(data: Data, length: float) -> Horizontal:
    """The line goes through the end of the arm at the fixed point of 003 section 6.3.2."""
    eom = form_orbiter(data, length)
    height = float(data.link_length * (np.cos(sum(FIXED_POINT[:2])) + np.cos(sum(FIXED_POINT[:3]))))
    constraint = Constraint(
        name="height",
        rule=lambda s: s.position("lower.end")[0] - s.number("height"),
        values={"height": height},
        kind=Artificial(by=("elbow",)),
    )
    bare = ArtificialConstraintTracking(eom, constraints=(constraint,), frequency=1.0)
    point = find_operating_point(bare.constrained, q=relative(FIXED_POINT))
    adequacy = bare.check(0.0, np.asarray(point.x)).adequacy
    return Horizontal(eom, constraint, point, linearize(bare.constrained, point), height, adequacy)


def design(system: Horizontal, k: float, *, frequency: float, period: float = 0.0) -> tuple[Any, np.ndarray]:
    """The law and the poles of what the constraint leaves free: 003's weights, restricted to the independent states."""
    eom, model = system.eom, system.model
    Q = np.zeros((8, 8))
    Q[:4, :4] = ABSOLUTE.T @ H @ ABSOLUTE
    Q[4:, 4:] = k * eom.mass_matrix(0.0, np.asarray(system.point.x)[: eom.n_q])
    basis, names = np.asarray(model.basis), model.x.names
    outputs = Labels(names, model.x.units)
    free = LinearModel(A=model.A, B=model.B, C=np.eye(6), D=np.zeros((6, 2)), x=model.x, u=model.u, y=outputs)
    found = design_lqr(free, Q=basis.T @ Q @ basis, R=R)
    K, trim = np.asarray(found.K), np.asarray(system.point.u)
    goal = {name: float(np.asarray(system.point.x)[eom.states.index(name)]) for name in names}

    def rule(s: Any) -> list[Any]:
        return [
            float(trim[i]) - sum(float(K[i, j]) * (s[name] - goal[name]) for j, name in enumerate(names))
            for i in range(len(trim))
        ]

    others = make_law(rule, name="LQR", states=eom.labels.x, inputs=model.u, period=period)
    law = ArtificialConstraintTracking(eom, constraints=(system.constraint,), others=others, frequency=frequency)
    return law, found.poles
