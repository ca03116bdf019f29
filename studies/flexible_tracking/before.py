"""Diagnosis before a run: adequacy of the wrist along the path, and stability of the zero dynamics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spacectl import ArtificialConstraintTracking

from .arm import Maneuver, consistent_state


@dataclass(frozen=True)
class Diagnosis:
    """Results along a straight path in joint space: path fraction, adequacy, and real parts of the closed-loop poles."""

    share: np.ndarray
    adequacy: np.ndarray
    slowest: np.ndarray  # [1/s], largest real part
    poles: np.ndarray  # [1/s], at the goal


def diagnose(law: ArtificialConstraintTracking, maneuver: Maneuver, *, points: int) -> Diagnosis:
    """Examine postures at rest along the path by the law's `examine`, with the PD loop closed.

    The constraint leaves four of five coordinates free. Without PD, shoulder and elbow are unrestrained (four poles at zero)
    beside the damped vibrations; with PD, every pole must lie in the left half plane.
    """
    share = np.linspace(0.0, 1.0, points)
    starts, ends = np.array(maneuver.start), np.array(maneuver.goal)
    x = np.array([consistent_state(law, tuple(starts + part * (ends - starts))) for part in share])
    found = law.examine(np.zeros(points), x)
    return Diagnosis(share, found.adequacy, np.max(found.poles.real, axis=1), found.poles[-1])
