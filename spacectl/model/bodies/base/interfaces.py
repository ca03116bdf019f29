"""Interfaces of a flexible body, where it is supported or carries other parts, and shapes for these places.

`interface_basis` combines static shapes under loads at the interfaces with modes with the interfaces fixed
(Craig and Bampton), re-diagonalised to modes of the body. The basis depends on the places only, not on the
attached parts: a dispersed payload does not change it. `FrameShapes` are the displacement and rotation of one
place to second order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh, null_space

from spacectl.core.errors import ModelError

__all__ = [
    "DIRECTIONS",
    "ROOT_INTERFACE",
    "Compliance",
    "FrameShapes",
    "InterfaceBasis",
    "balanced_loads",
    "interface_basis",
    "join_interfaces",
    "lowest_modes",
    "measure_from",
    "read_interfaces",
    "static_compliances",
]

DIRECTIONS = ("x", "y", "z", "rx", "ry", "rz")  #: displacements and rotations of a slice, in body axes
ROOT_INTERFACE = "root"  #: name of the place of the body's own joint
_DEPENDENT = 1e-8  # relative size below which a load depends on those before it


@dataclass(frozen=True)
class Compliance:
    """Static compliance along one direction of an interface, of the model's shapes and exact.

    Parameters
    ----------
    place : str
        ``"tip.y"``, ``"tip.rz"``: frame and direction; the load is balanced at the root.
    exact, model : float
        Deflection over load [m/N or rad/(N m)].
    """

    place: str
    exact: float
    model: float

    @property
    def error(self) -> float:
        """Relative error of the model; negative where it is too stiff."""
        return self.model / self.exact - 1.0


def read_interfaces(given: Any, frames: Iterable[str], what: str) -> dict[str, tuple[str, ...]]:
    """Parse the directions that each interface transmits from entries ``"tip"`` (all) or ``"tip: x y z"``.

    Examples
    --------
    >>> read_interfaces(("root: x y z", "tip"), ("tip",), "Beam 'b'")["root"]
    ('x', 'y', 'z')
    """
    entries = (given,) if isinstance(given, str) else tuple(given)
    known = (ROOT_INTERFACE, *frames)
    found: dict[str, tuple[str, ...]] = {}
    for entry in entries:
        if not isinstance(entry, str):
            raise ModelError(f"{what}: interfaces contains {entry!r}, expected texts such as 'tip' or 'tip: x y z'")
        name, colon, rest = (piece.strip() for piece in entry.partition(":"))
        directions = tuple(rest.split()) if colon else DIRECTIONS
        if name not in known or not set(directions) <= set(DIRECTIONS):
            raise ModelError(
                f"{what}: interfaces contains {entry!r}, expected one of {', '.join(known)}, alone or followed by a colon "
                f"and some of {' '.join(DIRECTIONS)}"
            )
        merged = {*found.get(name, ()), *directions}
        found[name] = tuple(key for key in DIRECTIONS if key in merged)
    return found


def join_interfaces(found: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Join directions into the entries that `read_interfaces` reads."""
    return tuple(
        name if directions == DIRECTIONS else f"{name}: {' '.join(directions)}" for name, directions in found.items()
    )


@dataclass(frozen=True)
class InterfaceBasis:
    """Shapes of the interface basis as columns.

    Parameters
    ----------
    coefficients : array, shape (k, n)
        In the elastic unknowns.
    mass : array, shape (n,)
        Modal masses for frequencies and damping ratios: root supported by its joint, interfaces released (or
        fixed, if no load at them deforms the body: a rod on two pins).
    """

    coefficients: np.ndarray
    mass: np.ndarray


def interface_basis(K: np.ndarray, M: np.ndarray, rows: np.ndarray, n: int, *, n_free: int = 0) -> InterfaceBasis:
    """Return the first `n` static shapes and fixed-interface modes, re-diagonalised.

    Parameters
    ----------
    K, M : arrays, shape (k, k)
        Stiffness and mass of the unknowns; the first `n_free` are rigid motions that the root leaves free.
    rows : array, shape (m, k)
        Displacements at the interfaces of unit unknowns, in order of importance: if `n` is less than the number of static
        shapes, the first ones are taken.
    n : int
        Number of shapes.
    n_free : int
        Number of rigid motions among the unknowns.

    Notes
    -----
    A static shape solves ``K a = rows' f`` for loads f that need no reaction along the free rigid motions R,
    ``rows_R' f = 0``. Fixed-interface modes satisfy ``rows a = 0``. Both are orthogonal in K.
    """
    loads = balanced_loads(rows[:, :n_free])
    static = np.zeros((len(K), loads.shape[1]))
    static[n_free:] = np.linalg.solve(K[n_free:, n_free:], rows[:, n_free:].T @ loads)
    V = static[:, :n]
    if V.shape[1] < n:
        V = np.column_stack([V, *lowest_modes(K, M, rows, n - V.shape[1])])
    if V.shape[1] < n:
        raise ModelError(f"{len(K)} unknowns give {V.shape[1]} shapes only, but {n} are requested")
    if n_free and static.shape[1]:  # modes with the interfaces released move freely along the rigid motions
        V[:n_free] = -np.linalg.solve(M[:n_free, :n_free], M[:n_free, n_free:] @ V[n_free:])
    V = V / np.sqrt(np.einsum("ij,ik,kj->j", V, M, V))
    squares, vectors = eigh(V.T @ K @ V, V.T @ M @ V)
    return InterfaceBasis((V @ vectors)[n_free:], np.ones(n))


def balanced_loads(free: np.ndarray) -> np.ndarray:
    """Return independent loads (m, s) in row order, without reaction along the free rigid motions: ``free' f = 0``."""
    m = len(free)
    allowed = null_space(free.T) if free.shape[1] else np.eye(m)
    found: list[np.ndarray] = []
    for i in range(m):
        load = allowed @ allowed[i]
        for earlier in found:
            load = load - earlier * (earlier @ load)
        size = float(np.linalg.norm(load))
        if size > _DEPENDENT:
            found.append(load / size)
    return np.stack(found, axis=1) if found else np.zeros((m, 0))


def lowest_modes(K: np.ndarray, M: np.ndarray, rows: np.ndarray, n: int) -> list[np.ndarray]:
    """Return the `n` lowest modes with positive frequency under the constraints ``rows a = 0``.

    Solved for 1 / (omega^2 + shift), in which the low modes are the large, accurate ones.
    """
    N = null_space(rows) if rows.size else np.eye(len(K))
    K, M = N.T @ K @ N, N.T @ M @ N
    shift = np.trace(K) / np.trace(M) * 1e-6
    inverse, vectors = eigh(M, K + shift * M)
    squares = 1.0 / inverse[::-1] - shift
    elastic = [k for k, square in enumerate(squares) if square > 1e-6 * shift][:n]
    return [N @ vectors[:, ::-1][:, k] for k in elastic]


def static_compliances(
    names: Sequence[str], K: np.ndarray, rows: np.ndarray, free: np.ndarray, model_rows: np.ndarray, model_K: np.ndarray
) -> tuple[Compliance, ...]:
    """Return the compliance along each load that the root can balance, exact and with the model's shapes.

    Parameters
    ----------
    names : sequence of str
        Of the interface directions.
    K, rows : arrays, shapes (k, k) and (m, k)
        Stiffness and interface displacements of an exact basis, root fixed.
    free : array, shape (m, r)
        Interface displacements of the rigid motions that the root leaves free.
    model_rows, model_K : arrays, shapes (m, n) and (n, n)
        The same for the model's shapes.
    """
    loads = balanced_loads(free)
    found = []
    for load in loads.T:
        exact, model = (float(load @ R @ np.linalg.solve(S, R.T @ load)) for R, S in ((rows, K), (model_rows, model_K)))
        found.append(Compliance(names[int(np.argmax(np.abs(load)))], exact, model))
    return tuple(found)


@dataclass(frozen=True)
class FrameShapes:
    """First- and second-order displacement and rotation of a frame: Phi, Psi (3, m), G, H (3, m, m)."""

    Phi: np.ndarray
    Psi: np.ndarray
    G: np.ndarray
    H: np.ndarray

    def carried(self, offset: np.ndarray) -> FrameShapes:
        """Return the shapes of a point that the slice carries at `offset` from this place."""
        theta = self.Psi.T
        Phi = self.Phi + np.cross(theta, offset).T
        double = np.cross(theta[:, None, :], np.cross(theta[None, :, :], offset))  # theta_j x (theta_k x d)
        second = 0.5 * (double + double.transpose(1, 0, 2)) + np.cross(self.H.transpose(1, 2, 0), offset)
        return FrameShapes(Phi, self.Psi, self.G - second.transpose(2, 0, 1), self.H)


def measure_from(origin: FrameShapes, X: np.ndarray, fields: FrameShapes) -> FrameShapes:
    """Refer shapes at places X to the slice at the body's frame instead of a floating frame.

    With the frame's displacement ``p = Phi0 eta - ...`` and rotation ``theta0 = Psi0 eta + ...``, places move by
    ``R(theta0)' (X + u - p) - X`` and slices turn by ``R(theta0)' R(theta)``, here to second order in eta.

    Parameters
    ----------
    origin : FrameShapes
        Shapes at the body's frame, X = 0.
    X : array, shape (n, 3)
        Places of the undeformed body [m].
    fields : FrameShapes
        Shapes there: Phi, Psi (n, 3, m), G, H (n, 3, m, m).
    """
    psi0 = origin.Psi.T  # (m, 3)
    d = (fields.Phi - origin.Phi).transpose(0, 2, 1)  # u - p, (n, m, 3)
    psi = fields.Psi.transpose(0, 2, 1)
    turned = np.cross(psi0[None], X[:, None, :])  # theta0 x X, (n, m, 3)
    Phi = d - turned
    double = np.cross(psi0[None, :, None], turned[:, None, :])  # theta0_j x (theta0_k x X)
    carried = np.cross(psi0[None, :, None], d[:, None, :])  # theta0_j x (u_k - p_k)
    second = 0.5 * _both(double) - _both(carried)
    second = second - np.cross(origin.H.transpose(1, 2, 0)[None], X[:, None, None, :])
    slopes = -0.5 * _both(np.cross(psi0[None, :, None], psi[:, None, :]))
    G = fields.G - origin.G - second.transpose(0, 3, 1, 2)
    H = fields.H - origin.H + slopes.transpose(0, 3, 1, 2)
    return FrameShapes(Phi.transpose(0, 2, 1), fields.Psi - origin.Psi, G, H)


def _both(pairs: np.ndarray) -> np.ndarray:
    """Symmetrise fields of pairs (n, m, m, 3): the sum of each pair and its exchange."""
    return pairs + pairs.transpose(0, 2, 1, 3)
