"""Which loops a mechanism has, in which order they close, and which speeds depend on which (002).

The tree is what remains when every loop is opened. A loop comes last whose speeds no other loop needs; without it the
next one is found, so that each can be closed when those before it are: outer loops first, loops within dependent
branches after them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from spacectl.codegen.native_function import NativeFunction
from spacectl.core.errors import ModelError
from spacectl.dynamics.constraints.row_scales import Around, Samples
from spacectl.dynamics.constraints.samples import generic_speeds, sample_states
from spacectl.dynamics.constraints.solvers import RANK, Solution, speed_scales
from spacectl.dynamics.constraints.terms import ConstraintTerms
from spacectl.dynamics.partitioning.blocks import ClosingBlock, closing_blocks
from spacectl.dynamics.partitioning.dependent_speeds import KEPT, choose_dependent, unit_rows, wish_weights
from spacectl.dynamics.partitioning.elimination import LoopRows, solve_sequential
from spacectl.dynamics.partitioning.native_reduction import close_state, compile_closing, compile_reduced
from spacectl.dynamics.tree.terms import Terms
from spacectl.model.constraints import AnyConstraint

if TYPE_CHECKING:
    from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["LoopPlan", "PartitionPlan", "frames_of", "plan_partition"]

_SHARED = 0.01  # how little speeds are wished that other loops need
_GOOD = 0.1  # of the best sample's smallest pivot: the reference position serves if it has this


@dataclass(frozen=True)
class LoopPlan(LoopRows):
    """A loop of a mechanism: the constraints that close it, and the rows of theirs that hold positions.

    Parameters
    ----------
    name : str
        Of its constraints.
    constraints : tuple of str
        Constraints between the same frames, which close it together.
    positions : tuple of int
        Its rows among those that hold positions.
    leg : str
        Kind of its dependent branch by joints and freedoms, such as ``"R2-P1-R3"``.
    method : str
        How its coordinates are found: ``"closed form"``, ``"one unknown"`` or ``"newton"``.
    """

    name: str
    constraints: tuple[str, ...]
    positions: tuple[int, ...]
    leg: str = ""
    method: str = "newton"

    @property
    def has_form(self) -> bool:
        """Whether its coordinates are found in a fixed number of operations."""
        return self.method != "newton"


@dataclass(frozen=True)
class PartitionPlan:
    """All loops, in the order in which they close; a road to the accelerations (`constrained_function`).

    Parameters
    ----------
    loops : tuple of LoopPlan
        First to last.
    units : tuple of float
        Units of the speeds in which pivots are compared when states are closed: roundly 1 / sqrt(M_jj) at reference.
    blocks : tuple of ClosingBlock
        The loops as their positions are closed, first to last: one by one, or together where each needs the other.
    """

    loops: tuple[LoopPlan, ...]
    units: tuple[float, ...]
    blocks: tuple[ClosingBlock, ...] = ()

    @property
    def positions(self) -> tuple[LoopRows, ...]:
        """The loops with their rows that hold positions."""
        return tuple(LoopRows(loop.positions, loop.wished, min(loop.rank, len(loop.positions))) for loop in self.loops)

    def solve(
        self, M: np.ndarray, f: np.ndarray, J: np.ndarray, gamma: np.ndarray, E: np.ndarray, *, check: bool = True
    ) -> Solution:
        """Accelerations and multipliers by sequential reduction."""
        return solve_sequential(M, f, J, gamma, self.loops, check=check)

    def compile_plant(self, terms: ca.Function, p: np.ndarray) -> NativeFunction:
        """(t, x, u, p) -> x_dot by sequential reduction, as native code for the numbers p."""
        return compile_reduced(terms, self, p)

    def compile_projection(self, eom: EquationsOfMotion, p: np.ndarray, around: Around | None = None) -> NativeFunction:
        """(t, x, p) -> (x, near): the state with its loops closed, and how far it is from a singular position."""
        terms, form = eom.functions["projection"], eom.functions.get("closed_form")
        return compile_closing(terms, form, self, p, Samples(eom, p, around).data())

    def project(
        self, eom: EquationsOfMotion, t: float, x: Any, p: Any = None, around: Around | None = None
    ) -> tuple[np.ndarray, float]:
        """The reference implementation of `compile_projection`."""
        return close_state(self, eom, t, x, p, around)


def plan_partition(
    terms: Terms, constraints: ConstraintTerms, keep: tuple[str, ...], rows: Any, mass: Any
) -> tuple[PartitionPlan, list[np.ndarray]]:
    """The plan of a system, and the positions it was made at: from its constraint Jacobian near the reference position.

    Parameters
    ----------
    terms, constraints
        Of the system.
    keep : tuple of str
        Coordinates or speeds that shall be independent.
    rows, mass : casadi.Function
        "constraints" and "mass_matrix" of the equations.
    """
    p = np.asarray(terms.system.parameters(vary=terms.vary).values)
    states, v = sample_states(terms, rows, p), generic_speeds(terms.v.shape[0])
    found = [rows(0.0, q, v, p) for q in states]
    jacobians, held = ([np.asarray(out[k].full()) for out in found] for k in (2, 3))
    scale = speed_scales(np.asarray(mass(0.0, states[0], p).full()))
    wish = wish_weights(terms, keep)
    generic = _generic(jacobians, scale)
    order = _order(_groups(constraints), [jacobians[k] for k in generic], scale)
    weights = []
    for k in range(len(order)):
        others = [i for item in order[:k] for i in item[2]]
        shared = np.any([np.any(np.abs(jacobians[g][others] * scale) > RANK, axis=0) for g in generic], axis=0)
        weights.append(np.where(shared, _SHARED, 1.0) * wish)
    choices = {g: choose_dependent(jacobians[g], [item[2] for item in order], weights, scale) for g in generic}
    best = _best({g: pivot for g, (_, pivot) in choices.items()})
    chosen = choices[best][0]
    _require_freedoms(terms, wish, sum(len(wished) for wished in chosen))
    loops = tuple(
        LoopPlan(own, wished, len(wished), name, members, positions)
        for (name, members, own, positions), wished in zip(order, chosen, strict=True)
    )
    moved = [(loop.positions, loop.wished if loop.positions else ()) for loop in loops]
    blocks = closing_blocks(moved, held, held[best], scale)
    units = tuple(float(item) for item in 2.0 ** np.round(np.log2(scale)))  # powers of two: one code for similar masses
    return PartitionPlan(loops, units, blocks), states


def _generic(jacobians: list[np.ndarray], scale: np.ndarray) -> list[int]:
    """Which samples have the highest rank: others are singular positions, where a plan would be wrong elsewhere."""
    ranks = [int(np.linalg.matrix_rank(unit_rows(J * scale), tol=RANK)) if J.size else 0 for J in jacobians]
    return [k for k, rank in enumerate(ranks) if rank == max(ranks)]


def _best(pivots: dict[int, float]) -> int:
    """The first sample unless its smallest pivot is far smaller than that of another."""
    most = max(pivots.values())
    return next(k for k, pivot in pivots.items() if pivot >= _GOOD * most)


def _require_freedoms(terms: Terms, wish: np.ndarray, rank: int) -> None:
    """Raise if more speeds are kept than the mechanism has freedoms: no choice could serve them all."""
    named = [name for name, weight in zip(terms.tree.speeds, wish, strict=True) if weight <= KEPT]
    freedoms = len(wish) - rank
    if len(named) > freedoms:
        raise ModelError(
            f"system '{terms.system.name}': independent names {len(named)} speeds ({', '.join(named)}), and its loops leave "
            f"{freedoms}; name at most {freedoms}"
        )


Group = tuple[str, tuple[str, ...], tuple[int, ...], tuple[int, ...]]


def _groups(constraints: ConstraintTerms) -> list[Group]:
    """(name, constraints, rows, position rows) of each loop: constraints between the same frames are one."""
    found: dict[Any, list[tuple[AnyConstraint, range, range]]] = {}
    row = position = 0
    for item in constraints.rows:
        size = item.constraint.n_rows
        held = size if item.position is not None else 0
        found.setdefault(frames_of(item.constraint), []).append(
            (item.constraint, range(row, row + size), range(position, position + held))
        )
        row, position = row + size, position + held
    return [
        (
            " and ".join(item.name for item, _, _ in members),
            tuple(item.name for item, _, _ in members),
            tuple(i for _, rows, _ in members for i in rows),
            tuple(i for _, _, rows in members for i in rows),
        )
        for members in found.values()
    ]


def frames_of(constraint: AnyConstraint) -> Any:
    """What tells loops apart: the frames of a constraint, or its name if it is a rule."""
    if constraint.ends is None:
        return constraint.name
    places = {key: tuple(number.value) for key, number in constraint.numbers().items() if key in ("at_a", "at_b")}
    return *constraint.ends, places.get("at_a"), places.get("at_b")


def _order(groups: list[Group], jacobians: list[np.ndarray], scale: np.ndarray) -> list[Group]:
    """Loops in the order of closing: the last is one whose own speeds suffice to close it; then the one before."""
    left, order = list(groups), []
    while left:
        best, best_worth = left[-1], (-1.0, 0)
        for group in reversed(left):
            others = [i for item in left if item is not group for i in item[2]]
            own = list(group[2])
            worth = min(_private_worth(J[own] * scale, J[others] * scale) for J in jacobians)
            if worth > best_worth:
                best, best_worth = group, worth
        left.remove(best)
        order.append(best)
    return order[::-1]


def _private_worth(own: np.ndarray, others: np.ndarray) -> tuple[float, int]:
    """How much of a loop's rank its private columns have; and less the columns that are more than a simple branch has."""
    private = ~np.any(np.abs(others) > RANK, axis=0) & np.any(np.abs(own) > RANK, axis=0)
    whole = int(np.linalg.matrix_rank(own, tol=RANK)) if own.size else 0
    if not whole or not np.any(private):
        return 0.0, 0
    return float(np.linalg.matrix_rank(own[:, private], tol=RANK)) / whole, -max(0, int(np.sum(private)) - whole)
