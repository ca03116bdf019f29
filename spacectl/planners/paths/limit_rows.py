"""Limits along a path as rows ``A s_ddot + B s_dot^2 + C s_dot + D <= 0``, scaled so that 1 is half a limit's range.

The descriptions of `limits` and the terms of `dynamics` are converted to arrays for the planners. A two-sided
limit yields two rows, whose names state the side (Sadigh 1995, Eqs 8.19-8.24, with the sides derived here).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from spacectl.codegen.batch_function import BatchFunction
from spacectl.core.errors import ModelError, unknown_name
from spacectl.core.expression import NamedExpression
from spacectl.planners.paths.dynamics import PathDynamics, PathMotion
from spacectl.planners.paths.limits import (
    AccelerationLimits,
    FlexibleJointLimit,
    GraspLimit,
    Limit,
    SpeedLimits,
    TorqueLimits,
)

__all__ = ["LimitRows", "form_rows"]

#: terms (n, 4) of one limited quantity at the points of a motion
Quantity = Callable[[PathMotion], np.ndarray]
#: bounds (n, 2, 3): low and high, each by the powers 2, 1, 0 of s_dot
Bounds = Callable[[PathMotion], np.ndarray]


@dataclass(frozen=True)
class _Entry:
    name: str
    quantity: Quantity
    bounds: Bounds | tuple[float, float]
    input: int = -1


@dataclass(frozen=True, eq=False)
class LimitRows:
    """Rows of all limits of a path, with the name of the limit of each."""

    dynamics: PathDynamics
    entries: tuple[_Entry, ...]
    names: tuple[str, ...]
    selected: np.ndarray

    def evaluate(self, s: np.ndarray, piece: int = 0) -> tuple[PathMotion, np.ndarray]:
        """Evaluate the motion and the rows (n, m, 4) at many s of one smooth piece."""
        motion = self.dynamics.evaluate(s, piece)
        return motion, self.of(motion)

    def of(self, motion: PathMotion) -> np.ndarray:
        """Return rows (n, m, 4) at the points of a motion."""
        rows = _halves(self.entries, motion)
        return rows if len(self.selected) == rows.shape[1] else np.ascontiguousarray(rows[:, self.selected])


def _halves(entries: tuple[_Entry, ...], motion: PathMotion) -> np.ndarray:
    """Return upper and lower rows of each entry: quantity minus bound, divided by half the range of the bounds."""
    rows = np.empty((len(motion.V), 2 * len(entries), 4))
    plain = [i for i, entry in enumerate(entries) if entry.input >= 0 and isinstance(entry.bounds, tuple)]
    if plain:  # inputs with constant limits, all at once
        low, high = np.array([entries[i].bounds for i in plain], dtype=float).T
        at, scale = np.array(plain), _scale(low, high)
        inputs = [entries[i].input for i in plain]
        values = (motion.tau if len(inputs) == motion.tau.shape[1] else motion.tau[:, inputs]) / scale[:, None]
        rows[:, 2 * at], rows[:, 2 * at + 1] = values, -values
        rows[:, 2 * at, 3] -= np.where(np.isfinite(high), high, 0.0) / scale
        rows[:, 2 * at + 1, 3] += np.where(np.isfinite(low), low, 0.0) / scale
    for i, entry in enumerate(entries):
        if i in plain:
            continue
        value = entry.quantity(motion)
        bounds = _table(entry.bounds, len(value)) if isinstance(entry.bounds, tuple) else entry.bounds(motion)
        scale = _scale(bounds[:, 0, 2], bounds[:, 1, 2])[:, None]
        finite = np.where(np.isfinite(bounds), bounds, 0.0)
        rows[:, 2 * i], rows[:, 2 * i + 1] = value / scale, -value / scale
        rows[:, 2 * i, 1:] -= finite[:, 1] / scale
        rows[:, 2 * i + 1, 1:] += finite[:, 0] / scale
    return rows


def _table(bounds: tuple[float, float], n: int) -> np.ndarray:
    return np.broadcast_to([[0.0, 0.0, bounds[0]], [0.0, 0.0, bounds[1]]], (n, 2, 3))


def _scale(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return half the range of bounds, or the magnitude of the finite one."""
    half = 0.5 * (high - low)
    finite = np.maximum(np.where(np.isfinite(low), np.abs(low), 0.0), np.where(np.isfinite(high), np.abs(high), 0.0))
    return np.where(np.isfinite(half) & (half > 0.0), half, np.maximum(finite, 1e-300))


def form_rows(dynamics: PathDynamics, limits: tuple[Limit, ...]) -> LimitRows:
    """Form the rows of given limits.

    Raises
    ------
    ModelError
        If a limit refers to an unknown name, or if there are no limits.
    """
    entries: list[_Entry] = []
    for limit in limits:
        entries += _FORMS[type(limit)](dynamics, limit)
    if not entries:
        raise ModelError(
            "no limits: give the actuators limit=, or pass limits=TorqueLimits(limits={...}); without limits "
            "the minimum time is not defined"
        )
    names, selected = [], []
    probe = dynamics.evaluate(np.array([0.0]))
    for i, entry in enumerate(entries):
        ends = entry.bounds if isinstance(entry.bounds, tuple) else entry.bounds(probe)[0, :, 2]
        for k, side in ((1, "upper"), (0, "lower")):
            if np.isfinite(ends[k]):
                names.append(f"{entry.name} at its {side} limit")
                selected.append(2 * i + 1 - k)
    return LimitRows(dynamics, tuple(entries), tuple(names), np.array(selected))


def _bounds(dynamics: PathDynamics, bound: Any, fraction: float = 1.0) -> Bounds | tuple[float, float]:
    if isinstance(bound, NamedExpression):
        return _rule(dynamics, bound, fraction)
    return fraction * bound[0], fraction * bound[1]


def _rule(dynamics: PathDynamics, rule: NamedExpression, fraction: float) -> Bounds:
    """Return the bounds given by a rule of coordinates and speeds, expanded in s_dot."""
    eom = dynamics.eom
    q, V, rate, p = ca.SX.sym("q", eom.n_q), ca.SX.sym("V", eom.n_v), ca.SX.sym("rate"), ca.SX.sym("p")

    def quantity(kind: str, name: str) -> Any:
        if kind == "state" and name in eom.labels.q:
            return q[eom.labels.q.index(name)]
        if kind == "state" and name in eom.labels.v:
            return rate * V[eom.labels.v.index(name)]
        raise ModelError(f"limit by a rule: {unknown_name('state', name, eom.states)}")

    value = fraction * rule(quantity)
    slope = ca.jtimes(value, rate, 1.0)
    curve = ca.jtimes(slope, rate, 1.0)
    if ca.depends_on(ca.simplify(ca.jtimes(curve, rate, 1.0)), ca.vertcat(q, V, rate)):
        raise ModelError("limit by a rule: more than quadratic in the speeds; use a tighter quadratic bound")
    terms = ca.substitute(ca.horzcat(0.5 * curve, slope, value), rate, 0.0)
    mapped = BatchFunction(
        ca.Function("bounds", [q, V, p], [ca.densify(terms)], ["q", "V", "p"], ["bounds"]), np.zeros(1)
    )

    def bounds(motion: PathMotion) -> np.ndarray:
        flat = mapped(motion.points.q, motion.V)[0]
        return flat.reshape(len(motion.V), 3, 2).transpose(0, 2, 1)

    return bounds


def _torques(dynamics: PathDynamics, limit: TorqueLimits) -> list[_Entry]:
    eom = dynamics.eom
    low, high = eom.limits(dynamics.p)
    entries = []
    for name in limit.limits:
        eom.labels.u.index(name)
    for i, name in enumerate(eom.inputs):
        bound = limit.limits.get(name, (low[i], high[i]))
        if not isinstance(bound, NamedExpression) and not np.any(np.isfinite(bound)):
            continue
        rule = _bounds(dynamics, bound, limit.fraction)
        entries.append(_Entry(name, _column(i), rule, i))
    return entries


def _column(i: int) -> Quantity:
    return lambda motion: motion.tau[:, i]


def _component(terms: Quantity, i: int) -> Quantity:
    return lambda motion: terms(motion)[:, i]


def _speed_index(dynamics: PathDynamics, name: str) -> int:
    labels = dynamics.eom.labels.v
    return labels.index(name if name in labels or f"{name}_dot" not in labels else f"{name}_dot")


def _speeds(dynamics: PathDynamics, limit: SpeedLimits | AccelerationLimits) -> list[_Entry]:
    entries = []
    for name, bound in limit.limits.items():
        i = _speed_index(dynamics, name)
        rule = _bounds(dynamics, bound)
        label = dynamics.eom.speeds[i]

        def speed(motion: PathMotion, i: int = i) -> np.ndarray:
            zero = np.zeros(len(motion.V))
            return np.stack([zero, zero, motion.V[:, i], zero], axis=1)

        def rate(motion: PathMotion, i: int = i) -> np.ndarray:
            zero = np.zeros(len(motion.V))
            return np.stack([motion.V[:, i], motion.dv[:, i], zero, zero], axis=1)

        is_speed = isinstance(limit, SpeedLimits)
        title = label if is_speed else f"rate of {label}"
        entries.append(_Entry(title, speed if is_speed else rate, rule))
    return entries


def _loads(dynamics: PathDynamics, joint: str) -> Callable[[PathMotion], np.ndarray]:
    """Return a function for the terms (n, 6, 4) of the joint load (moment, force); the last result is cached."""
    eom = dynamics.eom
    names = [part.joint_name for part in eom.system.tree]
    if joint not in names:
        raise ModelError(f"limit of a load: {unknown_name('joint', joint, names)}")
    k = names.index(joint)
    if eom.constraint_rows:
        raise ModelError(
            f"limit of the load in '{joint}': not available for systems with constraints, whose forces share the load"
        )
    function = BatchFunction(eom.functions["reactions"], dynamics.p)
    cache: dict[str, Any] = {}

    def load(motion: PathMotion, s_dot: float, s_ddot: float) -> np.ndarray:
        n = len(motion.V)
        y, z = np.full(n, s_dot), np.full(n, s_ddot)
        u, v, v_dot = motion.inputs(y, z), motion.speeds(y), motion.accelerations(y, z)
        flat = function(np.zeros((n, 1)), motion.points.q, v, u, v_dot)[0]
        return flat.reshape(n, 6, -1)[:, :, k]

    def terms(motion: PathMotion) -> np.ndarray:
        if cache.get("motion") is not motion:
            rest, accelerated = load(motion, 0.0, 0.0), load(motion, 0.0, 1.0)
            up, down = load(motion, 1.0, 0.0), load(motion, -1.0, 0.0)
            table = np.stack([accelerated - rest, 0.5 * (up + down) - rest, 0.5 * (up - down), rest], axis=2)
            cache.update(motion=motion, table=table)
        found: np.ndarray = cache["table"]
        return found

    return terms


def _grasp(dynamics: PathDynamics, limit: GraspLimit) -> list[_Entry]:
    terms, entries = _loads(dynamics, limit.joint), []
    sizes = [*(limit.moment or (np.inf,) * 3), *(limit.force or (np.inf,) * 3)]
    for i, (size, what) in enumerate(
        zip(sizes, [f"{kind} {a}" for kind in ("moment", "force") for a in "xyz"], strict=True)
    ):
        if np.isfinite(size):
            name = f"{what} in {limit.joint}"
            entries.append(_Entry(name, _component(terms, i), (-size, size)))
    return entries


def _flexible_joint(dynamics: PathDynamics, limit: FlexibleJointLimit) -> list[_Entry]:
    terms = _loads(dynamics, limit.joint)
    part = next(part for part in dynamics.eom.system.tree if part.joint_name == limit.joint)
    axis = getattr(part.joint, "axis", None)
    if axis is None or len(part.joint.speeds) != 1:
        raise ModelError(f"FlexibleJointLimit of '{limit.joint}': expected a revolute or prismatic joint")
    numbers = {key: np.asarray(number.value) for key, number in part.joint.numbers().items()}
    direction = np.asarray(part.joint.subspace(np.zeros(1), numbers), dtype=float)[:, 0]  # rotation, then translation
    size = float(limit.torque or 0.0)

    def along(motion: PathMotion) -> np.ndarray:
        return np.einsum("nij,i->nj", terms(motion), direction)

    return [_Entry(f"transmission of {limit.joint}", along, (-size, size))]


_FORMS: dict[type, Callable[[PathDynamics, Any], list[_Entry]]] = {
    TorqueLimits: _torques,
    SpeedLimits: _speeds,
    AccelerationLimits: _speeds,
    GraspLimit: _grasp,
    FlexibleJointLimit: _flexible_joint,
}
