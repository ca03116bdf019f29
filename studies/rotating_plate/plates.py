"""The plate of Sadigh (1995), section 5.5.4, in several descriptions; constants by quadrature, frequencies at steady spin."""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl import ModalBody, Part, Plate, Revolute, System, assemble_shell, form_equations

ROOT = 1.8751040687119611  # of cos x cosh x = -1


def plate(parameters: Any, **changes: Any) -> Plate:
    """Return the thin plate, without rotary inertia as in Sadigh (1995)."""
    data = {
        "name": "plate", "length": parameters.length, "width": parameters.width, "thickness": parameters.thickness,
        "mass": parameters.density * parameters.length * parameters.width * parameters.thickness,
        "E": parameters.E, "nu": parameters.nu, "rotary": False,
    }  # fmt: skip
    return Plate(**{**data, **changes})


def products(parameters: Any, **changes: Any) -> Plate:
    """Return the two products of beam functions of Eq 5.49: psi_c1 psi_f1 and psi_c1 psi_f2."""
    return plate(parameters, shapes="products", modes=((1, 1), (1, 2)), **changes)


def triangles(parameters: Any, n: int, modes: int) -> ModalBody:
    """Return the same plate of finite elements, n along each edge, with geometric stiffness from its own matrices."""
    x, y = np.meshgrid(
        np.linspace(0.0, parameters.length, n + 1), np.linspace(-0.5, 0.5, n + 1) * parameters.width, indexing="ij"
    )
    points = np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1)
    number = np.arange(x.size).reshape(n + 1, n + 1)
    corners = []
    for i in range(n):
        for j in range(n):
            a, b, c, d = number[i, j], number[i + 1, j], number[i + 1, j + 1], number[i, j + 1]
            corners += [[a, b, c], [a, c, d]] if (i + j) % 2 else [[a, b, d], [b, c, d]]
    model = assemble_shell(
        points,
        np.array(corners),
        thickness=parameters.thickness,
        E=parameters.E,
        nu=parameters.nu,
        density=parameters.density,
    )
    return ModalBody.from_fem(model, name="plate", root=tuple(number[0].tolist()), modes=modes)


def spin_squares(body: Any, rates: np.ndarray) -> np.ndarray:
    """Return squared frequencies [rad^2/s^2] at steady rates of the clamped edge, ascending: (rates, modes).

    They are the eigenvalues of ``M^-1 K``. K, the derivative of the bias at the undeformed plate, comes from central
    differences, which are exact for linear terms.
    """
    hub = Revolute(name="hub", axis="y")
    eom = form_equations(System(name="steady spin", parts=(Part(body, joint=hub),)), formulation="kane")
    M = eom.mass_matrix(0.0, np.zeros(eom.n_q))[1:, 1:]
    small = 1e-5 * float(np.max(np.abs(np.asarray(body.material.X))))
    found = []
    for rate in rates:
        v = np.r_[rate, np.zeros(len(M))]
        steps = small * np.eye(eom.n_q)[1:]
        K = np.stack([eom.bias(0.0, step, v) - eom.bias(0.0, -step, v) for step in steps], axis=1)[1:] / (2.0 * small)
        found.append(np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real))
    return np.array(found)


def by_quadrature(nu: float) -> dict[str, float]:
    """Return the constants of Eqs 5.50, 5.51 from the closed form of the beam function and Gauss's rule; lengths are 1."""
    x, w = np.polynomial.legendre.leggauss(60)
    x, w = 0.5 * (x + 1.0), 0.5 * w
    sigma = (np.sinh(ROOT) - np.sin(ROOT)) / (np.cosh(ROOT) + np.cos(ROOT))
    psi = np.cosh(ROOT * x) - np.cos(ROOT * x) - sigma * (np.sinh(ROOT * x) - np.sin(ROOT * x))
    derivative = ROOT * (np.sinh(ROOT * x) + np.sin(ROOT * x) - sigma * (np.cosh(ROOT * x) - np.cos(ROOT * x)))
    size = w @ psi**2
    # int x (int_0^x psi'^2) dx = int psi'^2 (1 - x^2) / 2 dx
    return {
        "bending_constant": ROOT**4,
        "torsion_factor": 24.0 * (w @ derivative**2) / size / ROOT**4,
        "stiffening": (w @ (derivative**2 * 0.5 * (1.0 - x**2))) / size - 1.0,
    }
