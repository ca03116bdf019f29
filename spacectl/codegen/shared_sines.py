"""Sines and cosines of state entries as values that a function is handed, so that plant, sensors and law share them.

Turns ``sin(x[i])`` in straight-line code into a read of ``turns[2 i]`` (cosine: the entry behind). Such a function has two
entries in C: ``NAME_turned`` gets the table behind its arguments, ``NAME`` makes the table itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import casadi as ca

from spacectl.codegen.assignment import Assignment

__all__ = ["FEWEST", "entry_with_own_turns", "take_turns"]

FEWEST = 2  #: angles from which a table is worth its name


def take_turns(values: Sequence[Assignment], argument: int) -> tuple[list[Assignment], tuple[int, ...]]:
    """Return the code with sines of entries of an argument read from the table, and the entries (none: nothing is changed).

    An argument -1 is none.
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
