"""The closed loop that is measured: a seven-joint arm on a fixed base tracks sinusoids by a PD law.

Two sets of gains. "soft": sized by the inertia that a joint feels while the others yield (1 over the diagonal of M^-1);
the fastest mode decays with some 100 1/s, so that the same law is stable when sampled at 100 Hz. "firm": as in the
study free_flyer_arm, sized by the inertia with the others locked (diagonal of M); tracks better, its fastest mode
decays with some 500 1/s: a stiff loop, and unstable at 100 Hz.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from spacectl import EquationsOfMotion, design_pd, form_equations
from spacectl.core.control_law import ControlLaw
from tests.benchmarks.systems import fixed_arm

__all__ = ["GAINS", "PERIOD", "Tracking", "make_tracking", "slowest_peak_rate"]

PERIOD = 0.01  # [s] of the sampled law
GAINS = {"firm": (12.0, 0.9), "soft": (20.0, 0.7)}  #: bandwidth [rad/s] and damping ratio
POSTURE = np.array([0.0, 0.7, 0.0, -1.2, 0.0, 0.7, 0.0])  # [rad], about which the joints move
AMPLITUDE = np.full(7, 0.4)  # [rad]
FREQUENCY = 2.0 * 1.05 ** np.arange(7)  # [rad/s]
PHASE = 0.7 * np.arange(7)  # [rad]


@dataclass(frozen=True)
class Tracking:
    """Equations, gains and everything that a peer needs to build the same loop.

    Parameters
    ----------
    name : str
        Which gains.
    eom : EquationsOfMotion
        The arm.
    kp, kd : array, shape (7,)
        Gains [N m/rad, N m s/rad].
    """

    name: str
    eom: EquationsOfMotion
    kp: np.ndarray
    kd: np.ndarray

    @cached_property
    def continuous(self) -> ControlLaw:
        """The law without sampling."""
        return self._law(0.0)

    @cached_property
    def sampled(self) -> ControlLaw:
        """The same law at 100 Hz."""
        return self._law(PERIOD)

    def _law(self, period: float) -> ControlLaw:
        def reference(s: Any) -> list[Any]:
            waves = zip(POSTURE, AMPLITUDE, FREQUENCY, PHASE, strict=True)
            return [float(p) + float(a) * ca.sin(float(w) * s.t + float(f)) for p, a, w, f in waves]

        return design_pd(self.eom, kp=self.kp, kd=self.kd, reference=reference, period=period)

    @property
    def x0(self) -> np.ndarray:
        """Start on the reference."""
        rates = AMPLITUDE * FREQUENCY * np.cos(PHASE)
        return np.concatenate([POSTURE + AMPLITUDE * np.sin(PHASE), rates])

    @property
    def waves(self) -> Mapping[str, np.ndarray]:
        """The reference for x = (q, v) as ``middle + amplitude sin(frequency t + phase)``, and gains for (q, v)."""
        return {
            "middle": np.concatenate([POSTURE, np.zeros(7)]),
            "amplitude": np.concatenate([AMPLITUDE, AMPLITUDE * FREQUENCY]),
            "frequency": np.concatenate([FREQUENCY, FREQUENCY]),
            "phase": np.concatenate([PHASE, PHASE + np.pi / 2]),
            "gains": np.concatenate([self.kp, self.kd]),
        }


def make_tracking(name: str) -> Tracking:
    """The loop with the named gains."""
    bandwidth, damping = GAINS[name]
    eom = form_equations(fixed_arm())
    M = eom.mass_matrix(0.0, POSTURE)
    felt = np.diag(M) if name == "firm" else 1.0 / np.diag(np.linalg.inv(M))
    return Tracking(name, eom, felt * bandwidth**2, felt * 2.0 * damping * bandwidth)


def slowest_peak_rate(t: np.ndarray, x: np.ndarray) -> float:
    """Smallest, over joints and full seconds, of the largest joint rate [rad/s]."""
    rates = np.abs(x[:, 7:])
    seconds = range(int(np.floor(t[-1] + 1e-9)))
    return float(min(np.min(np.max(rates[(t > k) & (t <= k + 1 + 1e-9)], axis=0)) for k in seconds))
