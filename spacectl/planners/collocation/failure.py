"""Name the constraint, and its time, that makes a programme infeasible."""

from __future__ import annotations

import numpy as np

from spacectl.planners.collocation.transcription.nlp import Nlp
from spacectl.planners.collocation.transcription.phase import PhaseBlock

__all__ = ["drop_constant_rows", "is_feasible", "largest_violation", "row_name"]


def row_name(nlp: Nlp, row: int) -> tuple[str, float]:
    """Describe a row, and return its position as a fraction of its phase (0 to 1)."""
    for k, block in enumerate(nlp.blocks):
        if block.row <= row < block.row + block.m:
            words, fraction = _in_phase(block, row)
            return (f"{words} (phase {k + 1})" if len(nlp.blocks) > 1 else words), fraction
    pair = nlp.links[row - (nlp.m - len(nlp.links))]
    block = next(item for item in nlp.blocks if item.column <= pair[1] < item.column + item.n)
    return f"continuity of '{block.model.names[pair[1] - block.column]}' between phases", 0.0


def _in_phase(block: PhaseBlock, row: int) -> tuple[str, float]:
    model = block.model
    key = next(key for key, (first, count) in block.row_groups.items() if first <= row < first + count)
    index = row - block.row_groups[key][0]
    if key == "defect":
        point, state = index // model.n_X + 1, index % model.n_X
        return f"motion of '{model.names[state]}'", float(block.fractions[point])
    if key in ("residual", "path"):
        names = model.residual_names if key == "residual" else model.path_names
        words = names[index % len(names)]
        return (f"path condition '{words}'" if key == "path" else words), float(block.fractions[index // len(names)])
    if key == "undetermined":
        return f"'{model.names[block.undetermined[index]]}' at the start", 0.0
    conditions = block.problem.conditions_start if key == "start" else block.problem.conditions_end
    listed = [item.name for item in conditions for _ in range(item.rule.size)]
    if key == "start" and index >= len(listed):
        anchors = [(name, order) for name, order, size in model.anchors for _ in range(size)]
        name, order = anchors[index - len(listed)]
        return f"{'rate of ' if order else ''}path condition '{name}'", 0.0
    return f"{key} condition '{listed[index]}'", 0.0 if key == "start" else 1.0


def _violations(nlp: Nlp, x: np.ndarray) -> np.ndarray:
    """Return the bound violation of each scaled row."""
    rows = nlp.rows(x / nlp.scale)
    low, high = nlp.row_low * nlp.row_scale, nlp.row_high * nlp.row_scale
    violation = np.maximum(np.maximum(low - rows, rows - high), 0.0)
    return np.where(np.isfinite(violation), violation, np.inf)


def is_feasible(nlp: Nlp, x: np.ndarray, tolerance: float = 1e-7) -> bool:
    """Return whether every scaled row is satisfied to the tolerance."""
    return bool(_violations(nlp, x).max(initial=0.0) <= tolerance)


def largest_violation(nlp: Nlp, x: np.ndarray) -> str:
    """Describe the row with the largest scaled violation."""
    violation = _violations(nlp, x)
    worst = int(np.argmax(violation))
    name, fraction = row_name(nlp, worst)
    block = next((item for item in nlp.blocks if item.row <= worst < item.row + item.m), nlp.blocks[-1])
    begin = sum(float(x[item.duration_column]) for item in nlp.blocks if item.column < block.column)
    t = begin + fraction * float(x[block.duration_column])
    return f"the largest violation is {violation[worst] / nlp.row_scale[worst]:.3g}, of {name} at t = {t:.4g} s"


def drop_constant_rows(nlp: Nlp, x: np.ndarray, tolerance: float = 1e-7) -> str | None:
    """Remove the bounds of rows that depend on no free unknown; return a message if one of them is violated.

    A path condition at a fixed start is such a row: it only decides whether the start is admissible.
    """
    pattern = nlp.jacobian_sum
    is_free = nlp.low < nlp.high
    has_unknown = np.zeros(nlp.m, dtype=bool)
    has_unknown[pattern.rows[is_free[pattern.columns]]] = True
    fixed = np.clip(x, nlp.low, nlp.high) / nlp.scale
    rows = nlp.rows(fixed)
    violation = np.maximum(nlp.row_low * nlp.row_scale - rows, rows - nlp.row_high * nlp.row_scale)
    constant = np.flatnonzero(~has_unknown)
    nlp.row_low[constant], nlp.row_high[constant] = -np.inf, np.inf
    if constant.size and violation[constant].max() > tolerance:
        worst = constant[int(np.argmax(violation[constant]))]
        name, fraction = row_name(nlp, int(worst))
        where = {0.0: "at the start", 1.0: "at the end"}.get(fraction, f"at {fraction:.3g} of the way")
        size = violation[worst] / nlp.row_scale[worst]
        return f"{name} cannot be satisfied {where}: all its variables are fixed, and its violation is {size:.3g}"
    return None
