"""Motion of a simulation: placements of bodies, modal coordinates, points on deforming frames.

The motion comes from a `Simulation` with its equations, without integrating again. `scene` makes a replay
from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from spacectl.core.errors import ModelError
from spacectl.dynamics.waist.functions import described_system
from spacectl.model.system import System

__all__ = ["Motion", "deflection", "find_motion"]


@dataclass(frozen=True)
class Motion:
    """Placements and deformation over n times.

    Parameters
    ----------
    system : System
        The system, with the flexible bodies of the run's parameters.
    t : array (n,)
        Times [s].
    R, p : mapping of str to array (n, 3, 3), (n, 3)
        Placement of each body in the root frame.
    eta : mapping of str to array (n, m)
        Modal coordinates of the flexible bodies.
    u : mapping of str to array (n,)
        Inputs by name.
    """

    system: System
    t: np.ndarray
    R: dict[str, np.ndarray]
    p: dict[str, np.ndarray]
    eta: dict[str, np.ndarray]
    u: dict[str, np.ndarray]

    def place(self, frame: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the rotation (n, 3, 3) and position (n, 3) of ``"world"``, ``"body"`` or ``"body.frame"`` in the root."""
        n = self.t.size
        if frame in self.system.environment.root_names:
            return np.broadcast_to(np.eye(3), (n, 3, 3)), np.zeros((n, 3))
        name, _, inner = self.system.frame(frame).partition(".")
        R, p = self.R[name], self.p[name]
        if not inner:
            return R, p
        body = self.system.part(name).body
        found = next(item for item in body.frames if item.name == inner)
        at, turn = np.broadcast_to(np.asarray(found.at), (n, 3)), np.eye(3)[None]
        if body.is_flexible:
            shapes = body.flexible.shapes_at(np.asarray(found.at))
            if shapes is not None:
                eta = self.eta[name]
                at = at + deflection(shapes.Phi[None], shapes.G[None], eta)[:, 0]
                turn = Rotation.from_rotvec(eta @ shapes.Psi.T).as_matrix()
        R_frame = R @ turn @ np.asarray(found.rotation)
        return R_frame, p + np.einsum("nij,nj->ni", R, at)

    def point(self, frame: str, at: Any) -> np.ndarray:
        """Return root position (n, 3) of a point at `at` in a frame."""
        R, p = self.place(frame)
        return p + R @ np.asarray(at, dtype=float)


def deflection(Phi: np.ndarray, G: np.ndarray, eta: np.ndarray) -> np.ndarray:
    """Return ``Phi eta - 1/2 [eta' G_k eta]_k`` of k points for n modal states: shape (n, k, 3)."""
    return np.einsum("kam,nm->nka", Phi, eta) - 0.5 * np.einsum("nl,kalm,nm->nka", eta, G, eta)


def find_motion(simulation: Any, *, most: int, stretch: float = 1.0) -> Motion:
    """Return the motion of a simulation at up to `most` of its times.

    Parameters
    ----------
    simulation : Simulation
        With its equations.
    most : int
        Number of times at most; first and last are among them.
    stretch : float
        Factor on all modal coordinates, so that small deflections become visible; outboard bodies follow.

    Raises
    ------
    ModelError
        If the simulation has no equations (it was read from a file).
    """
    eom = getattr(simulation, "equations", None)
    if eom is None:
        raise ModelError("replay: the simulation has no equations; take it from simulate, not from a file")
    good = np.flatnonzero(np.all(np.isfinite(simulation.x), axis=1))
    rows = good[np.unique(np.linspace(0, good.size - 1, min(most, good.size)).astype(int))]
    t, x = simulation.t[rows], np.array(simulation.x[rows])
    places = {
        body.name: [eom.labels.q.index(f"{body.name}.{name}") for name in body.modal_names]
        for body in eom.system.flexible_bodies
    }
    x[:, sorted({i for columns in places.values() for i in columns})] *= stretch
    data = simulation.dataset
    p = data["p"].values if "p" in data else None
    found = eom.along("placements", t, x, p=p)
    names = [part.name for part in eom.system.tree]
    return Motion(
        system=described_system(eom, p),
        t=t,
        R={name: found[:, i, :9].reshape(-1, 3, 3) for i, name in enumerate(names)},
        p={name: found[:, i, 9:] for i, name in enumerate(names)},
        eta={name: x[:, columns] for name, columns in places.items()},
        u={name: simulation.u[rows, i] for i, name in enumerate(eom.inputs)},
    )
