"""Find the loops of a mechanism, the order in which they close, and their dependent speeds (002).

Opening every loop leaves a tree. The last loop is one whose speeds no other loop needs; the search continues without it. Each
loop can then be closed after those before it: outer loops first, then loops within dependent branches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from spacectl.codegen.bound_function import NativeFunction
from spacectl.core.errors import ModelError
from spacectl.dynamics.constraints.row_scales import Around, Samples, generic_speeds, sample_states
from spacectl.dynamics.constraints.solvers import RANK, Solution, speed_scales
from spacectl.dynamics.constraints.terms import ConstraintTerms
from spacectl.dynamics.partitioning.blocks import ClosingBlock, closing_blocks
from spacectl.dynamics.partitioning.dependent_speeds import INDEPENDENT, choose_dependent, dependence_weights, unit_rows
from spacectl.dynamics.partitioning.elimination import LoopEquations, solve_sequential
from spacectl.dynamics.partitioning.native_reduction import close_state, compile_closing, compile_reduced
from spacectl.dynamics.tree.terms import Terms
from spacectl.model.constraints import AnyConstraint

if TYPE_CHECKING:
    from spacectl.dynamics.waist.equations import EquationsOfMotion

__all__ = ["LoopPlan", "PartitionPlan", "frames_of", "plan_partition"]

_SHARED = 0.01  # preference weight of speeds that other loops need
_GOOD = 0.1  # smallest pivot, relative to that of the best sample, for which the reference position is used


@dataclass(frozen=True)
class LoopPlan(LoopEquations):
    """A loop of a mechanism: the constraints that close it, and their position-level equations.

    Parameters
    ----------
    name : str
        Name, from those of its constraints.
    constraints : tuple of str
        Constraints between the same frames, which close it together.
    positions : tuple of int
        Indices of its equations among the position-level ones.
    leg : str
        Kind of its dependent branch by joints and freedoms, such as ``"R2-P1-R3"``.
    method : str
        Method for its coordinates: ``"closed form"``, ``"one unknown"`` or ``"newton"``.
    """

    name: str
    constraints: tuple[str, ...]
    positions: tuple[int, ...]
    leg: str = ""
    method: str = "newton"

    @property
    def has_form(self) -> bool:
        """Whether its coordinates are computed in a fixed number of operations."""
        return self.method != "newton"


@dataclass(frozen=True)
class PartitionPlan:
    """All loops, in the order in which they close; a solver for the accelerations (`constraints.solver_function`).

    Parameters
    ----------
    loops : tuple of LoopPlan
        First to last.
    units : tuple of float
        Scales of the speeds for comparing pivots when states are closed: about 1 / sqrt(M_jj) at the reference.
    blocks : tuple of ClosingBlock
        Loops that are closed together at position level, first to last: one by one, or several where each needs the other.
    """

    loops: tuple[LoopPlan, ...]
    units: tuple[float, ...]
    blocks: tuple[ClosingBlock, ...] = ()

    @property
    def positions(self) -> tuple[LoopEquations, ...]:
        """The loops with their position-level equations."""
        return tuple(
            LoopEquations(loop.positions, loop.preferred, min(loop.rank, len(loop.positions))) for loop in self.loops
        )

    def solve(
        self, M: np.ndarray, f: np.ndarray, J: np.ndarray, gamma: np.ndarray, E: np.ndarray, *, check: bool = True
    ) -> Solution:
        """Return accelerations and multipliers by sequential reduction."""
        return solve_sequential(M, f, J, gamma, self.loops, check=check)

    def compile_plant(self, terms: ca.Function, p: np.ndarray) -> NativeFunction:
        """Compile (t, x, u, p) -> x_dot by sequential reduction, for the parameters p."""
        return compile_reduced(terms, self, p)

    def compile_projection(self, eom: EquationsOfMotion, p: np.ndarray, around: Around | None = None) -> NativeFunction:
        """Compile (t, x, p) -> (x, distance): the state with closed loops, and its distance to singularity."""
        terms, form = eom.functions["projection"], eom.functions.get("closed_form")
        return compile_closing(terms, form, self, p, Samples(eom, p, around).data())

    def project(
        self, eom: EquationsOfMotion, t: float, x: Any, p: Any = None, around: Around | None = None
    ) -> tuple[np.ndarray, float]:
        """Return the reference implementation of `compile_projection`."""
        return close_state(self, eom, t, x, p, around)


def plan_partition(
    terms: Terms, constraints: ConstraintTerms, keep: tuple[str, ...], rows: Any, mass: Any
) -> tuple[PartitionPlan, list[np.ndarray]]:
    """Plan the partition of a system from its constraint Jacobian near the reference; return also the positions used.

    Parameters
    ----------
    terms, constraints
        Terms and constraints of the system.
    keep : tuple of str
        Coordinates or speeds to be independent.
    rows, mass : casadi.Function
        "constraints" and "mass_matrix" of the equations.
    """
    p = np.asarray(terms.system.parameters(vary=terms.vary).values)
    states, v = sample_states(terms, rows, p), generic_speeds(terms.v.shape[0])
    found = [rows(0.0, q, v, p) for q in states]
    jacobians, of_positions = ([np.asarray(out[k].full()) for out in found] for k in (2, 3))
    scale = speed_scales(np.asarray(mass(0.0, states[0], p).full()))
    own_weights = dependence_weights(terms, keep)
    generic = _generic(jacobians, scale)
    order = _order(_groups(constraints), [jacobians[k] for k in generic], scale)
    weights = []
    for k in range(len(order)):
        others = [i for item in order[:k] for i in item[2]]
        shared = np.any([np.any(np.abs(jacobians[g][others] * scale) > RANK, axis=0) for g in generic], axis=0)
        weights.append(np.where(shared, _SHARED, 1.0) * own_weights)
    choices = {g: choose_dependent(jacobians[g], [item[2] for item in order], weights, scale) for g in generic}
    best = _best({g: pivot for g, (_, pivot) in choices.items()})
    chosen = choices[best][0]
    _require_freedoms(terms, own_weights, sum(len(preferred) for preferred in chosen))
    loops = tuple(
        LoopPlan(own, preferred, len(preferred), name, members, positions)
        for (name, members, own, positions), preferred in zip(order, chosen, strict=True)
    )
    moved = [(loop.positions, loop.preferred if loop.positions else ()) for loop in loops]
    blocks = closing_blocks(moved, of_positions, of_positions[best], scale)
    units = tuple(float(item) for item in 2.0 ** np.round(np.log2(scale)))  # powers of two: one code for similar masses
    return PartitionPlan(loops, units, blocks), states


def _generic(jacobians: list[np.ndarray], scale: np.ndarray) -> list[int]:
    """Return the samples of highest rank: at others, singular positions, a plan would be wrong elsewhere."""
    ranks = [int(np.linalg.matrix_rank(unit_rows(J * scale), tol=RANK)) if J.size else 0 for J in jacobians]
    return [k for k, rank in enumerate(ranks) if rank == max(ranks)]


def _best(pivots: dict[int, float]) -> int:
    """Return the first sample unless its smallest pivot is far smaller than that of another."""
    most = max(pivots.values())
    return next(k for k, pivot in pivots.items() if pivot >= _GOOD * most)


def _require_freedoms(terms: Terms, weights: np.ndarray, rank: int) -> None:
    """Raise if more speeds are requested as independent than the mechanism has degrees of freedom."""
    named = [name for name, weight in zip(terms.tree.speeds, weights, strict=True) if weight <= INDEPENDENT]
    freedoms = len(weights) - rank
    if len(named) > freedoms:
        raise ModelError(
            f"system '{terms.system.name}': independent names {len(named)} speeds ({', '.join(named)}), and its loops leave "
            f"{freedoms}; name at most {freedoms}"
        )


Group = tuple[str, tuple[str, ...], tuple[int, ...], tuple[int, ...]]


def _groups(constraints: ConstraintTerms) -> list[Group]:
    """Return (name, constraints, rows, position rows) of each loop; constraints between the same frames form one loop."""
    found: dict[Any, list[tuple[AnyConstraint, range, range]]] = {}
    row = position = 0
    for item in constraints.rows:
        size = item.constraint.n_rows
        n_positions = size if item.position is not None else 0
        found.setdefault(frames_of(item.constraint), []).append(
            (item.constraint, range(row, row + size), range(position, position + n_positions))
        )
        row, position = row + size, position + n_positions
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
    """Return what identifies a loop: the frames of a constraint, or its name if it is a rule."""
    if constraint.ends is None:
        return constraint.name
    places = {key: tuple(number.value) for key, number in constraint.numbers().items() if key in ("at_a", "at_b")}
    return *constraint.ends, places.get("at_a"), places.get("at_b")


def _order(groups: list[Group], jacobians: list[np.ndarray], scale: np.ndarray) -> list[Group]:
    """Sort loops in the order of closing: the last is one whose own speeds suffice to close it; then the one before."""
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
    """Return the share of a loop's rank in its private columns, and minus the number of columns in excess of the rank."""
    private = ~np.any(np.abs(others) > RANK, axis=0) & np.any(np.abs(own) > RANK, axis=0)
    whole = int(np.linalg.matrix_rank(own, tol=RANK)) if own.size else 0
    if not whole or not np.any(private):
        return 0.0, 0
    return float(np.linalg.matrix_rank(own[:, private], tol=RANK)) / whole, -max(0, int(np.sum(private)) - whole)
