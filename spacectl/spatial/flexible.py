"""Inertia and attachment frames of a flexible body at given modal coordinates, for numpy and CasADi.

`ModalInertia` corresponds to `Inertia` of a rigid body; `attach` places a frame on the body, as a joint places its
child frame. Both use the integrals and shapes that `model` provides as parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from spacectl.spatial.backend import columns, cross, dot, eye, is_symbolic, matrix, outer, skew, stack, vector
from spacectl.spatial.inertia import Inertia, Placement

__all__ = ["Attachment", "ModalInertia", "attach", "distributed_load", "symmetric_product", "symmetric_six"]


@dataclass(frozen=True)
class ModalInertia:
    """Inertia of a flexible body about its frame's origin, at given modal coordinates.

    Parameters
    ----------
    rigid : Inertia
        Mass, first moment c and inertia I of the deformed body.
    c_eta : matrix (3, m)
        Derivative of c.
    h : matrix (3, m)
        Angular momentum for unit modal rates.
    M : matrix (m, m)
        Modal mass.
    I_eta : list of matrices (3, 3)
        Derivatives of I.
    n : mapping
        The body's parameters.
    points : list of (vector, matrix, matrix)
        For bodies given by equivalent points: position r, its first derivative d (3, m) and second (3, k) by the modal
        coordinates; their inertia is included in all of the above.
    slices : ModalInertia or None
        The remaining inertia of such a body: that of the slices.
    """

    rigid: Inertia
    c_eta: Any
    h: Any
    M: Any
    I_eta: list[Any]
    n: Mapping[str, Any]
    points: list[tuple[Any, Any, Any]] = field(default_factory=list)
    slices: ModalInertia | None = None

    @staticmethod
    def of(n: Mapping[str, Any], eta: Any) -> ModalInertia:
        """Build from the parameters of a body (see `model.bodies.base.modal_integrals`) and its modal coordinates."""
        m = eta.shape[0]
        c2, I2 = symmetric_product(n["first2"], eta), symmetric_product(n["inertia2"], eta)
        c = n["first0"] + (n["first1"] + 0.5 * c2) @ eta
        six = n["inertia0"] + (n["inertia1"] + 0.5 * I2) @ eta
        h1 = n["couple1"] @ eta
        h = [n["couple0"][:, j] + h1[3 * j : 3 * j + 3] for j in range(m)]
        I_eta = n["inertia1"] + I2
        packed = n["modal_mass"]
        M = matrix([[packed[_pair(min(j, k), max(j, k), m)] for k in range(m)] for j in range(m)])
        own = ModalInertia(
            Inertia(n["mass"], c, symmetric_six(six)),
            n["first1"] + c2,
            columns(h),
            M,
            [symmetric_six(I_eta[:, j]) for j in range(m)],
            n,
        )
        return _with_points(own, n["fields"], eta) if "fields" in n else own

    def momentum(self, twist: Any, eta_dot: Any) -> Any:
        """Return the momentum (angular about the origin, linear) of a twist and modal rates."""
        return self.rigid @ twist + stack(self.h @ eta_dot, self.c_eta @ eta_dot)

    def kinetic(self, twist: Any, eta_dot: Any) -> Any:
        """Return the kinetic energy [J]."""
        coupling = dot(twist, stack(self.h @ eta_dot, self.c_eta @ eta_dot))
        return 0.5 * dot(twist, self.rigid @ twist) + coupling + 0.5 * dot(eta_dot, self.M @ eta_dot)

    def load(self, A: Any, eta_ddot: Any) -> tuple[Any, Any]:
        """Return wrench and modal forces for accelerations (component-wise rates of twist and modal rates)."""
        wrench = self.rigid @ A + stack(self.h @ eta_ddot, self.c_eta @ eta_ddot)
        return wrench, self.h.T @ A[0:3] + self.c_eta.T @ A[3:6] + self.M @ eta_ddot

    def bias(self, twist: Any, eta_dot: Any) -> tuple[Any, Any]:
        """Return the wrench and modal forces of a motion without accelerations.

        Moment ``V x* I V`` of the rigid part ``+ I_dot w + h_dot eta_dot + w x (h eta_dot)``, force
        ``+ 2 w x c_dot + eta_dot' c2 eta_dot``; mode j: ``c_j.(w x v) - 1/2 w' I_j w + w.(h1_jk - h1_kj) eta_dot_k``.
        """
        if self.slices is not None:
            return self._bias_of_points(twist, eta_dot)
        m = eta_dot.shape[0]
        omega, v = twist[0:3], twist[3:6]
        c_dot = self.c_eta @ eta_dot
        I_dot_omega = sum((self.I_eta[j] @ omega * eta_dot[j] for j in range(1, m)), self.I_eta[0] @ omega * eta_dot[0])
        h1 = self.n["couple1"]
        turning = h1 @ eta_dot  # row 3 j + i: sum over k of h1_jk eta_dot_k
        h_dot = turning[0:3] * eta_dot[0]
        for j in range(1, m):
            h_dot = h_dot + turning[3 * j : 3 * j + 3] * eta_dot[j]
        c_rest = symmetric_product(self.n["first2"], eta_dot) @ eta_dot
        moment = I_dot_omega + h_dot + cross(omega, self.h @ eta_dot)
        wrench = self.rigid.bias_wrench(twist) + stack(moment, 2.0 * cross(omega, c_dot) + c_rest)
        along = cross(omega, v)
        other = [
            sum((h1[3 * k : 3 * k + 3, j] * eta_dot[k] for k in range(1, m)), h1[0:3, j] * eta_dot[0]) for j in range(m)
        ]
        modal = [
            dot(self.c_eta[:, j], along)
            - 0.5 * dot(omega, self.I_eta[j] @ omega)
            + dot(omega, turning[3 * j : 3 * j + 3] - other[j])
            for j in range(m)
        ]
        return wrench, vector(*modal)

    def _bias_of_points(self, twist: Any, eta_dot: Any) -> tuple[Any, Any]:
        """Return the bias of equivalent points, each with the acceleration ``w x (w x r) + 2 w x r_dot + r_ddot``."""
        wrench, modal = self.slices.bias(twist, eta_dot)  # type: ignore[union-attr]
        omega = twist[0:3]
        moment = wrench[0:3]
        for r, d, second in self.points:
            r_dot = d @ eta_dot
            rest = symmetric_product(second, eta_dot) @ eta_dot
            a = cross(omega, cross(omega, r) + 2.0 * r_dot) + rest
            moment = moment + cross(r, a)
            modal = modal + d.T @ a
        return stack(moment, wrench[3:6]), modal


def _with_points(own: ModalInertia, fields: Any, eta: Any) -> ModalInertia:
    """Add equivalent points (rows: X, Phi by modes, second-order shapes by pairs) to the inertia of the slices."""
    m = eta.shape[0]
    pairs = m * (m + 1) // 2
    points = []
    I, h, M, I_eta = own.rigid.I_O, own.h, own.M, list(own.I_eta)
    for p in range(fields.shape[0]):
        entry = [fields[p, k] for k in range(3 + 3 * m + 3 * pairs)]
        X, Phi, second = _columns3(entry, 0, 1), _columns3(entry, 3, m), _columns3(entry, 3 + 3 * m, pairs)
        bent = symmetric_product(second, eta)
        r, d = X[:, 0] + (Phi + 0.5 * bent) @ eta, Phi + bent
        points.append((r, d, second))
        I = I + dot(r, r) * eye(3, r) - outer(r, r)
        h = h + skew(r) @ d
        M = M + d.T @ d
        for j in range(m):
            rd = outer(r, d[:, j])
            I_eta[j] = I_eta[j] + 2.0 * dot(r, d[:, j]) * eye(3, r) - rd - rd.T
    return ModalInertia(Inertia(own.rigid.mass, own.rigid.first, I), own.c_eta, h, M, I_eta, own.n, points, own)


def _columns3(entry: list[Any], at: int, n: int) -> Any:
    """Return a matrix (3, n) from entries listed column by column."""
    return columns(vector(*entry[at + 3 * k : at + 3 * k + 3]) for k in range(n))


@dataclass(frozen=True)
class Attachment:
    """A frame A on a flexible body B: its placement, partial velocities S (6, m) and ``S_dot eta_dot``, in A's axes."""

    X_BA: Placement
    S: Any
    bias: Any


def attach(n: Mapping[str, Any], frame: str, eta: Any, eta_dot: Any) -> Attachment:
    """Return the motion of a named frame of a flexible body with the modal coordinates.

    Its displacement is ``Phi eta + 1/2 eta' P eta``, its rotation vector
    ``theta = Psi eta + 1/2 eta' H eta``. The rotation is represented to second order by that with the Gibbs
    vector ``rho = theta / 2``: a proper rotation, rational in eta.
    """
    P, H = symmetric_product(n[f"{frame}.shapes2"], eta), symmetric_product(n[f"{frame}.slopes2"], eta)
    Phi, Psi = n[f"{frame}.shapes"], n[f"{frame}.slopes"]
    p = n[f"{frame}.at"] + (Phi + 0.5 * P) @ eta
    theta = (Psi + 0.5 * H) @ eta
    rho = 0.5 * theta
    sigma = 1.0 / (1.0 + dot(rho, rho))
    R0 = n[f"{frame}.rotation"]
    R_rho = eye(3, eta) + 2.0 * sigma * (skew(rho) + skew(rho) @ skew(rho))
    R = R_rho @ R0
    turning = R0.T @ (sigma * (eye(3, eta) - skew(rho)) @ (Psi + H))
    moving = R.T @ (Phi + P)
    theta_dot, velocity = (Psi + H) @ eta_dot, moving @ eta_dot
    omega = turning @ eta_dot
    theta_rest = symmetric_product(n[f"{frame}.slopes2"], eta_dot) @ eta_dot
    p_rest = symmetric_product(n[f"{frame}.shapes2"], eta_dot) @ eta_dot
    spin = R0.T @ (sigma * (theta_rest - cross(rho, theta_rest))) - sigma * dot(rho, theta_dot) * omega
    return Attachment(Placement(R, p), _rows(turning, moving), stack(spin, R.T @ p_rest - cross(omega, velocity)))


def distributed_load(n: Mapping[str, Any], eta: Any, along: Any) -> tuple[Any, Any]:
    """Return the wrench about the body's origin and the modal forces of a distributed load (body axes), for unit input.

    A force has moments ``load0, load1, load2`` of its points; a torque turns slices, ``Psi_j + (H_jk + 1/2 Psi_k x Psi_j)
    eta_k``, and has no ``load0``.
    """
    if "load0" in n:
        second = symmetric_product(n["load2"], eta)
        center = n["load0"] + (n["load1"] + 0.5 * second) @ eta
        return stack(cross(center, along), n["load"] * along), (n["load1"] + second).T @ along
    turned = n["load2"] @ eta
    modal = [dot(n["load1"][:, j] + turned[3 * j : 3 * j + 3], along) for j in range(eta.shape[0])]
    return stack(n["load"] * along, 0.0 * along), vector(*modal)


def symmetric_product(packed: Any, eta: Any) -> Any:
    """Return the matrix with rows ``A_r eta``, (rows, m), for symmetric matrices A_r packed as upper triangles."""
    m = eta.shape[0]
    products = []
    if is_symbolic(packed, eta):  # in the order of the sums below, in fewer operations
        return columns(packed[:, [_pair(min(j, k), max(j, k), m) for k in range(m)]] @ eta for j in range(m))
    for j in range(m):
        column = packed[:, _pair(0, j, m)] * eta[0]
        for k in range(1, m):
            column = column + packed[:, _pair(min(j, k), max(j, k), m)] * eta[k]
        products.append(column)
    return columns(products)


def symmetric_six(six: Any) -> Any:
    """Return the symmetric matrix from xx, yy, zz, xy, xz, yz."""
    return matrix([[six[0], six[3], six[4]], [six[3], six[1], six[5]], [six[4], six[5], six[2]]])


def _pair(j: int, k: int, m: int) -> int:
    """Return the index of entry (j, k), j <= k, in the packed upper triangle."""
    return j * m - j * (j - 1) // 2 + k - j


def _rows(*blocks: Any) -> Any:
    return ca.vertcat(*blocks) if is_symbolic(*blocks) else np.vstack(blocks)
