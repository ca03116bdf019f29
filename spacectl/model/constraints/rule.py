"""`Constraint`: a rule of named quantities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spacectl.core.array import as_scalar
from spacectl.core.errors import ModelError
from spacectl.core.expression import NamedExpression
from spacectl.model.constraints.base import AnyConstraint, Quantities
from spacectl.model.description import Number, always, set_field

__all__ = ["Constraint"]


@dataclass(frozen=True, kw_only=True)
class Constraint(AnyConstraint):
    """A rule whose value must be zero: g(q, t), A(q, t) v - b(q, t), or any function of speeds Psi(q, v, t).

    Parameters
    ----------
    rule : function
        ``lambda s: s["elbow"] - 0.5 * s.t``, or a function that returns a list; s also provides
        ``s.position("arm.tip")``, ``s.velocity(...)``, ``s.angular_velocity(...)``, ``s.rotation(...)``,
        ``s.momentum()`` and ``s.number(...)``.
    values : mapping of str to float
        The rule's own run-time parameters.

    Examples
    --------
    >>> Constraint(name="guide", rule=lambda s: s.position("arm.tip")[1] - s.number("height"), values={"height": 0.5}).n_rows
    1
    """

    rule: Any
    values: Any = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        set_field(self, "rule", NamedExpression(self.rule, f"{self._what}: rule"))
        given = dict(self.values)
        pairs = tuple((str(key), as_scalar(value, f"{self._what}: value '{key}'")) for key, value in given.items())
        set_field(self, "values", pairs)
        for kind, name in self.rule.needs:
            if kind == "number" and name not in given:
                raise ModelError(f"{self._what}: its rule uses number('{name}'); give values={{'{name}': ...}}")

    @property
    def row_names(self) -> tuple[str, ...]:
        return ("",) if self.rule.size == 1 else tuple(str(k + 1) for k in range(self.rule.size))

    @property
    def needs(self) -> tuple[tuple[str, str], ...]:
        return self.rule.needs

    def equations(self, s: Quantities) -> Any:
        return self.rule(s.quantity)

    @property
    def structure(self) -> tuple[Any, ...]:
        return (self.rule,)

    def numbers(self) -> dict[str, Number]:
        return {key: always(value) for key, value in self.values}
