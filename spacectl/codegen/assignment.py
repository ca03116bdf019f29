"""`Assignment`: one line of straight-line code before it becomes C."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Assignment"]


@dataclass(frozen=True)
class Assignment:
    """One assignment ``name = expression`` of the straight-line code, or a store to an output."""

    name: str
    op: int
    operands: tuple[str, ...]
    is_early: bool  # depends on the hoisted input only
    is_input: bool = False
