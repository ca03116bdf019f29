"""A `System` and a named state in the point-cloud reference of `tests.oracles.mechanics.point_cloud`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from spacectl.model.environment import CentralGravity, CircularOrbit, UniformGravity
from spacectl.model.system import System
from tests.oracles.mechanics import point_cloud
from tests.peers.layout import Link, read_links, read_loads

__all__ = ["accelerate", "energy", "momentum", "react", "read_bodies", "read_gravity"]

Named = Mapping[str, float]


def read_bodies(links: tuple[Link, ...]) -> list[dict[str, Any]]:
    """Links as the dicts of the reference."""
    keys = ("parent", "kind", "R_PJ", "p_PJ", "R_BF", "p_BF", "axes", "mass", "com", "inertia")
    return [{key: getattr(link, key) for key in keys} for link in links]


def read_gravity(system: System) -> dict[str, Any] | None:
    """The environment as the reference names it; None for free space."""
    environment = system.environment
    if isinstance(environment, UniformGravity):
        return {"kind": "uniform", "g": np.asarray(environment.g)}
    if isinstance(environment, CentralGravity):
        return {"kind": "central", "mu": environment.mu}
    if isinstance(environment, CircularOrbit):
        rate = environment.rate if environment.rate is not None else 2.0 * np.pi / float(environment.period or 1.0)
        return {"kind": "orbit", "rate": rate}
    return None


def _state(system: System, q: Named, v: Named) -> tuple[list[dict[str, Any]], list[np.ndarray], np.ndarray, Any]:
    links = read_links(system, rings=True)
    coordinates = [np.array([q[name] for name in link.coordinates]) for link in links]
    speeds = np.array([v[name] for link in links for name in link.speeds])
    return read_bodies(links), coordinates, speeds, read_gravity(system)


def accelerate(system: System, q: Named, v: Named, u: Named, *, step: float = point_cloud.STEP) -> dict[str, float]:
    """v_dot by speed name."""
    names = [name for link in read_links(system, rings=True) for name in link.speeds]
    loads = read_loads(system, u)
    tau = [loads.tau.get(name, 0.0) for name in names]
    bodies, coordinates, speeds, gravity = _state(system, q, v)
    v_dot = point_cloud.accelerations(
        bodies, coordinates, speeds, gravity, tau=tau, forces=loads.forces, torques=loads.torques, step=step
    )
    return dict(zip(names, v_dot.tolist(), strict=True))


def energy(system: System, q: Named, v: Named) -> float:
    """Kinetic plus potential energy, the Jacobi integral in orbit [J]."""
    return point_cloud.energy(*_state(system, q, v))


def momentum(system: System, q: Named, v: Named) -> np.ndarray:
    """(angular about the root origin, linear), shape (6,)."""
    return point_cloud.momentum(*_state(system, q, v))


def react(system: System, q: Named, v: Named, v_dot: Named, u: Named) -> np.ndarray:
    """Joint wrenches (moment, force) about and in the axes of F, shape (n_parts, 6), rows as in ``system.tree``.

    The rows of wheels belong to rings with mass, not to massless rotors; only their spin moment is comparable.
    """
    names = [name for link in read_links(system, rings=True) for name in link.speeds]
    loads = read_loads(system, u)
    bodies, coordinates, speeds, gravity = _state(system, q, v)
    rates = [v_dot[name] for name in names]
    return point_cloud.reactions(
        bodies, coordinates, speeds, rates, gravity, forces=loads.forces, torques=loads.torques
    )
