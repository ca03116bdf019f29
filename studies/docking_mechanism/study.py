"""Docking mechanisms with closed loops (Yaskevich 2018): sequential reduction, closed-form legs, forces on the carrier."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from spacectl import (
    EquationsOfMotion,
    ModelError,
    Shape,
    Simulation,
    Study,
    StudyResult,
    close_positions,
    find_base_wrench,
    simulate,
)

from .figures import draw
from .model import Parameters, form_both, probe_system, ring_system, start_of

#: Appearance in the replay: the front of the carrier, the mechanisms to scale
SHAPES = {
    "base": (
        Shape(kind="cylinder", size=(1.8, 1.8, 0.4), at=(0.0, 0.0, -0.4)),
        Shape(kind="ring", size=(1.6, 1.6, 0.1), at=(0.0, 0.0, -0.15)),
    ),
    "ring": Shape(kind="ring", size=(1.28, 1.28, 0.06), at=(0.0, 0.0, 0.03)),
    "sleeve": Shape(kind="cylinder", size=(0.24, 0.24, 0.36), at=(0.0, 0.0, 0.05)),
    "probe": (
        Shape.bar((0.0, 0.0, -0.1), (0.0, 0.0, 0.72), 0.09),
        Shape(kind="ellipsoid", size=(0.16, 0.16, 0.16), at=(0.0, 0.0, 0.72)),
    ),
}


def run(parameters: Parameters, *, quick: bool, progress: Callable[[float, str], None]) -> StudyResult:
    """Compare two formulations along a motion, two methods of closure, and the wrench on the carrier, for both mechanisms."""
    for name in ("carrier_mass", "carrier_inertia", "duration", "blow"):
        if not getattr(parameters, name) > 0.0:
            raise ModelError(f"parameter '{name}': got {getattr(parameters, name):g}, expected a positive number")
    found: dict[str, dict[str, Any]] = {}
    systems = {"ring": ring_system(parameters), "probe": probe_system(parameters)}
    for k, (name, system) in enumerate(systems.items()):
        progress(0.5 * k, f"{name}: forming the equations")
        found[name] = examine(form_both(system), parameters, quick)
    metrics = {
        "max_difference_to_kkt": max(item["difference"] for item in found.values()),
        "closed_form_speedup": min(item["speedup"] for item in found.values()),
        "max_difference_to_newton": max(item["closure"] for item in found.values()),
        "momentum_error": max(item["momentum"] for item in found.values()),
        "base_wrench_error": max(item["wrench_error"] for item in found.values()),
    }
    for name, item in found.items():
        metrics |= {f"{name}_speedup": item["speedup"], f"{name}_peak_base_force": float(np.max(item["force"]))}
        metrics[f"{name}_dissipated"] = item["dissipated"]
    return StudyResult(
        metrics=metrics,
        simulations={name: item["sim"] for name, item in found.items()},
        figures=draw(found, parameters),
        shapes=SHAPES,
        notes=(
            f"Sequential elimination of the loops gives the accelerations and multipliers of the augmented system to "
            f"{metrics['max_difference_to_kkt']:.0e}.",
            f"Closed forms of the legs are {metrics['closed_form_speedup']:.1f} times as fast as Newton's method "
            "(medians of processor time, interleaved batches in native code).",
        ),
    )


def examine(formulations: dict[str, EquationsOfMotion], parameters: Parameters, quick: bool) -> dict[str, Any]:
    """Simulate one mechanism and compare both formulations along its motion."""
    eom, kkt = formulations["partitioned"], formulations["multipliers"]
    sim = fly(eom, parameters, quick)
    t, x = np.asarray(sim.t), np.asarray(sim.x)
    u = np.asarray(sim.u)
    seen = range(0, len(t), 40 if quick else 4)
    energy = np.asarray(eom.along("energy", t, x)).reshape(-1)
    closure, speedup = compare_closures(eom, x[:, : eom.n_q], parameters.samples // (10 if quick else 1), quick)
    wrench = np.array([find_base_wrench(eom, t[k], x[k], u[k], base="base") for k in seen])
    return {
        "eom": eom,
        "sim": sim,
        "seen": t[list(seen)],
        "difference": max(difference(eom, kkt, t[k], x[k], u[k]) for k in seen),
        "closure": closure,
        "speedup": speedup,
        "wrench": wrench,
        "wrench_error": max(carrier_error(eom, t[k], x[k], u[k], w) for k, w in zip(seen, wrench, strict=True)),
        "force": np.linalg.norm(wrench[:, 3:], axis=1),
        "dissipated": float(energy[0] - energy[t <= parameters.pull_after][-1]),
        "momentum": float(np.max(np.abs(eom.along("momentum", t, x) - eom.along("momentum", t[:1], x[:1])))),
    }


def fly(eom: EquationsOfMotion, parameters: Parameters, quick: bool) -> Simulation:
    """Simulate the response to an initial speed, then the retraction by the drives."""
    drives = np.array([1.0 if name.startswith(("slide", "probe")) else 0.0 for name in eom.inputs])

    def pull(t: float, x: np.ndarray) -> np.ndarray:
        return -parameters.pull * drives * (t >= parameters.pull_after)

    if quick:  # the interpreter avoids compiling the state derivatives
        settings: dict[str, Any] = {"tier": "vm", "rtol": 1e-6, "atol": 1e-7, "u": np.zeros(eom.n_u)}
    else:
        settings = {"rtol": 1e-8, "atol": 1e-9, "max_step": 0.02, "law": pull}
    end = 0.1 * parameters.duration if quick else parameters.duration
    return simulate(eom, x0=start_of(eom, parameters), t_span=(0.0, end), grid=np.linspace(0.0, end, 401), **settings)


def difference(eom: EquationsOfMotion, kkt: EquationsOfMotion, t: float, x: np.ndarray, u: np.ndarray) -> float:
    """Return the largest relative difference of accelerations and multipliers from the augmented system."""
    q, v = x[: eom.n_q], x[eom.n_q :]
    worst = 0.0
    for call in ("v_dot", "multipliers"):
        one, two = (getattr(item, call)(t, q, v, u) for item in (eom, kkt))
        worst = max(worst, float(np.max(np.abs(one - two)) / np.max(np.abs(two))))
    return worst


def carrier_error(eom: EquationsOfMotion, t: float, x: np.ndarray, u: np.ndarray, wrench: np.ndarray) -> float:
    """Compare the wrench on the free carrier with the rate of its own momentum [N or N m] (Newton and Euler)."""
    q, v = x[: eom.n_q], x[eom.n_q :]
    v_dot = eom.v_dot(t, q, v, u)
    body = next(part.body for part in eom.system.parts if part.name == "base")
    com, inertia = np.asarray(body.com), np.asarray(body.inertia)
    inertia = np.diag(inertia) if inertia.shape == (3,) else inertia
    omega, alpha = v[:3], v_dot[:3]
    R = np.asarray(eom.placements(t, q))[0][:9].reshape(3, 3)
    force = body.mass * (R.T @ v_dot[3:6] + np.cross(alpha, com) + np.cross(omega, np.cross(omega, com)))
    moment = inertia @ alpha + np.cross(omega, inertia @ omega) + np.cross(com, force)
    return float(np.max(np.abs(np.concatenate([moment, force]) - wrench)))


def compare_closures(eom: EquationsOfMotion, along: np.ndarray, count: int, quick: bool) -> tuple[float, float]:
    """Return the largest difference of closed forms and Newton's method over sampled positions, and the ratio of times."""
    rng = np.random.default_rng(0)
    held = np.isin(np.arange(eom.n_q), _own(eom, ("ring", "gimbal", "probe")))
    q = along[rng.integers(0, len(along), count)] + 0.02 * rng.standard_normal((count, eom.n_q)) * held
    for k in eom.quaternions:
        q[:, k : k + 4] /= np.linalg.norm(q[:, k : k + 4], axis=1, keepdims=True)
    closed = close_positions(eom, q, method="closed form")
    legs = ~np.isin(np.arange(eom.n_q), _own(eom, ("ring", "gimbal", "probe", "base")))
    near = closed + 1e-3 * rng.standard_normal(closed.shape) * legs  # as from the step before
    times: dict[str, list[float]] = {"closed form": [], "newton": []}
    ends = {method: close_positions(eom, near, method=method) for method in times}
    for _ in range(5 if quick else 31):
        for method, seconds in times.items():
            begin = time.process_time()  # processor time: the machine may be shared
            close_positions(eom, near, method=method)
            seconds.append(time.process_time() - begin)
    gap = float(np.max(np.abs(ends["newton"] - ends["closed form"])))
    return gap, float(np.median(times["newton"]) / np.median(times["closed form"]))


def _own(eom: EquationsOfMotion, joints: tuple[str, ...]) -> list[int]:
    """Return the coordinates of the named joints."""
    return [i for i, name in enumerate(eom.coordinates) if name.split(".")[0] in joints]


STUDY = Study(
    question=(
        "Does sequential elimination of loops give the motion of docking mechanisms, and how much time do "
        "closed-form legs save?"
    ),
    parameters=Parameters(),
    run=run,
)
