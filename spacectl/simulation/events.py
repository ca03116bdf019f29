"""Guards: named expressions whose sign changes are located during a run, turned into one CasADi function.

`closed_loop` reports each crossing as an event, and stops at the guards that ask for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from spacectl.core.accessor import Accessor, as_column, evaluate_rule
from spacectl.core.array import as_array
from spacectl.core.errors import ModelError
from spacectl.core.labels import Labels

__all__ = ["Event", "Guard", "build_guards"]


@dataclass(frozen=True, kw_only=True)
class Guard:
    """A quantity to watch: an event happens where it passes through zero.

    Rising means from below zero to zero or above, falling from above zero to zero or below.

    Parameters
    ----------
    name : str
        Shown in events.
    expression : callable
        Receives an accessor s and returns one number: entries by name (``s["elbow"]``: states, then inputs, then
        memory), vectors ``s.x``, ``s.u``, ``s.z``, ``s.p``, time ``s.t``.
    direction : {0, 1, -1}
        Both ways, rising only, or falling only.
    is_terminal : bool
        Whether the simulation ends there.

    Examples
    --------
    >>> Guard(name="elbow stop", expression=lambda s: s["elbow"] - 1.0, direction=1).is_terminal
    True
    """

    name: str
    expression: Callable[[Accessor], Any]
    direction: int = 0
    is_terminal: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ModelError(f"guard: name is {self.name!r}, expected a text such as 'elbow stop'")
        if not callable(self.expression):
            raise ModelError(
                f"guard '{self.name}': expression is {self.expression!r}, expected lambda s: s['elbow'] - 1.0"
            )
        if isinstance(self.direction, bool) or self.direction not in (-1, 0, 1):
            raise ModelError(
                f"guard '{self.name}': direction is {self.direction!r}, expected 0, 1 (rising) or -1 (falling)"
            )


@dataclass(frozen=True, kw_only=True)
class Event:
    """A guard's crossing.

    Parameters
    ----------
    time : float
        When [s]; on the side where the sign has changed.
    name : str
        The guard's name.
    state : array, shape (n_x,)
        The state x there.
    """

    time: float
    name: str
    state: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "state", as_array(self.state, None, f"event '{self.name}': state"))


def build_guards(
    guards: Sequence[Guard], states: Labels, inputs: Labels, memory: Labels, n_p: int
) -> tuple[ca.Function, bool]:
    """One function ``(t, x, u, z, p) -> g`` of all guards, and whether any of them depends on u.

    Parameters
    ----------
    guards : sequence of Guard
        With different names.
    states, inputs, memory : Labels
        Names of x, u and z.
    n_p : int
        Number of run-time parameters.
    """
    for guard in guards:
        if not isinstance(guard, Guard):
            raise ModelError(f"guards: got {guard!r}, expected Guard(name=..., expression=...)")
    names = Labels(tuple(guard.name for guard in guards), (), "guard").names
    t = ca.SX.sym("t")
    labels = {"x": states, "u": inputs, "z": memory}
    symbols = {letter: (ca.SX.sym(letter, len(item)), item) for letter, item in labels.items()}
    p = ca.SX.sym("p", n_p)
    s = Accessor({**symbols, "p": (p, Labels())}, t)
    values = []
    for name, guard in zip(names, guards, strict=True):
        what = f"guard '{name}'"
        values.append(as_column(evaluate_rule(guard.expression, s, what), 1, what))
    g = ca.densify(ca.vertcat(*values))
    x, u, z = (symbol for symbol, _ in symbols.values())
    function = ca.Function("guards", [t, x, u, z, p], [g], ["t", "x", "u", "z", "p"], ["g"])
    return function, bool(u.numel() and ca.depends_on(g, u))
