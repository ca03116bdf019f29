"""From the mid-surface of a shell to the data of a `ModalBody`: modes, second-order shapes, points, frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from spacectl.core.array import as_array, as_scalar
from spacectl.core.errors import ModelError
from spacectl.model.bodies.base.body import Frame
from spacectl.model.bodies.base.profile import grid_triangles
from spacectl.model.bodies.surface.fields import Geometry
from spacectl.model.bodies.surface.function import family_on
from spacectl.model.bodies.surface.patch import SurfacePatch
from spacectl.model.bodies.surface.ritz import EDGES, RitzSpace, Section, isotropic_section, strain_energy

__all__ = ["shell_data"]

_GRID = 15  # points of the drawing along each parameter


def shell_data(
    surface: SurfacePatch,
    *,
    what: str,
    thickness: float,
    E: float,
    nu: float,
    density: float,
    edges: tuple[str, ...],
    modes: int,
    terms: Any,
    rotary: bool,
    root: Any,
    frames: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the fields of the `ModalBody` (all but name, damping and order)."""
    if not isinstance(surface, SurfacePatch):
        raise ModelError(f"{what}: surface is a {type(surface).__name__}, expected a SurfacePatch")
    section = _section(thickness, E, nu, density, rotary, what)
    space = _space(surface, section, edges, terms, what)
    if (
        not isinstance(modes, (int, np.integer))
        or isinstance(modes, bool)
        or not 1 <= modes <= space.basis.shape[1] // 4
    ):
        raise ModelError(
            f"{what}: modes is {modes!r}, expected 1 to {space.basis.shape[1] // 4} (raise terms for more)"
        )
    s, t, _ = space.places
    geometry, c = space.geometry, space.modes(int(modes))[1]
    c = c / _peaks(space.trial(s, t).combine(c).value)
    second = space.second_order(space.trial(s, t).combine(c))
    place = _Places(space, c, second)
    is_held = not space.rigid.shape[1]
    seats = [_seat(surface, name, at, what) for name, at in frames.items()]
    spans = zip(surface.ranges, surface.closed, strict=True)
    grid = [np.linspace(span[0], span[1], _GRID, endpoint=not shut) for span, shut in spans]
    S, T = (part.ravel() for part in np.meshgrid(*grid, indexing="ij"))
    parts = [place(np.array([at[0] for at in seats]), np.array([at[1] for at in seats]))] if seats else []
    parts += [place(S, T), place(s, t)]
    if is_held:
        parts.insert(0, _hub(as_array(root, (3,), f"{what}: root"), int(modes)))
    X, Phi, Psi, G, H = (np.concatenate([part[k] for part in parts]) for k in range(5))
    weights = section.mass * space.weights
    empty = len(X) - len(weights)
    plane = np.eye(3) - geometry.normal[:, :, None] * geometry.normal[:, None, :]
    inertia = section.rotary * space.weights[:, None, None] * plane
    first = 1 if is_held else 0
    return {
        "points": X,
        "masses": np.concatenate([np.zeros(empty), weights]),
        "shapes": Phi,
        "slopes": Psi,
        "second": G,
        "second_slopes": H,
        "rotary": np.concatenate([np.zeros((empty, 3, 3)), inertia]) if section.rotary else None,
        "stiffness": strain_energy(geometry, space.trial(s, t).combine(c), section, space.weights),
        "frames": tuple(Frame(name=name, at=X[first + k]) for k, name in enumerate(frames)),
        "triangles": grid_triangles(_GRID, _GRID, closed=surface.closed) + first + len(seats),
    }


class _Places:
    """Points, shapes, rotations and their second-order parts at places (s, t) of a shell."""

    def __init__(self, space: RitzSpace, first: np.ndarray, second: np.ndarray) -> None:
        self.space, self.first, self.second = space, first, second

    def __call__(self, s: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, ...]:
        geometry: Geometry = self.space.surface.geometry(s, t)
        trial = self.space.trial(s, t)
        u, v = trial.combine(self.first), trial.combine(self.second)
        m = u.size
        return geometry.X, u.value, geometry.turn(u), -v.value.reshape(len(s), 3, m, m), geometry.turn2(u, v)


def _section(thickness: float, E: float, nu: float, density: float, rotary: bool, what: str) -> Section:
    values = {"thickness": thickness, "E": E, "nu": nu, "density": density}
    h, E, nu, rho = (as_scalar(value, f"{what}: {key}") for key, value in values.items())
    for key, value in (("thickness", h), ("E", E), ("density", rho)):
        if not value > 0.0:
            raise ModelError(f"{what}: {key} is {value:g}, expected a positive number")
    if not -1.0 < nu <= 0.5:
        raise ModelError(f"{what}: nu is {nu:g}, expected more than -1 and at most 0.5")
    stretch = E * h / (1.0 - nu**2)
    return isotropic_section(stretch, stretch * h**2 / 12.0, nu, rho * h, rho * h**3 / 12.0 if rotary else 0.0)


def _space(surface: SurfacePatch, section: Section, edges: Any, terms: Any, what: str) -> RitzSpace:
    given = (edges,) if isinstance(edges, str) else tuple(edges)
    if len(given) != 4 or any(not isinstance(edge, str) or edge not in EDGES for edge in given):
        raise ModelError(
            f"{what}: edges is {edges!r}, expected four of {', '.join(EDGES)} (at s low, s high, t low, t high)"
        )
    counts = tuple(terms) if isinstance(terms, (tuple, list)) else (terms, terms)
    if len(counts) != 2 or any(not isinstance(n, (int, np.integer)) or not 5 <= n <= 32 for n in counts):
        raise ModelError(f"{what}: terms is {terms!r}, expected one or two numbers from 5 to 32")
    families: Any = tuple(
        family_on(span, int(n), shut) for span, n, shut in zip(surface.ranges, counts, surface.closed, strict=True)
    )
    return RitzSpace(surface, section, families, (0, 1, 2), given)


def _peaks(values: np.ndarray) -> np.ndarray:
    """Return the largest displacement of each shape, with the sign of its largest component."""
    flat = values.reshape(-1, values.shape[2])
    found: np.ndarray = flat[np.argmax(np.abs(flat), axis=0), np.arange(flat.shape[1])]
    return found


def _seat(surface: SurfacePatch, name: str, at: Any, what: str) -> tuple[float, float]:
    place = np.asarray(as_array(at, (2,), f"{what}: frame '{name}'"))
    for value, (low, high), key in zip(place, surface.ranges, "st", strict=True):
        if not low - 1e-9 * (high - low) <= value <= high + 1e-9 * (high - low):
            raise ModelError(f"{what}: frame '{name}' is at {key} = {value:g}, expected {low:g} to {high:g}")
    return float(place[0]), float(place[1])


def _hub(root: Any, m: int) -> tuple[np.ndarray, ...]:
    """Return a massless fixed point, to which edges are attached."""
    return np.asarray(root)[None], *(np.zeros((1, 3, *(m,) * k)) for k in (1, 1, 2, 2))
