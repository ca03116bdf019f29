"""Combine guards into one function ``(t, x, u, z, p) -> g`` for the driver, native if possible.

Besides named states, inputs and memory, guards may use reactions (multipliers) and gaps of constraints, and outputs of the
equations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import casadi as ca
import numpy as np

from spacectl.codegen.binding import Tier, bind_casadi, bind_native
from spacectl.codegen.bound_function import BoundFunction
from spacectl.core.accessor import Accessor, as_column, evaluate_rule
from spacectl.core.errors import ModelError, unknown_name, warn
from spacectl.core.labels import Labels
from spacectl.dynamics.constraints.reactions import compile_reactions
from spacectl.dynamics.formulations.switching import compliances_of, constraints_of
from spacectl.dynamics.reactions.uniqueness import constraints_behind, shared_directions, shared_groups
from spacectl.dynamics.waist.equations import EquationsOfMotion
from spacectl.simulation.events import Guard

__all__ = ["GuardAccessor", "bind_guards", "warn_if_shared"]


class GuardAccessor(Accessor):
    """Give a guard's expression access to states, inputs and memory, and to quantities of the equations.

    ``s.reaction("latch.x")`` is the multiplier of a constraint equation [N or N m], ``s.gap("latch.x")`` its residual at
    position level, ``s.gap_rate("latch.x")`` at speed level (both also while it is inactive), ``s.output("tip.x")`` an output,
    ``s.since`` the time since the start of the run or stage (that of the part, in `combine_stages`) [s].
    """

    def __init__(self, vectors: Any, t: Any, entry: Any, source: _Source):
        super().__init__(vectors, t)
        self.since = t - entry
        self._source = source

    def reaction(self, row: str) -> Any:
        """Return the multiplier of a constraint equation; zero while it is inactive."""
        return self._source.pick("lam", row)

    def gap(self, row: str) -> Any:
        """Return the residual of a constraint equation at position level."""
        return self._source.pick("position", row)

    def gap_rate(self, row: str) -> Any:
        """Return the residual of a constraint equation at speed level."""
        return self._source.pick("speed", row)

    def output(self, name: str) -> Any:
        """Return an output of the equations that does not depend on accelerations."""
        return self._source.pick("y", name)


@dataclass
class _Source:
    """Provide symbols of the equations that guards may use."""

    eom: EquationsOfMotion
    t: Any
    x: Any
    p: Any
    lam: Any
    uses_reactions: bool = False

    def pick(self, kind: str, name: str) -> Any:
        eom = self.eom
        names = {"lam": eom.constraint_rows, "speed": eom.constraint_rows, "position": eom.position_rows}.get(
            kind, eom.labels.y.names
        )
        if name not in names:
            raise ModelError(unknown_name("output" if kind == "y" else "constraint row", name, names))
        place = names.index(name)
        if kind == "lam":
            self.uses_reactions = True
            return self.lam[place]
        if kind == "y":
            return eom.functions["sensors"](self.t, self.x, self.p)[place]
        rows = eom.functions["gaps" if "gaps" in eom.functions else "constraints"]
        values = rows(self.t, self.x[: eom.n_q], self.x[eom.n_q :], self.p)
        return values[0 if kind == "position" else 1][place]


def bind_guards(
    eom: EquationsOfMotion, guards: Sequence[Guard], memory: Labels, p: np.ndarray, tier: Tier, entry: Any
) -> tuple[BoundFunction, bool]:
    """Bind one function of all guards; return it and whether it depends on u.

    Parameters
    ----------
    eom : EquationsOfMotion
        The plant.
    guards : sequence of Guard
        Guards with different names.
    memory : Labels
        Names of the law's memory z.
    p : array, shape (n_p,)
        Run-time parameters.
    tier : str
        How the function is evaluated.
    entry : float, or array with one entry for each guard
        Start of the run (or of its stage, or of the stage of the guard's part) [s].
    """
    for guard in guards:
        if not isinstance(guard, Guard):
            raise ModelError(f"guards: got {guard!r}, expected Guard(name=..., expression=...)")
    made = _form_guards(eom, tuple(guards), memory, p.size)
    values = np.append(p, np.broadcast_to(entry, len(guards))) if made.uses_begin else p
    if not made.uses_reactions:
        return bind_casadi(made.rule, tier, p=values), made.uses_u
    if tier not in ("native", "data-driven"):
        return bind_casadi(_around_multipliers(eom, made.rule), tier, p=values), made.uses_u
    bound = bind_native(compile_reactions(eom.functions["terms"], compliances_of(eom), made.rule, values))
    bound.arguments[4][:] = values
    return bound, made.uses_u


def warn_if_shared(
    eom: EquationsOfMotion,
    guards: Sequence[Guard],
    memory: Labels,
    *,
    t: float,
    x: np.ndarray,
    p: np.ndarray,
    only: Sequence[Guard] | None = None,
) -> tuple[Guard, ...]:
    """Warn about each guard that depends on how redundant constraints share a load, unless their compliance is given.

    Parameters
    ----------
    eom, guards, memory, p
        As in `bind_guards`.
    t, x : float, array of shape (n_x,)
        Time and state at which redundancy is judged.
    only : sequence of Guard, optional
        Guards to examine; default: all.

    Returns
    -------
    tuple of Guard
        Guards about which a warning was issued.
    """
    made = _form_guards(eom, tuple(guards), memory, p.size)
    if not made.uses_reactions:
        return ()
    N = shared_directions(eom, t, x, p)
    if not np.any(N):
        return ()
    found = []
    for guard, rows in zip(guards, _shared_rows(made, N, (t, x, p)), strict=True):
        names = constraints_behind(eom, rows)
        unknown = [item.name for item in constraints_of(eom) if item.name in names and item.compliance is None]
        if unknown and (only is None or guard in only):
            warn(_SHARED.format(guard=guard.name, all=_quoted(names), unknown=_quoted(unknown)))
            found.append(guard)
    return tuple(found)


_SHARED = (
    "guard '{guard}' depends on reactions that are not unique: the equations of motion do not determine how a load is "
    "shared by constraints {all} (and joints of the tree); it is distributed by least work with equal compliances. Give "
    "compliance=... to {unknown}, guard a sum that does not depend on the distribution, or remove "
    "redundant constraints; find_uniqueness gives details"
)


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _shared_rows(made: _Guards, N: np.ndarray, at: tuple[Any, ...]) -> list[list[int]]:
    """Return for each guard the indices of the non-unique multipliers on whose distribution it depends.

    Sums that do not change with the distribution are excluded. For guards that are not linear in the reactions, the
    derivative is evaluated at multipliers of many magnitudes.
    """
    t, x, p = at
    u, z, n_p = (made.rule.numel_in(i) for i in (2, 3, 5))
    values = np.append(p, np.full(n_p - p.size, t))
    groups, rng = shared_groups(N), np.random.default_rng(0)
    found: list[set[int]] = [set() for _ in range(made.rule.numel_out(0))]
    for size in 10.0 ** np.arange(-3, 10):
        lam = size * rng.standard_normal(len(N))
        jacobian = np.nan_to_num(np.asarray(made.by_lam(t, x, np.zeros(u), np.zeros(z), lam, values).full()))
        for rows, gradient in zip(found, jacobian, strict=True):
            for group in groups:
                own = np.zeros(len(N))
                own[group] = gradient[group]
                if np.any(np.abs(own @ N) > 1e-9 * np.linalg.norm(own)):
                    rows.update(group)
    return [sorted(rows) for rows in found]


@dataclass(frozen=True)
class _Guards:
    """Hold guards as a function ``(t, x, u, z, p)`` or, if they use reactions, ``(t, x, u, z, lam, p)``.

    If they use ``s.since``, the start times follow the parameters in p.
    """

    rule: ca.Function
    uses_u: bool
    uses_begin: bool
    uses_reactions: bool

    @cached_property
    def by_lam(self) -> ca.Function:
        """Jacobian of the guards with respect to the multipliers, for guards that use reactions."""
        symbols = [ca.SX.sym(key, *self.rule.size_in(i)) for i, key in enumerate(self.rule.name_in())]
        return ca.Function("by_lam", symbols, [ca.densify(ca.jacobian(self.rule(*symbols), symbols[4]))])


@lru_cache(maxsize=128)
def _form_guards(eom: EquationsOfMotion, guards: tuple[Guard, ...], memory: Labels, n_p: int) -> _Guards:
    """Form the function once for each set of guards, so that a stage that is entered again needs no compilation."""
    names = Labels(tuple(guard.name for guard in guards), (), "guard").names
    t, own, begin = ca.SX.sym("t"), ca.SX.sym("p", n_p), ca.SX.sym("begin", len(guards))
    lam = ca.SX.sym("lam", len(eom.constraint_rows))
    labels = {"x": eom.labels.x, "u": eom.labels.u, "z": memory}
    symbols = {letter: (ca.SX.sym(letter, len(item)), item) for letter, item in labels.items()}
    x, u, z = (symbol for symbol, _ in symbols.values())
    source = _Source(eom, t, x, own, lam)
    values = []
    for k, (name, guard) in enumerate(zip(names, guards, strict=True)):
        what, s = f"guard '{name}'", GuardAccessor({**symbols, "p": (own, Labels())}, t, begin[k], source)
        values.append(as_column(evaluate_rule(guard.expression, s, what), 1, what))
    g = ca.densify(ca.vertcat(*values))
    uses_u = bool(u.numel() and (ca.depends_on(g, u) or source.uses_reactions))
    uses_begin = ca.depends_on(g, begin)  # otherwise p is not extended, on which campaigns rely
    extended = ca.vertcat(own, begin) if uses_begin else own
    arguments, keys = [t, x, u, z, lam, extended], ["t", "x", "u", "z", "lam", "p"]
    if not source.uses_reactions:
        del arguments[4], keys[4]
    return _Guards(ca.Function("guards", arguments, [g], keys, ["g"]), uses_u, uses_begin, source.uses_reactions)


def _around_multipliers(eom: EquationsOfMotion, rule: ca.Function) -> ca.Function:
    """Form (t, x, u, z, p) -> g with the multipliers from CasADi's virtual machine."""
    t, x, u, z, _, p = (ca.MX.sym(key, *rule.size_in(i)) for i, key in enumerate(rule.name_in()))
    lam = eom.functions["multipliers"](t, x[: eom.n_q], x[eom.n_q :], u, p[: len(eom.parameters)])
    return ca.Function("guards", [t, x, u, z, p], [rule(t, x, u, z, lam, p)], ["t", "x", "u", "z", "p"], ["g"])
