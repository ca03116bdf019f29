"""The three cases of Sadigh (1995), section 6.2, without and with control, and the conserved quantities of case 3."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.integrate import simpson

from spacectl import (
    EquationsOfMotion,
    FeedbackLinearization,
    Simulation,
    design_lqr,
    find_operating_point,
    form_equations,
    linearize,
    simulate,
)

from .model import JOINTS, Parameters, Posture, build, find_posture, start

TIGHT = {"rtol": 1e-12, "atol": 1e-12}
FREE = {"base": "free"}
CASES: dict[str, dict[str, Any]] = {
    "case 1": {"base": "held"},
    "case 2": {"base": "held", "is_flexible": True},
    "case 3": FREE,
}


def fly_free(parameters: Parameters, grid: np.ndarray) -> dict[str, tuple[EquationsOfMotion, Simulation]]:
    """Simulate the motion without torques after a smooth capture (Sadigh 1995, Figures 6.2, 6.3)."""
    posture, found = find_posture(parameters), {}
    for name, options in CASES.items():
        eom = form_equations(build(parameters, **options))
        sim = simulate(eom, x0=start(eom, posture), t_span=(0.0, grid[-1]), grid=grid, **TIGHT)
        found[name] = (eom, sim)
    return found


def gradient_torque(parameters: Parameters, eom: EquationsOfMotion, sim: Simulation) -> np.ndarray:
    """Return the moment of the gravity gradient about the orbit frame's origin, ``-3 Omega^2 integral of x y dm`` [N m].

    Computed from the masses and positions of the bodies, not from the equations. Round bodies count as points. Shape (n,).
    """
    places = eom.along("placements", sim.t, sim.x)
    product = np.zeros(sim.t.size)
    for k, part in enumerate(eom.system.parts):
        R, p = places[:, k, :9].reshape(-1, 3, 3), places[:, k, 9:]
        centre = p + np.einsum("nij,j->ni", R, np.asarray(part.body.com))
        product += part.body.mass * centre[:, 0] * centre[:, 1]
        if part.body.name in ("upper", "lower"):
            along = R[:, :2, 0]
            product += parameters.link_mass * parameters.link_length**2 / 12.0 * along[:, 0] * along[:, 1]
    return -3.0 * parameters.orbit_rate**2 * product


def invariants(parameters: Parameters, eom: EquationsOfMotion, sim: Simulation) -> dict[str, float]:
    """Return the conserved quantities of case 3: centre of mass, Jacobi integral, angular momentum without gravity gradient."""
    momentum = eom.along("momentum", sim.t, sim.x)[:, 2]
    torque = gradient_torque(parameters, eom, sim)
    still = replace(parameters, orbit_rate=1e-30)  # no orbit: the frame is inertial
    quiet = form_equations(build(still, **FREE))
    rest = simulate(quiet, x0=start(quiet, find_posture(still)), t_span=(0.0, sim.t[-1]), grid=11, **TIGHT)
    return {
        "case3_angular_momentum_0": momentum[0],
        "case3_angular_momentum_100s": momentum[-1],
        "case3_jacobi_drift": np.max(np.abs(np.diff(eom.along("energy", sim.t, sim.x), axis=0).cumsum(axis=0))),
        "case3_centre_drift": np.max(np.abs(eom.along("center_of_mass", sim.t, sim.x)[:, :2])),
        "case3_momentum_error": abs(momentum[-1] - momentum[0] - simpson(torque, x=sim.t)),
        "case3_momentum_drift_no_orbit": np.ptp(quiet.along("momentum", rest.t, rest.x)[:, 2]),
    }


def at_rest(eom: EquationsOfMotion, posture: Posture) -> np.ndarray:
    """Return the posture of the capture without speeds, the target of the control."""
    x = start(eom, posture)
    x[eom.n_q :] = 0.0
    return x


def fly_controlled(parameters: Parameters, grid: np.ndarray) -> dict[str, tuple[EquationsOfMotion, Simulation]]:
    """Simulate with control (Sadigh 1995, Figures 6.4 to 6.7): feedback linearisation in cases 1 and 3, LQR in case 2.

    ``"joints alone"`` is case 3 without a torque on the spacecraft: attitude, elbow and wrist are controlled by the joints,
    and the shoulder follows from the conserved momentum (the last remark of section 6.2.2).
    """
    posture = find_posture(parameters)
    speeds = {
        "case 1": None,
        "case 3": ("base.angle_dot", "shoulder_dot", "elbow_dot", "wrist_dot"),
        "joints alone": ("base.angle_dot", "elbow_dot", "wrist_dot"),
    }
    options = {
        "case 1": CASES["case 1"],
        "case 3": {**FREE, "is_centred": True},
        "joints alone": {**FREE, "has_attitude_control": False},
    }
    found = {}
    for name, chosen in speeds.items():
        eom = form_equations(build(parameters, **options[name]))
        law = FeedbackLinearization(
            eom,
            frequency=parameters.frequency,
            damping=parameters.damping,
            reference=at_rest(eom, posture),
            speeds=chosen,
        )
        found[name] = (eom, simulate(eom, law, x0=start(eom, posture), t_span=(0.0, grid[-1]), grid=grid))
    eom = form_equations(build(parameters, **CASES["case 2"]))
    point = find_operating_point(eom, guess=at_rest(eom, posture))
    law = design_lqr(linearize(eom, point), **weights(parameters, ("pitch", *JOINTS)))
    found["case 2"] = (eom, simulate(eom, law, x0=start(eom, posture), t_span=(0.0, grid[-1]), grid=grid))
    return found


def weights(parameters: Parameters, angles: tuple[str, ...]) -> dict[str, Any]:
    """Return LQR weights: an angle error of 1 mrad counts as much as 1 N m (the satellite's as 0.3 N m)."""
    return {"Q": {name: 1e6 if name not in ("wrist", "satellite.angle") else 1e5 for name in angles}, "R": 1.0}
