"""Interfaces of a `Plate`: displacements and rotations of its slices at frames, and the static compliance there.

The rotation under a point moment on a thin plate (and the displacement under an in-plane point force) is unbounded;
the exact compliance here is that of all trial functions of the plate.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from spacectl.model.bodies.base.interfaced import ChoosesBasis
from spacectl.model.bodies.base.interfaces import ROOT_INTERFACE, Compliance
from spacectl.model.bodies.surface.ritz import RitzSpace

__all__ = ["PlateInterfaces"]

_BENT, _STRETCHED = ("z", "rx", "ry"), ("x", "y", "rz")  # directions that bending and stretch move


class PlateInterfaces(ChoosesBasis):
    """Interfaces of a plate."""

    length: float
    modes: Any
    membrane: int
    _bending: Any
    _stretching: Any
    _flat: Any
    _first: Any
    elasticity: Any

    def interface_point(self, position: np.ndarray) -> np.ndarray:
        return np.array([position[0], position[1], 0.0])

    @property
    def shapes_needed(self) -> str:
        """Numbers of shapes that give the static compliance of all trial functions at all interfaces."""
        counts = {"modes": len(self._interface_names(_BENT)), "membrane": len(self._interface_names(_STRETCHED))}
        return ", ".join(f"{key}={n}" for key, n in counts.items() if n and getattr(self, key))

    def _interface_names(self, directions: tuple[str, ...]) -> list[str]:
        """Return the interfaces and their directions, displacements before rotations: ``"tip.z"``."""
        found = self.interface_directions
        return [
            f"{name}.{key}" for key in directions for name in found if name != ROOT_INTERFACE and key in found[name]
        ]

    def _interface_rows(self, names: list[str], x_y: Any) -> np.ndarray:
        """Return displacements at the interfaces of the fields `x_y(places)`; rotations are multiplied by the length."""
        rows = [np.zeros((0, x_y(np.zeros(1), np.zeros(1)).size))]
        places = {frame.name: np.asarray(frame.at)[:2, None] for frame in self.frames}
        for name in names:
            frame, _, key = name.rpartition(".")
            fields = x_y(*places[frame])
            turn = self.length * self._flat.geometry(*places[frame]).turn(fields)[0]
            row = fields.value[0, "xyz".index(key)] if key in "xyz" else turn["xyz".index(key[1])]
            rows.append(row[None])
        return np.vstack(rows)

    @property
    def _spaces(self) -> tuple[tuple[RitzSpace, tuple[str, ...], Any], ...]:
        """Trial functions of bending and of stretch, the directions that they move, and the number of shapes of each."""
        return (self._bending, _BENT, self.modes), (self._stretching, _STRETCHED, self.membrane)

    @cached_property
    def compliances(self) -> tuple[Compliance, ...]:
        found: list[Compliance] = []
        at = 0
        for space, directions, wanted in self._spaces:
            n = wanted if isinstance(wanted, int) else len(wanted)
            names, own = self._interface_names(directions), slice(at, at + n)
            if n and names:
                rows, model = (self._interface_rows(names, item) for item in (space.trial, self._first))
                found += space.compliances(names, rows, model[:, own], self.elasticity[own, own])
            at += n
        return tuple(found)

    @cached_property
    def _chosen(self) -> list[tuple[np.ndarray, np.ndarray | None]]:
        """Coefficients of transverse and of membrane shapes in their trial functions, and modal masses of interface shapes."""
        found = []
        for space, directions, n in self._spaces:
            if n and self.basis == "interface":
                rows = self._interface_rows(self._interface_names(directions), space.trial)
                modes, mass = space.interface_modes(n, rows)
                scale = self._peaks(space, modes)
                found.append((modes / scale, mass / scale**2))
            elif n:
                modes = space.modes(n)[1]
                found.append((modes / self._peaks(space, modes), None))
        return found

    def _peaks(self, space: RitzSpace, modes: np.ndarray) -> np.ndarray:
        """Return the largest displacement of each shape, with its sign."""
        x, y = self._grid(21)
        values = space.trial(x, y).combine(modes).value
        size = np.linalg.norm(values, axis=1)
        at = np.argmax(np.round(size / size.max(axis=0), 6), axis=0)
        return np.array([values[i, :, k][np.argmax(np.abs(values[i, :, k]))] for k, i in enumerate(at)])

    def _grid(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Return evenly spaced points, the last edge first so that the tip has the sign of a shape."""
        x, y = np.meshgrid(*(np.linspace(high, low, n) for low, high in self._flat.ranges), indexing="ij")
        return x.ravel(), y.ravel()
