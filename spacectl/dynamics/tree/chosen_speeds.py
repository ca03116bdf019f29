"""User-defined speeds (003 Eq 2.1): ``w = Y(t, q) v + Z(t, q)`` replaces joint and modal speeds v.

Kane's equations have the same form for every choice; a suitable one makes them short. Functions of v are
composed with ``v = Y^-1 (w - Z)``, and the equations are projected by ``Y^-T``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import casadi as ca

from spacectl.core.errors import ModelError, unknown_name
from spacectl.core.labels import Labels
from spacectl.dynamics.tree.terms import Terms

__all__ = ["ChosenSpeeds"]


class ChosenSpeeds:
    """A change of speeds, on the symbols of some terms.

    Parameters
    ----------
    terms : Terms
        In joint and modal speeds v.
    rules : mapping of str to (name, NamedExpression, unit)
        For each speed that is replaced, the new one, linear in v; the others are unchanged.

    Raises
    ------
    ModelError
        If a rule is not linear in the speeds, or does not depend on the one it replaces.
    """

    def __init__(self, terms: Terms, rules: Mapping[str, Any]):
        self.terms = terms
        tree, v = terms.tree, terms.v
        names, units = list(tree.speeds.names), list(tree.speeds.units)
        values = list(ca.vertsplit(v)) if v.shape[0] else []
        for old, (name, rule, unit) in rules.items():
            if old not in tree.speeds.names:
                raise ModelError(f"speeds: {unknown_name('speed', old, tree.speeds.names)}")
            place = tree.speeds.index(old)
            expression = rule(self._quantity)
            if expression.shape != (1, 1):
                raise ModelError(f"speed '{name}': its rule gives {expression.shape[0]} values, expected one")
            derivative = ca.jacobian(expression, v)
            if ca.depends_on(derivative, v):
                raise ModelError(f"speed '{name}': its rule is not linear in the speeds (003 Eq 2.1)")
            if not derivative[0, place].nnz():
                raise ModelError(f"speed '{name}' replaces '{old}', but its rule does not depend on '{old}'")
            names[place], units[place], values[place] = name, unit, expression
        self.labels = Labels(tuple(names), tuple(units), "speed")
        self.w, self.w_dot = ca.SX.sym("w", v.shape[0]), ca.SX.sym("w_dot", v.shape[0])
        self.rules = ca.vertcat(*values) if values else ca.SX(0, 1)
        self.Y = ca.densify(ca.jacobian(self.rules, v))
        (self.Z,) = ca.substitute([self.rules], [v], [0 * v])
        self.Y_inverse = ca.densify(ca.solve(self.Y, ca.SX(ca.DM.eye(v.shape[0])))) if values else self.Y
        self.v_of_w = self.Y_inverse @ (self.w - self.Z)

    def _quantity(self, kind: str, name: str) -> Any:
        tree = self.terms.tree
        if kind == "time":
            return self.terms.t
        if kind == "state" and name in tree.coordinates.names:
            return self.terms.q[tree.coordinates.index(name)]
        if kind == "state" and name in tree.speeds.names:
            return self.terms.v[tree.speeds.index(name)]
        raise ModelError(f"a rule for speeds reads {kind} '{name}'; use coordinates, speeds and time only")

    @cached_property
    def M(self) -> Any:
        """``Y^-T M Y^-1``."""
        return self.Y_inverse.T @ self.terms.M @ self.Y_inverse

    @cached_property
    def rate_bias(self) -> Any:
        """``Y_dot v + Z_dot``: the rate of the new speeds if the old ones are constant."""
        return ca.jtimes(self.rules, self.terms.q, self.terms.q_dot) + ca.jacobian(self.rules, self.terms.t)

    @cached_property
    def h(self) -> Any:
        """``Y^-T h - M_w (Y_dot v + Z_dot)``."""
        return self.Y_inverse.T @ self.terms.h - self.M @ self.rate_bias

    @cached_property
    def B_tau(self) -> Any:
        """``Y^-T B_tau``."""
        return self.Y_inverse.T @ self.terms.B_tau

    def compose(self, expressions: list[Any]) -> list[Any]:
        """Rewrite expressions of v and v_dot as expressions of w and w_dot (which takes the symbol v_dot's place)."""
        terms = self.terms
        v_dot = self.Y_inverse @ (self.w_dot - self.rate_bias)
        found = ca.substitute(expressions, [terms.v_dot], [v_dot])
        found = ca.substitute(found, [terms.v], [self.v_of_w])
        return list(found)
