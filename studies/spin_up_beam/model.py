"""The spun-up cantilever: its description for every order, its simulation, and its lag stiffness at steady spin."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from spacectl import Beam, Guard, Part, Position, Revolute, Simulation, System, form_equations, simulate

SECOND = {"consistent": 1.0, "linearised": 1.0, "premature": 1.0, "strain": 0.0, "pseudo_potential": 0.0}


def turned(parameters: Any, t: Any, where: Any) -> Any:
    """Return the angle of the hub [rad]: integral of ``rate / T (t - T / (2 pi) sin(2 pi t / T))``, then a steady spin."""
    rate, T = parameters.rate, parameters.ramp
    slow = T / (2.0 * np.pi)
    cosine = ca.cos if isinstance(t, (ca.SX, ca.MX)) else np.cos
    return where(t < T, rate / T * (0.5 * t * t + slow**2 * (cosine(t / slow) - 1.0)), rate * (t - 0.5 * T))


SEGMENTS, SEGMENT_MODES, SEGMENT_EXTENSION = 3, 2, 1  # of the beam in segments


def beam(parameters: Any, order: str, *, extension: int, **changes: Any) -> Beam:
    """Return the beam of Kane, Ryan and Banerjee, with the modes of a cantilever."""
    data = {
        "name": "beam", "length": parameters.length, "mass": parameters.density * parameters.length, "EI": parameters.EI,
        "EA": parameters.EA, "modes": parameters.modes, "shapes": "modes", "extension": extension, "order": order,
    }  # fmt: skip
    return Beam(**{**data, **changes})


def hub(parameters: Any) -> Revolute:
    """Return the hub with its prescribed motion."""
    return Revolute(name="hub", axis="z", prescribed=lambda s: turned(parameters, s.t, ca.if_else))


def spin_up(parameters: Any, order: str, *, extension: int, grid: np.ndarray) -> tuple[Simulation, np.ndarray]:
    """Simulate the spin-up; return the tip in the hub's frame: displacement along, across, and stretch, shape (n, 3) [m].

    The run ends where the tip has moved across by a beam length, beyond any theory of small deflections.
    """
    body = beam(parameters, order, extension=extension)
    eom = form_equations(System(name=f"spin-up, {order}", parts=(Part(body, joint=hub(parameters)),)))
    bending = [f"beam.eta{k + 1}" for k in range(parameters.modes)]
    lost = Guard(
        name="lost",
        expression=lambda s: sum(s[name] for name in bending) ** 2 - parameters.length**2,
        direction=1,
        is_failure=True,
    )
    is_sound = order != "premature"  # which is expected to diverge
    sim = simulate(eom, x0=eom.state(), guards=[lost], check=is_sound, **settings(parameters, grid))
    shapes = body.shapes_at(np.array([parameters.length, 0.0, 0.0]))
    eta = sim.x[:, : eom.n_q]
    tip = eta @ shapes.Phi.T - 0.5 * SECOND[order] * np.einsum("ajk,tj,tk->ta", shapes.G, eta, eta)
    return sim, np.column_stack([tip[:, :2], eta @ shapes.Phi[0]])


def spin_up_segments(parameters: Any, grid: np.ndarray) -> tuple[Simulation, np.ndarray]:
    """Simulate the spin-up of the beam in segments; return the tip in the hub's frame, along and across (n, 2) [m]."""
    body = beam(
        parameters, "consistent", extension=SEGMENT_EXTENSION, modes=SEGMENT_MODES, segments=SEGMENTS, shapes="auto"
    )
    tip = Position(name="tip", on="beam.tip", seen_from="beam", axes="beam")
    eom = form_equations(System(name="spin-up, segments", parts=(Part(body, joint=hub(parameters)),), sensors=(tip,)))
    sim = simulate(eom, x0=eom.state(), **settings(parameters, grid))
    return sim, np.column_stack([sim["tip.x"] - parameters.length, sim["tip.y"]])


def settings(parameters: Any, grid: np.ndarray) -> dict[str, Any]:
    """Return the settings of all simulations; the hub's motion has a kink where the ramp ends."""
    stops = [parameters.ramp] if parameters.ramp < grid[-1] else []
    return {"t_span": (0.0, grid[-1]), "grid": grid, "stops": stops, "rtol": 1e-7, "atol": 1e-9}


def spin(parameters: Any, t: np.ndarray) -> np.ndarray:
    """Return the rate of the hub [rad/s]."""
    slow = parameters.ramp / (2.0 * np.pi)
    return np.where(
        t < parameters.ramp, parameters.rate / parameters.ramp * (t - slow * np.sin(t / slow)), parameters.rate
    )


def lag_stiffness(parameters: Any, order: str, rates: np.ndarray) -> np.ndarray:
    """Return the smallest eigenvalue of ``M^-1 K`` in the plane of rotation, at steady spins [rad^2/s^2].

    K is the derivative of the bias at the undeformed beam, by central differences: exact for linear orders.
    """
    body = beam(parameters, order, extension=0)
    part = Part(body, joint=Revolute(name="hub", axis="z"))
    eom = form_equations(System(name="steady spin", parts=(part,)), formulation="kane")
    M = eom.mass_matrix(0.0, np.zeros(eom.n_q))[1:, 1:]
    small = 1e-4 * parameters.length
    found = []
    for rate in rates:
        v = np.r_[rate, np.zeros(parameters.modes)]
        steps = small * np.eye(eom.n_q)[1:]
        K = np.stack([eom.bias(0.0, step, v) - eom.bias(0.0, -step, v) for step in steps], axis=1)[1:] / (2.0 * small)
        found.append(np.min(np.linalg.eigvals(np.linalg.solve(M, K)).real))
    return np.array(found)
