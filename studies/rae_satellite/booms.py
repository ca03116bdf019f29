"""Four long booms on a satellite of fixed attitude in a circular orbit, and the constants of their equations.

Boom 1 points up, 2 ahead, 3 down, 4 astern (x is radial, y along the orbit); each has in-plane bending. The satellite moves
along the orbit as y(t).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq

from spacectl import (
    Beam,
    CircularOrbit,
    EquationsOfMotion,
    Part,
    Prismatic,
    RigidBody,
    System,
    correction_terms,
    form_equations,
    rotation_about,
)

BOOMS = ("boom1", "boom2", "boom3", "boom4")


def boom(parameters: Any, name: str, order: str, modes: int) -> Beam:
    """Return one boom, with modes of a cantilever: nothing is attached to it, so these are also the default shapes."""
    mass = parameters.density * parameters.length
    return Beam(
        name=name, length=parameters.length, mass=mass, EI=parameters.EI, modes=modes, shapes="modes", order=order
    )


def satellite(parameters: Any, motion: Callable[[Any], Any], order: str = "linearised", modes: int = 1) -> System:
    """Return the satellite with prescribed motion along the orbit, ``y = motion(t)``."""
    bus = RigidBody(name="bus", mass=100.0, inertia=(10.0, 10.0, 10.0))
    slide = Prismatic(name="y", axis="y", prescribed=lambda s: motion(s.t))
    parts = [Part(bus, on="orbit", joint=slide)]
    for k, name in enumerate(BOOMS):
        turn = rotation_about((0.0, 0.0, 1.0), 0.5 * np.pi * k)
        parts.append(Part(boom(parameters, name, order, modes), on="bus", rotation=turn))
    return System(name="RAE", parts=tuple(parts), environment=CircularOrbit(period=parameters.period))


def stiffness_matrix(eom: EquationsOfMotion) -> np.ndarray:
    """Return the stiffness matrix of linear equations, by differences, at t = 0."""
    rest = np.zeros(eom.n_v)
    columns = [eom.bias(0.0, step, rest) - eom.bias(0.0, -step, rest) for step in np.eye(eom.n_q)]
    return 0.5 * np.stack(columns, axis=1)


def by_equations(parameters: Any) -> dict[str, Any]:
    """Return the constants of Sadigh (1995), Eqs 5.46, 5.47, from the equations, with one exact mode for each boom."""
    beam = boom(parameters, "boom1", "linearised", 1)
    w1, mass = beam.frequencies[0], beam.modal_mass[0, 0]
    n = 2.0 * np.pi / parameters.period
    premature = form_equations(satellite(parameters, lambda t: 0.0 * t, "premature"))
    bare = np.diag(stiffness_matrix(premature)) / (mass * w1**2)

    def lost(motion: Callable[[Any], Any]) -> np.ndarray:
        terms = correction_terms(satellite(parameters, motion, "premature"))
        return -np.diag(terms.stiffness(0.0, np.zeros(4), np.zeros(4))) / (mass * w1**2)

    def push(motion: Callable[[Any], Any]) -> np.ndarray:
        eom = form_equations(satellite(parameters, motion, "premature"))
        return eom.bias(0.0, np.zeros(4), np.zeros(4)) / (mass * w1**2)

    still = lost(lambda t: 0.0 * t)
    moving, speeding = lost(lambda t: t) - still, lost(lambda t: 0.5 * t * t) - still
    coriolis, acceleration = push(lambda t: t), push(lambda t: 0.5 * t * t)
    return {
        "omega1": w1,
        "alpha": (1.0 - bare) * (w1 / n) ** 2,
        "beta": abs(acceleration[0]) * w1**2,
        "gamma": abs(coriolis[1]) * w1,
        "still": still,
        "rate": moving * w1,  # per y' = y_dot / omega1
        "acceleration": speeding * w1**2,
    }


def by_quadrature(parameters: Any) -> dict[str, float]:
    """Return the same from the closed form of the mode shape and scipy's quadrature, without the toolbox."""
    k = brentq(lambda z: np.cosh(z) * np.cos(z) + 1.0, 1.5, 2.5, xtol=1e-14)
    sigma = (np.cosh(k) + np.cos(k)) / (np.sinh(k) + np.sin(k))

    def phi(x: float) -> float:
        return 0.5 * (np.cosh(k * x) - np.cos(k * x) - sigma * (np.sinh(k * x) - np.sin(k * x)))

    def squared_derivative(x: float) -> float:
        return (0.5 * k * (np.sinh(k * x) + np.sin(k * x) - sigma * (np.cosh(k * x) - np.cos(k * x)))) ** 2

    def over(f: Callable[[float], float]) -> float:
        return float(quad(f, 0.0, 1.0, epsabs=1e-13, epsrel=1e-13)[0])

    mass = over(lambda x: phi(x) ** 2)
    uniform = over(lambda x: (1.0 - x) * squared_derivative(x)) / mass  # alpha1 of section 5.5.1
    growing = over(lambda x: 0.5 * (1.0 - x * x) * squared_derivative(x)) / mass  # of a field proportional to x
    w1 = k**2 * np.sqrt(parameters.EI / (parameters.density * parameters.length**4))
    ratio = 2.0 * np.pi / parameters.period / w1
    beta = over(phi) / mass
    still, rate = 3.0 * growing * ratio**2, 2.0 * uniform * ratio / parameters.length
    return {
        "omega1": w1,
        "beta": beta,
        "gamma": 2.0 * beta * ratio,
        "still": still,
        "rate": rate,
        "acceleration": uniform / parameters.length,
        "critical_ydot": (1.0 + still) / rate * w1,
    }


def critical_speed_ritz(parameters: Any, terms: int = 8) -> float:
    """Return the buckling speed of boom 3 [m/s] by Ritz's method with w = x^2, x^3, ..., without toolbox and mode shapes.

    Bending energy and the work of the axial force ``T = density (3/2 n^2 (L^2 - x^2) - 2 n y_dot (L - x))``; across a
    radial boom the fields cancel. Over x / L all integrals are those of powers.
    """
    k = np.arange(2, terms + 2, dtype=float)
    i, j = np.meshgrid(k, k)
    s, n, L = i + j, 2.0 * np.pi / parameters.period, parameters.length
    bend = parameters.EI / L**3 * i * (i - 1.0) * j * (j - 1.0) / (s - 3.0)
    pulled = 1.5 * parameters.density * n**2 * L * i * j * (1.0 / (s - 1.0) - 1.0 / (s + 1.0))
    pressed = 2.0 * parameters.density * n * i * j * (1.0 / (s - 1.0) - 1.0 / s)
    return float(1.0 / np.max(np.linalg.eigvals(np.linalg.solve(bend + pulled, pressed)).real))


def critical_speed(parameters: Any, modes: int) -> float:
    """Return the speed along the orbit at which boom 3 loses its stiffness [m/s], from the equations of the toolbox."""
    beam = boom(parameters, "boom1", "linearised", modes)
    rest = np.zeros(4 * modes)
    own = slice(2 * modes, 3 * modes)  # boom 3
    premature = form_equations(satellite(parameters, lambda t: 0.0 * t, "premature", modes))
    K = stiffness_matrix(premature)[own, own]

    def lost(speed: float) -> np.ndarray:
        terms = correction_terms(satellite(parameters, lambda t: speed * t, "premature", modes))
        return terms.stiffness(0.0, rest, rest)[own, own]

    still = lost(0.0)
    K = K - still
    loads = np.linalg.eigvals(np.linalg.solve(K, lost(1.0) - still)).real
    if beam.n_modes != modes or not np.max(loads) > 0.0:
        raise ValueError("boom 3 is not compressed")
    return float(1.0 / np.max(loads))
