"""C code from CasADi scalar expressions, with what depends on parameters only hoisted out of the call.

Turns a function of named vectors into two C functions: ``NAME_prepare(p, w)``, run once for given parameters, and
``NAME(arg, res, iw, w, mem)`` with CasADi's calling convention, run at every step. Each value is its own constant
variable, which leaves scheduling and registers to the compiler.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from spacectl.core.errors import ModelError

__all__ = ["EmittedC", "emit_function"]

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


@dataclass(frozen=True)
class EmittedC:
    """C text of a function and of its preparation, and the length of the prepared vector w."""

    name: str
    text: str
    n_prepared: int


def emit_function(function: ca.Function, name: str, *, hoist: str = "p") -> EmittedC:
    """C code of a scalar (SX) function.

    Parameters
    ----------
    function : casadi.Function
        Made from SX expressions, with dense outputs.
    name : str
        Name of the C function.
    hoist : str
        Name of the input on which alone the prepared values may depend.

    Returns
    -------
    EmittedC
        With ``void NAME_prepare(const double *p, double *w)`` and
        ``int NAME(const double **arg, double **res, long long *iw, double *w, int mem)``.
    """
    if not function.is_a("SXFunction"):
        raise ModelError(f"function '{function.name()}': only scalar (SX) functions become C; expand it first")
    inputs = function.name_in()
    hoisted = inputs.index(hoist) if hoist in inputs else -1
    slots: dict[int, tuple[str, bool]] = {}  # work slot -> (C name of its value, depends on parameters only)
    early: list[str] = []
    late: list[str] = []
    kept: dict[str, int] = {}  # early values that later code reads, with their place in w

    def read(slot: int, in_late: bool) -> str:
        value, is_early = slots[slot]
        if in_late and is_early and not _is_number(value):
            if value not in kept:
                kept[value] = len(kept)
            return f"w[{kept[value]}]"
        return value

    for k in range(function.n_instructions()):
        op = function.instruction_id(k)
        where_in, where_out = function.instruction_input(k), function.instruction_output(k)
        if op == ca.OP_OUTPUT:
            late.append(f"    res[{where_out[0]}][{where_out[1]}] = {read(where_in[0], True)};")
            continue
        target = where_out[0]
        if op == ca.OP_CONST:
            slots[target] = (_number(function.instruction_constant(k)), True)
            continue
        if op == ca.OP_INPUT:
            is_early = where_in[0] == hoisted
            slots[target] = (f"p[{where_in[1]}]" if is_early else f"a{where_in[0]}[{where_in[1]}]", is_early)
            continue
        is_early = all(slots[slot][1] for slot in where_in)
        expression = _expression(op, [read(slot, not is_early) for slot in where_in], function.name())
        value = f"{'e' if is_early else 'v'}{k}"
        (early if is_early else late).append(f"    const double {value} = {expression};")
        slots[target] = (value, is_early)
    return EmittedC(name, _assemble(function, name, hoisted, early, late, kept), len(kept))


def _assemble(
    function: ca.Function, name: str, hoisted: int, early: list[str], late: list[str], kept: dict[str, int]
) -> str:
    arguments = [f"    const double *const a{i} = arg[{i}];" for i in range(function.n_in()) if i != hoisted]
    unused = [f"    (void)a{i};" for i in range(function.n_in()) if i != hoisted]
    stores = [f"    w[{place}] = {value};" for value, place in kept.items()]
    return "\n".join(
        [
            f"void {name}_prepare(const double *p, double *w) {{",
            "    (void)p; (void)w;",
            *early,
            *stores,
            "}",
            "",
            f"int {name}(const double **arg, double **res, long long *iw, double *w, int mem) {{",
            *arguments,
            *unused,
            "    (void)iw; (void)mem; (void)w;",
            *late,
            "    return 0;",
            "}",
            "",
        ]
    )


def _expression(op: int, operands: list[str], where: str) -> str:
    if op in _BINARY:
        return f"{operands[0]} {_BINARY[op]} {operands[1]}"
    if op in _CALLS:
        return f"{_CALLS[op]}({', '.join(operands)})"
    if op in _SHAPES:
        return _SHAPES[op].format(*operands)
    raise ModelError(f"function '{where}': operation {op} has no C form")


def _number(value: float) -> str:
    """A literal that reads back exactly; negative ones in brackets."""
    text = float(value).hex()
    return f"({text})" if value < 0 else text


def _is_number(value: str) -> bool:
    return value.startswith(("0x", "(-0x"))
