"""The constraint (the arm's end stays on a horizontal line, enforced by the elbow) and LQR for the free motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spacectl import (
    Artificial,
    ArtificialConstraintTracking,
    Constraint,
    ControlLaw,
    EquationsOfMotion,
    LinearModel,
    OperatingPoint,
    design_lqr,
    find_operating_point,
    form_equations,
    library,
    linearize,
)

Orbiter = library.TetherOrbiter


H = np.diag([1.0, 5.0, 10.0, 1.0])  # as in tether_stationkeeping
R = np.array([0.1, 1.0])  # torques on spacecraft and shoulder; the elbow enforces the constraint


@dataclass(frozen=True)
class Horizontal:
    """Equations, the constraint, the equilibrium on it, the constrained linear model and the height of the line [m]."""

    eom: EquationsOfMotion
    constraint: Constraint
    point: OperatingPoint
    model: LinearModel
    height: float
    adequacy: float

    def start(self, swing: float) -> np.ndarray:
        """Return the state at rest on the line, tether off the vertical."""
        return self.eom.state(**Orbiter.coordinates(np.array(Orbiter.FIXED_POINT) + [0.0, 0.0, 0.0, swing]))


def form_horizontal(data: Orbiter, length: float) -> Horizontal:
    """Form the system whose line passes the end of the arm at the fixed point of Sadigh (1995), section 6.3.2."""
    eom = form_equations(data.system(length))
    height = float(data.link_length * (np.cos(sum(Orbiter.FIXED_POINT[:2])) + np.cos(sum(Orbiter.FIXED_POINT[:3]))))
    constraint = Constraint(
        name="height",
        rule=lambda s: s.position("lower.end")[0] - s.number("height"),
        values={"height": height},
        kind=Artificial(by=("elbow",)),
    )
    bare = ArtificialConstraintTracking(eom, constraints=(constraint,), frequency=1.0)
    point = find_operating_point(bare.constrained, q=Orbiter.coordinates(Orbiter.FIXED_POINT))
    adequacy = bare.check(0.0, np.asarray(point.x)).adequacy
    return Horizontal(eom, constraint, point, linearize(bare.constrained, point), height, adequacy)


def design(system: Horizontal, k: float, *, frequency: float, period: float = 0.0) -> tuple[ControlLaw, np.ndarray]:
    """Return the law and the poles of the motion that the constraint leaves free, with the weights of Sadigh (1995)."""
    eom = system.eom
    Q = np.zeros((8, 8))
    Q[:4, :4] = np.asarray(Orbiter.ABSOLUTE).T @ H @ np.asarray(Orbiter.ABSOLUTE)
    Q[4:, 4:] = k * eom.mass_matrix(0.0, np.asarray(system.point.x)[: eom.n_q])
    found = design_lqr(system.model, Q=Q, R=R, period=period)
    law = ArtificialConstraintTracking(eom, constraints=(system.constraint,), others=found, frequency=frequency)
    return law, found.poles
