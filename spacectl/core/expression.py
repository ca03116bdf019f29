"""Users' rules as expressions: of time (``lambda s: 0.1 * casadi.sin(s.t)``) or of named quantities of a system.

Expressions are compared and hashed by content, so that a description with such a field is still data. They
can be pickled, but not written to files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import casadi as ca

from spacectl.core.accessor import Accessor, as_column, evaluate_rule
from spacectl.core.errors import ModelError

__all__ = ["NamedExpression", "Recorder", "TimeExpression"]


class TimeExpression:
    """A scalar function of time, with its first and second rates.

    Parameters
    ----------
    rule : callable, number or TimeExpression
        ``lambda s: ...`` with ``s.t`` the time [s], written with casadi functions.
    what : str
        For messages.

    Examples
    --------
    >>> TimeExpression(lambda s: 2.0 * s.t, "slide")(3.0)  # value, rate, second rate
    (6.0, 2.0, 0.0)
    """

    def __init__(self, rule: Callable[[Any], Any] | float | TimeExpression, what: str):
        t = ca.SX.sym("t")
        if isinstance(rule, TimeExpression):
            value = rule._function(t)[0]
        elif callable(rule):
            value = as_column(evaluate_rule(rule, Accessor({}, t), what), 1, what)
        elif isinstance(rule, (int, float)):
            value = as_column(float(rule), 1, what)
        else:
            raise ModelError(f"{what} is {rule!r}, expected a function of time: lambda s: 0.1 * casadi.sin(s.t)")
        self._build(t, value)

    def _build(self, t: Any, value: Any) -> None:
        rate = ca.gradient(value, t)
        self._function = ca.Function("rule", [t], [value, rate, ca.gradient(rate, t)])
        self.text = _exact_text(str(value), self._function)

    def __call__(self, t: Any) -> tuple[Any, Any, Any]:
        """Return the value, rate and second rate at a time (number or symbol)."""
        value, rate, second = self._function(t)
        if isinstance(t, (ca.SX, ca.MX)):
            return value, rate, second
        return float(value), float(rate), float(second)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TimeExpression) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"TimeExpression({self.text})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._function.serialize(),)


def _exact_text(text: str, function: ca.Function) -> str:
    """Add the constants that six digits do not resolve to `text`, so that different constants give different texts."""
    constants = [
        float(function.instruction_constant(k))
        for k in range(function.n_instructions())
        if function.instruction_id(k) == ca.OP_CONST
    ]
    inexact = [repr(value) for value in constants if float(f"{value:.6g}") != value]
    return f"{text} with {', '.join(inexact)}" if inexact else text


def _restore(serialized: str) -> TimeExpression:
    """Rebuild the expression in a worker process."""
    function = ca.Function.deserialize(serialized)
    t = ca.SX.sym("t")
    found = TimeExpression.__new__(TimeExpression)
    found._build(t, function(t)[0])
    return found


#: quantities of a rule that refer to a frame
FRAME_QUANTITIES = "position", "velocity", "angular_velocity", "rotation"


class Recorder:
    """The argument of a rule of named quantities: each quantity is a symbol, created on first use.

    ``s["elbow"]`` is a coordinate or speed, ``s.t`` the time, ``s.number("length")`` a parameter of the rule,
    ``s.position("arm.tip")``, ``s.velocity(...)``, ``s.angular_velocity(...)`` (root axes, relative to the root),
    ``s.rotation("arm.tip")`` (matrix from frame to root axes), ``s.momentum()`` (angular about the root's origin, linear).
    Planners also offer ``s.input("elbow")``, ``s.input_rate("elbow")``, ``s.output("camera.x")`` and ``s.energy()``.
    """

    def __init__(self) -> None:
        self.symbols: dict[tuple[str, str], Any] = {}

    def _symbol(self, kind: str, name: str, size: int = 1) -> Any:
        if not isinstance(name, str):
            raise ModelError(f"a {kind} is requested by {name!r}; expected its name")
        return self.symbols.setdefault((kind, name), ca.SX.sym(f"{kind}:{name}", size))

    @property
    def t(self) -> Any:
        """Time [s]."""
        return self._symbol("time", "t")

    def __getitem__(self, name: str) -> Any:
        return self._symbol("state", name)

    def number(self, name: str) -> Any:
        """Return one of the rule's own run-time parameters."""
        return self._symbol("number", name)

    def position(self, frame: str) -> Any:
        """Return the position of a frame's origin [m]."""
        return self._symbol("position", frame, 3)

    def velocity(self, frame: str) -> Any:
        """Return the velocity of a frame's origin [m/s]."""
        return self._symbol("velocity", frame, 3)

    def angular_velocity(self, frame: str) -> Any:
        """Return the angular velocity of a frame [rad/s]."""
        return self._symbol("angular_velocity", frame, 3)

    def rotation(self, frame: str) -> Any:
        """Return the rotation matrix from a frame's axes to root axes."""
        return ca.reshape(self._symbol("rotation", frame, 9), 3, 3).T

    def momentum(self) -> Any:
        """Return the momentum of the system: angular about the root's origin [N m s], linear [N s]."""
        return self._symbol("momentum", "", 6)

    def input(self, name: str) -> Any:
        """Return an input (in planners; constraints of a system have none)."""
        return self._symbol("input", name)

    def input_rate(self, name: str) -> Any:
        """Return the rate of an input whose rate is limited (in planners)."""
        return self._symbol("input_rate", name)

    def output(self, name: str) -> Any:
        """Return an output y of the equations (in planners)."""
        return self._symbol("output", name)

    def energy(self) -> Any:
        """Return the kinetic plus potential energy [J] (in planners)."""
        return self._symbol("energy", "")


class NamedExpression:
    """A rule of named quantities: a column of values, and the quantities it depends on.

    Parameters
    ----------
    rule : callable or NamedExpression
        ``lambda s: s["elbow"] - s.t``; see `Recorder` for what s offers.
    what : str
        For messages.

    Examples
    --------
    >>> NamedExpression(lambda s: s["a"] - s["b"], "difference").needs
    (('state', 'a'), ('state', 'b'))
    """

    def __init__(self, rule: Callable[[Any], Any] | NamedExpression, what: str):
        if isinstance(rule, NamedExpression):
            self._set(rule.needs, rule._function)
            return
        if not callable(rule):
            raise ModelError(f"{what} is {rule!r}, expected a function: lambda s: s['elbow'] - s.t")
        s = Recorder()
        value = evaluate_rule(rule, s, what)  # type: ignore[arg-type]
        parts = list(value) if isinstance(value, (list, tuple)) else [value]
        column = ca.vertcat(*[ca.vec(ca.SX(part)) for part in parts])
        column = as_column(column, column.shape[0], what)
        self._set(tuple(s.symbols), ca.Function("rule", list(s.symbols.values()), [column]))

    def _set(self, needs: tuple[tuple[str, str], ...], function: ca.Function) -> None:
        self.needs, self._function = needs, function
        self.size = int(function.size1_out(0))
        symbols = [ca.SX.sym(f"{kind}:{name}", function.size1_in(i)) for i, (kind, name) in enumerate(needs)]
        self.text = _exact_text(str(function(*symbols)), function)

    def renamed(self, names: Mapping[str, str]) -> NamedExpression:
        """Return the same rule with some frames under other names."""
        found = NamedExpression.__new__(NamedExpression)
        needs = ((kind, names.get(name, name) if kind in FRAME_QUANTITIES else name) for kind, name in self.needs)
        found._set(tuple(needs), self._function)
        return found

    def __call__(self, quantities: Callable[[str, str], Any]) -> Any:
        """Evaluate the rule; `quantities(kind, name)` supplies each quantity."""
        value = self._function(*[quantities(kind, name) for kind, name in self.needs])
        return value if self.needs else ca.SX(value["o0"] if isinstance(value, dict) else value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NamedExpression) and (other.text, other.needs) == (self.text, self.needs)

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"NamedExpression({self.text})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore_named, (self.needs, self._function.serialize())


def _restore_named(needs: tuple[tuple[str, str], ...], serialized: str) -> NamedExpression:
    """Rebuild the expression in a worker process."""
    found = NamedExpression.__new__(NamedExpression)
    found._set(needs, ca.Function.deserialize(serialized))
    return found
