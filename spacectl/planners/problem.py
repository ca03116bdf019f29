"""`Problem`: an optimal-control problem as data: equations, boundary conditions, cost and constraints.

`plan_collocation` solves it. `Phases` joins several problems in sequence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spacectl.core.array import as_array
from spacectl.core.errors import ModelError, ShapeError, as_number
from spacectl.core.expression import NamedExpression
from spacectl.core.labels import Labels
from spacectl.dynamics.waist.equations import EquationsOfMotion, require_equations

__all__ = ["Condition", "Phases", "Problem"]

Interval = tuple[float, float]
FREE: Interval = (-np.inf, np.inf)


@dataclass(frozen=True, kw_only=True)
class Condition:
    """A constraint on an expression of named quantities: ``low <= rule <= high``.

    Parameters
    ----------
    name : str
        Shown in messages and arcs.
    rule : callable
        ``lambda s: s["elbow"] + s["wrist"]``: a value or a list of values. s provides states by name,
        ``s.t``, ``s.position("arm.tip")``, ``s.velocity``, ``s.angular_velocity``, ``s.rotation`` (root
        axes), ``s.momentum()``, ``s.energy()``, ``s.output(name)``; path conditions may also use
        ``s.input(name)`` and ``s.input_rate(name)``.
    low, high : float
        Bounds, equal for an equation; default 0.
    """

    name: str
    rule: Any
    low: float = 0.0
    high: float = 0.0

    def __post_init__(self) -> None:
        what = f"condition '{self.name}'"
        object.__setattr__(self, "rule", NamedExpression(self.rule, what))
        object.__setattr__(self, "low", as_number(self.low, f"{what}: low"))
        object.__setattr__(self, "high", as_number(self.high, f"{what}: high"))
        if not self.low <= self.high:
            raise ModelError(f"{what}: low = {self.low:g} is above high = {self.high:g}; exchange them")


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """A maneuver to be planned.

    Minimise ``time_weight T + integral of cost_rate dt + cost_end`` subject to the equations of motion, the
    limits of the inputs, and the constraints below.

    Parameters
    ----------
    eom : EquationsOfMotion
        The equations of motion; the system may be flexible and constrained.
    start, end : mapping of state names, or array (n_x,)
        For each state a number (fixed), a pair (low, high), or None (free). States omitted from `start` have
        their rest values (as in `simulate`); those omitted from `end` are free. An array fixes all of them.
    duration : float or pair
        Fixed duration, or bounds of a free duration [s].
    time_weight : float
        Weight of the duration in the cost; 1 for minimum time, 0 for none.
    cost_rate : callable, optional
        Integrand of the cost, ``lambda s: s.input("elbow") ** 2`` (see `Condition`).
    cost_end : callable, optional
        Cost of the final state.
    bounds : mapping of state names to pairs
        Bounds of states along the motion (speed limits, travel of joints).
    limits : mapping of input names to pairs
        Limits of inputs that are tighter than those of the system (a reserve for feedback).
    rate_limits : mapping of input names to numbers or pairs
        Bounds on the rates of smooth inputs, which become states. Use ``inf`` for a rate that only
        `cost_rate` penalises.
    inputs_start, inputs_end : mapping of input names
        Boundary values of smooth inputs, as for `start`, but free if omitted.
    path : tuple of Condition
        Path conditions, imposed along the whole motion.
    conditions_start, conditions_end : tuple of Condition
        Boundary conditions.
    p : array or mapping, optional
        Run-time parameters; default the system's own.
    name : str
        Shown in results.
    """

    eom: EquationsOfMotion
    start: Any = field(default_factory=dict)
    end: Any = field(default_factory=dict)
    duration: Any = (0.0, np.inf)
    time_weight: float = 1.0
    cost_rate: Any = None
    cost_end: Any = None
    bounds: Mapping[str, Interval] = field(default_factory=dict)
    limits: Mapping[str, Interval] = field(default_factory=dict)
    rate_limits: Mapping[str, Any] = field(default_factory=dict)
    inputs_start: Mapping[str, Any] = field(default_factory=dict)
    inputs_end: Mapping[str, Any] = field(default_factory=dict)
    path: tuple[Condition, ...] = ()
    conditions_start: tuple[Condition, ...] = ()
    conditions_end: tuple[Condition, ...] = ()
    p: Any = None
    name: str = "maneuver"

    def __post_init__(self) -> None:
        require_equations(self.eom, "Problem")
        eom = self.eom
        set_field = object.__setattr__
        set_field(self, "start", _named_values(eom.labels.x, self.start, "start"))
        set_field(self, "end", _named_values(eom.labels.x, self.end, "end"))
        set_field(self, "bounds", _named_pairs(eom.labels.x, self.bounds, "bounds"))
        set_field(self, "limits", _named_pairs(eom.labels.u, self.limits, "limits"))
        set_field(self, "rate_limits", _named_pairs(eom.labels.u, self.rate_limits, "rate_limits", symmetric=True))
        for key in ("inputs_start", "inputs_end"):
            found = _named_values(eom.labels.u, getattr(self, key), key)
            unknown = [name for name in found if name not in self.rate_limits]
            if unknown:
                raise ModelError(
                    f"problem: {key} names '{unknown[0]}', which is not a smooth input; add it to rate_limits"
                )
            set_field(self, key, found)
        set_field(self, "duration", _pair(self.duration, "duration"))
        if self.duration[0] < 0.0 or self.duration[1] <= 0.0:
            raise ModelError(f"problem: duration {self.duration} s; expected positive times")
        for key in ("path", "conditions_start", "conditions_end"):
            set_field(self, key, _conditions(getattr(self, key), key))
        for key in ("cost_rate", "cost_end"):
            set_field(self, key, _cost(getattr(self, key), key))
        set_field(self, "time_weight", as_number(self.time_weight, "problem: time_weight"))
        set_field(self, "p", _parameters(eom, self.p))
        self.input_limits()

    @property
    def phases(self) -> tuple[Problem, ...]:
        """The problem itself, so that `Problem` and `Phases` have one interface."""
        return (self,)

    def input_limits(self) -> tuple[np.ndarray, np.ndarray]:
        """Return lower and upper limits of the inputs, each of shape (n_u,)."""
        low, high = self.eom.limits(self.p)
        for name, pair in self.limits.items():
            i = self.eom.labels.u.index(name)
            if pair[0] < low[i] or pair[1] > high[i]:
                raise ModelError(
                    f"problem '{self.name}': limits of '{name}' are {pair}, wider than the actuator's "
                    f"({low[i]:g}, {high[i]:g}); change the actuator instead"
                )
            low[i], high[i] = pair
        return low, high


@dataclass(frozen=True, kw_only=True, eq=False)
class Phases:
    """Several problems in sequence: each starts from the final state of the previous one.

    States of equal names are continuous, and costs are added. The equations may differ (a payload released, a
    latch closed). Only the first phase may have a `start`.

    Parameters
    ----------
    phases : tuple of Problem
        In order.
    name : str
        Shown in results.
    """

    phases: tuple[Problem, ...]
    name: str = "maneuver"

    def __post_init__(self) -> None:
        object.__setattr__(self, "phases", tuple(self.phases))
        if not self.phases or not all(isinstance(item, Problem) for item in self.phases):
            raise ModelError(f"phases '{self.name}': expected problems, got {self.phases!r}")
        late = [item.name for item in self.phases[1:] if item.start]
        if late:
            raise ModelError(
                f"phases '{self.name}': '{late[0]}' has a start, but it starts from the end of the previous phase"
            )


def _pair(value: Any, what: str, *, symmetric: bool = False) -> Interval:
    """Convert a number (fixed value or symmetric bounds), a pair or None to a pair."""
    if value is None:
        return FREE
    if np.ndim(value) == 0:
        number = as_number(value, f"problem: {what}")
        low, high = (-number, number) if symmetric else (number, number)
    elif np.shape(value) == (2,):
        low, high = (as_number(item, f"problem: {what}") for item in value)
    else:
        raise ShapeError(f"problem: {what} is {value!r}; expected a number, a pair (low, high) or None")
    if not low <= high:
        raise ModelError(f"problem: {what} has low = {low:g} above high = {high:g}")
    return (low, high)


def _named_pairs(labels: Labels, values: Any, what: str, *, symmetric: bool = False) -> dict[str, Interval]:
    return {
        labels.names[labels.index(name)]: _pair(value, f"{what} of '{name}'", symmetric=symmetric)
        for name, value in dict(values).items()
    }


def _named_values(labels: Labels, values: Any, what: str) -> dict[str, Interval]:
    if isinstance(values, Mapping):
        return _named_pairs(labels, values, what)
    vector = np.asarray(as_array(values, (len(labels),), f"problem: {what}"))
    return {name: (float(value), float(value)) for name, value in zip(labels.names, vector, strict=True)}


def _conditions(values: Any, what: str) -> tuple[Condition, ...]:
    found = tuple(values)
    for item in found:
        if not isinstance(item, Condition):
            raise ModelError(f"problem: {what} holds {item!r}, expected Condition(name=, rule=, low=, high=)")
    return found


def _cost(rule: Callable[[Any], Any] | None, what: str) -> NamedExpression | None:
    if rule is None:
        return None
    found = NamedExpression(rule, f"problem: {what}")
    if found.size != 1:
        raise ShapeError(f"problem: {what} has {found.size} values, expected 1")
    return found


def _parameters(eom: EquationsOfMotion, p: Any) -> np.ndarray:
    return eom.p if p is None else eom.check_parameters(p)
