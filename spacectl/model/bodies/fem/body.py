"""From a finite-element model to the data of a `ModalBody`: reduction, points, second-order shapes, frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.model.bodies.base.body import Frame
from spacectl.model.bodies.fem.points import lump_mass, match_shapes
from spacectl.model.bodies.fem.reduce import Attached, Group, find_groups
from spacectl.model.bodies.fem.second_order import geometric_second, warped_forces

__all__ = ["fem_data"]


def fem_data(
    model: Any,
    *,
    what: str,
    root: Any,
    interface: Mapping[str, Any],
    frames: Mapping[str, Any],
    modes: int,
    frequency: float | None,
    geometric: Any,
) -> dict[str, Any]:
    """Return the fields of the `ModalBody` (all but name, damping and order)."""
    groups = find_groups(model, {**({} if root is None else {"root": root}), **interface}, what)
    held, interfaces = (None, groups) if root is None else (groups[0], groups[1:])
    if not isinstance(modes, (int, np.integer)) or isinstance(modes, bool) or modes < 0:
        raise ModelError(f"{what}: modes is {modes!r}, expected a number of normal modes, 0 or more")
    attached = Attached(model, held, tuple(interfaces))
    squares, vectors = attached.reduce(int(modes), frequency)
    size = float(np.max(np.ptp(model.nodes, axis=0)))
    Phi, Psi = model.field(vectors)
    vectors = vectors / _peaks(Phi, Psi, size)
    origin = np.zeros(3) if held is None else held.at
    second = _second(attached, origin, vectors, geometric, what)
    return _points(model, attached, origin, vectors, second, frames, what)


def _peaks(Phi: np.ndarray, Psi: np.ndarray, size: float) -> np.ndarray:
    """Return the largest displacement of each shape with its sign, or the largest rotation if a shape only rotates."""
    displaced, turned = (field.reshape(-1, field.shape[2]) for field in (Phi, Psi))
    found = []
    for u, theta in zip(displaced.T, turned.T, strict=True):
        field = u if np.max(np.abs(u)) > 1e-6 * size * np.max(np.abs(theta)) else theta
        found.append(field[np.argmax(np.abs(field))])
    return np.array(found)


def _second(
    attached: Attached, origin: np.ndarray, vectors: np.ndarray, geometric: Any, what: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return the second-order displacement and rotation of the nodes, (n, 3, m, m) each."""
    model, m = attached.model, vectors.shape[1]
    if isinstance(geometric, Mapping):
        return geometric_second(model, origin, vectors, geometric, what)
    shape = (len(model.nodes), 3, m, m)
    if geometric is None:
        return np.zeros(shape), np.zeros(shape)
    if geometric != "matrices":
        raise ModelError(
            f"{what}: geometric is {geometric!r}, expected 'matrices', None or a table of geometric stiffness matrices"
        )
    v, turn = model.field(attached.solve(-warped_forces(model, model.field(vectors))))
    return v.reshape(shape), turn.reshape(shape)


def _points(
    model: Any,
    attached: Attached,
    origin: np.ndarray,
    vectors: np.ndarray,
    second: tuple[np.ndarray, np.ndarray],
    frames: Mapping[str, Any],
    what: str,
) -> dict[str, Any]:
    """Return massless visible points (root, interfaces, nodes), then the mass points."""
    m, n = vectors.shape[1], len(model.nodes)
    Phi, Psi = model.field(vectors)
    v, turn = second
    X = model.nodes - origin
    mass, J = lump_mass(model, origin)
    R = model.rigid(origin)
    moved = model.mass @ vectors
    matched = match_shapes(X, mass, J, (Phi, Psi), (R.T @ moved, vectors.T @ moved))
    seats = _seats(model, attached, frames, what)
    seen = [_seat(seat, X - (seat.at - origin), (Phi, Psi, v, turn), model) for seat in seats]
    hold = [np.zeros((1, 3, m)), np.zeros((1, 3, m)), np.zeros((1, 3, m, m)), np.zeros((1, 3, m, m))]
    has_root = attached.root is not None
    head = [
        np.concatenate(([hold[k]] if has_root else []) + [s[k] for s in seen]) if has_root or seen else hold[k][:0]
        for k in range(4)
    ]
    places = [*([np.zeros(3)] if has_root else []), *(seat.at - origin for seat in seats)]
    offset = len(places)
    return {
        "points": np.concatenate([np.reshape(places, (-1, 3)), X, X]),
        "masses": np.concatenate([np.zeros(offset + n), mass]),
        "shapes": np.concatenate([head[0], Phi, matched[0]]),
        "slopes": np.concatenate([head[1], Psi, matched[1]]),
        "second": -np.concatenate([head[2], v, v]),
        "second_slopes": np.concatenate([head[3], turn, turn]),
        "rotary": np.concatenate([np.zeros((offset + n, 3, 3)), J]) if np.any(J) else None,
        "stiffness": _symmetric(vectors.T @ (model.stiffness @ vectors)),
        "frames": tuple(Frame(name=seat.name, at=seat.at - origin) for seat in seats),
        "triangles": None if model.triangles is None else model.triangles + offset,
    }


def _seats(model: Any, attached: Attached, frames: Mapping[str, Any], what: str) -> list[Group]:
    """Return the interfaces and further places that get a frame."""
    return [*attached.interfaces, *find_groups(model, frames, what)]


def _seat(seat: Group, arms: np.ndarray, fields: tuple[np.ndarray, ...], model: Any) -> tuple[np.ndarray, ...]:
    """Return the motion of a group's point: of its node, or the mean of its (rigidly moving) nodes."""
    nodes = list(seat.nodes)
    if len(nodes) == 1:
        return tuple(field[nodes] for field in fields)
    arms = arms[nodes]
    spread = np.einsum("na,na->", arms, arms) * np.eye(3) - arms.T @ arms
    inverse = np.linalg.pinv(spread)
    Phi, _, v, _ = (field[nodes] for field in fields)
    theta = np.einsum("ab,nbk->ak", inverse, np.cross(arms[:, :, None], Phi, axis=1))
    m = theta.shape[1]
    # a rigid group rotated by exp(theta): v_i = v + theta2 x arm + 1/2 theta x (theta x arm)
    double = np.cross(
        theta[None, :, :, None], np.cross(theta[None, :, None, :], arms[:, :, None, None], axis=1), axis=1
    )
    rest = v - 0.5 * (double + double.swapaxes(2, 3))
    theta2 = np.einsum("ab,nbjk->ajk", inverse, np.cross(arms[:, :, None, None], rest, axis=1))
    return Phi.mean(axis=0)[None], theta[None], rest.mean(axis=0)[None], theta2.reshape(1, 3, m, m)


def _symmetric(A: np.ndarray) -> np.ndarray:
    return 0.5 * (A + A.T)
