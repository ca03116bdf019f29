"""Switches of expressions: arguments of minimum, maximum, absolute value and sign that cross zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca

__all__ = ["switching_function"]

_PAIRS = (ca.OP_FMIN, ca.OP_FMAX)
_SINGLE = (ca.OP_FABS, ca.OP_SIGN)


def switching_function(function: ca.Function, *, constant: Sequence[str] = ()) -> ca.Function | None:
    """Return a function of the same arguments whose values cross zero where `function` may have a kink.

    ``fmin(a, b)`` and ``fmax(a, b)`` switch where ``a - b`` is zero, ``fabs(a)`` and ``sign(a)`` where a is. Comparisons
    are ignored: ``if_else`` often chooses between two forms of one smooth expression.

    Parameters
    ----------
    function : casadi.Function
        Any function; no switches are found in one that cannot be expanded to scalars.
    constant : sequence of str
        Names of arguments that are constant during a run; expressions of these alone never switch.

    Returns
    -------
    casadi.Function or None
        With one output; None if nothing switches.

    Examples
    --------
    >>> x = ca.SX.sym("x")
    >>> switching_function(ca.Function("f", [x], [ca.fmax(x, 2.0) + ca.fmin(2.0, x)]))(5.0)
    DM(3)
    """
    try:
        f = function if function.is_a("SXFunction") else function.expand()
    except RuntimeError:  # it solves equations, or calls a function without scalar form
        return None
    if not any(f.instruction_id(k) in (*_PAIRS, *_SINGLE) for k in range(f.n_instructions())):
        return None
    symbols = [ca.SX.sym(name, f.numel_in(i)) for i, name in enumerate(f.name_in())]
    moving = ca.veccat(*[s for s, name in zip(symbols, f.name_in(), strict=True) if name not in constant])
    found: list[tuple[Any, Any]] = []
    for a, b in _switches(f, symbols):
        if ca.depends_on(a - b, moving) and not any(_is_same(a, b, *known) for known in found):
            found.append((a, b))
    g = ca.vertcat(*[a - b for a, b in found])
    return ca.Function("switches", symbols, [g], f.name_in(), ["g"]) if found else None


def _is_same(a: Any, b: Any, c: Any, d: Any) -> bool:
    """Return whether a - b and c - d are structurally equal up to the sign."""
    return (ca.is_equal(a, c, 4) and ca.is_equal(b, d, 4)) or (ca.is_equal(a, d, 4) and ca.is_equal(b, c, 4))


def _switches(f: ca.Function, symbols: list[Any]) -> list[tuple[Any, Any]]:
    """Find pairs that are equal where a minimum, maximum, absolute value or sign switches."""
    work: dict[int, Any] = {}
    found = []
    for k in range(f.n_instructions()):
        op, to, given = f.instruction_id(k), f.instruction_output(k), f.instruction_input(k)
        if op == ca.OP_OUTPUT:
            continue
        if op == ca.OP_INPUT:
            work[to[0]] = symbols[given[0]][given[1]]
        elif op == ca.OP_CONST:
            work[to[0]] = ca.SX(f.instruction_constant(k))
        else:
            values = [work[i] for i in given]
            if op in _PAIRS:
                found.append((values[0], values[1]))
            elif op in _SINGLE:
                found.append((values[0], ca.SX(0.0)))
            work[to[0]] = ca.SX.unary(op, *values) if len(values) == 1 else ca.SX.binary(op, *values)
    return found
