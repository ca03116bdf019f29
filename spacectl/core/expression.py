"""A user's rule of time as an expression with its rates: ``lambda s: 0.1 * casadi.sin(s.t)``.

It is compared and hashed by its expression, so that a description which holds one is still data; it travels to
workers, but not to files.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca

from spacectl.core.accessor import Accessor, as_column, evaluate_rule
from spacectl.core.errors import ModelError

__all__ = ["TimeExpression"]


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
    >>> TimeExpression(lambda s: 2.0 * s.t, "slide").text
    '(2*t)'
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
        self.text = str(value)

    def __call__(self, t: Any) -> tuple[Any, Any, Any]:
        """Value, rate and second rate at a time (number or symbol)."""
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


def _restore(serialized: str) -> TimeExpression:
    """How a worker process gets the expression back."""
    function = ca.Function.deserialize(serialized)
    t = ca.SX.sym("t")
    found = TimeExpression.__new__(TimeExpression)
    found._build(t, function(t)[0])
    return found
