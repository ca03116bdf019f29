"""A spin about the minor axis with an internal damper: the energy falls at constant momentum until the spin is flat."""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl import (
    EquationsOfMotion,
    Figure,
    Free,
    FreeSpace,
    JointSpring,
    Line,
    Panel,
    Part,
    Prismatic,
    RigidBody,
    Simulation,
    System,
    displace_state,
    form_equations,
    linearize,
    modes,
    simulate,
)

ARM = 1.0  # [m], from the spin axis to the proof mass
BUS = 300.0  # [kg]


def moments_with_damper(inertia: tuple[float, ...], mass: float) -> np.ndarray:
    """Return principal moments of body and proof mass at rest: the centre of mass of both is on the spin axis."""
    added = mass * ARM**2 + BUS * (mass * ARM / BUS) ** 2
    return np.array([inertia[0], inertia[1] + added, inertia[2] + added])


def spinner(inertia: tuple[float, ...], mass: float, stiffness: float, damping: float) -> EquationsOfMotion:
    """Form a free body with a proof mass at ARM on its x axis that slides along z on a spring and a damper."""
    bus = RigidBody(name="bus", mass=BUS, inertia=inertia, com=(-mass * ARM / BUS, 0.0, 0.0))
    proof = RigidBody(name="proof", mass=mass, inertia=(0.0, 0.0, 0.0))
    return form_equations(
        System(
            name="minor-axis spinner",
            environment=FreeSpace(),
            parts=(
                Part(bus, joint=Free(name="base")),
                Part(proof, on="bus", at=(ARM, 0.0, 0.0), joint=Prismatic(name="slide", axis="z")),
            ),
            elements=(JointSpring(joint="slide", stiffness=stiffness, damping=damping),),
        )
    )


def energy_sink_rate(moments: np.ndarray, spin: float, mass: float, stiffness: float, damping: float) -> float:
    """Return the growth rate of a small nutation if the damper dissipates the power of a rigid nutation.

    With the nutation frequency ``w^2 = spin^2 (I_x - I_z)(I_y - I_z) / (I_x I_y)`` the force on the proof mass is
    ``m ARM spin omega_x (1 + (I_x - I_z) / I_y)``; its mean power, over ``H_x^2 (1 / I_z - 1 / I_x)``, is the rate.
    """
    x, y, z = moments
    w = spin * np.sqrt((x - z) * (y - z) / (x * y))
    push = mass * ARM * spin * (1.0 + (x - z) / y) / x  # for a unit amplitude of H_x
    power = 0.5 * damping * w**2 * push**2 / ((stiffness - mass * w**2) ** 2 + (damping * w) ** 2)
    return float(power / (1.0 / z - 1.0 / x))


def fall_into_flat_spin(
    *, inertia: tuple[float, ...], spin: float, nutation: float, mass: float, damping: float, duration: float
) -> tuple[dict[str, Any], Simulation, Figure]:
    """Compute eigenvalue, energy sink and simulation of the same spinner."""
    moments = moments_with_damper(inertia, mass)
    x, y, z = moments
    w = spin * np.sqrt((x - z) * (y - z) / (x * y))
    stiffness = mass * w**2  # tuned to the nutation
    c = 2.0 * damping * mass * w
    eom = spinner(inertia, mass, stiffness, c)
    steady = eom.state(**{"base.wz": spin})
    found = modes(linearize(eom, steady, outputs=()))
    k = int(np.argmax(found.poles.real))
    growth = float(found.poles[k].real)
    tilts = [found.x.index(f"base.w{axis}") for axis in "xy"]
    start = found.shapes[k].real * nutation * z * spin / np.linalg.norm(found.shapes[k][tilts] * moments[:2])
    x0 = displace_state(eom, steady, start)
    sim = simulate(eom, x0=x0, t_span=(0.0, duration), grid=3001, rtol=1e-10, atol=1e-12)
    momentum = eom.along("momentum", sim.t, sim.x)[:, :3]
    energy = eom.along("energy", sim.t, sim.x)[:, 0]
    size = np.linalg.norm(momentum, axis=1)
    axes = {axis: cosine(sim, momentum / size[:, None], axis) for axis in "xz"}
    angle = np.arccos(np.clip(axes["z"], -1.0, 1.0))
    most = size[0] ** 2 / (2.0 * z)
    missing = np.sqrt(most - energy)  # grows as the nutation, but does not oscillate as the angle does
    early = slice(0, int(np.argmax(missing > 8.0 * missing[0])))
    rate = np.polyfit(sim.t[early], np.log(missing[early]), 1)[0]
    least = size[0] ** 2 / (2.0 * x)
    metrics = {
        "growth_rate_eigenvalue": growth,
        "growth_rate_simulation": rate,
        "growth_rate_energy_sink": energy_sink_rate(moments, spin, mass, stiffness, c),
        "flat_momentum_drift": np.max(np.linalg.norm(momentum - momentum[0], axis=1)) / size[0],
        "flat_energy_rise": max(0.0, float(np.max(np.diff(energy)))) / energy[0],
        "flat_final_energy": energy[-1] / least,
        "flat_final_tilt": float(np.arccos(min(1.0, abs(axes["x"][-1])))),
        "flat_final_rate": float(np.linalg.norm(sim.x[-1, eom.n_q : eom.n_q + 3])),
    }
    figure = draw(sim, angle, energy, (most, least), growth)
    return metrics, sim, figure


def cosine(sim: Simulation, direction: np.ndarray, axis: str) -> np.ndarray:
    """Return the cosine of the angle between a body axis and a direction in root axes, along the run."""
    w, i, j, k = (sim[f"base.q{letter}"] for letter in "wxyz")
    columns = {
        "x": (1.0 - 2.0 * (j * j + k * k), 2.0 * (i * j + w * k), 2.0 * (i * k - w * j)),
        "z": (2.0 * (i * k + w * j), 2.0 * (j * k - w * i), 1.0 - 2.0 * (i * i + j * j)),
    }
    return np.einsum("ij,ij->i", direction, np.stack(columns[axis], axis=1))


def draw(sim: Simulation, angle: np.ndarray, energy: np.ndarray, levels: tuple[float, float], growth: float) -> Figure:
    """Draw nutation with the exponential of the eigenvalue, body rates, and energy between its bounds."""
    t = sim.t
    early = t < np.log(0.5 / angle[0]) / growth
    ends = t[[0, -1]]
    return Figure(
        name="flat_spin",
        title="From a spin about the minor axis into flat spin",
        caption="A proof mass on a damped spring dissipates energy at constant momentum until the body spins about its "
        "major axis.",
        panels=(
            Panel(
                lines=(
                    Line(x=t, y=angle, label="angle of z axis to momentum"),
                    Line(
                        x=t[early], y=angle[0] * np.exp(growth * t[early]), label="from the eigenvalue", style="dashed"
                    ),
                ),
                y_label="nutation",
                unit="rad",
                log_y=True,
            ),
            Panel(
                lines=tuple(Line(x=t, y=sim[f"base.w{axis}"], label=f"about {axis}") for axis in "xyz"),
                y_label="angular velocity",
                unit="rad/s",
            ),
            Panel(
                lines=(
                    Line(x=t, y=energy, label="energy"),
                    Line(x=ends, y=[levels[0]] * 2, label="of the minor-axis spin", style="dashed"),
                    Line(x=ends, y=[levels[1]] * 2, label="of the major-axis spin", style="dotted"),
                ),
                y_label="energy",
                unit="J",
            ),
        ),
    )
