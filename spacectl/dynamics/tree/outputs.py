"""Quantities of a state: energy, momentum, centre of mass, placements, and the outputs y of sensors.

A sensor measures the motion of any point, relative to any frame, in any axes (`model.sensors`).
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from spacectl.core.errors import ModelError
from spacectl.core.labels import Labels
from spacectl.dynamics.tree.elements import joint_potential
from spacectl.dynamics.tree.kinematics import RootMotion, body_motions, frame_in_body
from spacectl.dynamics.tree.nodes import ROOT
from spacectl.dynamics.tree.terms import Terms
from spacectl.model.sensors import SensedMotion, Sensor
from spacectl.spatial.backend import cross, dot, stack
from spacectl.spatial.inertia import Placement, move_twist, pull_wrench

__all__ = [
    "center_of_mass",
    "energies",
    "frame_state",
    "kinetic_by_part",
    "momentum",
    "output_labels",
    "placements",
    "sensor_values",
]


def energies(terms: Terms) -> tuple[Any, Any]:
    """Return the kinetic and potential energy [J], with velocities relative to the root frame.

    In a rotating root (a circular orbit) the potential contains the centrifugal part
    ``-1/2 Omega' I_N Omega``, so that the sum is the Jacobi integral.
    """
    environment, n = terms.system.environment, terms.numbers.group("environment")
    rate = environment.root_rate(terms.t, n)
    motions = body_motions(terms.tree, terms.steps, terms.v, RootMotion.at_rest(terms.q))
    kinetic, potential = (
        ca.sum1(kinetic_by_part(terms)),
        joint_potential(terms.system, terms.tree, terms.q, terms.numbers) + terms.points.potential(),
    )
    for i, (motion, inertia, body) in enumerate(zip(motions, terms.inertias, terms.mass_properties, strict=True)):
        node, modal = terms.tree.nodes[i], terms.modal[i]
        potential = potential + environment.potential(terms.t, motion.X_NB, body, n)
        if modal is not None:
            potential = potential + node.flexible_body.strain_energy(terms.q[node.eta], modal.n)
        if rate is not None:
            potential = potential - 0.5 * dot(rate, inertia.seen_from(motion.X_NB).I_O @ rate)
    return kinetic, potential


def kinetic_by_part(terms: Terms) -> Any:
    """Return the kinetic energy of each part [J], shape (n_parts,), with velocities relative to the root frame."""
    motions = body_motions(terms.tree, terms.steps, terms.v, RootMotion.at_rest(terms.q))
    return ca.vertcat(*[_kinetic(terms, i, motion.twist) for i, motion in enumerate(motions)])


def _kinetic(terms: Terms, i: int, twist: Any) -> Any:
    """Return the kinetic energy of body i [J] for a twist."""
    modal = terms.modal[i]
    if modal is None:
        return 0.5 * dot(twist, terms.inertias[i] @ twist)
    return modal.kinetic(twist, terms.v[terms.tree.nodes[i].eta_dot])


def momentum(terms: Terms) -> Any:
    """Return the momentum, shape (6,): angular about the root's origin [N m s], linear [N s]; root axes, inertial velocities."""
    total = ca.SX.zeros(6)
    for i, (motion, inertia) in enumerate(zip(terms.motions, terms.inertias, strict=True)):
        modal = terms.modal[i]
        if modal is None:
            own = inertia @ motion.twist
        else:
            own = modal.momentum(motion.twist, terms.v[terms.tree.nodes[i].eta_dot])
        total = total + pull_wrench(motion.X_NB, own)
    return total


def center_of_mass(terms: Terms) -> tuple[Any, Any]:
    """Return the centre of mass (root axes) [m] and the total mass [kg]."""
    mass, first = ca.SX(0), ca.SX.zeros(3)
    for motion, inertia in zip(terms.motions, terms.inertias, strict=True):
        mass = mass + inertia.mass
        first = first + inertia.mass * motion.X_NB.p + motion.X_NB.R @ inertia.first
    return first / mass, mass


def placements(terms: Terms) -> Any:
    """Return the placements of all bodies in the root, shape (n_bodies, 12): rotation matrix by rows, then position."""
    rows = []
    for motion in terms.motions:
        X: Placement = motion.X_NB
        rows.append(ca.horzcat(*[X.R[i, j] for i in range(3) for j in range(3)], *[X.p[i] for i in range(3)]))
    return ca.vertcat(*rows)


def output_labels(sensors: tuple[Sensor, ...]) -> Labels:
    """Return the names and units of y."""
    names = tuple(sensor.name + suffix for sensor in sensors for suffix in sensor.suffixes)
    units = tuple(sensor.unit for sensor in sensors for _ in sensor.suffixes)
    return Labels(names, units, "output")


def sensor_values(terms: Terms, sensors: tuple[Sensor, ...], *, v_dot: Any | None) -> Any:
    """Return y as an expression; `v_dot` is needed by acceleration sensors only.

    Raises
    ------
    ModelError
        If an acceleration is requested where the accelerations are not known (feedback).
    """
    motions = body_motions(terms.tree, terms.steps, terms.v, RootMotion.at_rest(terms.q))
    values = [_value(terms, motions, sensor, v_dot) for sensor in sensors]
    return ca.densify(ca.vertcat(*values)) if values else ca.SX(0, 1)


def frame_state(terms: Terms, motions: list[Any], name: str) -> tuple[Placement, Any]:
    """Return the placement of a frame in the root, and its root-relative twist in root axes about its origin."""
    i, X_BA, attachment = frame_in_body(terms.tree, name, terms.q, terms.v, terms.numbers)
    if i == ROOT:
        return X_BA, ca.SX.zeros(6)
    X_NA, twist = motions[i].X_NB @ X_BA, move_twist(X_BA, motions[i].twist)
    if attachment is not None:
        twist = twist + attachment.S @ terms.v[terms.tree.nodes[i].eta_dot]
    return X_NA, stack(X_NA.R @ twist[0:3], X_NA.R @ twist[3:6])


def _value(terms: Terms, motions: list[Any], sensor: Sensor, v_dot: Any | None) -> Any:
    X_NP, twist_P = frame_state(terms, motions, sensor.on)
    X_NA, twist_A = frame_state(terms, motions, sensor.seen_from)
    X_NE, _ = frame_state(terms, motions, sensor.axes)
    numbers = terms.numbers.group(sensor.name)
    arm = X_NP.R @ numbers["at"]
    r = X_NP.p + arm - X_NA.p
    velocity = twist_P[3:6] + cross(twist_P[0:3], arm) - twist_A[3:6] - cross(twist_A[0:3], r)

    def acceleration() -> Any:
        if v_dot is None:
            raise ModelError(
                f"sensor '{sensor.name}': an acceleration depends on the inputs and cannot be fed back without delay; "
                "use it as an output only"
            )
        seen = X_NA.R.T @ velocity  # in the observer's own axes, whose rate is the relative acceleration
        rate = ca.jtimes(seen, terms.q, terms.q_dot) + ca.jtimes(seen, terms.v, v_dot) + ca.jacobian(seen, terms.t)
        return X_NE.R.T @ (X_NA.R @ rate)

    value = sensor.value(
        SensedMotion(
            position=X_NE.R.T @ r,
            velocity=X_NE.R.T @ velocity,
            angular_velocity=X_NE.R.T @ (twist_P[0:3] - twist_A[0:3]),
            rotation=X_NA.R.T @ X_NP.R,
            axes=X_NE.R.T @ X_NA.R,
            acceleration=acceleration,
            t=terms.t,
            numbers=numbers,
        )
    )
    if value.shape != (len(sensor.suffixes), 1):
        raise ModelError(
            f"sensor '{sensor.name}': {type(sensor).__name__}.value has shape {value.shape}, expected a column of "
            f"{len(sensor.suffixes)}, one for each of its suffixes"
        )
    return value
