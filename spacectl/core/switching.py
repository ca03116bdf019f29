"""Where expressions switch: the arguments of minimum, maximum, absolute value and sign that pass through zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca

__all__ = ["switching_function"]

_PAIRS = (ca.OP_FMIN, ca.OP_FMAX)
_SINGLE = (ca.OP_FABS, ca.OP_SIGN)


def switching_function(function: ca.Function, *, constant: Sequence[str] = ()) -> ca.Function | None:
    """Function of the same arguments whose values pass through zero where a function of scalars may have a kink.

    ``fmin(a, b)`` and ``fmax(a, b)`` switch where ``a - b`` is zero, ``fabs(a)`` and ``sign(a)`` where a is. Comparisons
    are left out: ``if_else`` often chooses between two forms of one smooth expression.

    Parameters
    ----------
    function : casadi.Function
        Any; one that cannot be written in scalars has no switches that can be seen.
    constant : sequence of str
        Names of arguments that do not change during a run: what depends on them alone never switches.

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
    except RuntimeError:  # it solves equations, or calls something that has no scalar form
        return None
    if not any(f.instruction_id(k) in (*_PAIRS, *_SINGLE) for k in range(f.n_instructions())):
        return None
    symbols = [ca.SX.sym(name, f.numel_in(i)) for i, name in enumerate(f.name_in())]
    moving = ca.veccat(*[s for s, name in zip(symbols, f.name_in(), strict=True) if name not in constant])
    found: list[Any] = []
    for value in _switches(f, symbols):
        same = any(ca.is_equal(value, sign * known, 4) for known in found for sign in (1.0, -1.0))
        if ca.depends_on(value, moving) and not same:
            found.append(value)
    return ca.Function("switches", symbols, [ca.vertcat(*found)], f.name_in(), ["g"]) if found else None


def _switches(f: ca.Function, symbols: list[Any]) -> list[Any]:
    """What passes through zero at each minimum, maximum, absolute value and sign, by following the function's steps."""
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
                found.append(values[0] - values[1])
            elif op in _SINGLE:
                found.append(values[0])
            work[to[0]] = ca.SX.unary(op, *values) if len(values) == 1 else ca.SX.binary(op, *values)
    return found
