"""Shaped commands: a shaper applied to a trajectory or to a command of steps, without sampling errors.

``r_shaped(t) = sum_i a_i r(t - t_i)`` is a sum of shifted pieces, so it is piecewise of the same kind, with knots
wherever a shifted copy has one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spacectl.controllers.shaping.shaper import Shaper
from spacectl.core.array import as_array
from spacectl.core.errors import ModelError
from spacectl.core.labels import Labels
from spacectl.core.trajectory import Trajectory

__all__ = ["shape_command", "shape_trajectory"]


def shape_trajectory(shaper: Shaper, trajectory: Trajectory) -> Trajectory:
    """Convolve a trajectory with a shaper, exactly.

    Knots are all ``t_k + t_i``; between them the result is constant, linear or cubic, as the trajectory is. Outside its
    knots a trajectory holds its end values; where a cubic one starts or ends with a rate, the rate jumps, and the
    result has two knots one rounding apart there (a plan from rest to rest has none of these).

    Parameters
    ----------
    shaper : Shaper
        The impulses.
    trajectory : Trajectory
        The trajectory; labels and interpolation are retained.

    Returns
    -------
    Trajectory
    """
    if not isinstance(shaper, Shaper) or not isinstance(trajectory, Trajectory):
        raise ModelError(
            f"shape_trajectory: expected a Shaper and a Trajectory, got {type(shaper).__name__} and "
            f"{type(trajectory).__name__}"
        )
    knots, amplitudes = np.asarray(trajectory.t), np.asarray(shaper.amplitudes)
    shifted = np.add.outer(np.asarray(shaper.times), knots)  # (impulses, knots)
    times, places = _merge(shifted)
    shape = (times.size, trajectory.values.shape[1])
    values, before, after = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for a, own, mine in zip(amplitudes, shifted, places, strict=True):
        # the piece of this copy that begins at or before each merged knot, by number: times may differ by rounding
        right = np.searchsorted(mine, np.arange(times.size), side="right") - 1
        left = np.searchsorted(mine, np.arange(times.size), side="left") - 1
        value, rate = _piece(trajectory, right, times - own[np.clip(right, 0, None)])
        values += a * value
        after += a * rate
        before += a * _piece(trajectory, left, times - own[np.clip(left, 0, None)])[1]
    if trajectory.interpolation != "cubic":
        return Trajectory(t=times, values=values, labels=trajectory.labels, interpolation=trajectory.interpolation)
    ends = np.any(np.asarray(trajectory.rates)[[0, -1]] != 0.0, axis=1)
    jumps = np.zeros(times.size, dtype=bool)
    jumps[places[:, [0, -1]][:, ends]] = True
    jumps[[0, -1]] = False  # outside the knots the rate is zero anyhow
    before[0], after[-1] = after[0], before[-1]
    twice = np.flatnonzero(jumps)
    return Trajectory(
        t=np.insert(times, twice, np.nextafter(times[twice], -np.inf)),
        values=np.insert(values, twice, values[twice], axis=0),
        rates=np.insert(np.where(jumps[:, None], after, 0.5 * (before + after)), twice, before[twice], axis=0),
        labels=trajectory.labels,
    )


def shape_command(shaper: Shaper, times: Any, values: Any, *, labels: Labels | None = None) -> Trajectory:
    """Shape a command of steps, such as bang-bang torques: values[k] applies from times[k] on.

    Before the first time the command is zero, and the shaped one begins with zero; end a maneuver with a step to zero.

    Parameters
    ----------
    shaper : Shaper
        The impulses.
    times : array, shape (n,)
        Increasing times of the steps [s].
    values : array, shape (n,) or (n, k)
        Command from each time on.
    labels : Labels, optional
        Names and units of the k columns.

    Returns
    -------
    Trajectory
        With values held between its knots; it jumps at all ``times[k] + shaper.times[i]``.
    """
    t = np.asarray(as_array(times, None, "shape_command: times"))
    v = np.asarray(as_array(values, None, "shape_command: values"))
    v = v[:, None] if v.ndim == 1 else v
    if t.ndim != 1 or not t.size or v.ndim != 2 or v.shape[0] != t.size:
        raise ModelError(
            f"shape_command: {t.shape} times and values of shape {np.shape(values)}; expected (n,) and (n, k)"
        )
    early = t[0] - max(shaper.duration, 1.0) * 2.0  # zero before: long enough for every shifted copy
    steps = Trajectory(
        t=np.concatenate([[early], t]),
        values=np.vstack([np.zeros((1, v.shape[1])), v]),
        labels=labels or Labels(),
        interpolation="previous",
    )
    shaped = shape_trajectory(shaper, steps)
    first = int(np.searchsorted(np.asarray(shaped.t), t[0]))
    keep = np.concatenate([[0], np.arange(first, shaped.t.size)])
    knots = np.asarray(shaped.t)[keep]
    knots[0] = min(0.0, t[0] - 1.0)
    return Trajectory(t=knots, values=np.asarray(shaped.values)[keep], labels=steps.labels, interpolation="previous")


def _merge(shifted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted times without those that differ by rounding only, and the place of each shifted knot among them."""
    flat = shifted.reshape(-1)
    order = np.argsort(flat, kind="stable")
    spread = max(abs(flat[order[0]]), abs(flat[order[-1]]))
    is_new = np.concatenate([[True], np.diff(flat[order]) > 8.0 * np.finfo(float).eps * spread])
    places = np.empty(flat.size, dtype=int)
    places[order] = np.cumsum(is_new) - 1
    return flat[order][is_new], places.reshape(shifted.shape)


def _piece(trajectory: Trajectory, piece: np.ndarray, later: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the value and rate of the given pieces (-1: before the first knot), `later` after their first knots."""
    knots, values = np.asarray(trajectory.t), np.asarray(trajectory.values)
    last = knots.size - 1
    held = values[np.clip(piece, 0, last)]
    rate = np.zeros_like(held)
    inside = (piece >= 0) & (piece < last)
    if trajectory.interpolation == "previous" or not np.any(inside):
        return held, rate
    k = piece[inside]
    h = (knots[k + 1] - knots[k])[:, None]
    s = later[inside][:, None] / h
    a, b = values[k], values[k + 1]
    if trajectory.interpolation == "linear":
        c1, c2, c3 = b - a, 0.0 * a, 0.0 * a
    else:
        slopes = np.asarray(trajectory.rates)
        c1, end = slopes[k] * h, slopes[k + 1] * h
        c2, c3 = 3.0 * (b - a) - 2.0 * c1 - end, 2.0 * (a - b) + c1 + end
    held[inside] = a + s * (c1 + s * (c2 + s * c3))
    rate[inside] = (c1 + s * (2.0 * c2 + s * 3.0 * c3)) / h
    return held, rate
