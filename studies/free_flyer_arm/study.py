"""A free-flying base with a seven-joint arm tracks joint sinusoids: reaction of the base and conservation of momentum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module, util
from typing import Any

import casadi as ca
import numpy as np
from scipy.integrate import cumulative_simpson

from spacectl import (
    Band,
    EquationsOfMotion,
    Figure,
    Line,
    ModelError,
    Panel,
    Simulation,
    Study,
    StudyResult,
    design_pd,
    form_equations,
    library,
    simulate,
)


@dataclass(frozen=True)
class Parameters:
    """Parameters of the study; each can be set on the command line."""

    base_mass: float = 500.0  # [kg]
    link_mass: float = 20.0  # [kg], each of seven
    payload_mass: float = 50.0  # [kg]
    reach: float = 4.0  # [m]
    torque_limit: float = 120.0  # [N m]
    posture: tuple[float, float, float, float, float, float, float] = (
        0.0,
        0.7,
        0.0,
        -1.2,
        0.0,
        0.7,
        0.0,
    )  # [rad], of the joints
    amplitude: float = 0.4  # [rad]
    frequency: float = 0.6  # [rad/s], of the first joint; each further joint is 10 % faster
    bandwidth: float = 12.0  # [rad/s], of the PD loops
    damping: float = 0.9  # [1], of the PD loops
    duration: float = 20.0  # [s]
    rtol: float = 1e-10  # [1]


JOINTS = tuple(f"joint{i + 1}" for i in range(7))


def run(parameters: Parameters, *, quick: bool, progress: Callable[[float, str], None]) -> StudyResult:
    """Form the equations, close the loop, verify momentum, energy and (if installed) Pinocchio's accelerations."""
    if len(parameters.posture) != 7:
        raise ModelError(
            f"parameter 'posture': {len(parameters.posture)} angles, expected one for each of the 7 joints"
        )
    for name in ("duration", "reach", "bandwidth", "rtol"):
        if not getattr(parameters, name) > 0.0:
            raise ModelError(f"parameter '{name}': got {getattr(parameters, name):g}, expected a positive number")
    progress(0.0, "forming the equations")
    system = library.free_flyer_arm(
        base_mass=parameters.base_mass,
        link_mass=parameters.link_mass,
        payload_mass=parameters.payload_mass,
        reach=parameters.reach,
        torque_limit=parameters.torque_limit,
    )
    eom = form_equations(system)
    duration = min(parameters.duration, 4.0) if quick else parameters.duration
    law = tracking_law(eom, parameters)
    x0 = start_on_reference(eom, parameters)
    progress(0.2, "simulating the closed loop")
    grid = np.linspace(0.0, duration, round(100 * duration) + 1)
    sim = simulate(
        eom, law, x0=x0, t_span=(0.0, duration), grid=grid, rtol=parameters.rtol, atol=1e-2 * parameters.rtol
    )
    progress(0.7, "checking momentum and energy")
    history = balance(eom, sim)
    reference = parameters.posture + parameters.amplitude * np.sin(np.outer(grid, frequencies(parameters)))
    error = np.stack([sim[name] for name in JOINTS], axis=1) - reference
    peer, notes = compare_with_pinocchio(eom, sim)
    low, high = eom.limits()
    metrics = {
        "tracking_error_max": np.max(np.abs(error)),
        "tracking_error_rms": np.sqrt(np.mean(error**2)),
        "torque_max": np.max(np.abs(sim.u)),
        "saturated_fraction": np.mean(np.any((sim.u_commanded < low) | (sim.u_commanded > high), axis=1)),
        "base_rotation_max": np.max(history["rotation"]),
        "base_displacement_max": np.max(np.linalg.norm(history["displacement"], axis=1)),
        "momentum_linear_drift": np.max(np.abs(history["momentum"][:, 3:] - history["momentum"][0, 3:])),
        "momentum_angular_drift": np.max(np.abs(history["momentum"][:, :3] - history["momentum"][0, :3])),
        "arm_momentum_max": np.max(np.linalg.norm(history["arm_momentum"], axis=1)),
        "center_of_mass_drift": np.max(np.abs(history["center"] - history["center"][0])),
        "energy_balance_error": np.max(np.abs(history["energy"] - history["energy"][0] - history["work"])),
        "quaternion_norm_error": np.max(np.abs(np.linalg.norm(sim.x[:, :4], axis=1) - 1.0)),
        "pinocchio_max_difference": peer,
    }
    progress(0.95, "drawing")
    return StudyResult(
        metrics=metrics,
        simulations={"closed_loop": sim},
        figures=figures(sim, reference, error, history, parameters),
        notes=(
            f"The arm turns its free base by up to {metrics['base_rotation_max']:.2f} rad; momentum is conserved.",
            *notes,
        ),
    )


def frequencies(parameters: Parameters) -> np.ndarray:
    """Return the reference frequencies of the joints [rad/s]."""
    return parameters.frequency * 1.1 ** np.arange(7)


def tracking_law(eom: EquationsOfMotion, parameters: Parameters) -> Any:
    """Return a PD law with gains for the joint inertias M_jj - M_jb M_bb^-1 M_bj of the arm on its floating base."""
    M = eom.mass_matrix(0.0, eom.state(**dict(zip(JOINTS, parameters.posture, strict=True)))[: eom.n_q])
    felt = np.diag(M[6:, 6:] - M[6:, :6] @ np.linalg.solve(M[:6, :6], M[:6, 6:]))
    w = frequencies(parameters)
    return design_pd(
        eom,
        kp=felt * parameters.bandwidth**2,
        kd=felt * 2.0 * parameters.damping * parameters.bandwidth,
        reference=lambda s: [
            parameters.posture[i] + parameters.amplitude * ca.sin(float(w[i]) * s.t) for i in range(7)
        ],
        name="PD along sinusoids",
    )


def start_on_reference(eom: EquationsOfMotion, parameters: Parameters) -> np.ndarray:
    """Return the state with joints on the reference, and the base moving so that the total momentum is zero."""
    rates = {f"{name}_dot": parameters.amplitude * w for name, w in zip(JOINTS, frequencies(parameters), strict=True)}
    x = eom.state(**dict(zip(JOINTS, parameters.posture, strict=True)), **rates)
    M = eom.mass_matrix(0.0, x[: eom.n_q])
    v = x[eom.n_q :]
    v[:6] = -np.linalg.solve(M[:6, :6], M[:6, 6:] @ v[6:])
    return x


def balance(eom: EquationsOfMotion, sim: Simulation) -> dict[str, np.ndarray]:
    """Return histories of momentum, energy, work of the joints, and the excursion of the base."""
    t, x, u = sim.t, sim.x, sim.u
    power = np.einsum("ij,ij->i", u, x[:, eom.n_q + 6 :])
    held = x.copy()
    held[:, eom.n_q : eom.n_q + 6] = 0.0  # the momentum of the arm relative to the base
    return {
        "momentum": eom.along("momentum", t, x),
        "arm_momentum": eom.along("momentum", t, held)[:, :3],
        "center": eom.along("center_of_mass", t, x),
        "energy": eom.along("energy", t, x)[:, 0],
        "work": cumulative_simpson(power, x=t, initial=0.0),
        "rotation": 2.0 * np.arctan2(np.linalg.norm(x[:, 1:4], axis=1), np.abs(x[:, 0])),
        "displacement": x[:, 4:7] - x[0, 4:7],
    }


def compare_with_pinocchio(eom: EquationsOfMotion, sim: Simulation) -> tuple[float | None, tuple[str, ...]]:
    """Return the largest relative difference of accelerations from Pinocchio's along the run, or None without Pinocchio."""
    if util.find_spec("pinocchio") is None:
        return None, (
            "Pinocchio is not installed, so pinocchio_max_difference is null; install the extra spacectl[crosscheck].",
        )
    peer = import_module("pinocchio")
    model, data = _pinocchio_model(peer, eom)
    worst = 0.0
    for k in range(0, sim.t.size, max(1, sim.t.size // 40)):
        q, v = sim.x[k, : eom.n_q], sim.x[k, eom.n_q :]
        R = peer.Quaternion(q[0], q[1], q[2], q[3]).toRotationMatrix()
        q_peer = np.concatenate([q[4:7], q[1:4], q[:1], q[7:]])
        v_peer = np.concatenate([R.T @ v[3:6], v[:3], v[6:]])
        a_peer = peer.aba(model, data, q_peer, v_peer, np.concatenate([np.zeros(6), sim.u[k]]))
        a = np.concatenate([a_peer[3:6], R @ (a_peer[:3] + np.cross(v[:3], R.T @ v[3:6])), a_peer[6:]])
        ours = eom.v_dot(0.0, q, v, sim.u[k])
        worst = max(worst, float(np.max(np.abs(ours - a)) / np.max(np.abs(a))))
    return worst, ()


def _pinocchio_model(peer: Any, eom: EquationsOfMotion) -> tuple[Any, Any]:
    """Return the same tree in Pinocchio, without gravity; fixed parts are welded to their parents."""
    model = peer.Model()
    model.gravity.linear = np.zeros(3)
    index: dict[str, tuple[int, Any]] = {"world": (0, peer.SE3.Identity())}
    for part in eom.system.tree:
        parent, offset = index[part.on]
        place = offset * peer.SE3(np.array(part.rotation), np.array(part.at))
        inertia = peer.Inertia(part.body.mass, np.array(part.body.com), np.array(part.body.inertia))
        kind = type(part.joint).__name__
        if kind == "Fixed":
            model.appendBodyToJoint(parent, inertia, place)
            index[part.name] = (parent, place)
            continue
        joint = (
            peer.JointModelFreeFlyer()
            if kind == "Free"
            else peer.JointModelRevoluteUnaligned(np.array(part.joint.axis))
        )
        added = model.addJoint(parent, joint, place, part.joint_name)
        model.appendBodyToJoint(added, inertia, peer.SE3.Identity())
        index[part.name] = (added, peer.SE3.Identity())
    return model, model.createData()


def figures(
    sim: Simulation, reference: np.ndarray, error: np.ndarray, history: dict[str, np.ndarray], parameters: Parameters
) -> tuple[Figure, ...]:
    """Draw tracking, the reaction of the base, and conserved quantities."""
    t = sim.t
    shown = (0, 3, 6)
    tracking = Figure(
        name="tracking",
        title="Joint tracking",
        caption="Three of the seven joints with their references, the errors of all, and the torques with their limits.",
        panels=(
            Panel(
                y_label="joint angle",
                unit="rad",
                lines=[Line(x=t, y=sim[JOINTS[i]], label=JOINTS[i]) for i in shown]
                + [Line(x=t, y=reference[:, i], label=f"{JOINTS[i]} reference", style="dashed") for i in shown],
            ),
            Panel(
                y_label="tracking error",
                unit="rad",
                lines=[Line(x=t, y=error[:, i], label=JOINTS[i]) for i in range(7)],
            ),
            Panel(
                y_label="joint torque",
                unit="N m",
                lines=[Line(x=t, y=sim.u[:, i], label=JOINTS[i]) for i in range(7)],
                bands=(Band(low=-parameters.torque_limit, high=parameters.torque_limit),),
            ),
        ),
    )
    base = Figure(
        name="base_reaction",
        title="Reaction of the base to the arm",
        caption="No external force acts: the base turns and shifts so that total momentum stays zero.",
        panels=(
            Panel(
                y_label="base rotation",
                unit="rad",
                lines=[Line(x=t, y=history["rotation"], label="angle from the start")],
            ),
            Panel(
                y_label="base displacement",
                unit="m",
                lines=[Line(x=t, y=history["displacement"][:, i], label="xyz"[i]) for i in range(3)],
            ),
            Panel(
                y_label="angular momentum",
                unit="N m s",
                lines=[
                    Line(x=t, y=history["arm_momentum"][:, i], label=f"of the arm alone, {'xyz'[i]}", style="dashed")
                    for i in range(3)
                ]
                + [Line(x=t, y=history["momentum"][:, i], label=f"total, {'xyz'[i]}") for i in range(3)],
            ),
        ),
    )
    floor = 1e-18
    kept = Figure(
        name="conservation",
        title="Conserved quantities",
        caption=f"Drifts at rtol {parameters.rtol:g}. The output grid limits the accuracy of the work, and so of the last curve.",
        panels=(
            Panel(
                y_label="drift",
                unit="SI",
                log_y=True,
                lines=[
                    Line(
                        x=t, y=np.linalg.norm(history["momentum"][:, 3:], axis=1) + floor, label="linear momentum [N s]"
                    ),
                    Line(
                        x=t,
                        y=np.linalg.norm(history["momentum"][:, :3], axis=1) + floor,
                        label="angular momentum [N m s]",
                    ),
                    Line(
                        x=t,
                        y=np.linalg.norm(history["center"] - history["center"][0], axis=1) + floor,
                        label="centre of mass [m]",
                    ),
                    Line(
                        x=t,
                        y=np.abs(history["energy"] - history["energy"][0] - history["work"]) + floor,
                        label="energy less work [J]",
                    ),
                ],
            ),
        ),
    )
    return tracking, base, kept


STUDY = Study(
    question=(
        "How far does a free-flying base move while its seven-joint arm tracks sinusoids, and is momentum conserved?"
    ),
    parameters=Parameters(),
    run=run,
)
