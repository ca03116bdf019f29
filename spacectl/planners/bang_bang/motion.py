"""Motions of `plan_bang_bang`: controls of cells, duration, resulting states, and the constraints on them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from spacectl.planners.bang_bang.flow import Flow, Linear, Values
from spacectl.planners.problem import FREE

__all__ = ["Goal", "Motion", "Transcription", "make_goal"]


@dataclass(frozen=True, eq=False)
class Goal:
    """Scaled constraints on a motion: terminal constraints, and bounds along the motion.

    Parameters
    ----------
    names : tuple of str
        Names of the terminal constraints, states first.
    places : array of int
        State indices of those on states.
    low, high, scale : array (m,)
        Their bounds and units.
    rows : array of int (r,)
        Row of the flow to which each one-sided bound along the motion belongs.
    sign, bound, unit : array (r,)
        ``sign (y - bound) / unit + margin <= 0`` along the motion.
    margin : array (r,)
        Margins that prevent violations between the nodes.
    """

    names: tuple[str, ...]
    places: np.ndarray
    low: np.ndarray
    high: np.ndarray
    scale: np.ndarray
    rows: np.ndarray
    sign: np.ndarray
    bound: np.ndarray
    unit: np.ndarray
    margin: np.ndarray

    def one_sided(self, found: Values) -> Values:
        """Return the one-sided bounds at points: nonpositive where they are satisfied."""
        factor = self.sign / self.unit
        value = (found.value[:, self.rows] - self.bound) * factor + self.margin
        jacobians = (item[:, self.rows, :] * factor[:, None] for item in (found.by_x, found.by_w))
        return Values(value, *jacobians)


def make_goal(flow: Flow, x: np.ndarray) -> Goal:
    """Return the constraints of a flow's problem, scaled by the motion x of the guess, (n, n_x)."""
    problem, states = flow.problem, flow.problem.eom.states
    ends = {name: problem.end[name] for name in states if problem.end.get(name, FREE) != FREE}
    places = np.array([states.index(name) for name in ends], dtype=int)
    size = np.maximum(np.ptp(x, axis=0), 1e-3 * np.abs(x).max(axis=0))
    size = np.where(size > 1e-9, size, 1.0)
    pairs, names, scale = list(ends.values()), list(ends), list(size[places])
    values = flow.end_values(x[-1])
    at = 0
    for item in problem.conditions_end:
        for k in range(item.rule.size):
            variation = float(np.abs(values.by_x[0, at + k]) @ size)
            pairs.append((item.low, item.high))
            names.append(item.name if item.rule.size == 1 else f"{item.name} ({k + 1})")
            scale.append(variation if variation > 1e-9 else 1.0)
        at += item.rule.size
    low, high = np.array(pairs, dtype=float).reshape(-1, 2).T
    sides = [(i, sign, bound, row) for i, row in enumerate(flow.rows)
             for sign, bound in ((1.0, row.high), (-1.0, row.low)) if np.isfinite(bound)]  # fmt: skip
    unit = np.array([_unit(row.low, row.high) for _, _, _, row in sides])
    return Goal(
        tuple(names), places, low, high, np.array(scale), np.array([i for i, *_ in sides], dtype=int),
        np.array([sign for _, sign, _, _ in sides]), np.array([bound for _, _, bound, _ in sides]), unit,
        np.zeros(len(sides)),
    )  # fmt: skip


def _unit(low: float, high: float) -> float:
    """Return half the range of a two-sided bound, or the magnitude of a one-sided one."""
    if np.isfinite(high - low):
        return 0.5 * (high - low)
    side = abs(low if np.isfinite(low) else high)
    return side if side > 0.0 else 1.0


@dataclass(frozen=True, eq=False)
class Transcription:
    """A flow divided into cells.

    Parameters
    ----------
    flow : Flow
        Flow map of the problem.
    goal : Goal
        Its constraints.
    x0 : array (n_x,)
        Fixed initial state.
    steps : int
        Integration steps per cell.
    """

    flow: Flow
    goal: Goal
    x0: np.ndarray
    steps: int

    def follow(self, w: np.ndarray, h: np.ndarray) -> Motion:
        """Integrate controls w (n, n_w) over cells of length h (n,) [s]."""
        w = np.clip(w, self.flow.low, self.flow.high)
        return Motion(self, w, h, self.flow.integrate(self.x0, w, h, self.steps))

    def with_margin(self, more: np.ndarray) -> Transcription:
        """Return the transcription with margins of the bounds increased by `more`."""
        return replace(self, goal=replace(self.goal, margin=self.goal.margin + more))


@dataclass(frozen=True, eq=False)
class Motion:
    """Controls and lengths of cells, with the resulting states.

    Parameters
    ----------
    cells : Transcription
        The transcription that produced it.
    w : array (n, n_w)
        Controls of the cells.
    h : array (n,)
        Lengths of the cells [s].
    fine : array (n steps + 1, n_x)
        States after every integration step.
    """

    cells: Transcription
    w: np.ndarray
    h: np.ndarray
    fine: np.ndarray

    @property
    def T(self) -> float:
        """Duration [s]."""
        return float(np.sum(self.h))

    @property
    def x(self) -> np.ndarray:
        """States at the nodes, (n + 1, n_x)."""
        return self.fine[:: self.cells.steps]

    @cached_property
    def linear(self) -> Linear:
        """The flow linearised about this motion."""
        return self.cells.flow.linear(self.fine, self.w, self.h, self.cells.steps)

    @cached_property
    def duration_shares(self) -> np.ndarray:
        """Share of each cell in a change of the duration, (n,), of sum 1.

        Lengthening a cell in which modes vibrate shifts their phase, which is strongly nonlinear. Cells with
        small rates therefore take most of the change.
        """
        size = np.maximum(np.ptp(self.x, axis=0), 1e-12)
        pace = np.linalg.norm(self.linear.c / size, axis=1)
        share = self.h / (pace**2 + np.median(pace) ** 2)
        return np.asarray(share / share.sum())

    @cached_property
    def end(self) -> tuple[np.ndarray, np.ndarray]:
        """Scaled terminal values, (m,), and their Jacobian with respect to the final state, (m, n_x)."""
        goal, x = self.cells.goal, self.x[-1]
        found = self.cells.flow.end_values(x)
        jacobians = np.vstack([np.eye(len(x))[goal.places], found.by_x[0]])
        return np.concatenate([x[goal.places], found.value[0]]) / goal.scale, jacobians / goal.scale[:, None]

    @cached_property
    def error(self) -> np.ndarray:
        """Scaled violations of the terminal constraints, (m,)."""
        goal = self.cells.goal
        return self.end[0] - np.clip(self.end[0], goal.low / goal.scale, goal.high / goal.scale)

    @cached_property
    def sides(self) -> tuple[Values, Values]:
        """One-sided bounds at the beginning and at the end of each cell, with the controls of that cell."""
        flow, goal = self.cells.flow, self.cells.goal
        begin, end = (goal.one_sided(flow.row_values(x, self.w)) for x in (self.x[:-1], self.x[1:]))
        return begin, end

    @property
    def excess(self) -> float:
        """Largest scaled violation of a bound along the motion; 0 if there is none."""
        return max(0.0, *(float(np.max(side.value, initial=0.0)) for side in self.sides))

    def between(self, steps: int) -> np.ndarray:
        """Return the maximum of every one-sided bound without margin, from `steps` samples per cell, (r,)."""
        flow, goal = self.cells.flow, self.cells.goal
        n = len(self.h)
        fine = flow.integrate(self.cells.x0, self.w, self.h, steps)
        x = fine[np.arange(n)[:, None] * steps + np.arange(steps + 1)].reshape(-1, flow.n_x)
        values = goal.one_sided(flow.row_values(x, np.repeat(self.w, steps + 1, axis=0))).value
        return _peaks(values.reshape(n, steps + 1, -1)) - goal.margin


def _peaks(values: np.ndarray) -> np.ndarray:
    """Return the maximum over samples (n, k, r) of all cells, with parabolic interpolation between them."""
    top = values.max(axis=(0, 1))
    if values.shape[1] < 3:
        return np.asarray(top)
    before, here, after = values[:, :-2], values[:, 1:-1], values[:, 2:]
    curvature, derivative = before - 2.0 * here + after, 0.5 * (after - before)
    inside = (curvature < 0.0) & (np.abs(derivative) <= -curvature)  # the vertex lies between the outer points
    with np.errstate(divide="ignore", invalid="ignore"):
        vertex = np.where(inside, here - 0.5 * derivative**2 / curvature, -np.inf)
    return np.maximum(top, vertex.max(axis=(0, 1)))
