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
    """Postures at rest between both ends, by the law's `examine`, the PD law closed.

    The constraint leaves four of five coordinates free. Without PD, shoulder and elbow float (four poles at zero) beside the
    damped vibrations; with it every pole shall lie on the left.
    """
    share = np.linspace(0.0, 1.0, points)
    starts, ends = np.array(maneuver.start), np.array(maneuver.goal)
    x = np.array([consistent_state(law, tuple(starts + part * (ends - starts))) for part in share])
    found = law.examine(np.zeros(points), x)
    return Diagnosis(share, found.adequacy, np.max(found.poles.real, axis=1), found.poles[-1])
