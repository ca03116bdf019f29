"""Straight-line code before C is generated: assignments, and shorter forms of long or repeated parts.

`Assignment` is one line. `find_maps` replaces sums of products by a matrix and a loop. `take_turns` reads
sines and cosines of state entries from a table shared by plant, sensors and law.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import casadi as ca

from spacectl.codegen.chunks import Line

__all__ = [
    "FEWEST",
    "PRELUDE",
    "Assignment",
    "LinearMap",
    "entry_with_own_turns",
    "find_maps",
    "take_turns",
    "weave_maps",
]


@dataclass(frozen=True)
class Assignment:
    """One assignment ``name = expression`` of the straight-line code, or a store to an output."""

    name: str
    op: int
    operands: tuple[str, ...]
    is_early: bool  # depends on the hoisted input only
    is_input: bool = False


SMALLEST = 4  #: rows and columns from which a map becomes a loop
_SIDE_BY_SIDE = 32  # rows of one loop: eight sums of four

PRELUDE = """#ifndef SC_FOUR
#define SC_FOUR
typedef double sc_four __attribute__((vector_size(32), aligned(8), may_alias));
#endif
"""


@dataclass(frozen=True)
class LinearMap:
    """Rows ``sum_j coefficients[i][j] columns[j]`` of named values; the matrix begins at `place` in w."""

    number: int
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    coefficients: tuple[tuple[str, ...], ...]
    place: int = 0

    @property
    def height(self) -> int:
        """Rows of the stored matrix: a multiple of four."""
        return -(-len(self.rows) // 4) * 4

    @property
    def size(self) -> int:
        """Number of entries of the stored matrix."""
        return self.height * len(self.columns)

    @property
    def arrays(self) -> dict[str, int]:
        """Return the input and output arrays of the code, with their lengths."""
        return {f"b{self.number}": len(self.columns), f"c{self.number}": self.height}

    def keep(self) -> list[Line]:
        """Return the stores of the matrix in the prepared vector."""
        return [
            Line(f"w[{self.place + j * self.height + i}]", value, (value,), "store")
            for i, row in enumerate(self.coefficients)
            for j, value in enumerate(row)
        ]

    def lines(self) -> list[Line]:
        """Return the code that computes the array of rows."""
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
    """Return the code, with the rows of linear maps read from arrays, and these maps.

    Parameters
    ----------
    values : sequence of Assignment
        Code in which values that depend on parameters only have names of their own.
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
    removed = _inside(values, set(read))
    kept = [value for value in values if value.name not in removed]
    return [
        replace(value, op=ca.OP_ASSIGN, operands=(read[value.name],), is_input=True) if value.name in read else value
        for value in kept
    ], maps


def weave_maps(lines: Sequence[Line], maps: Sequence[LinearMap]) -> list[Line]:
    """Insert each map's code before its first row."""
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
    removed: set[str] = set()
    waiting = [item for row in rows for item in operands[row]]
    while waiting:
        name = waiting.pop()
        if name in removed or by_op.get(name) not in (ca.OP_ADD, ca.OP_MUL):
            continue
        removed.add(name)
        if by_op[name] == ca.OP_ADD:
            waiting += operands[name]
    return removed


FEWEST = 2  #: angles from which a table is used


def take_turns(values: Sequence[Assignment], argument: int) -> tuple[list[Assignment], tuple[int, ...]]:
    """Return the code with sines and cosines of argument entries read from the table, and these entries.

    Without entries the code is unchanged. `argument` -1 means none.
    """
    entries: dict[str, int] = {}  # name of a value that is an entry of the argument
    angles: set[int] = set()
    changed: list[Assignment] = []
    for value in values:
        array, _, rest = value.operands[0].partition("[") if value.operands else ("", "", "")
        if value.is_input and array == f"a{argument}":
            entries[value.name] = int(rest.rstrip("]"))
        elif value.op in (ca.OP_SIN, ca.OP_COS) and value.operands[0] in entries:
            angle = entries[value.operands[0]]
            angles.add(angle)
            place = f"turns[{2 * angle + (value.op == ca.OP_COS)}]"
            value = replace(value, op=ca.OP_ASSIGN, operands=(place,), is_input=True)
        changed.append(value)
    return (changed, tuple(sorted(angles))) if len(angles) >= FEWEST else (list(values), ())


def entry_with_own_turns(name: str, n_in: int, argument: int, angles: Sequence[int]) -> str:
    """Return C text of ``int NAME(...)`` around ``NAME_turned``."""
    table = [f"    turns[{2 * k}] = sin(x[{k}]); turns[{2 * k + 1}] = cos(x[{k}]);" for k in angles]
    given = ", ".join([*(f"arg[{i}]" for i in range(n_in)), "turns"])
    text = [
        f"int {name}(const double **arg, double **res, long long *iw, double *w, int mem) {{",
        f"    double turns[{2 * max(angles) + 2}];",
        f"    const double *const x = arg[{argument}];",
        f"    const double *with[] = {{{given}}};",
        *table,
        f"    return {name}_turned(with, res, iw, w, mem);",
        "}",
    ]
    return "\n".join(text)
