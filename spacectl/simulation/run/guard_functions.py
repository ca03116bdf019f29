"""Turns guards into one function ``(t, x, u, z, p) -> g`` that the driver calls, natively where it can be.

Besides named states, inputs and memory, guards may ask for reactions (multipliers) and gaps of constraints and for
outputs of the equations.
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
    """What a guard's expression receives: an `Accessor`, and quantities of the equations.

    ``s.reaction("latch.x")`` is the multiplier of a constraint row [N or N m], ``s.gap("latch.x")`` the row's value at
    position level, ``s.gap_rate("latch.x")`` at speed level (both also where it does not act), ``s.output("tip.x")`` an output,
    ``s.since`` the time since the run, or its stage (of the part, in `combine_stages`), began [s].
    """

    def __init__(self, vectors: Any, t: Any, entry: Any, source: _Source):
        super().__init__(vectors, t)
        self.since = t - entry
        self._source = source

    def reaction(self, row: str) -> Any:
        """Multiplier of a constraint row; zero while it does not act."""
        return self._source.pick("lam", row)

    def gap(self, row: str) -> Any:
        """Value of a constraint row that holds positions."""
        return self._source.pick("position", row)

    def gap_rate(self, row: str) -> Any:
        """Value of a constraint row at speed level."""
        return self._source.pick("speed", row)

    def output(self, name: str) -> Any:
        """An output of the equations that does not depend on accelerations."""
        return self._source.pick("y", name)


@dataclass
class _Source:
    """Symbols of the equations that guards may ask for."""

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
    """One bound function of all guards, and whether it depends on u.

    Parameters
    ----------
    eom : EquationsOfMotion
        The plant.
    guards : sequence of Guard
        With different names.
    memory : Labels
        Names of the law's memory z.
    p : array, shape (n_p,)
        Run-time parameters.
    tier : str
        How it is evaluated.
    entry : float, or array with one entry for each guard
        When the run (or its stage, or the stage of the guard's part) began [s].
    """
    for guard in guards:
        if not isinstance(guard, Guard):
            raise ModelError(f"guards: got {guard!r}, expected Guard(name=..., expression=...)")
    made = _form_guards(eom, tuple(guards), memory, p.size)
    given = np.append(p, np.broadcast_to(entry, len(guards))) if made.uses_begin else p
    if not made.uses_reactions:
        return bind_casadi(made.rule, tier, p=given), made.uses_u
    if tier not in ("native", "data-driven"):
        return bind_casadi(_around_multipliers(eom, made.rule), tier, p=given), made.uses_u
    bound = bind_native(compile_reactions(eom.functions["terms"], compliances_of(eom), made.rule, given))
    bound.arguments[4][:] = given
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
    """Warn of each guard that depends on how redundant constraints share a load, unless their compliance is known.

    Parameters
    ----------
    eom, guards, memory, p
        As in `bind_guards`.
    t, x : float, array of shape (n_x,)
        Time and state at which redundancy is judged.
    only : sequence of Guard, optional
        Those that are examined; default: all.

    Returns
    -------
    tuple of Guard
        Guards that were warned of.
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
    "guard '{guard}' depends on reactions that are not unique: the equations of motion leave open how a load is shared by "
    "constraints {all} (and joints of the tree); it is split by least work as if all yielded equally. Give compliance=... to "
    "{unknown}, guard a sum that does not depend on the split, or remove what is redundant; find_uniqueness gives details"
)


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _shared_rows(made: _Guards, N: np.ndarray, at: tuple[Any, ...]) -> list[list[int]]:
    """For each guard the multipliers of the groups on whose split it depends.

    Sums that do not change with the split do not count. Where a guard is not linear in the reactions its derivative is taken
    at multipliers of many sizes.
    """
    t, x, p = at
    u, z, n_p = (made.rule.numel_in(i) for i in (2, 3, 5))
    numbers = np.append(p, np.full(n_p - p.size, t))
    groups, rng = shared_groups(N), np.random.default_rng(0)
    found: list[set[int]] = [set() for _ in range(made.rule.numel_out(0))]
    for size in 10.0 ** np.arange(-3, 10):
        lam = size * rng.standard_normal(len(N))
        slopes = np.nan_to_num(np.asarray(made.by_lam(t, x, np.zeros(u), np.zeros(z), lam, numbers).full()))
        for rows, slope in zip(found, slopes, strict=True):
            for group in groups:
                own = np.zeros(len(N))
                own[group] = slope[group]
                if np.any(np.abs(own @ N) > 1e-9 * np.linalg.norm(own)):
                    rows.update(group)
    return [sorted(rows) for rows in found]


@dataclass(frozen=True)
class _Guards:
    """Guards as a function ``(t, x, u, z, p)`` or, if they use reactions, ``(t, x, u, z, lam, p)``; p may end with begins."""

    rule: ca.Function
    uses_u: bool
    uses_begin: bool
    uses_reactions: bool

    @cached_property
    def by_lam(self) -> ca.Function:
        """Derivative of the guards by the multipliers; only if they use reactions."""
        given = [ca.SX.sym(key, *self.rule.size_in(i)) for i, key in enumerate(self.rule.name_in())]
        return ca.Function("by_lam", given, [ca.densify(ca.jacobian(self.rule(*given), given[4]))])


@lru_cache(maxsize=128)
def _form_guards(eom: EquationsOfMotion, guards: tuple[Guard, ...], memory: Labels, n_p: int) -> _Guards:
    """Once for each set of guards, so that a stage that is entered again compiles nothing."""
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
    uses_begin = ca.depends_on(g, begin)  # else the numbers are p alone, which campaigns rely on
    numbers = ca.vertcat(own, begin) if uses_begin else own
    arguments, keys = [t, x, u, z, lam, numbers], ["t", "x", "u", "z", "lam", "p"]
    if not source.uses_reactions:
        del arguments[4], keys[4]
    return _Guards(ca.Function("guards", arguments, [g], keys, ["g"]), uses_u, uses_begin, source.uses_reactions)


def _around_multipliers(eom: EquationsOfMotion, rule: ca.Function) -> ca.Function:
    """(t, x, u, z, p) -> g through CasADi's virtual machine."""
    t, x, u, z, _, p = (ca.MX.sym(key, *rule.size_in(i)) for i, key in enumerate(rule.name_in()))
    lam = eom.functions["multipliers"](t, x[: eom.n_q], x[eom.n_q :], u, p[: len(eom.parameters)])
    return ca.Function("guards", [t, x, u, z, p], [rule(t, x, u, z, lam, p)], ["t", "x", "u", "z", "p"], ["g"])
