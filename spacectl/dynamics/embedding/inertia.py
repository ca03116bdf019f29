"""The mass matrix of an aggregate with its outboard bodies, and its coupling to the motion of its base.

``M v_dot + Y A + h`` are the generalised forces and ``I A + Z v_dot + w`` the wrench at the base, for an acceleration A of the
base and derivatives v_dot of the aggregate's own speeds. Composite inertias are summed from the tips to the base. Outboard
aggregates enter with their articulated inertia, which is not symmetric if actuators maintain one of their constraints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca

from spacectl.dynamics.recursion.links import Link
from spacectl.dynamics.recursion.sweeps import LinkMotion, columns_of
from spacectl.dynamics.tree.nodes import ROOT
from spacectl.spatial.backend import dot
from spacectl.spatial.inertia import ArticulatedInertia, Placement, move_twist, pull_wrench

__all__ = ["AggregateInertia", "FullInertia", "Outboard", "compose"]


@dataclass(frozen=True)
class FullInertia:
    """A 6 x 6 inertia without symmetry: ``wrench = matrix @ acceleration``."""

    matrix: Any

    @staticmethod
    def of(inertia: ArticulatedInertia) -> FullInertia:
        """Convert a symmetric inertia."""
        top, bottom = ca.horzcat(inertia.A, inertia.B), ca.horzcat(inertia.B.T, inertia.C)
        return FullInertia(ca.vertcat(top, bottom))

    def __add__(self, other: FullInertia) -> FullInertia:
        return FullInertia(self.matrix + other.matrix)

    def __matmul__(self, twist: Any) -> Any:
        return self.matrix @ twist

    def rows(self, s: Any) -> Any:
        """Return ``I' s``."""
        return self.matrix.T @ s

    def seen_from(self, X: Placement) -> FullInertia:
        """Return the inertia about A's origin in A's axes."""
        T = ca.horzcat(*[move_twist(X, ca.SX(ca.DM.eye(6))[:, k]) for k in range(6)])
        return FullInertia(T.T @ self.matrix @ T)


@dataclass(frozen=True)
class Outboard:
    """Outboard bodies of a link: inertia and bias wrench at the carrying frame, and the attachment of that frame.

    Momenta for unit outboard speeds are in `columns` (``I s``) and `rows` (``I' s``), by speed.
    """

    inertia: Any
    wrench: Any
    columns: Mapping[int, Any]
    rows: Mapping[int, Any]
    attachment: Any = None
    carrier_bias: Any = None


@dataclass(frozen=True)
class AggregateInertia:
    """M (n, n), Z (6, n), Y (n, 6), h (n,), inertia and wrench (6,) at the base."""

    M: Any
    Z: Any
    Y: Any
    h: Any
    inertia: Any
    wrench: Any


def compose(
    links: list[Link],
    motions: list[LinkMotion],
    wrenches: list[Any],
    forces: Mapping[int, Any],
    outboard: Mapping[int, list[Outboard]],
    *,
    is_symmetric: bool,
) -> AggregateInertia:
    """Sum inertias and bias wrenches of an aggregate.

    Parameters
    ----------
    links, motions : lists
        The aggregate's links (indices within it, `ROOT` for the base) and their motions.
    wrenches : list of vectors
        Bias wrench of each link less its loads.
    forces : mapping of int to vector
        Bias forces of modes less their loads, by link.
    outboard : mapping of int to list of Outboard
        Outboard aggregates of each link.
    is_symmetric : bool
        Whether all inertias are symmetric.
    """
    sums = _Sums(links, motions, wrenches, forces, is_symmetric)
    for i in reversed(range(len(links))):
        for item in outboard.get(i, ()):
            sums.add(i, item)
        sums.fold_joint(i)
    return sums.result()


class _Sums:
    """Sums over the aggregate, for links in order from the tips to the base."""

    def __init__(self, links: Any, motions: Any, wrenches: Any, forces: Any, is_symmetric: bool):
        self.links, self.motions, self.is_symmetric = links, motions, is_symmetric
        n = sum(link.speeds.stop - link.speeds.start for link in links)
        self.M, self.h = ca.SX.zeros(n, n), ca.SX.zeros(n)
        own = [
            ArticulatedInertia.of(a.inertia if b.modal is None else b.modal.rigid)
            for a, b in zip(links, motions, strict=True)
        ]
        self.inertia = own if is_symmetric else [FullInertia.of(item) for item in own]
        self.wrench = list(wrenches)
        self.columns: list[dict[int, Any]] = [{} for _ in links]
        self.rows: list[dict[int, Any]] = [{} for _ in links]
        self.base: tuple[Any, Any, dict[int, Any], dict[int, Any]] | None = None
        for i, force in forces.items():
            self._start_modes(i, force)

    def _start_modes(self, i: int, force: Any) -> None:
        own, modal = self.links[i].speeds, self.motions[i].modal
        self.M[own, own], self.h[own] = modal.M, force
        self.columns[i] = dict(zip(range(own.start, own.stop), columns_of(modal), strict=True))
        self.rows[i] = dict(self.columns[i])

    def transposed(self, inertia: Any, s: Any, column: Any) -> Any:
        """Return ``I' s``, which is ``I s`` for a symmetric inertia."""
        return column if self.is_symmetric else inertia.rows(s)

    def add(self, i: int, item: Outboard) -> None:
        """Add outboard bodies to link i; a frame on a flexible body moves with its modes."""
        inertia, wrench, columns, rows = item.inertia, item.wrench, dict(item.columns), dict(item.rows)
        if item.attachment is not None:
            X, S = item.attachment.X_BA, item.attachment.S
            wrench = wrench + inertia @ item.carrier_bias
            self._bias(item.carrier_bias, rows)
            own = range(self.links[i].speeds.start, self.links[i].speeds.stop)
            for k, speed in enumerate(own):
                column = inertia @ S[:, k]
                row = self.transposed(inertia, S[:, k], column)
                for j, other in enumerate(own):
                    self.M[other, speed] += dot(S[:, j], column)
                self._couple(speed, S[:, k], columns, rows)
                self.h[speed] += dot(S[:, k], wrench)
                self.columns[i][speed] = self.columns[i][speed] + pull_wrench(X, column)
                self.rows[i][speed] = self.rows[i][speed] + pull_wrench(X, row)
            inertia, wrench, columns, rows = _pulled(X, inertia, wrench, columns, rows)
        self.inertia[i], self.wrench[i] = self.inertia[i] + inertia, self.wrench[i] + wrench
        self.columns[i] |= columns
        self.rows[i] |= rows

    def _couple(self, speed: int, s: Any, columns: Mapping[int, Any], rows: Mapping[int, Any]) -> None:
        """Add the entries of M between a speed along s and the outboard speeds."""
        for j, column in columns.items():
            self.M[speed, j] += dot(s, column)
            self.M[j, speed] += dot(s, rows[j])

    def _bias(self, acceleration: Any, rows: Mapping[int, Any]) -> None:
        """Add the forces on outboard speeds due to an acceleration of the carrying frame."""
        for j, row in rows.items():
            self.h[j] += dot(row, acceleration)

    def fold_joint(self, i: int) -> None:
        """Compute the entries of M and h for the speeds of link i's joint, and add the link to its parent."""
        link, motion, inertia = self.links[i], self.motions[i], self.inertia[i]
        wrench = self.wrench[i] + inertia @ motion.bias
        self._bias(motion.bias, self.rows[i])
        columns, rows = dict(self.columns[i]), dict(self.rows[i])
        own = range(link.speeds.start, link.speeds.stop) if motion.S else range(0)
        for speed, s in zip(own, motion.S, strict=True):
            self._couple(speed, s, self.columns[i], self.rows[i])
            columns[speed] = inertia @ s
            rows[speed] = self.transposed(inertia, s, columns[speed])
            self.h[speed] = dot(s, wrench)
        for k, s in zip(own, motion.S, strict=True):
            for j in own:
                self.M[k, j] = dot(s, columns[j])
        whole = _pulled(motion.X, inertia, wrench, columns, rows)
        if link.parent != ROOT:
            self.add(link.parent, Outboard(*whole, motion.attachment, motion.carrier_bias))
        elif self.base is None:
            self.base = whole
        else:
            self.base = (
                self.base[0] + whole[0],
                self.base[1] + whole[1],
                self.base[2] | whole[2],
                self.base[3] | whole[3],
            )

    def result(self) -> AggregateInertia:
        """Return the sums, referred to the base."""
        inertia, wrench, columns, rows = self.base  # type: ignore[misc]
        n = self.h.shape[0]
        Z = ca.horzcat(*[columns[k] for k in range(n)]) if n else ca.SX(6, 0)
        Y = ca.horzcat(*[rows[k] for k in range(n)]).T if n else ca.SX(0, 6)
        return AggregateInertia(self.M, Z, Y, self.h, inertia, wrench)


def _pulled(
    X: Placement, inertia: Any, wrench: Any, columns: Any, rows: Any
) -> tuple[Any, Any, dict[int, Any], dict[int, Any]]:
    """Return the same quantities, referred to the frame in which X is given."""
    pulled = ({k: pull_wrench(X, item) for k, item in each.items()} for each in (columns, rows))
    return (inertia.seen_from(X), pull_wrench(X, wrench), *pulled)
