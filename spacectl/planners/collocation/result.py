"""Convert the unknowns of a programme to trajectories: states and inputs are the polynomials of the scheme."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import PchipInterpolator

from spacectl.core.errors import ModelError
from spacectl.core.labels import Labels
from spacectl.core.trajectory import Trajectory
from spacectl.planners.collocation.transcription.phase import PhaseBlock, PhaseState

__all__ = ["PhaseSolution", "join_trajectories", "phase_solutions"]

Piece = tuple[np.ndarray, np.ndarray, np.ndarray]

_CLIPPED_KNOTS = 33  # knots in an interval with clipped inputs
_MERGE_TOLERANCE = 1e-9  # relative difference of values and rates below which two knots are merged


@dataclass(frozen=True, eq=False)
class PhaseSolution:
    """A solved phase: its unknowns, and interpolation between the points.

    Parameters
    ----------
    at : PhaseState
        The unknowns.
    begin : float
        Initial time [s].
    """

    at: PhaseState
    begin: float

    @property
    def block(self) -> PhaseBlock:
        """The phase."""
        return self.at.block

    @property
    def end(self) -> float:
        """Final time [s]."""
        return self.begin + self.at.T

    @property
    def times(self) -> np.ndarray:
        """Times of the points, (P,)."""
        return self.begin + self.at.T * self.block.fractions

    def controls(self, fractions: np.ndarray) -> np.ndarray:
        """Return the controls at fractions of each interval, (N, n, n_c)."""
        pieces = self.block.pieces(self.at.Z[:, self.block.controls])
        return np.einsum("si,kiu->ksu", self.block.scheme.input_weights(fractions), pieces)

    def clipped_inputs(self, fractions: np.ndarray) -> np.ndarray:
        """Return inputs clipped to their limits, (N, n, n_u): polynomials may exceed them between the points."""
        low, high = self.block.problem.input_limits()
        return np.clip(self.inputs(fractions), low, high)

    def inputs(self, fractions: np.ndarray, *, order: int = 0) -> np.ndarray:
        """Return inputs, or their time derivatives, at fractions of each interval, (N, n, n_u)."""
        block, model = self.block, self.block.model
        names = block.problem.eom.inputs
        h = (self.at.T * block.ds)[:, None, None]
        out = np.zeros((block.N, len(fractions), len(names)))
        free = [i for i, name in enumerate(names) if name not in model.smooth]
        smooth = [names.index(name) for name in model.smooth]
        weights = block.scheme.input_weights(fractions, order=order)
        u = block.pieces(self.at.Z[:, block.places["u"]])
        out[:, :, free] = np.einsum("si,kiu->ksu", weights, u) / h**order
        if smooth:
            s = block.pieces(self.at.Z[:, block.places["s"]])
            rates = block.pieces(self.at.X_dot[:, block.places["s"]])
            moved = np.einsum("si,kiu->ksu", block.scheme.input_weights(fractions, order=order - 1), rates)
            out[:, :, smooth] = moved if order else s[:, :1] + h * moved
        return out

    def rates(self, fractions: np.ndarray) -> np.ndarray:
        """Return rates of the extended state at fractions of each interval, (N, n, n_X)."""
        return np.einsum("si,kix->ksx", self.block.scheme.input_weights(fractions), self.block.pieces(self.at.X_dot))

    def states(self, fractions: np.ndarray) -> np.ndarray:
        """Return extended states at fractions of each interval, (N, n, n_X)."""
        block = self.block
        weights = block.scheme.input_weights(fractions, order=-1)
        h = (self.at.T * block.ds)[:, None, None]
        first = block.pieces(self.at.Z[:, block.places["X"]])[:, :1]
        return first + h * np.einsum("si,kix->ksx", weights, block.pieces(self.at.X_dot))


def phase_solutions(blocks: Sequence[PhaseBlock], x: np.ndarray) -> list[PhaseSolution]:
    """Return the solved phases in the order of time."""
    out, begin = [], 0.0
    for block in blocks:
        out.append(PhaseSolution(block.state(x), begin))
        begin = out[-1].end
    return out


def join_trajectories(solutions: Sequence[PhaseSolution]) -> tuple[Trajectory, Trajectory]:
    """Return states and inputs of all phases; at a jump, two knots are one rounding error apart."""
    eom = solutions[0].block.problem.eom
    if any(
        item.block.problem.eom.states != eom.states or item.block.problem.eom.inputs != eom.inputs for item in solutions
    ):
        raise ModelError("phases with different states or inputs cannot be one plan; give all of them the same names")
    x_parts: list[Piece] = []
    u_parts: list[Piece] = []
    for solution in solutions:
        block = solution.block
        first, last = block.places["q"].start, block.places["v"].stop
        # cubics reproduce degree 3
        fine = block.scheme.points if block.d <= 3 else np.linspace(0.0, 1.0, 4 * block.d + 1)
        t = solution.begin + solution.at.T * (block.mesh[:-1, None] + block.ds[:, None] * fine)
        x_parts += zip(t, solution.states(fine)[:, :, first:last], solution.rates(fine)[:, :, first:last], strict=True)
        u_parts += _input_pieces(solution, fine)
    return _join(x_parts, eom.labels.x), _join(u_parts, eom.labels.u)


def _input_pieces(solution: PhaseSolution, fractions: np.ndarray) -> list[Piece]:
    """Return times, values and rates of the inputs per interval; clipped inputs get many knots."""
    block, many = solution.block, np.linspace(0.0, 1.0, _CLIPPED_KNOTS)
    begins, lengths = solution.begin + solution.at.T * block.mesh[:-1], solution.at.T * block.ds
    exact = (solution.inputs(fractions), solution.inputs(fractions, order=1))
    clipped, raw = solution.clipped_inputs(many), solution.inputs(many)
    low, high = block.problem.input_limits()
    reach = np.where(np.isfinite(high - low), high - low, 1.0)
    out = []
    for k in range(block.N):
        exceeds = np.abs(clipped[k] - raw[k]) > _MERGE_TOLERANCE * reach
        if exceeds.any():
            t = begins[k] + lengths[k] * many
            rates = PchipInterpolator(t, clipped[k], axis=0).derivative()(t)  # monotone: no overshoot of the limit
            out.append((t, clipped[k], rates))
        else:
            out.append((begins[k] + lengths[k] * fractions, np.clip(exact[0][k], low, high), exact[1][k]))
    return out


def _join(pieces: list[Piece], labels: Labels) -> Trajectory:
    t: list[float] = []
    values: list[np.ndarray] = []
    rates: list[np.ndarray] = []
    size = max(float(np.abs(np.concatenate([piece[1].ravel() for piece in pieces])).max(initial=0.0)), 1e-300)
    rate_size = max(float(np.abs(np.concatenate([piece[2].ravel() for piece in pieces])).max(initial=0.0)), 1e-300)
    for piece_t, piece_values, piece_rates in pieces:
        begin = 0
        if t:
            same = np.abs(values[-1] - piece_values[0]).max(initial=0.0) <= _MERGE_TOLERANCE * size
            if same and np.abs(rates[-1] - piece_rates[0]).max(initial=0.0) <= _MERGE_TOLERANCE * rate_size:
                begin = 1
            else:
                t[-1] = np.nextafter(piece_t[0], -np.inf)
        for k in range(begin, len(piece_t)):
            if t and piece_t[k] <= t[-1]:
                continue
            t.append(float(piece_t[k]))
            values.append(piece_values[k])
            rates.append(piece_rates[k])
    return Trajectory(t=t, values=np.array(values), rates=np.array(rates), labels=labels)
