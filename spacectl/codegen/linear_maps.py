"""Linear maps in straight-line code: rows ``sum_j c_ij v_j`` whose c depend on parameters only become a matrix and a loop.

A linear law or an estimator of n states is some n^2 products. Written out they are long to compile and run one at a time; as a
matrix, kept by columns in the prepared vector, four rows go side by side. Each row is summed in its own order, so that
nothing is rounded differently.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import casadi as ca

from spacectl.codegen.assignment import Assignment
from spacectl.codegen.chunks import Line

__all__ = ["PRELUDE", "LinearMap", "find_maps", "weave_maps"]

SMALLEST = 4  #: rows and columns from which a map is worth a loop
_SIDE_BY_SIDE = 32  # rows of one loop: eight sums of four

PRELUDE = """#ifndef SC_FOUR
#define SC_FOUR
typedef double sc_four __attribute__((vector_size(32), aligned(8), may_alias));
#endif
"""


@dataclass(frozen=True)
class LinearMap:
    """Rows ``sum_j coefficients[i][j] columns[j]`` with names of values; `place` is where the matrix begins in w."""

    number: int
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    coefficients: tuple[tuple[str, ...], ...]
    place: int = 0

    @property
    def height(self) -> int:
        """Rows of the matrix as it is kept: a multiple of four."""
        return -(-len(self.rows) // 4) * 4

    @property
    def size(self) -> int:
        """Numbers of the matrix as it is kept."""
        return self.height * len(self.columns)

    @property
    def arrays(self) -> dict[str, int]:
        """Arrays that the code needs, with their lengths: what goes in and what comes out."""
        return {f"b{self.number}": len(self.columns), f"c{self.number}": self.height}

    def keep(self) -> list[Line]:
        """Return the stores of the matrix in the prepared vector."""
        return [
            Line(f"w[{self.place + j * self.height + i}]", value, (value,), "store")
            for i, row in enumerate(self.coefficients)
            for j, value in enumerate(row)
        ]

    def lines(self) -> list[Line]:
        """Return the code that fills the array of the rows."""
        gather = [Line(f"b{self.number}[{j}]", value, (value,), "store") for j, value in enumerate(self.columns)]
        loops = [self._loop(first) for first in range(0, self.height, _SIDE_BY_SIDE)]
        return gather + [Line("", loop, (), "call") for loop in loops]

    def _loop(self, first: int) -> str:
        sums = range(min(_SIDE_BY_SIDE, self.height - first) // 4)
        start, out = f"w + {self.place + first} + j * {self.height}", f"c{self.number} + {first}"
        added = " ".join(f"s{k} += *(const sc_four *)(m + {4 * k}) * x;" for k in sums)
        return (
            f"{{ sc_four {', '.join(f's{k} = {{0.0}}' for k in sums)}; "
            f"for (int j = 0; j < {len(self.columns)}; j++) {{ const double *m = {start}; const double v = b{self.number}[j]; "
            f"const sc_four x = {{v, v, v, v}}; {added} }} "
            + " ".join(f"*(sc_four *)({out} + {4 * k}) = s{k};" for k in sums)
            + " }"
        )


def find_maps(
    values: Sequence[Assignment], results: Sequence[str], is_early: Callable[[str], bool]
) -> tuple[list[Assignment], list[LinearMap]]:
    """Return the code with the rows of linear maps read from arrays, and the maps.

    Parameters
    ----------
    values : sequence of Assignment
        Code in which values that depend on parameters only stand under their own names.
    results : sequence of str
        Values that are stored.
    is_early : function
        Whether a name depends on parameters only.
    """
    sums = _sums(values, results, is_early)
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, terms in sums.items():
        groups.setdefault(tuple(value for _, value in terms), []).append(name)
    maps: list[LinearMap] = []
    for columns, rows in groups.items():
        if len(rows) >= SMALLEST and len(columns) >= SMALLEST:
            coefficients = tuple(tuple(early for early, _ in sums[row]) for row in rows)
            maps.append(LinearMap(len(maps), tuple(rows), columns, coefficients))
    read = {row: f"c{item.number}[{i}]" for item in maps for i, row in enumerate(item.rows)}
    gone = _inside(values, set(read))
    kept = [value for value in values if value.name not in gone]
    return [
        replace(value, op=ca.OP_ASSIGN, operands=(read[value.name],), is_input=True) if value.name in read else value
        for value in kept
    ], maps


def weave_maps(lines: Sequence[Line], maps: Sequence[LinearMap]) -> list[Line]:
    """Put each map's code in front of the first of its rows."""
    first = {item.rows[0]: item for item in maps}
    woven: list[Line] = []
    for line in lines:
        if line.target in first:
            woven += first[line.target].lines()
        woven.append(line)
    return woven


def _sums(
    values: Sequence[Assignment], results: Sequence[str], is_early: Callable[[str], bool]
) -> dict[str, list[tuple[str, str]]]:
    """Complete sums of products (early, late) by name, in the order of summation."""
    uses = Counter([*results, *(operand for value in values for operand in value.operands)])
    found: dict[str, list[tuple[str, str]]] = {}
    for value in values:
        if value.op == ca.OP_MUL and len({is_early(item) for item in value.operands}) == 2:
            early, late = sorted(value.operands, key=is_early, reverse=True)
            found[value.name] = [(early, late)]
        elif value.op == ca.OP_ADD and all(item in found and uses[item] == 1 for item in value.operands):
            long, short = sorted(value.operands, key=lambda item: len(found[item]), reverse=True)
            if len(found[short]) == 1:
                found[value.name] = found.pop(long) + found.pop(short)
    return found


def _inside(values: Sequence[Assignment], rows: set[str]) -> set[str]:
    """Return the products and partial sums that only rows of maps use."""
    operands = {value.name: value.operands for value in values}
    by_op = {value.name: value.op for value in values}
    gone: set[str] = set()
    waiting = [item for row in rows for item in operands[row]]
    while waiting:
        name = waiting.pop()
        if name in gone or by_op.get(name) not in (ca.OP_ADD, ca.OP_MUL):
            continue
        gone.add(name)
        if by_op[name] == ca.OP_ADD:
            waiting += operands[name]
    return gone
