"""Physical checks of run-time parameters p: those of a description, repeated when parameters change."""

from __future__ import annotations

import numpy as np

from spacectl.core.errors import ModelError
from spacectl.core.parameters import Parameters

__all__ = ["ParameterChecks"]

_POSITIVE = ("mass", "spin_inertia", "mu", "rate")
_DIRECTIONS = ("axis", "first", "second", "direction")
_ROTATIONS = ("rotation", "child_rotation")


class ParameterChecks:
    """Checks of a vector p by the meaning of its entries, as given by their names.

    Parameters
    ----------
    parameters : Parameters
        Names and places of the entries of p.
    """

    def __init__(self, parameters: Parameters):
        keys = {name: name.rsplit(".", 1)[-1] for name in parameters.names}

        def rows(wanted: tuple[str, ...], size: int) -> tuple[list[str], np.ndarray]:
            names = [name for name, key in keys.items() if key in wanted and np.prod(parameters.shape(name)) == size]
            places = [np.arange(len(parameters))[parameters.where(name)] for name in names]
            return names, np.array(places, dtype=int).reshape(-1, size)

        self._positive = rows(_POSITIVE, 1)
        self._directions = rows(_DIRECTIONS, 3)
        self._limits = rows(("limit",), 2)
        self._inertias = rows(("inertia",), 6)
        self._rotations = rows(_ROTATIONS, 9)

    def __call__(self, p: np.ndarray) -> None:
        """Raise `ModelError`, naming the parameter, if p is not physical."""
        names, places = self._positive
        self._refuse(names, p[places][:, 0] <= 0.0, p[places], "expected a positive number")
        names, places = self._directions
        lengths = np.linalg.norm(p[places], axis=1)
        self._refuse(names, np.abs(lengths - 1.0) > 1e-9, p[places], "expected norm 1; pass axis / norm(axis)")
        names, places = self._limits
        self._refuse(names, p[places][:, 0] >= p[places][:, 1], p[places], "expected low < high")
        names, places = self._inertias
        xx, yy, zz, xy, xz, yz = p[places].T
        matrices = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]).transpose(2, 0, 1)
        moments = np.linalg.eigvalsh(matrices) if len(places) else np.zeros((0, 3))
        slack = 1e-9 * np.max(np.abs(moments), axis=1, initial=0.0)
        wrong = (moments[:, 0] < -slack) | (moments[:, 0] + moments[:, 1] < moments[:, 2] - slack)
        self._refuse(names, wrong, p[places], "expected moments >= 0 that satisfy the triangle inequality")
        names, places = self._rotations
        R = p[places].reshape(-1, 3, 3)
        wrong = np.max(np.abs(R @ R.transpose(0, 2, 1) - np.eye(3)), axis=(1, 2), initial=0.0) > 1e-9
        self._refuse(names, wrong, p[places], "expected a rotation matrix (by rows)")

    @staticmethod
    def _refuse(names: list[str], wrong: np.ndarray, values: np.ndarray, allowed: str) -> None:
        if np.any(wrong):
            k = int(np.flatnonzero(wrong)[0])
            raise ModelError(f"parameter '{names[k]}': got {np.squeeze(values[k]).tolist()}, {allowed}")
