"""The symbolic accessor that user functions receive: ``lambda s: s["elbow"] - s.t``.

It maps names to CasADi symbols, so that guards and laws are written in named quantities and compiled as
expressions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import casadi as ca

from spacectl.core.errors import ModelError, ShapeError, unknown_name
from spacectl.core.labels import Labels

__all__ = ["Accessor", "as_column", "evaluate_rule"]


class Accessor:
    """Named symbols. Vectors by attribute (``s.x``, ``s.u``), entries by name (``s["elbow"]``), time as ``s.t``.

    Parameters
    ----------
    vectors : mapping of str to (symbol, Labels)
        For example ``{"x": (x, state_labels), "u": (u, input_labels)}``. If two vectors share a name, the
        first one is used.
    t : symbol
        Time [s].
    """

    def __init__(self, vectors: Mapping[str, tuple[Any, Labels]], t: Any):
        self.t = t
        self._vectors = {key: symbol for key, (symbol, _) in vectors.items()}
        self._entries: dict[str, Any] = {}
        for symbol, labels in vectors.values():
            for i, name in enumerate(labels.names):
                self._entries.setdefault(name, symbol[i])

    def __getattr__(self, name: str) -> Any:
        vectors = self.__dict__.get("_vectors", {})
        if name in vectors:
            return vectors[name]
        raise AttributeError(unknown_name("vector", name, ["t", *vectors]))

    def __getitem__(self, name: str) -> Any:
        if name not in self._entries:
            raise ModelError(unknown_name("quantity", name, self._entries))
        return self._entries[name]


def as_column(value: Any, size: int, what: str) -> Any:
    """Return `value` (symbol, number, list of either) as a dense SX column of length `size`."""
    parts = list(value) if isinstance(value, (list, tuple)) else [value]
    column = ca.densify(ca.vertcat(*[ca.SX(part) for part in parts])) if parts else ca.SX(0, 1)
    if column.shape[1] != 1 or column.shape[0] != size:
        raise ShapeError(f"{what}: expected {size} values, got shape {column.shape}")
    for i in range(size):
        if column[i].is_constant() and not math.isfinite(float(column[i])):  # float(symbol) is NaN, without an error
            raise ModelError(
                f"{what}: entry {i + 1} is {float(column[i])}; use casadi functions (casadi.sin), not math.sin or float"
            )
    return column


def evaluate_rule(rule: Callable[[Accessor], Any], s: Accessor, what: str) -> Any:
    """Evaluate a user's rule on symbols; explain the two common mistakes in the error."""
    try:
        return rule(s)
    except (ModelError, AttributeError) as error:
        raise ModelError(f"{what}: {error}") from error
    except Exception as error:
        raise ModelError(
            f"{what}: the function failed on symbols ({type(error).__name__}: {error}); use casadi functions "
            "(casadi.sin, casadi.if_else), not math.sin, numpy or Python's if"
        ) from error
