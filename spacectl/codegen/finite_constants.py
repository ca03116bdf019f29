"""Reject functions that contain infinite or undefined constants before C code is generated.

CasADi folds ``y / 0`` and ``0 * inf`` into constants while expressions are formed, so a model that cannot be
solved appears as such a constant. Our emitter has no literal for it, and CasADi's generated code would
propagate it silently.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from spacectl.core.errors import ModelError

__all__ = ["refuse_constant", "require_finite_constants"]


def require_finite_constants(function: ca.Function) -> None:
    """Raise `ModelError`, naming function and output, if a constant of `function` or of one it calls is not finite."""
    for part in (function, *function.find_functions()):
        is_scalar = part.is_a("SXFunction")
        if not is_scalar and not part.is_a("MXFunction"):
            continue  # built in, or a callback: no instructions to read
        for k in range(part.n_instructions()):
            if part.instruction_id(k) != ca.OP_CONST:
                continue
            value = part.instruction_constant(k) if is_scalar else part.instruction_MX(k).to_DM()
            if not np.all(np.isfinite(np.asarray(value))):
                refuse_constant(part, k, np.asarray(value).ravel())


def refuse_constant(function: ca.Function, k: int, value: object) -> None:
    """Raise `ModelError` for the constant of instruction `k`, naming the outputs that use it."""
    numbers = np.ravel(np.asarray(value, dtype=float))
    bad = numbers[~np.isfinite(numbers)][0]
    outputs = _outputs_that_use(function, k)
    raise ModelError(
        f"function '{function.name()}': {', '.join(outputs)} uses the constant {bad:g}, which is not finite and has no C "
        "form; an expression divides by zero or a matrix of the model is singular for every state. Omit "
        "infinite limits, and check divisions"
    )


def _outputs_that_use(function: ca.Function, first: int) -> list[str]:
    """Return the names (with entries, for scalar functions) of the outputs that use instruction `first`."""
    names, found = function.name_out(), []
    tainted = set(function.instruction_output(first))
    for k in range(first + 1, function.n_instructions()):
        where_in, where_out = function.instruction_input(k), function.instruction_output(k)
        uses = bool(tainted & set(where_in))
        if function.instruction_id(k) == ca.OP_OUTPUT:
            entry = f"[{where_out[1]}]" if function.is_a("SXFunction") else ""
            found += [f"output '{names[where_out[0]]}'{entry}"] if uses else []
        elif uses:
            tainted |= set(where_out)
        else:
            tainted -= set(where_out)  # a reused work slot
    return found[:3] or ["it"]
