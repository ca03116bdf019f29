"""`LinearTrajectory`: a labelled linear model about a moving reference, with jumps and interpolation.

`along` forms it from equations of motion. At a time it gives a `LinearModel`, over time a state-transition matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from scipy.interpolate import make_interp_spline

from spacectl.core.array import Array, as_array
from spacectl.core.errors import ModelError
from spacectl.core.labels import Labels
from spacectl.linear.models.linear_model import LinearModel
from spacectl.linear.models.tangent import Manifold

__all__ = ["LinearTrajectory"]

Side = Literal["left", "right"]


@dataclass(frozen=True, kw_only=True)
class LinearTrajectory:
    """Deviations e from a moving reference: ``e_dot = A(t) e + B(t) u + E(t) d + c(t)``, ``y = C(t) e + D(t) u``.

    Times do not decrease; where an input of the reference jumps, a time occurs twice, with the values before and after.
    u, d and y are deviations from the reference's inputs and outputs.

    Parameters
    ----------
    t : array, shape (n_t,)
        Times [s].
    A, B, C, D, E : arrays, shape (n_t, n, n) and so on
        Matrices at these times.
    drift : array, shape (n_t, n)
        c: residual of the reference in the equations. Zero for a reference that is a solution.
    x, u, y, d : Labels
        Names and units of error states, inputs, outputs and disturbances.
    x_reference, u_reference : arrays, shape (n_t, n_x) and (n_t, n_u)
        The motion.
    quaternions : tuple of int
        First index, in the state, of each unit quaternion.
    tangent : Manifold, optional
        For a constrained system: the tangent of its constraints at the last time. Errors e are on this tangent at all
        times if they are at the first.
    """

    t: Any
    A: Any
    B: Any
    C: Any
    D: Any
    E: Any
    drift: Any
    x: Labels
    u: Labels
    y: Labels
    d: Labels
    x_reference: Any
    u_reference: Any
    quaternions: tuple[int, ...] = ()
    tangent: Manifold | None = None

    def __post_init__(self) -> None:
        n_t, n = len(self.t), len(self.x)
        sizes = {"t": (), "A": (n, n), "B": (n, len(self.u)), "C": (len(self.y), n), "D": (len(self.y), len(self.u))}
        sizes |= {"E": (n, len(self.d)), "drift": (n,)}
        sizes |= {name: np.shape(getattr(self, name))[1:] for name in ("x_reference", "u_reference")}
        for name, size in sizes.items():
            value = as_array(getattr(self, name), (n_t, *size), f"linear trajectory: {name}")
            object.__setattr__(self, name, value)
        if np.any(np.diff(self.t) < 0.0) or n_t < 1:
            raise ModelError("linear trajectory: times must not decrease; a time that occurs twice is a jump")

    @property
    def breaks(self) -> tuple[float, ...]:
        """Times [s] at which an input of the reference jumps."""
        t = np.asarray(self.t)
        return tuple(t[:-1][np.diff(t) == 0.0].tolist())

    def at(self, t: float, *, side: Side = "right") -> LinearModel:
        """Return the model at a time: exact at the times `t`, otherwise by cubic splines of each smooth piece (order 4).

        Parameters
        ----------
        t : float
            Within the times of the reference [s].
        side : {"right", "left"}
            Side of the limit at a jump.

        Returns
        -------
        LinearModel
            Its ``point`` contains t, x, u and the drift.
        """
        values = self._split(self._values(float(t), side))
        state = values.pop("x_reference")
        for k in self.quaternions:
            state[k : k + 4] /= np.linalg.norm(state[k : k + 4])
        point = {"t": float(t), "x": Array(state), "u": Array(values.pop("u_reference"))}
        point["drift"] = Array(values.pop("drift"))
        A, B, C, D, E = (values[name] for name in "ABCDE")
        return LinearModel(A=A, B=B, C=C, D=D, E=E, x=self.x, u=self.u, y=self.y, d=self.d, point=point)

    def transition(self, *, substeps: int = 1) -> np.ndarray:
        """Return the state-transition matrices from the first time, shape (n_t, n, n): ``Phi_dot = A Phi``, ``Phi(t[0]) = 1``.

        Magnus steps of order 4 between neighbouring times, each divided into `substeps`. Over one period of a periodic
        motion, the last one is the monodromy matrix, whose eigenvalues are the Floquet multipliers.
        """
        if substeps < 1:
            raise ModelError(f"transition: substeps is {substeps}, expected 1 or more")
        n, m = len(self.x), substeps
        transitions = np.tile(np.eye(n), (len(self.t), 1, 1))
        for first, last in self._pieces:
            transitions[first] = transitions[max(first - 1, 0)]
            if first == last:
                continue
            knots = np.asarray(self.t)[first : last + 1]
            h = np.repeat(np.diff(knots) / m, m)
            middle = np.repeat(knots[:-1], m) + h * (np.tile(np.arange(m), knots.size - 1) + 0.5)
            shift = h / np.sqrt(12.0)  # Gauss points
            spline = self._splines[first]
            one, two = (spline(middle + sign * shift)[:, : n * n].reshape(-1, n, n) for sign in (-1.0, 1.0))
            size = h[:, None, None]
            steps = _exponentials(0.5 * size * (one + two) + np.sqrt(3.0) / 12.0 * size**2 * (two @ one - one @ two))
            for k, step in enumerate(steps):
                at = first + 1 + k // m
                transitions[at] = step @ (transitions[at - 1] if k % m == 0 else transitions[at])
        return transitions

    @cached_property
    def _pieces(self) -> tuple[tuple[int, int], ...]:
        """Return first and last index of every smooth piece."""
        jumps = np.flatnonzero(np.diff(np.asarray(self.t)) == 0.0)
        return tuple(zip([0, *(jumps + 1).tolist()], [*jumps.tolist(), len(self.t) - 1], strict=True))

    @cached_property
    def _columns(self) -> dict[str, tuple[slice, tuple[int, ...]]]:
        """Return the position of each quantity in a row of `_splines`."""
        places, at = {}, 0
        for name in ("A", "B", "C", "D", "E", "drift", "x_reference", "u_reference"):
            shape = getattr(self, name).shape[1:]
            places[name] = (slice(at, at + int(np.prod(shape))), shape)
            at += int(np.prod(shape))
        return places

    @cached_property
    def _splines(self) -> dict[int, Any]:
        """Return for each smooth piece, by its first index, the spline through all quantities as rows."""
        n_t = len(self.t)
        rows = np.hstack([np.asarray(getattr(self, name)).reshape(n_t, -1) for name in self._columns])
        t = np.asarray(self.t)
        return {
            a: make_interp_spline(t[a : b + 1], rows[a : b + 1], k=min(3, b - a)) for a, b in self._pieces if b > a
        } | {a: lambda _, row=rows[a]: row for a, b in self._pieces if b == a}

    def _values(self, t: float, side: Side) -> np.ndarray:
        times = np.asarray(self.t)
        if side not in ("left", "right"):
            raise ModelError(f"linear trajectory: side is {side!r}, expected 'left' or 'right'")
        if not times[0] <= t <= times[-1]:
            raise ModelError(f"linear trajectory: t = {t:g} s lies outside {times[0]:g} to {times[-1]:g} s")
        fits = [first for first, last in self._pieces if times[first] <= t <= times[last]]
        return np.array(self._splines[fits[-1] if side == "right" else fits[0]](t), dtype=float)

    def _split(self, row: np.ndarray) -> dict[str, np.ndarray]:
        return {name: row[where].reshape(shape).copy() for name, (where, shape) in self._columns.items()}


def _exponentials(X: np.ndarray) -> np.ndarray:
    """Return exponentials of many matrices, shape (m, n, n): Taylor series of order 12 after halving, then squaring."""
    halvings = max(0, int(np.ceil(np.log2(max(np.max(np.sum(np.abs(X), axis=-1), initial=0.0), 1e-300) / 0.25))))
    small, result = X / 2.0**halvings, np.tile(np.eye(X.shape[-1]), (len(X), 1, 1))
    for k in range(12, 0, -1):  # 0.25^13 / 13! is below rounding
        result = np.eye(X.shape[-1]) + small @ result / k
    for _ in range(halvings):
        result = result @ result
    return result
