"""Switch constraints on and off by run-time parameters: one set of equations and one native code for all stages.

Each constraint gets a parameter ``name.active``. If it is zero, its rows of J and gamma and its columns of E
are zero too; the pivoted solvers omit zero rows, with zero multipliers. The coordinates never change (000).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from spacectl.core.errors import ModelError, unknown_name
from spacectl.core.parameters import Parameters
from spacectl.dynamics.constraints.terms import ConstraintTerms, rigid_compliances
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.dynamics.waist.functions import LazyFunctions
from spacectl.model.constraints import AnyConstraint

__all__ = [
    "active_numbers",
    "active_rows",
    "compliances_of",
    "constraints_of",
    "is_switchable",
    "rows_of",
    "stage_numbers",
    "switch_equations",
]

Solved = Callable[[ca.Function, str], ca.Function]  #: (terms, name of the result) -> x_dot, v_dot or lam


def switch_equations(eom: EquationsOfMotion, constraints: ConstraintTerms, solved: Solved) -> EquationsOfMotion:
    """Return equations with one more parameter for each constraint, ``name.active``: 1 if active, else 0.

    Parameters
    ----------
    eom : EquationsOfMotion
        Equations with all constraints that may become active.
    constraints : ConstraintTerms
        Their equations.
    solved : function
        Returns accelerations or multipliers from the terms; it must accept zero rows of J.
    """
    old, items = eom.parameters, constraints.constraints
    names = tuple(f"{item.name}.active" for item in items)
    taken = next((name for name in names if name in old.names), None)
    if taken is not None:
        raise ModelError(f"form_equations: parameter '{taken}' exists already; rename its owner")
    parameters = Parameters(
        names=old.names + names,
        shapes=old.shapes + ((),) * len(names),
        values=np.concatenate([old.values, np.ones(len(names))]),
        fixed=tuple(old.fixed) + (False,) * len(names),
    )
    rows = [k for k, item in enumerate(items) for _ in range(item.n_rows)]
    positions = [k for k, item in enumerate(constraints.rows) if item.position is not None for _ in item.names]
    frames = [k for k, item in enumerate(items) if item.has_side]
    build = _Switched(eom.functions, len(old), len(names), rows, positions, frames)
    return replace(eom, parameters=parameters, functions=LazyFunctions(build.all(solved)))


class _Switched:
    """Functions of the longer vector p, with rows of inactive constraints replaced by zeros."""

    def __init__(
        self,
        functions: Mapping[str, ca.Function],
        n_p: int,
        n_more: int,
        rows: list[int],
        positions: list[int],
        frames: list[int],
    ):
        self.functions, self.n_p, self.n_more = functions, n_p, n_more
        self.rows, self.positions, self.frames = rows, positions, frames

    def all(self, solved: Solved) -> dict[str, Callable[[], ca.Function]]:
        """Return builders of all functions."""
        built: dict[str, Callable[[], ca.Function]] = {name: self._plain(name) for name in self.functions}
        masks = {
            "terms": {"J": "rows", "gamma": "column", "E": "columns"},
            "constraints": {"position": "position", "speed": "column", "J": "rows", "J_position": "position", "gamma": "column"},
            "projection": {"position": "position", "speed": "column", "J": "rows", "J_position": "position"},
        }  # fmt: skip
        for name, kinds in masks.items():
            built[name] = lambda name=name, kinds=kinds: self._masked(name, kinds)  # type: ignore[misc]
        built["gaps"] = lambda: self._widened("constraints", lambda key, value, _: value, ("position", "speed"))
        built["sides"] = lambda: self._widened("sides", self._sides)
        built["residual"] = lambda: self._residual(built["constraints"]())
        built["x_dot"] = lambda: solved(built["terms"](), "x_dot")
        built["v_dot"] = lambda: solved(built["terms"](), "v_dot")
        built["multipliers"] = lambda: solved(built["terms"](), "lam")
        built["outputs"] = lambda: self._outputs(solved(built["terms"](), "x_dot"))
        return built

    def _plain(self, name: str) -> Callable[[], ca.Function]:
        return lambda: self._widened(name, lambda key, value, _: value)

    def _widened(self, name: str, change: Callable[..., Any], wanted: tuple[str, ...] | None = None) -> ca.Function:
        """Return a function of the longer p; `change` may alter each result."""
        f = self.functions[name]
        kind = ca.SX if f.is_a("SXFunction") else ca.MX
        keys = f.name_in()
        symbols = {key: kind.sym(key, *f.size_in(i)) for i, key in enumerate(keys)}
        symbols["p"] = kind.sym("p", self.n_p + self.n_more)
        inner = [symbols[key][: self.n_p] if key == "p" else symbols[key] for key in keys]
        results = dict(zip(f.name_out(), f.call(inner), strict=True))
        active = symbols["p"][self.n_p :]
        names = [key for key in f.name_out() if wanted is None or key in wanted]
        changed = [ca.densify(change(key, results[key], active)) for key in names]
        return ca.Function(f.name(), [symbols[key] for key in keys], changed, keys, names)

    def _masked(self, name: str, kinds: Mapping[str, str]) -> ca.Function:
        def change(key: str, value: Any, active: Any) -> Any:
            kind = kinds.get(key)
            if kind is None:
                return value
            places = self.positions if kind == "position" else self.rows
            factors = ca.vertcat(*[active[k] for k in places]) if places else value[:, :0].T
            if kind == "columns":
                return _where(ca.repmat(factors.T, value.shape[0], 1), value)
            return _where(ca.repmat(factors, 1, value.shape[1]), value)

        return self._widened(name, change)

    def _sides(self, key: str, value: Any, active: Any) -> Any:
        """Replace the sides of inactive constraints by 1, the intended side."""
        factors = ca.vertcat(*[active[k] for k in self.frames]) if self.frames else value
        return 1.0 + _where(factors, value - 1.0)

    def _residual(self, constraints: ca.Function) -> ca.Function:
        symbols = [ca.SX.sym(key, *constraints.size_in(i)) for i, key in enumerate(constraints.name_in())]
        position, speed = constraints.call(symbols)[:2]
        return ca.Function("residual", symbols, [ca.vertcat(position, speed)], constraints.name_in(), ["g"])

    def _outputs(self, x_dot: ca.Function) -> ca.Function:
        inner = self.functions["outputs_inner"]
        t, x, u, p = (ca.MX.sym(key, *x_dot.size_in(i)) for i, key in enumerate(("t", "x", "u", "p")))
        n_v = inner.size1_in(3)
        v_dot = x_dot(t, x, u, p)[x.shape[0] - n_v :] if inner.jac_sparsity(0, 3).nnz() else ca.MX.zeros(n_v)
        y = inner(t, x, u, v_dot, p[: self.n_p])
        return ca.Function("outputs", [t, x, u, p], [y], ["t", "x", "u", "p"], ["y"])


def _where(is_active: Any, value: Any) -> Any:
    """Return entries of active constraints, else zero; a product would be NaN where an inactive constraint is not defined."""
    return ca.if_else(is_active, value, 0.0) if value.numel() else value


def constraints_of(eom: EquationsOfMotion) -> tuple[AnyConstraint, ...]:
    """Return the constraints of the equations, in order."""
    known = {item.name: item for item in getattr(eom.system, "constraints", ())}
    found: dict[str, AnyConstraint] = {}
    for row in eom.constraint_rows:
        name = row if row in known else row.rsplit(".", 1)[0]
        found[name] = known[name]
    return tuple(found.values())


def compliances_of(eom: EquationsOfMotion) -> tuple[float, ...]:
    """Return the compliance of each constraint equation (`dynamics.constraints.sharing`)."""
    return rigid_compliances(constraints_of(eom))


def is_switchable(eom: EquationsOfMotion) -> bool:
    """Return whether the constraints of the equations can be switched by parameters."""
    return all(f"{item.name}.active" in eom.parameters.names for item in constraints_of(eom))


def rows_of(eom: EquationsOfMotion, names: Iterable[str]) -> list[int]:
    """Return the indices of the equations of the named constraints."""
    wanted, at = set(names), 0
    places: list[int] = []
    for item in constraints_of(eom):
        if item.name in wanted:
            places += range(at, at + item.n_rows)
        at += item.n_rows
    return places


def active_rows(eom: EquationsOfMotion, p: Any = None) -> np.ndarray:
    """Return whether each constraint equation is active for the parameters p, shape (m,)."""
    if not is_switchable(eom):
        return np.ones(len(eom.constraint_rows), dtype=bool)
    items = constraints_of(eom)
    acts = [bool(np.all(eom.parameters.get(f"{item.name}.active", p) != 0.0)) for item in items]
    return np.repeat(acts, [item.n_rows for item in items]) if items else np.zeros(0, dtype=bool)


def active_numbers(eom: EquationsOfMotion, active: Iterable[str], p: Any = None) -> np.ndarray:
    """Return the parameters p with only the named constraints active.

    Raises
    ------
    ModelError
        For an unknown constraint, and for equations whose constraints cannot be switched.
    """
    names = [item.name for item in constraints_of(eom)]
    chosen = tuple(active)
    for name in chosen:
        if name not in names:
            raise ModelError(f"active names an {unknown_name('constraint', name, names)}")
    if not is_switchable(eom):
        raise ModelError(
            f"system '{eom.system.name}': all its constraints are always active; "
            "use form_equations(system, switchable=True)"
        )
    vector = np.array(eom.parameters.of(p))
    for name in names:
        vector[eom.parameters.where(f"{name}.active")] = 1.0 if name in chosen else 0.0
    return vector


def stage_numbers(eom: EquationsOfMotion, stage: Any, p: Any = None) -> np.ndarray:
    """Return the parameters p of a stage: an object with `active` and `p` (changes), or the names of active constraints."""
    names, changes = getattr(stage, "active", stage), getattr(stage, "p", {})
    vector = eom.parameters.vector(changes, p)
    if changes:
        eom.check_parameters(vector)
    return active_numbers(eom, names, vector)
