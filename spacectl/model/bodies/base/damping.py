"""Damping of flexible bodies: ratios, matrices or `Proportional`, and its derivatives in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import eigh

from spacectl.core.array import as_array, as_scalar
from spacectl.core.errors import ModelError, ShapeError
from spacectl.model.bodies.base.interfaced import Interfaced
from spacectl.model.bodies.base.modal_integrals import pack_symmetric
from spacectl.model.description import Number, set_field

__all__ = ["Damped", "Proportional"]


@dataclass(frozen=True, kw_only=True)
class Proportional:
    """Proportional damping ``D = alpha M + beta K`` [1/s, s]."""

    alpha: float = 0.0
    beta: float = 0.0
    varies: ClassVar[tuple[str, ...]] = ("alpha", "beta")  #: fields with derivatives

    def __post_init__(self) -> None:
        for key in ("alpha", "beta"):
            object.__setattr__(self, key, as_scalar(getattr(self, key), f"Proportional: {key}"))


class Damped(Interfaced):
    """Stiffness and damping of a flexible body as functions of its fields."""

    damping: Any

    def derived_numbers(self, key: str) -> tuple[str, ...]:
        """Return the run-time parameters that follow from a field: all of them, for every field.

        A changed field therefore requires a new body, even if a parameter has the same name: the ``mass`` of a beam changes
        all its inertia integrals.
        """
        return tuple(self.numbers())

    def convert_damping(self) -> None:
        """Store a given damping as float or array; invalid values raise where they are used."""
        if isinstance(self.damping, int) and not isinstance(self.damping, bool):
            set_field(self, "damping", float(self.damping))
        elif np.ndim(self.damping) and not isinstance(self.damping, str):
            set_field(self, "damping", as_array(self.damping, None, f"{self._what}: damping"))

    @cached_property
    def damping_matrix(self) -> np.ndarray:
        """Damping matrix (m, m)."""
        K, M = self.elasticity, self.modal_mass
        if isinstance(self.damping, Proportional):
            return self._dissipative(self.damping.alpha * M + self.damping.beta * K)
        given = as_array(self.damping, None, f"{self._what}: damping")
        if self._is_damping_matrix:
            return self._dissipative(np.asarray(given))
        return self._ratio_damping(self._ratios)

    @property
    def _is_damping_matrix(self) -> bool:
        return np.shape(self.damping) == (self.n_modes, self.n_modes)

    @property
    def _ratios(self) -> np.ndarray:
        """Damping ratio of each mode, slowest first."""
        given = as_array(self.damping, None, f"{self._what}: damping")
        if given.shape not in ((), (self.n_modes,)):
            raise ShapeError(
                f"{self._what}: damping has shape {given.shape}, expected one ratio, {self.n_modes} ratios, a matrix "
                f"({self.n_modes}, {self.n_modes}) or Proportional(alpha=, beta=)"
            )
        ratios = np.broadcast_to(np.asarray(given, dtype=float), (self.n_modes,))
        if np.any(ratios < 0.0):
            raise ModelError(f"{self._what}: damping ratio {ratios.min():g} is negative; ratios are 0 or more")
        return ratios

    def _ratio_damping(self, ratios: np.ndarray) -> np.ndarray:
        M = self.mode_mass
        squares, vectors = eigh(self.elasticity, M)
        left = M @ vectors
        return left @ np.diag(2.0 * ratios * np.sqrt(squares)) @ left.T

    def _dissipative(self, D: np.ndarray) -> np.ndarray:
        """Return the damping matrix; raise `ModelError` unless it is symmetric and dissipative."""
        size = max(float(np.max(np.abs(D))), 1e-300)
        if np.max(np.abs(D - D.T)) > 1e-9 * size or np.min(np.linalg.eigvalsh(D)) < -1e-9 * size:
            raise ModelError(
                f"{self._what}: the damping matrix is not symmetric with eigenvalues >= 0, so it would add energy"
            )
        return D

    def numbers(self) -> dict[str, Number]:
        """Return the run-time parameters by key."""
        raise NotImplementedError

    @property
    def n_modes(self) -> int:
        """Number of modal coordinates."""
        raise NotImplementedError

    @property
    def modal_mass(self) -> np.ndarray:
        """Modal mass matrix (m, m)."""
        raise NotImplementedError

    @property
    def mode_mass(self) -> np.ndarray:
        """Mass matrix (m, m) for frequencies and damping ratios."""
        raise NotImplementedError

    def stiffness_derivatives(self, key: str) -> tuple[np.ndarray, ...] | None:
        """Return the derivatives of the stiffness (m, m) by each entry of a field that changes no shapes or inertia.

        None for other fields, which have no closed form.
        """
        return None

    def number_derivatives(self, key: str) -> dict[str, np.ndarray] | None:
        """Return closed-form derivatives of run-time parameters by each entry of a field, as columns; else None."""
        by_damping = self._damping_derivatives() if key == "damping" else None
        if by_damping is not None:
            return {"modal_damping": _columns(by_damping)}
        K_by = self.stiffness_derivatives(key)
        D_by = None if K_by is None else [self._damping_by_stiffness(entry) for entry in K_by]
        if K_by is None or D_by is None or any(entry is None for entry in D_by):
            return None
        return {"stiffness": _columns(K_by), "modal_damping": _columns([entry for entry in D_by if entry is not None])}

    def _damping_derivatives(self) -> list[np.ndarray] | None:
        """Return the derivatives of D by each entry of `damping`, in which D is linear."""
        if isinstance(self.damping, Proportional):
            return [self.modal_mass, self.elasticity]
        if self._is_damping_matrix:
            return None
        units = np.eye(self.n_modes) if np.ndim(self.damping) else np.ones((1, self.n_modes))
        return [self._ratio_damping(unit) for unit in units]

    def _damping_by_stiffness(self, K_by: np.ndarray) -> np.ndarray | None:
        """Return the derivative of D along K_by at constant shapes and inertia.

        It does not exist (None) where two modes of equal frequency but different damping interchange.

        With modes ``K V = M V S``, ``D = M V G V' M``, ``G = 2 zeta sqrt(S)``: ``dD = M V (F * V' dK V) V' M`` with the divided
        differences ``F_ij = (g_i - g_j) / (s_i - s_j)`` (Daleckii and Krein).
        """
        if isinstance(self.damping, Proportional):
            return self.damping.beta * K_by
        if self._is_damping_matrix:
            return np.zeros_like(K_by)
        ratios, M = self._ratios, self.mode_mass
        squares, vectors = eigh(self.elasticity, M)
        root, left, P = np.sqrt(squares), M @ vectors, vectors.T @ K_by @ vectors
        # (g_i - g_j) / (s_i - s_j), with the common part of the ratios divided out exactly
        F = (ratios[:, None] + ratios) / (root[:, None] + root)
        differs = (ratios[:, None] != ratios) & (np.abs(P) > 1e-12 * np.max(np.abs(P), initial=1e-300))
        gap = root[:, None] - root
        if np.any(differs & (np.abs(gap) < 1e-6 * root)):
            return None
        F[differs] += ((ratios[:, None] - ratios)[differs]) / gap[differs]
        return left @ (F * P) @ left.T


def _columns(matrices: Any) -> np.ndarray:
    return np.stack([pack_symmetric(item) for item in matrices], axis=-1)
