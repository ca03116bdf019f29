"""Bounds of the unknowns and rows of a phase: input limits, state bounds and boundary conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.linalg

from spacectl.core.errors import ModelError
from spacectl.planners.collocation.transcription.phase import PhaseBlock
from spacectl.planners.problem import FREE, Problem

__all__ = ["check_start", "end_pairs", "phase_bounds", "row_bounds", "start_pairs"]

_NEAR = 1e-2  # tolerance of dependent final values, which a coarse mesh satisfies only approximately


def start_pairs(problem: Problem) -> list[tuple[float, float]]:
    """Return bounds of each state at the start of the first phase; states not named have their rest values."""
    rest = np.asarray(problem.eom.x_rest)
    return [problem.start.get(name, (float(rest[i]),) * 2) for i, name in enumerate(problem.eom.states)]


def check_start(problem: Problem) -> None:
    """Raise `ModelError` if a completely fixed start violates the constraint equations of the system."""
    eom = problem.eom
    pairs = np.array(start_pairs(problem))
    if not eom.constraint_rows or np.any(pairs[:, 0] != pairs[:, 1]):
        return
    x = pairs[:, 0]
    off = np.abs(eom.residual(0.0, x[: eom.n_q], x[eom.n_q :], problem.p))
    if off.max(initial=0.0) > 1e-6:
        names = [*eom.position_rows, *eom.constraint_rows]
        raise ModelError(
            f"problem '{problem.name}': the start violates constraint '{names[int(off.argmax())]}' by {off.max():.3g}; "
            "use make_consistent(eom, x)"
        )


def end_pairs(block: PhaseBlock) -> list[tuple[float, float]]:
    """Return bounds of each state at the end; dependent fixed values are relaxed.

    Unit quaternions, constraints of the system and equality path conditions make some entries dependent on others,
    and a discretised motion satisfies them only up to the mesh error. Therefore as many entries are fixed as the
    constrained state has degrees of freedom, chosen by pivoting; the others may deviate by one per cent.
    """
    problem, eom = block.problem, block.problem.eom
    pairs = [problem.end.get(name, FREE) for name in eom.states]
    fixed = np.array([i for i, (low, high) in enumerate(pairs) if low == high], dtype=int)
    normals = _normals(block, pairs)
    if not len(normals) or not len(fixed):
        return pairs
    tangent = np.eye(eom.n_x) - np.linalg.pinv(normals, rcond=1e-9) @ normals
    _, triangle, order = scipy.linalg.qr(tangent[:, fixed], pivoting=True, mode="economic")
    sizes = np.abs(np.diag(triangle))
    rank = int(np.sum(sizes > 1e-9 * max(sizes.max(initial=0.0), 1e-30)))
    for i in fixed[order[rank:]]:
        value = pairs[i][0]
        pairs[i] = (value - _NEAR * max(1.0, abs(value)), value + _NEAR * max(1.0, abs(value)))
    return pairs


def _normals(block: PhaseBlock, pairs: list[tuple[float, float]]) -> np.ndarray:
    """Return gradients at the final state of quaternion norms, constraints and equality path conditions."""
    problem, eom = block.problem, block.problem.eom
    x = np.array(
        [low if low == high else rest for (low, high), rest in zip(pairs, np.asarray(eom.x_rest), strict=True)]
    )
    rows = []
    for k in eom.quaternions:
        rows.append(np.zeros(eom.n_x))
        rows[-1][k : k + 4] = x[k : k + 4]
    if eom.constraint_rows:
        t, q, v = 0.0, x[: eom.n_q], x[eom.n_q :]
        derivatives = [eom.jacobian("residual", "g", letter, t, q, v, p=problem.p) for letter in ("q", "v")]
        rows += list(np.hstack(derivatives))
    if block.model.anchors:
        X = np.zeros((1, block.model.n_X))
        here = slice(block.places["q"].start, block.places["v"].stop)
        X[0, here] = x
        derivatives_at = block.model.ends[0]
        J = np.zeros((block.bound_ends[0].n_values, block.model.n_X))
        J[derivatives_at.rows, derivatives_at.columns] = block.bound_ends[0].jacobian(X)[0]
        rows += list(J[sum(item.rule.size for item in problem.conditions_start) :, here])
    return np.array(rows)


def row_bounds(blocks: Sequence[PhaseBlock]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return lower and upper bounds of the rows of each phase.

    An equality path condition continued from the previous phase needs no anchor at the start of the next.
    """
    before: set[tuple[str, int, int]] = set()
    out = []
    for block in blocks:
        sides = [_row_side(block, side, before) for side in ("low", "high")]
        out.append((sides[0], sides[1]))
        before = set(block.model.anchors)
    return out


def _row_side(block: PhaseBlock, side: str, before: set[tuple[str, int, int]]) -> np.ndarray:
    problem, rows = block.problem, np.zeros(block.m)
    anchored = {name: order for name, order, _ in block.model.anchors}
    values = {item.name: getattr(item, side) for item in problem.path}
    free = -np.inf if side == "low" else np.inf
    anchors = [
        free if anchor in before else (values[anchor[0]] if anchor[1] == 0 else 0.0)
        for anchor in block.model.anchors
        for _ in range(anchor[2])
    ]
    groups = {
        "path": [
            0.0 if item.name in anchored else getattr(item, side)
            for item in problem.path
            for _ in range(item.rule.size)
        ],
        "start": [*(getattr(item, side) for item in problem.conditions_start for _ in range(item.rule.size)), *anchors],
        "end": [getattr(item, side) for item in problem.conditions_end for _ in range(item.rule.size)],
    }
    for key, numbers in groups.items():
        first, count = block.row_groups[key]
        if count:
            rows[first - block.row : first - block.row + count] = np.resize(numbers, count)
    # not collocated at the start, inputs there equal those of the second point: equations are redundant
    if not block.scheme.is_collocated_at_start:
        first = block.row_groups["path"][0] - block.row
        equations = [item.low == item.high for item in problem.path for _ in range(item.rule.size)]
        rows[first : first + len(equations)][equations] = free
    return rows


def phase_bounds(
    block: PhaseBlock, *, is_first: bool, fixed: Mapping[str, float] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and upper bounds of a phase's unknowns, shape (n,).

    Entries of z named in `fixed` have one fixed value.
    """
    problem, model, places = block.problem, block.model, block.places
    low, high = np.full((block.P, model.n_z), -np.inf), np.full((block.P, model.n_z), np.inf)

    def bound(columns: Any, pair: tuple[float, float], points: Any = slice(None)) -> None:
        low[points, columns] = np.maximum(low[points, columns], pair[0])
        high[points, columns] = np.minimum(high[points, columns], pair[1])

    names = {name: places["q"].start + i for i, name in enumerate(problem.eom.states)}
    for name, pair in problem.bounds.items():
        bound(names[name], pair)
    limits = dict(zip(problem.eom.inputs, np.transpose(problem.input_limits()), strict=True))
    free = [name for name in problem.eom.inputs if name not in model.smooth]
    for i, name in enumerate(free):
        bound(places["u"].start + i, limits[name])
    for i, name in enumerate(model.smooth):
        bound(places["s"].start + i, limits[name])
        bound(places["rates"].start + model.sizes["v"] + i, problem.rate_limits[name])
        bound(places["s"].start + i, problem.inputs_end.get(name, FREE), -1)
        if is_first:
            bound(places["s"].start + i, problem.inputs_start.get(name, FREE), 0)
    if is_first and model.has_clock:
        bound(0, (0.0, 0.0), 0)
    for i, (first, last) in enumerate(zip(start_pairs(problem), end_pairs(block), strict=True)):
        if is_first:
            bound(places["q"].start + i, first, 0)
        bound(places["q"].start + i, last, -1)
    for name, value in (fixed or {}).items():
        bound(model.names.index(name), (value, value))
    _require_order(block, low, high)
    return np.append(low.ravel(), problem.duration[0]), np.append(high.ravel(), problem.duration[1])


def _require_order(block: PhaseBlock, low: np.ndarray, high: np.ndarray) -> None:
    wrong = np.argwhere(low > high)
    if wrong.size:
        point, entry = wrong[0]
        where = {0: "at the start", block.P - 1: "at the end"}.get(int(point), "between start and end")
        raise ModelError(
            f"problem '{block.problem.name}': {where}, '{block.model.names[entry]}' must be at least {low[point, entry]:g} and "
            f"at most {high[point, entry]:g}; its bounds contradict each other or its boundary values"
        )
