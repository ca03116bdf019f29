"""The constants of Sadigh (1995), section 5.5.1: by quadrature of the published shapes, and from the equations of a `Beam`."""

from __future__ import annotations

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import jv

from spacectl import (
    Beam,
    ModalBody,
    Part,
    System,
    UniformGravity,
    correction_terms,
    form_equations,
)

PUBLISHED = {
    "c1": 12.36,
    "alpha1": 2.259,
    "c2": 2.467,
    "alpha2": -1.273,
    "beta1": 0.818,
    "beta2": 0.355,
    "gamma1": 1.405,
}


def by_quadrature() -> dict[str, float]:
    """Integrate the shapes of Sadigh (1995), Eq 5.36 (lambda = 1.875 as published) and sin(pi x / 2), L = m = EI = EA = 1."""
    k = 1.875
    sigma = (np.cosh(k) + np.cos(k)) / (np.sinh(k) + np.sin(k))

    def phi(x: float) -> float:
        return 0.5 * (np.cosh(k * x) - np.cos(k * x) - sigma * (np.sinh(k * x) - np.sin(k * x)))

    def phi_derivative(x: float) -> float:
        return 0.5 * k * (np.sinh(k * x) + np.sin(k * x) - sigma * (np.cosh(k * x) - np.cos(k * x)))

    def curvature(x: float) -> float:
        return 0.5 * k**2 * (np.cosh(k * x) + np.cos(k * x) - sigma * (np.sinh(k * x) + np.sin(k * x)))

    def psi_derivative(x: float) -> float:
        return 0.5 * np.pi * np.cos(0.5 * np.pi * x)

    def over(f) -> float:
        return float(quad(f, 0.0, 1.0, epsabs=1e-13, epsrel=1e-13)[0])

    mass, bent = over(lambda x: phi(x) ** 2), over(lambda x: curvature(x) ** 2)
    stretched, mixed = (
        over(lambda x: psi_derivative(x) ** 2),
        over(lambda x: psi_derivative(x) * phi_derivative(x) ** 2),
    )
    psi2, psi = 0.5, 2.0 / np.pi
    return {
        "c1": bent / mass,
        "alpha1": over(lambda x: (1.0 - x) * phi_derivative(x) ** 2) / mass,  # int_0^1 of int_0^x phi'^2
        "c2": stretched / psi2,
        "alpha2": -psi / psi2,
        "beta1": 2.0 * over(lambda x: (curvature(x) * phi_derivative(x)) ** 2) / bent,  # curvature w'' / sqrt(1 - w'^2)
        "beta2": 0.5 * mixed / stretched,
        "gamma1": mixed / mass * psi2 / stretched,
        "cubic_EA": 0.5 * over(lambda x: phi_derivative(x) ** 4) / mass,  # missing in Eq 5.40: (EA / m L^3) q1^3
    }


def by_equations() -> dict[str, float]:
    """Extract the constants from the equations of a `Beam` with exact modes: derivatives of the bias, `correction_terms`."""
    unit = {"name": "beam", "length": 1.0, "mass": 1.0, "EI": 1.0, "EA": 1.0, "shapes": "modes"}
    beam = Beam(**unit, order="strain", extension=1)
    eom = form_equations(System(name="strain", parts=(Part(beam),)), formulation="kane")
    pulled = System(name="weight", parts=(Part(beam),), environment=UniformGravity(g=(-1.0, 0.0, 0.0)))
    weight = form_equations(pulled, formulation="kane")
    M = np.diag(eom.mass_matrix(0.0, np.zeros(2)))

    def force(q1: float, q2: float) -> np.ndarray:
        return eom.bias(0.0, np.array([q1, q2]), np.zeros(2)) / M

    flat, tall = force(1.0, 0.0), force(2.0, 0.0)  # cubic in q1
    cubic = (tall[0] - 2.0 * flat[0]) / 6.0
    bent = Beam(**unit)
    lost = correction_terms(System(name="lost", parts=(Part(bent),), environment=UniformGravity(g=(-1.0, 0.0, 0.0))))
    c2 = force(0.0, 1.0)[1]
    return {
        "c1": flat[0] - cubic,
        "alpha1": lost.stiffness(0.0, np.zeros(1), np.zeros(1))[0, 0] / bent.modal_mass[0, 0],
        "c2": c2,
        "alpha2": -(weight.bias(0.0, np.zeros(2), np.zeros(2))[1]) / M[1],
        "beta2": flat[1] / c2,
        "gamma1": (force(1.0, 1.0) - force(1.0, 0.0) - force(0.0, 1.0))[0] / c2,
        "cubic_EA": cubic,
    }


def matrices(modes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return M, K and geometric stiffness S for ``M eta_ddot + (K - g S) eta = 0`` of the unit beam (L = m = EI = 1)."""
    beam = Beam(name="beam", length=1.0, mass=1.0, EI=1.0, modes=modes, shapes="modes")
    lost = correction_terms(System(name="lost", parts=(Part(beam),), environment=UniformGravity(g=(-1.0, 0.0, 0.0))))
    return beam.modal_mass, beam.elasticity, lost.stiffness(0.0, np.zeros(modes), np.zeros(modes))


def critical_gravity(modes: int) -> float:
    """Return the weight ``m g L^2 / EI`` under which an upright cantilever buckles, from the equations of the toolbox."""
    _, K, S = matrices(modes)
    return float(1.0 / np.max(np.linalg.eigvals(np.linalg.solve(K, S)).real))


def critical_gravity_bessel() -> float:
    """Return the same in closed form: ``(9/4) j^2`` with j the first zero of the Bessel function of order -1/3."""
    return 2.25 * brentq(lambda z: jv(-1.0 / 3.0, z), 1.0, 3.0, xtol=1e-14) ** 2


def pendulum_stiffness(order: str) -> float:
    """Return the gravity stiffness of a hinged bar over ``m g l / 2``, with the angle as a small coordinate.

    Sadigh (1995), section 5.2.1.
    """
    x, w = np.polynomial.legendre.leggauss(4)
    x, w = 0.5 * (x + 1.0), 0.5 * w
    zero = np.zeros_like(x)
    bar = ModalBody(
        name="bar",
        points=np.stack([x, zero, zero], axis=1),
        masses=w,
        shapes=np.stack([zero, x, zero], axis=1)[:, :, None],
        second=np.stack([x, zero, zero], axis=1)[:, :, None, None],
        stiffness=[1.0],
        order=order,
    )
    system = System(name="pendulum", parts=(Part(bar),), environment=UniformGravity(g=(9.81, 0.0, 0.0)))
    eom = form_equations(system, formulation="kane")
    difference = eom.bias(0.0, np.array([0.01]), np.zeros(1)) - eom.bias(0.0, np.array([-0.01]), np.zeros(1))
    return float((difference[0] / 0.02 - 1.0) / (9.81 / 2.0))
