"""Energy, momentum and centre of mass of a tree, from its terms."""

from __future__ import annotations

from typing import Any

import casadi as ca

from spacectl.dynamics.tree.elements import joint_potential
from spacectl.dynamics.tree.kinematics import RootMotion, body_motions
from spacectl.dynamics.tree.terms import Terms
from spacectl.spatial.backend import dot
from spacectl.spatial.inertia import Placement, pull_wrench

__all__ = ["center_of_mass", "energies", "kinetic_by_part", "momentum", "placements"]


def energies(terms: Terms) -> tuple[Any, Any]:
    """Return the kinetic and potential energy [J], with velocities relative to the root frame.

    In a turning root (a circular orbit) the potential contains the centrifugal part ``-1/2 Omega' I_N Omega``, so that
    the sum is the Jacobi integral.
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
