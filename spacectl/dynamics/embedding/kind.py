"""`AggregateKind`: the functions of one kind of aggregate, shared by all aggregates of equal structure.

They are evaluated in three stages: from the state (outward), from the outboard inertias at the ports (inward), and from the
accelerations (outward). A fourth function has the constraint equations, for closing and projecting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from spacectl.dynamics.embedding.constraint_equations import LocalConstraints
from spacectl.dynamics.embedding.record import Frames, Record
from spacectl.dynamics.embedding.terms import AggregateTerms
from spacectl.dynamics.recursion.steps import pack_inertia
from spacectl.dynamics.waist.handover import Baumgarte

__all__ = ["INPUTS", "OUTPUTS", "AggregateKind", "make_kind"]

#: Arguments of all stages, in order; the first seven are known at the start
INPUTS = ("t", "q", "v", "V", "X", "u", "record", "ports", "A", "v_dot")
#: Results of all stages, in order: six from the state, six with the outboard inertias, accelerations of the ports
OUTPUTS = (
    *("q_dot", "twists", "placements", "J", "gamma", "E"),
    *("M", "Z", "Y", "h", "inertia", "wrench"),
    "accelerations",
)


@dataclass(frozen=True, eq=False)
class AggregateKind:
    """Functions and sizes of a kind.

    Parameters
    ----------
    whole : casadi.Function
        From `INPUTS` to `OUTPUTS`; matrices flattened row by row.
    outward, inward, onward : casadi.Function
        Its stages, with matrices not flattened.
    port_map : casadi.Function
        Derivative of the ports' accelerations by (A, v_dot), from (t, q, record).
    rows : casadi.Function
        (t, q, v, V, record) -> position, speed, J, J_position, W, gamma, sides of the loops.
    is_position : array of bool, shape (m,)
        Whether each equation is at position level.
    is_symmetric, is_natural : bool
        Whether the outboard inertias are symmetric; whether all constraints are natural.
    """

    whole: ca.Function
    outward: ca.Function
    inward: ca.Function
    onward: ca.Function
    port_map: ca.Function
    rows: ca.Function
    is_position: np.ndarray
    is_symmetric: bool
    is_natural: bool

    def size(self, name: str) -> int:
        """Return the length of a named argument or result."""
        return self.whole.numel_in(name) if name in INPUTS else self.whole.numel_out(name)

    @property
    def n(self) -> int:
        """Number of speeds."""
        return self.size("v")

    @property
    def m(self) -> int:
        """Number of constraint equations."""
        return self.size("gamma")

    @property
    def n_ports(self) -> int:
        """Number of ports."""
        return self.size("twists") // 6


_KINDS: dict[str, AggregateKind] = {}


def make_kind(frames: Frames, record: Record, *, is_symmetric: bool, stabilization: Baumgarte | None) -> AggregateKind:
    """Return the kind of an aggregate, from its record; made once for each key and process."""
    if record.key not in _KINDS:
        _KINDS[record.key] = _make(frames, record, is_symmetric, stabilization)
    return _KINDS[record.key]


def _make(frames: Frames, record: Record, is_symmetric: bool, stabilization: Baumgarte | None) -> AggregateKind:
    terms = AggregateTerms(frames, record, is_symmetric=is_symmetric)
    rows = LocalConstraints(terms)
    is_natural = all(item.is_natural for item in record.aggregate.constraints)
    gamma = rows.gamma if stabilization is None else rows.stabilised(stabilization.alpha, stabilization.beta)
    found, n = terms.inertia, terms.v.shape[0]
    inertia = pack_inertia(found.inertia) if is_symmetric else found.inertia.matrix
    E = ca.SX(n, 0) if is_natural else rows.E
    matrices = dict(
        zip(
            OUTPUTS,
            (
                *(terms.q_dot, terms.port_twists, terms.port_placements, rows.J, gamma, E),
                *(found.M, found.Z, found.Y, found.h, inertia, found.wrench),
                terms.port_accelerations,
            ),
            strict=True,
        )
    )
    matrices = dict(zip(matrices, ca.cse([ca.densify(item) for item in matrices.values()]), strict=True))
    symbols = dict(
        zip(
            INPUTS,
            (
                *(terms.t, terms.q, terms.v, terms.base_twist, terms.base_placement, terms.u, terms.record),
                *(terms.outer, terms.base_acceleration, terms.v_dot),
            ),
            strict=True,
        )
    )

    def function(name: str, given: tuple[str, ...], results: tuple[str, ...], flat: bool = False) -> ca.Function:
        values = [ca.vec(matrices[key].T) if flat else matrices[key] for key in results]
        return ca.Function(name, [symbols[key] for key in given], values, list(given), list(results))

    unit = ca.jacobian(matrices["accelerations"], ca.vertcat(symbols["A"], symbols["v_dot"]))
    given = [symbols["t"], symbols["q"], symbols["record"]]
    return AggregateKind(
        whole=function("aggregate", INPUTS, OUTPUTS, flat=True),
        outward=function("outward", INPUTS[:7], OUTPUTS[:6]),
        inward=function("inward", INPUTS[:8], OUTPUTS[6:12]),
        onward=function("onward", (*INPUTS[:7], *INPUTS[8:]), OUTPUTS[12:]),
        port_map=ca.Function("port_map", given, [ca.densify(unit)], ["t", "q", "record"], ["map"]),
        rows=_rows(terms, rows, gamma),
        is_position=np.array([item.position is not None for item in rows.rows for _ in item.names], dtype=bool),
        is_symmetric=is_symmetric,
        is_natural=is_natural,
    )


def _rows(terms: AggregateTerms, rows: LocalConstraints, gamma: Any) -> ca.Function:
    """Return the function of the constraint equations, for closing and projecting."""
    rate = ca.jtimes(rows.position, terms.q, terms.q_dot) if rows.position.shape[0] else rows.position
    J_position = ca.jacobian(rate, terms.v)
    W = ca.jacobian(terms.q_dot, terms.v)
    results = [rows.position, rows.speed, rows.J, J_position, W, gamma, rows.sides]
    given = [terms.t, terms.q, terms.v, terms.base_twist, terms.record]
    names = ["position", "speed", "J", "J_position", "W", "gamma", "sides"]
    return ca.Function("rows", given, [ca.densify(item) for item in results], ["t", "q", "v", "V", "record"], names)
