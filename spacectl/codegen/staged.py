"""C code from a CasADi function whose arguments become known in stages.

Values that depend on the first arguments only are computed in the first stage, and cached if later stages
read them. Each result is stored by the first stage that can compute it. One expression thus gives the
outward, inward and acceleration steps of a recursion, and nothing is computed twice.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from spacectl.codegen.chunks import CHUNKED_FROM, Line, emit_body
from spacectl.codegen.emit_c import assignment_lines, straight_line
from spacectl.codegen.straight_line import Assignment

__all__ = ["emit_stages"]


def emit_stages(function: ca.Function, name: str, stages: Sequence[int]) -> tuple[str, int]:
    """Return C text of the functions ``NAME_k(a, r, w)``, one a stage, and the length of the cache w.

    Parameters
    ----------
    function : casadi.Function
        Made from SX expressions, with dense outputs.
    name : str
        Prefix of the C functions.
    stages : sequence of int
        Stage in which each argument becomes known, from 0. Values of different later stages must not be mixed.

    Returns
    -------
    (str, int)
        Text and cache length.
    """
    values, stores = straight_line(function)
    stage = _stages(values, stages)
    kept: dict[str, str] = {}

    def late(operand: str, at: int) -> str:
        if stage.get(operand, at) == at:
            return operand
        return kept.setdefault(operand, f"w[{len(kept)}]")

    lines: list[list[Assignment]] = [[] for _ in range(max(stages) + 1)]
    for value in values:
        at = stage[value.name]
        operands = value.operands if value.is_input else tuple(late(item, at) for item in value.operands)
        lines[at].append(Assignment(value.name, value.op, operands, False, value.is_input))
    results: list[list[Line]] = [[] for _ in lines]
    for (i, k), stored in stores:
        results[stage.get(stored, 0)].append(Line(f"r[{i}][{k}]", stored, (stored,), "store"))
    keeping = [Line(place, value, (value,), "store") for value, place in kept.items()]
    text = []
    memory = [
        *(("const double *", f"a{i}") for i in range(function.n_in())),
        ("double *const *", "r"),
        ("double *", "w"),
    ]
    for k, (own, outs) in enumerate(zip(lines, results, strict=True)):
        outs = outs + keeping if k == 0 else outs
        is_long = len(own) + len(outs) >= CHUNKED_FROM
        chunks, body = emit_body(assignment_lines(own, function.name()), outs, f"{name}_{k}", memory, is_long=is_long)
        text += [
            *chunks,
            f"static void {name}_{k}(const double *const *a, double *const *r, double *w) {{",
            *(f"    const double *const a{i} = a[{i}]; (void)a{i};" for i in range(function.n_in())),
            "    (void)r; (void)w;",
            *body,
            "}",
        ]
    return "\n".join(text) + "\n", len(kept)


def _stages(values: list[Assignment], stages: Sequence[int]) -> dict[str, int]:
    """Return the stage of each value: the latest stage of its operands."""
    found: dict[str, int] = {}
    for value in values:
        if value.is_input:
            argument = int(value.operands[0].partition("[")[0].removeprefix("a"))
            found[value.name] = stages[argument]
        else:
            found[value.name] = max((found.get(item, 0) for item in value.operands), default=0)
    return found
