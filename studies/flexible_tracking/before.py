"""What can be said before a run: can the wrist keep the constraint along the path, and is what it leaves free stable?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spacectl import ArtificialConstraintTracking

from .arm import Maneuver, consistent_state


@dataclass(frozen=True)
class Diagnosis:
    """Along the straight way in joint space: share done, adequacy, and real parts of the poles with the PD law closed."""

    share: np.ndarray
    adequacy: np.ndarray
    slowest: np.ndarray  # [1/s], largest real part
    poles: np.ndarray  # [1/s], at the goal


def diagnose(law: ArtificialConstraintTracking, maneuver: Maneuver, *, points: int) -> Diagnosis:
    """Postures at rest between both ends: `check` and `zero_dynamics` of the law, with the PD gains put in.

    The constraint leaves four of five coordinates free. Without PD, shoulder and elbow float (four poles at zero) beside the
    damped vibrations; with it every pole shall lie on the left.
    """
    eom = law.constrained
    share = np.linspace(0.0, 1.0, points)
    adequacy, slowest, poles = [], [], np.zeros(0)
    for part in share:
        angles = tuple(a + part * (b - a) for a, b in zip(maneuver.start, maneuver.goal, strict=True))
        x = consistent_state(law, angles)
        adequacy.append(law.check(0.0, x).adequacy)
        model = law.zero_dynamics(x)
        K = np.zeros((eom.n_u, 2 * eom.n_v))
        for k, joint in enumerate(("shoulder", "elbow")):
            row = eom.inputs.index(joint)
            K[row, eom.coordinates.index(joint)] = maneuver.kp[k]
            K[row, eom.n_v + eom.speeds.index(f"{joint}_dot")] = maneuver.kd[k]
        poles = np.linalg.eigvals(np.asarray(model.A) - np.asarray(model.B) @ K @ np.asarray(model.basis))
        slowest.append(np.max(poles.real))
    order = np.lexsort((poles.imag, -poles.real))
    return Diagnosis(share, np.array(adequacy), np.array(slowest), poles[order])
