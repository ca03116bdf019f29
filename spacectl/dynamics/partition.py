"""Which loops a mechanism has, in which order they close, and which speeds depend on which (002).

The tree is what remains when every loop is opened. A loop comes last whose speeds no other loop needs; without it the
next one is found, so that each can be closed when those before it are: outer loops first, loops within dependent
branches after them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from scipy.linalg import qr

from spacectl.core.errors import ModelError, unknown_name
from spacectl.dynamics.constrained import RANK, Solution, speed_scales
from spacectl.dynamics.constraint_terms import ConstraintTerms
from spacectl.dynamics.elimination import LoopRows, eliminate, solve_sequential
from spacectl.dynamics.terms import Terms
from spacectl.model.actuators import JointTorque
from spacectl.model.constraints import AnyConstraint
from spacectl.model.frame_constraints import FrameConstraint
from spacectl.model.validate import find_speed

__all__ = ["LoopPlan", "PartitionPlan", "plan_partition", "position_rows", "sample_states"]

_NEAR_BEST = 0.1  # of the best pivot: of speeds this good, the one farthest out in the tree depends
# how little speeds are wished that other loops need, that are driven, that are of modes, that shall be independent
_SHARED, _DRIVEN, _MODAL, _KEPT = 0.01, 0.1, 0.05, 1e-6


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
    """

    loops: tuple[LoopPlan, ...]
    units: tuple[float, ...]

    @property
    def positions(self) -> tuple[LoopRows, ...]:
        """The loops with their rows that hold positions."""
        return tuple(LoopRows(loop.positions, loop.wished, min(loop.rank, len(loop.positions))) for loop in self.loops)

    def solve(
        self, M: np.ndarray, f: np.ndarray, J: np.ndarray, gamma: np.ndarray, E: np.ndarray, *, check: bool = True
    ) -> Solution:
        """Accelerations and multipliers by sequential reduction."""
        return solve_sequential(M, f, J, gamma, self.loops, check=check)


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
    groups = _groups(constraints)
    p = np.asarray(terms.system.parameters(vary=terms.vary).values)
    states = sample_states(terms, rows, p)
    jacobians = [np.asarray(rows(0.0, q, np.zeros(terms.v.shape[0]), p)[2].full()) for q in states]
    scale = speed_scales(np.asarray(mass(0.0, states[0], p).full()))
    wish = _wishes(terms, keep)
    order = _order(groups, jacobians, scale)
    plans: list[LoopPlan] = []
    for k, (name, members, own, held) in enumerate(order):
        others = [i for j, item in enumerate(order) if j < k for i in item[2]]
        shared = np.any([np.any(np.abs(J[others] * scale) > RANK, axis=0) for J in jacobians], axis=0)
        weight = np.where(shared, _SHARED, 1.0) * wish
        wished = _wished(jacobians[0], own, weight, scale)
        plans.append(LoopPlan(own, wished, len(own), name, members, held))
    ranks = np.zeros(len(plans), dtype=int)
    for J in jacobians:
        found = eliminate(J, np.zeros(J.shape[0]), tuple(plans), scale)
        ranks = np.maximum(ranks, [loop.dependent.size for loop in found])
    _require_freedoms(terms, wish, int(ranks.sum()))
    plan = PartitionPlan(
        tuple(
            LoopPlan(
                plan.rows, tuple(sorted(plan.wished[:rank])), int(rank), plan.name, plan.constraints, plan.positions
            )
            for plan, rank in zip(plans, ranks, strict=True)
        ),
        tuple(float(item) for item in 2.0 ** np.round(np.log2(scale))),  # powers of two: one code for similar masses
    )
    return plan, states


def _require_freedoms(terms: Terms, wish: np.ndarray, rank: int) -> None:
    """Raise if more speeds are kept than the mechanism has freedoms: no choice could serve them all."""
    named = [name for name, weight in zip(terms.tree.speeds, wish, strict=True) if weight <= _KEPT]
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
        found.setdefault(_frames(item.constraint), []).append(
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


def _frames(constraint: AnyConstraint) -> Any:
    if not isinstance(constraint, FrameConstraint):
        return constraint.name
    return constraint.a, constraint.b, tuple(constraint.at_a), tuple(constraint.at_b)


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


def _wishes(terms: Terms, keep: tuple[str, ...]) -> np.ndarray:
    """How gladly each speed becomes dependent: driven ones and modes less, those to be kept hardly at all."""
    tree = terms.tree
    weight = np.ones(len(tree.speeds.names))
    for node in tree.nodes:
        weight[node.eta_dot] = _MODAL
    nodes = {node.part.joint_name: node for node in tree.nodes}
    for actuator in terms.system.actuators:
        if isinstance(actuator, JointTorque) and actuator.joint in nodes:
            node = nodes[actuator.joint]
            weight[node.v.start + find_speed(actuator, node.part)] = _DRIVEN
    known = [*tree.coordinates.names, *tree.speeds.names]
    for name in keep:
        if name not in known:
            raise ModelError(f"form_equations: independent names an {unknown_name('coordinate or speed', name, known)}")
        speed = name if name in tree.speeds.names else f"{name}_dot"
        if speed not in tree.speeds.names:
            raise ModelError(
                f"form_equations: independent names '{name}', which is no speed's own coordinate; name a speed"
            )
        weight[tree.speeds.index(speed)] = _KEPT
    return weight


def _wished(J: np.ndarray, rows: tuple[int, ...], weight: np.ndarray, scale: np.ndarray) -> tuple[int, ...]:
    """Speeds that shall depend: good pivots, farthest out in the tree among those nearly as good as the best."""
    R = J[list(rows)] * scale
    size = np.linalg.norm(R, axis=1, keepdims=True)
    R = R / np.where(size > 0.0, size, np.inf)
    open_rows = list(range(len(rows)))
    chosen: list[int] = []
    while open_rows:
        value = np.max(np.abs(R[open_rows]), axis=0)
        value[chosen] = 0.0
        if not np.max(value) > RANK:
            break
        j = int(np.flatnonzero(value * weight >= _NEAR_BEST * np.max(value * weight))[-1])
        i = open_rows.pop(int(np.argmax(np.abs(R[open_rows, j]))))
        chosen.append(j)
        for other in open_rows:
            R[other] -= R[other, j] / R[i, j] * R[i]
    return tuple(chosen)


def position_rows(terms: Terms, plan: PartitionPlan, rows: Any, q: np.ndarray) -> list[list[int]]:
    """For each loop, which of its own position rows close it: as many independent ones as it has dependent speeds."""
    p = np.asarray(terms.system.parameters(vary=terms.vary).values)
    held = np.asarray(rows(0.0, q, np.zeros(terms.v.shape[0]), p)[3].full())
    found = []
    for loop in plan.loops:
        C = held[list(loop.positions)][:, list(loop.wished)]
        order = qr(C.T, mode="economic", pivoting=True)[2] if C.size else np.zeros(0, dtype=int)
        found.append(sorted(int(i) for i in order[: len(loop.wished)]))
    return found


def sample_states(terms: Terms, rows: Any, p: np.ndarray, count: int = 3) -> list[np.ndarray]:
    """Coordinates that meet the constraints: the reference position (or near it) and others around it.

    Where none is found the reference position itself is used: the plan is then made for an open mechanism.
    """
    rest, n = terms.tree.rest(), terms.v.shape[0]
    W = _rate_map(terms)
    rng = np.random.default_rng(0)
    found: list[np.ndarray] = []
    for k in range(count):
        start = found[0] if found else rest
        J = np.asarray(rows(0.0, start, np.zeros(n), p)[2].full())
        along = rng.standard_normal(n) * (0.0 if k == 0 else 0.1)
        along -= np.linalg.lstsq(J, J @ along, rcond=RANK)[0] if J.size else 0.0
        q = _close_roughly(rows, W, start + W(0.0, start, p) @ along, n, p)
        if q is not None or not found:
            found.append(rest if q is None else q)
    return found


def _close_roughly(rows: Any, W: Any, q: np.ndarray, n: int, p: np.ndarray) -> np.ndarray | None:
    """Newton's method with the least change; None if it does not get there."""
    for _ in range(30):
        out = rows(0.0, q, np.zeros(n), p)
        g, J = np.asarray(out[0].full()).reshape(-1), np.asarray(out[3].full())
        if not np.all(np.isfinite(g)):
            return None
        if np.max(np.abs(g), initial=0.0) < 1e-14 * max(1.0, float(np.max(np.abs(q), initial=0.0))):
            return q
        step = np.linalg.lstsq(J, -g, rcond=RANK)[0]
        q = q + W(0.0, q, p) @ step * min(1.0, 0.5 / max(float(np.max(np.abs(step))), 1e-300))
    return q if np.max(np.abs(g)) < 1e-11 else None


def _rate_map(terms: Terms) -> Any:
    """W of ``q_dot = W v + X`` as a call of (t, q, p)."""
    W = ca.densify(ca.jacobian(terms.q_dot, terms.v))
    function = ca.Function("W", [terms.t, terms.q, terms.v, terms.p], [W])
    return lambda t, q, p: np.asarray(function(t, q, 0.0, p).full())
