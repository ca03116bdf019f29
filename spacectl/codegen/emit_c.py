"""C code from CasADi scalar expressions, with values that depend on parameters only hoisted out of the call.

A function of named vectors becomes two C functions: ``NAME_prepare(p, w)``, run once for given parameters,
and ``NAME(arg, res, iw, w, mem)`` with CasADi's calling convention, run at every step. Each value is its own
constant variable, which leaves scheduling and registers to the compiler. A divisor used twice is inverted
once.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import accumulate
from math import isfinite

import casadi as ca

from spacectl.codegen.chunks import CHUNKED_FROM, Line, emit_body
from spacectl.codegen.finite_constants import refuse_constant
from spacectl.codegen.straight_line import (
    PRELUDE,
    Assignment,
    LinearMap,
    entry_with_own_turns,
    find_maps,
    take_turns,
    weave_maps,
)
from spacectl.core.errors import ModelError

__all__ = ["EmittedC", "assignment_lines", "can_emit", "emit_function", "emit_step", "straight_line"]

_BINARY = {ca.OP_ADD: "+", ca.OP_SUB: "-", ca.OP_MUL: "*", ca.OP_DIV: "/", ca.OP_LT: "<", ca.OP_LE: "<=", ca.OP_EQ: "==",
           ca.OP_NE: "!=", ca.OP_AND: "&&", ca.OP_OR: "||"}  # fmt: skip
_CALLS = {
    ca.OP_EXP: "exp", ca.OP_LOG: "log", ca.OP_POW: "pow", ca.OP_CONSTPOW: "pow", ca.OP_SQRT: "sqrt", ca.OP_SIN: "sin",
    ca.OP_COS: "cos", ca.OP_TAN: "tan", ca.OP_ASIN: "asin", ca.OP_ACOS: "acos", ca.OP_ATAN: "atan", ca.OP_FLOOR: "floor",
    ca.OP_CEIL: "ceil", ca.OP_FMOD: "fmod", ca.OP_FABS: "fabs", ca.OP_COPYSIGN: "copysign", ca.OP_FMIN: "fmin",
    ca.OP_FMAX: "fmax", ca.OP_SINH: "sinh", ca.OP_COSH: "cosh", ca.OP_TANH: "tanh", ca.OP_ASINH: "asinh",
    ca.OP_ACOSH: "acosh", ca.OP_ATANH: "atanh", ca.OP_ATAN2: "atan2", ca.OP_ERF: "erf",
}  # fmt: skip
_SHAPES = {
    ca.OP_ASSIGN: "{0}", ca.OP_NEG: "-{0}", ca.OP_SQ: "{0} * {0}", ca.OP_TWICE: "{0} + {0}", ca.OP_INV: "1.0 / {0}",
    ca.OP_NOT: "!{0}", ca.OP_SIGN: "(double)(({0} > 0.0) - ({0} < 0.0))", ca.OP_IF_ELSE_ZERO: "({0} != 0.0 ? {1} : 0.0)",
}  # fmt: skip

Stores = list[tuple[tuple[int, int], str]]  #: ((output, entry), value)


@dataclass(frozen=True)
class EmittedC:
    """C text of a function and its preparation, length of the prepared vector w, and tabulated angles."""

    name: str
    text: str
    n_prepared: int
    angles: tuple[int, ...] = ()


def can_emit(function: ca.Function) -> bool:
    """Return whether a function is made of scalar expressions alone (no calls of other functions)."""
    return bool(function.is_a("SXFunction")) and not function.find_functions()


def emit_function(
    function: ca.Function,
    name: str,
    *,
    hoist: str = "p",
    turns: str = "",
    chunked_from: int = CHUNKED_FROM,
    is_exact: bool = False,
) -> EmittedC:
    """Return C code of a scalar (SX) function, with a separate preparation.

    Parameters
    ----------
    function : casadi.Function
        Made from SX expressions, with dense outputs.
    name : str
        Name of the C function.
    hoist : str
        Name of the only input on which the prepared values may depend.
    turns : str
        Name of the input whose sines and cosines may be passed as a table (see `take_turns`).
    chunked_from : int
        Number of lines from which the code is split into several functions (see `emit_body`).
    is_exact : bool
        Whether every operation is that of CasADi's virtual machine: no shared divisors, no loops over products.

    Returns
    -------
    EmittedC
        With ``void NAME_prepare(const double *p, double *w)`` and
        ``int NAME(const double **arg, double **res, long long *iw, double *w, int mem)``; with `angles` also
        ``NAME_turned``, which reads their sines and cosines from one more argument.
    """
    inputs = function.name_in()
    hoisted = inputs.index(hoist) if hoist in inputs else -1
    turned = inputs.index(turns) if turns in inputs else -1
    values, stores, early = _straight_line(function, hoisted)
    before = [value for value in values if value.is_early]
    after, angles = take_turns([value for value in values if not value.is_early], turned)
    maps: list[LinearMap] = []
    if not is_exact:
        after, maps = find_maps(after, [value for _, value in stores], lambda item: item in early or _is_number(item))
    after, results, keeping, maps, n_prepared = _place(after, stores, early, maps)
    is_long = len(before) + len(after) + len(keeping) + len(results) >= chunked_from
    early_chunks, early_body = emit_body(
        assignment_lines(before, function.name(), is_exact=is_exact),
        keeping,
        f"{name}_prepare",
        [("const double *", "p"), ("double *", "w")],
        is_disjoint=True,
        is_long=is_long,
    )
    given = {f"a{i}": i for i in range(function.n_in()) if i != hoisted}
    if angles:
        given["turns"] = function.n_in()
    arrays = {array: size for item in maps for array, size in item.arrays.items()}
    pointers = [*(("const double *", item) for item in given), *(("double *", item) for item in arrays)]
    chunks, body = emit_body(
        weave_maps(assignment_lines(after, function.name(), is_exact=is_exact), maps),
        results,
        name,
        [*pointers, ("double **", "res"), ("const double *", "w")],
        is_long=is_long,
    )
    text = [
        *([PRELUDE] if maps else []),
        *early_chunks,
        f"void {name}_prepare(const double *p, double *w) {{",
        "    (void)p; (void)w;",
        *early_body,
        "}",
        *chunks,
        f"int {name}{'_turned' if angles else ''}(const double **arg, double **res, long long *iw, double *w, int mem) {{",
        *(f"    const double *const {item} = arg[{i}]; (void){item};" for item, i in given.items()),
        *(f"    double {array}[{size}];" for array, size in arrays.items()),
        "    (void)iw; (void)mem; (void)w; (void)res;",
        *body,
        "    return 0;",
        "}",
        *([entry_with_own_turns(name, function.n_in(), turned, angles)] if angles else []),
    ]
    return EmittedC(name, "\n".join(text) + "\n", n_prepared, angles)


def _place(
    after: list[Assignment], stores: Stores, early: set[str], maps: list[LinearMap]
) -> tuple[list[Assignment], list[Line], list[Line], list[LinearMap], int]:
    """Assign places in w to the early values that later code reads.

    Returns the code, the stores of results and of w, the maps, and the length of w.
    """
    kept: dict[str, str] = {}

    def late(operand: str) -> str:
        return kept.setdefault(operand, f"w[{len(kept)}]") if operand in early else operand

    after = [replace(value, operands=tuple(map(late, value.operands))) for value in after]
    results = [Line(f"res[{i}][{k}]", late(value), (late(value),), "store") for (i, k), value in stores]
    ends = list(accumulate((item.size for item in maps), initial=len(kept)))
    maps = [replace(item, place=place) for item, place in zip(maps, ends[:-1], strict=True)]
    keeping = [Line(place, value, (value,), "store") for value, place in kept.items()]
    return after, results, keeping + [line for item in maps for line in item.keep()], maps, ends[-1]


def emit_step(function: ca.Function, name: str) -> str:
    """Return C text of ``static void NAME(const double *const *a, double *const *r)`` for a scalar (SX) function."""
    values, stores = straight_line(function)
    text = [
        f"static void {name}(const double *const *a, double *const *r) {{",
        *(f"    const double *const a{i} = a[{i}]; (void)a{i};" for i in range(function.n_in())),
        "    (void)r;",
        *(line.text for line in assignment_lines(values, function.name())),
        *(f"    r[{i}][{k}] = {value};" for (i, k), value in stores),
        "}",
    ]
    return "\n".join(text) + "\n"


def straight_line(function: ca.Function) -> tuple[list[Assignment], Stores]:
    """Return the assignments of a scalar (SX) function, and its stores ((output, entry), value)."""
    return _straight_line(function, -1)[:2]


def _straight_line(function: ca.Function, hoisted: int) -> tuple[list[Assignment], Stores, set[str]]:
    """Return the assignments, the stores ((output, entry), value) and the names that depend on the hoisted input only."""
    if not can_emit(function):
        raise ModelError(f"function '{function.name()}': only scalar (SX) functions become C; expand it")
    slots: dict[int, str] = {}  # work slot -> C name of its value
    values: list[Assignment] = []
    stores: Stores = []
    early: set[str] = set()
    for k in range(function.n_instructions()):
        op, where_in, where_out = (
            function.instruction_id(k),
            function.instruction_input(k),
            function.instruction_output(k),
        )
        if op == ca.OP_OUTPUT:
            stores.append(((where_out[0], where_out[1]), slots[where_in[0]]))
        elif op == ca.OP_CONST:
            number = function.instruction_constant(k)
            if not isfinite(number):
                refuse_constant(function, k, number)
            slots[where_out[0]] = _number(number)
        elif op == ca.OP_INPUT:
            is_early = where_in[0] == hoisted
            place = f"{'p' if is_early else f'a{where_in[0]}'}[{where_in[1]}]"
            values.append(Assignment(f"v{k}", ca.OP_ASSIGN, (place,), is_early, True))
            slots[where_out[0]] = f"v{k}"
        else:
            operands = tuple(slots[slot] for slot in where_in)
            is_early = all(operand in early or _is_number(operand) for operand in operands)
            values.append(Assignment(f"v{k}", op, operands, is_early))
            slots[where_out[0]] = f"v{k}"
        if values and values[-1].is_early:
            early.add(values[-1].name)
    return values, stores, early


def assignment_lines(values: list[Assignment], where: str, *, is_exact: bool = False) -> list[Line]:
    """Return the assignments as C; unless they are exact, invert a divisor once if it is used several times."""
    divisors = Counter(value.operands[1] for value in values if value.op == ca.OP_DIV and not is_exact)
    inverses: dict[str, str] = {}
    lines: list[Line] = []
    for value in values:
        if value.op == ca.OP_DIV and divisors[value.operands[1]] > 1:
            over, under = value.operands
            if under not in inverses:
                inverses[under] = f"i{len(inverses)}"
                lines.append(Line(inverses[under], f"1.0 / {under}", (under,)))
            inverse = inverses[under]
            lines.append(Line(value.name, f"{over} * {inverse}", (over, inverse)))
        else:
            expression = _expression(value.op, list(value.operands), where)
            lines.append(Line(value.name, expression, value.operands, "input" if value.is_input else "value"))
    return lines


def _expression(op: int, operands: list[str], where: str) -> str:
    if op in _BINARY:
        return f"{operands[0]} {_BINARY[op]} {operands[1]}"
    if op in _CALLS:
        return f"{_CALLS[op]}({', '.join(operands)})"
    if op in _SHAPES:
        return _SHAPES[op].format(*operands)
    raise ModelError(f"function '{where}': operation {op} has no C form")


def _number(value: float) -> str:
    """Return a literal that is read back exactly; enclose negative values in parentheses."""
    text = float(value).hex()
    return f"({text})" if value < 0 else text


def _is_number(value: str) -> bool:
    return value.startswith(("0x", "(-0x"))
