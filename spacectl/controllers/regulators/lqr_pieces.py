"""Smooth pieces of a time-varying regulator problem, and the gains over all of them as one table.

Each piece has splines through the linear model, the weights and the reference; the Riccati solution goes through the
pieces from the last to the first.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.interpolate import CubicHermiteSpline, make_interp_spline

from spacectl.controllers.regulators.riccati_flow import Knot, flow_back, riccati_rate
from spacectl.controllers.regulators.riccati_forms import symplectic_scale
from spacectl.core.labels import Labels
from spacectl.core.trajectory import Trajectory
from spacectl.linear.models.linear_trajectory import LinearTrajectory

__all__ = ["Piece", "cut_pieces", "follow_pieces"]


class Piece:
    """The problem between two jumps.

    Parameters
    ----------
    t : array, shape (k,)
        Times of the piece [s], at least two.
    rows : mapping of str to array, shape (k, ...)
        A, B, C, D, drift, x_ref, u_ref at these times.
    Q, R, N, W : arrays
        Constant weights of states, inputs, both, outputs.
    """

    def __init__(self, t: np.ndarray, rows: dict[str, np.ndarray], *weights: np.ndarray):
        self.t, self.start, self.end = t, float(t[0]), float(t[-1])
        self._weights = weights
        self._splines = {
            name: make_interp_spline(t, value.reshape(len(t), -1), k=min(3, len(t) - 1)) for name, value in rows.items()
        }
        self._shapes = {name: value.shape[1:] for name, value in rows.items()}
        self._rates = {name: spline.derivative() for name, spline in self._splines.items()}

    def value(self, name: str, t: float) -> np.ndarray:
        """Return a quantity at a time."""
        return np.asarray(self._splines[name](t)).reshape(self._shapes[name])

    def rate(self, name: str, t: float) -> np.ndarray:
        """Return the rate of a quantity at a time."""
        return np.asarray(self._rates[name](t)).reshape(self._shapes[name])

    @cached_property
    def is_sensed(self) -> bool:
        """Whether outputs have a weight."""
        return bool(np.any(self._weights[3]))

    def weights(self, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return Q, R, N including the weight of the outputs."""
        Q, R, N, W = self._weights
        if not self.is_sensed:
            return Q, R, N
        C, D = self.value("C", t), self.value("D", t)
        return Q + C.T @ W @ C, R + D.T @ W @ D, N + C.T @ W @ D

    def hamiltonian(self, t: float) -> np.ndarray:
        """Return ``[[A, -G], [-Q, -A.T]]`` including the cross weight, and a constant state for the drift if there is one."""
        Q, R, N = self.weights(t)
        A, B = self.value("A", t), self.value("B", t)
        if "drift" in self._splines:
            n = len(A)
            A = np.block([[A, self.value("drift", t)[:, None]], [np.zeros((1, n + 1))]])
            B, N = np.vstack([B, np.zeros((1, B.shape[1]))]), np.vstack([N, np.zeros((1, B.shape[1]))])
            Q = np.block([[Q, np.zeros((n, 1))], [np.zeros((1, n + 1))]])
        back = np.linalg.solve(R, np.hstack([B.T, N.T]))
        by_B, by_N = back[:, : len(A)], back[:, len(A) :]
        A0 = A - B @ by_N
        return np.block([[A0, -B @ by_B], [N @ by_N - Q, -A0.T]])

    def gain(self, knot: Knot) -> tuple[np.ndarray, np.ndarray]:
        """Return K (with a column for the drift, if any) and its rate at a knot: ``K = R^-1 (B.T S + N.T)``."""
        _, R, N = self.weights(knot.t)
        B, B_dot = self.value("B", knot.t), self.rate("B", knot.t)
        n = len(B)
        K = np.linalg.solve(R, B.T @ knot.S[:n] + _widen(N.T, knot.S))
        change = B_dot.T @ knot.S[:n] + B.T @ knot.S_dot[:n]
        if self.is_sensed:
            W = self._weights[3]
            C, D, C_dot, D_dot = (
                *(self.value(name, knot.t) for name in "CD"),
                *(self.rate(name, knot.t) for name in "CD"),
            )
            change = change + _widen((C_dot.T @ W @ D + C.T @ W @ D_dot).T, knot.S)
            change = change - (D_dot.T @ W @ D + D.T @ W @ D_dot) @ K
        return K, np.linalg.solve(R, change)


def cut_pieces(model: LinearTrajectory, u_ref: np.ndarray, *weights: np.ndarray) -> list[Piece]:
    """Return the pieces between the jumps of a linear trajectory."""
    t = np.asarray(model.t)
    rows: dict[str, Any] = {name: np.asarray(getattr(model, name)) for name in "ABCD"}
    rows |= {"x_ref": np.asarray(model.x_reference), "u_ref": u_ref}
    if np.any(np.asarray(model.drift)):
        rows["drift"] = np.asarray(model.drift)
    ends = [0, *(np.flatnonzero(np.diff(t) == 0.0) + 1).tolist(), len(t)]
    return [
        Piece(t[a:b], {name: value[a:b] for name, value in rows.items()}, *weights)
        for a, b in zip(ends[:-1], ends[1:], strict=True)
        if b - a > 1
    ]


def follow_pieces(
    pieces: list[Piece], S: np.ndarray, model: LinearTrajectory, rtol: float
) -> tuple[Trajectory, Trajectory, np.ndarray]:
    """Return the law's table (K, u_ref - k, x_ref), the gains alone, and S at their knots."""
    size = len(pieces[-1].hamiltonian(pieces[-1].end)) // 2
    S = np.pad(S, (0, size - len(S)))
    found: list[tuple[Piece, list[Knot]]] = []
    for piece in reversed(pieces):
        middle = piece.hamiltonian(0.5 * (piece.start + piece.end))
        scale = symplectic_scale(middle[:size, :size], middle[:size, size:], middle[size:, :size])
        units = np.concatenate([scale, 1.0 / scale])
        outer = np.outer(scale, scale)
        longest = (piece.end - piece.start) / max(1, len(piece.t) // 4)
        knots = flow_back(
            lambda t, piece=piece, units=units: piece.hamiltonian(t) * units / units[:, None],  # type: ignore[misc]
            piece.start, piece.end, S * outer, rtol=rtol, longest=longest, first=1e-3 * longest,
        )  # fmt: skip
        knots = [Knot(knot.t, knot.S / outer, knot.S_dot / outer) for knot in knots]
        S = knots[0].S
        knots = _with_times(knots, piece)
        found.insert(0, (piece, knots))
    return _tabulate(found, model)


def _with_times(knots: list[Knot], piece: Piece) -> list[Knot]:
    """Return knots that include the model's own times, so that the table contains its splines (of the reference) exactly."""
    t = np.array([knot.t for knot in knots])
    n = len(knots[0].S)
    solution = CubicHermiteSpline(t, [knot.S for knot in knots], [knot.S_dot for knot in knots])
    gap = 1e-9 * (piece.end - piece.start)
    added = []
    for time in piece.t[1:-1].tolist():
        if np.min(np.abs(t - time)) > gap:
            S = np.asarray(solution(time)).reshape(n, n)
            added.append(Knot(time, S, riccati_rate(piece.hamiltonian(time), S)))
    return sorted([*knots, *added], key=lambda knot: knot.t)


def _tabulate(
    found: list[tuple[Piece, list[Knot]]], model: LinearTrajectory
) -> tuple[Trajectory, Trajectory, np.ndarray]:
    """Return the knots of all pieces; the last one before a jump precedes it by one rounding."""
    m, n = len(model.u), len(model.x)
    times, values, rates, solutions = [], [], [], []
    for k, (piece, knots) in enumerate(found):
        for knot in knots:
            is_jump = knot is knots[-1] and k + 1 < len(found)
            times.append(float(np.nextafter(knot.t, -np.inf)) if is_jump else knot.t)
            K, K_dot = piece.gain(knot)
            row, slope = (
                np.concatenate([gain[:, :n].ravel(), u_ref - gain[:, n:].sum(axis=1), x_ref])
                for gain, u_ref, x_ref in (
                    (K, piece.value("u_ref", knot.t), piece.value("x_ref", knot.t)),
                    (K_dot, piece.rate("u_ref", knot.t), piece.rate("x_ref", knot.t)),
                )
            )
            values.append(row)
            rates.append(slope)
            solutions.append(knot.S)
    names = tuple(f"K.{u}.{x}" for u in model.u.names for x in model.x.names)
    width = len(values[0]) - m - m * n
    others = (*(f"u.{u}" for u in model.u.names), *(f"x{j + 1}" for j in range(width)))
    table = Trajectory(t=times, values=values, rates=rates, labels=Labels((*names, *others), (), "reference"))
    gains = Trajectory(
        t=times,
        values=np.array(values)[:, : m * n],
        rates=np.array(rates)[:, : m * n],
        labels=Labels(names, (), "gain"),
    )
    return table, gains, np.array(solutions)


def _widen(matrix: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Append zero columns, up to the width of `like`."""
    return np.pad(matrix, ((0, 0), (0, like.shape[1] - matrix.shape[1])))
