"""A rigid body with a single-gimbal control moment gyro, from the balance of angular momentum. numpy only.

Angular momentum, in body axes about the common centre of mass: ``H = I omega + h``, with that of gimbal and rotor
``h = J_g g g.(omega + gamma_dot g) + I_r (omega + gamma_dot g + Omega s)``; ``H_dot + omega x H = T`` for the whole, and
for the gimbal with its rotor the component of ``h_dot + omega x h`` along the gimbal axis is the torque of its motor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Gyrostat"]


@dataclass(frozen=True)
class Gyrostat:
    """Body inertia, axes (gimbal, spin at zero angle), rotor's inertia about and across its axis, the gimbal's, rate."""

    body: np.ndarray
    gimbal: np.ndarray
    spin: np.ndarray
    about: float
    across: float
    gimbal_inertia: float
    rate: float

    def momenta(self, omega: np.ndarray, angle: float, angle_dot: float) -> tuple[np.ndarray, np.ndarray]:
        """Angular momentum of the whole and of gimbal and rotor, body axes."""
        s = np.cos(angle) * self.spin + np.sin(angle) * np.cross(self.gimbal, self.spin)
        rotor = self.about * np.outer(s, s) + self.across * (np.eye(3) - np.outer(s, s))
        turning = omega + angle_dot * self.gimbal
        h = self.gimbal_inertia * self.gimbal * (self.gimbal @ turning) + rotor @ (turning + self.rate * s)
        return self.body @ omega + h, h

    def accelerations(self, omega: np.ndarray, angle: float, angle_dot: float, torque: float) -> np.ndarray:
        """Rates of omega and of the gimbal rate, shape (4,), without torque from outside."""
        g, y = self.gimbal, np.concatenate([omega, [angle, angle_dot]])
        step = 1e-20j  # derivatives by complex steps are exact to rounding

        def derivative(direction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            z = y + step * direction
            H, h = self.momenta(z[:3], z[3], z[4])
            return H.imag / step.imag, h.imag / step.imag

        H, h = self.momenta(omega, angle, angle_dot)
        H_t, h_t = derivative(np.array([0.0, 0.0, 0.0, angle_dot, 0.0]))
        columns = [derivative(np.eye(5)[k]) for k in (0, 1, 2, 4)]
        matrix = np.array([np.append(H_k, g @ h_k) for H_k, h_k in columns]).T
        rest = np.append(H_t + np.cross(omega, H), g @ (h_t + np.cross(omega, h)) - torque)
        return np.linalg.solve(matrix, -rest)
