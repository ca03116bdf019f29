"""Identify active limits: the arcs of a solution, and the switching structure from which polishing starts.

An input is at a limit or between its limits. Between them it is switching within an interval, determined by a
path condition or a state bound, or singular (its switching function vanishes). The switching function is the
multiplier of the input's bounds per unit of time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spacectl.planners.collocation.result import PhaseSolution

__all__ = [
    "Stretch",
    "active_rows",
    "active_state_bounds",
    "control_levels",
    "control_stretches",
    "find_stretches",
    "remove_intermediate",
    "switching_functions",
]

_AT_LIMIT = 1e-2  # fraction of the range within which an input counts as at its limit
_VANISHING = 1e-3  # fraction of its largest value below which a switching function counts as zero
_TRANSITION = 3  # intervals over which a switch may be smeared
_GAUSS = (0.5 + 0.5 * np.polynomial.legendre.leggauss(5)[0], 0.5 * np.polynomial.legendre.leggauss(5)[1])
_SHORTEST_EXCURSION = 0.05  # of one interval at the opposite limit: shorter excursions are artefacts of the mesh


@dataclass(frozen=True)
class Stretch:
    """An input from `begin` to `end` (fractions of the phase): `side` is -1 or 1 at a limit, 0 between them."""

    begin: float
    end: float
    side: int


def switching_functions(solution: PhaseSolution, multipliers: np.ndarray) -> np.ndarray:
    """Return the switching function of each control at the points, (P, n_c), from the multipliers of bounds."""
    block = solution.block
    own = multipliers[block.column : block.column + block.n - 1].reshape(block.P, block.model.n_z)
    weights = np.where(block.quadrature > 0.0, block.quadrature, np.inf)[:, None] * max(solution.at.T, 1e-300)
    return own[:, block.controls] / weights


def control_levels(solution: PhaseSolution) -> np.ndarray:
    """Return the interval means of each control, (N, n_c), scaled to -1 and 1 at its limits; 0 without limits."""
    low, high = solution.block.control_limits.T
    limited = np.isfinite(low) & np.isfinite(high) & (high > low)
    low, high = np.where(limited, low, 0.0), np.where(limited, high, 1.0)
    means = np.einsum("i,kiu->ku", _GAUSS[1], solution.controls(_GAUSS[0]))
    return np.where(limited, (2.0 * means - low - high) / (high - low), 0.0)


def control_stretches(solution: PhaseSolution, multipliers: np.ndarray) -> list[list[Stretch]]:
    """Return the stretches of each control (rate of a smooth input, or another input) over the phase."""
    block = solution.block
    switching = block.pieces(switching_functions(solution, multipliers))[:, 1:]
    levels = control_levels(solution)
    out = []
    for i, (low, high) in enumerate(block.control_limits):
        if not (np.isfinite(low) and np.isfinite(high) and high > low):
            out.append([Stretch(0.0, 1.0, 0)])
            continue
        level = levels[:, i]
        strength = np.abs(switching[:, :, i]).max(axis=1)
        side = np.where(level > 1.0 - 2.0 * _AT_LIMIT, 1, np.where(level < 2.0 * _AT_LIMIT - 1.0, -1, 0))
        side = np.where(strength < _VANISHING * strength.max(initial=0.0), 0, side) if strength.any() else side
        out.append(find_stretches(block.mesh, level, side))
    return out


def _runs(side: np.ndarray) -> list[tuple[int, int, int]]:
    """Return (first, last + 1, side) of each run of equal sides."""
    cuts = np.concatenate([[0], np.flatnonzero(np.diff(side)) + 1, [len(side)]])
    return [(int(a), int(b), int(side[a])) for a, b in zip(cuts[:-1], cuts[1:], strict=True)]


def find_stretches(
    mesh: np.ndarray, level: np.ndarray, side: np.ndarray, transition: int = _TRANSITION
) -> list[Stretch]:
    """Return the stretches of a control from its level (-1 to 1) and side (-1, 0, 1) in each interval.

    Up to `transition` intervals between limits become one switch, or two at a short excursion. Their location
    preserves the integral of the input.
    """
    runs = _runs(side)
    out: list[Stretch] = []
    for k, (first, last, sign) in enumerate(runs):
        before = runs[k - 1][2] if k else 0
        after = runs[k + 1][2] if k + 1 < len(runs) else 0
        if sign or last - first > transition or (not before and not after):
            out.append(Stretch(float(mesh[first]), float(mesh[last]), sign))
            continue
        out += _resolve_transition(mesh, level, first, last, before, after)
    return _merged(out)


def _resolve_transition(
    mesh: np.ndarray, level: np.ndarray, first: int, last: int, before: int, after: int
) -> list[Stretch]:
    begin, end = float(mesh[first]), float(mesh[last])
    mean = float(np.diff(mesh)[first:last] @ level[first:last]) / (end - begin)
    if before and after and before != after:
        cut = begin + (end - begin) * (mean - after) / (before - after)
        return [Stretch(begin, cut, before), Stretch(cut, end, after)]
    sign = before or after
    share = float(np.clip((1.0 - sign * mean) / 2.0, 0.0, 1.0))  # of the stretch at the opposite limit
    if share * (last - first) < _SHORTEST_EXCURSION:
        return [Stretch(begin, end, sign)]
    width = share * (end - begin)
    if not before:
        return [Stretch(begin, begin + width, -sign), Stretch(begin + width, end, sign)]
    if not after:
        return [Stretch(begin, end - width, sign), Stretch(end - width, end, -sign)]
    middle = (begin + end) / 2.0
    cuts = (begin, middle - width / 2.0, middle + width / 2.0, end)
    return [Stretch(cuts[0], cuts[1], sign), Stretch(cuts[1], cuts[2], -sign), Stretch(cuts[2], cuts[3], sign)]


def remove_intermediate(row: list[Stretch], level: np.ndarray, mesh: np.ndarray) -> list[Stretch]:
    """Replace every stretch between the limits by switches that preserve its mean.

    The sequence ``+ 0 -`` becomes ``+ - + -``, and ``+ 0 +`` becomes a pulse, ``+ - +``.
    """
    out: list[Stretch] = []
    for k, item in enumerate(row):
        before = row[k - 1].side if k else -row[k + 1].side if k + 1 < len(row) else 0
        after = row[k + 1].side if k + 1 < len(row) else -before
        if item.side or not before:
            out.append(item)
            continue
        parts = np.clip(np.minimum(mesh[1:], item.end) - np.maximum(mesh[:-1], item.begin), 0.0, None)
        mean = float(np.clip(parts @ level / parts.sum(), -1.0, 1.0))
        span = item.end - item.begin
        if before == after:
            width = span * (1.0 - before * mean) / 2.0
            middle = (item.begin + item.end) / 2.0
            cuts = (item.begin, middle - width / 2.0, middle + width / 2.0, item.end)
            sides = (before, -before, before)
        else:
            share = (mean - before) / (after - before)
            cuts = (item.begin, item.begin + share * span, item.end, item.end)
            sides = (after, before, before)
        out += [Stretch(a, b, side) for a, b, side in zip(cuts[:-1], cuts[1:], sides, strict=True)]
    return _merged(out)


def _merged(stretches: list[Stretch]) -> list[Stretch]:
    out: list[Stretch] = []
    for item in stretches:
        if item.end <= item.begin:
            continue
        if out and out[-1].side == item.side:
            out[-1] = Stretch(out[-1].begin, item.end, item.side)
        else:
            out.append(item)
    return out


def active_state_bounds(solution: PhaseSolution, begin: float, end: float) -> dict[str, float]:
    """Return the active bounds of speeds and smooth inputs between two fractions of the phase, by name in z."""
    block, problem = solution.block, solution.block.problem
    middle = (begin + end) / 2.0
    inside = np.abs(block.fractions - middle) < 0.45 * (end - begin)
    candidates = {name: problem.bounds[name] for name in problem.eom.speeds if name in problem.bounds}
    low, high = problem.input_limits()
    candidates |= {
        f"input {name}": (low[k], high[k]) for k, name in enumerate(problem.eom.inputs) if name in block.model.smooth
    }
    out = {}
    for name, pair in candidates.items():
        values = solution.at.Z[inside, block.model.names.index(name)]
        span = pair[1] - pair[0] if np.isfinite(pair[1] - pair[0]) else max(np.abs(values).max(initial=0.0), 1e-12)
        for bound in pair:
            if (
                values.size >= _TRANSITION
                and np.isfinite(bound)
                and np.mean(np.abs(values - bound) < 1e-3 * span) > 0.8
            ):
                out[name] = float(bound)
    return out


def active_rows(solution: PhaseSolution, tolerance: float = 1e-4) -> dict[str, np.ndarray]:
    """Return masks of the points at which path conditions, state bounds or smooth-input limits are active."""
    block, problem = solution.block, solution.block.problem
    values = solution.at.F[:, block.places["F.path"]]
    bounds = [(item.low, item.high) for item in problem.path for _ in range(item.rule.size)]
    rows = [(name, values[:, i], bounds[i]) for i, name in enumerate(block.model.path_names)]
    first = block.places["q"].start
    rows += [
        (name, solution.at.Z[:, first + problem.eom.labels.x.index(name)], pair)
        for name, pair in problem.bounds.items()
    ]
    low, high = problem.input_limits()
    for i, name in enumerate(block.model.smooth):
        k = problem.eom.inputs.index(name)
        rows.append((name, solution.at.Z[:, block.places["s"].start + i], (low[k], high[k])))
    found: dict[str, np.ndarray] = {}
    for name, history, (least, most) in rows:
        if least == most:
            continue
        size = max(float(np.ptp(history)), 1e-3 * float(np.abs(history).max(initial=0.0)), 1e-12)
        for mask, words in (
            (history - least < tolerance * size, "lower"),
            (most - history < tolerance * size, "upper"),
        ):
            mask[0] &= mask[1]  # a limit reached only at the end point of an arc is not active along it
            mask[-1] &= mask[-2]
            if mask.any():
                found[f"{name} at its {words} limit"] = mask
    return found
