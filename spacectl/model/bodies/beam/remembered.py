"""Cached results for bodies that differ in their names only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import lru_cache, wraps
from typing import Any, TypeVar

__all__ = ["remembered"]

_RECENT = 64  # bodies with cached results

Result = TypeVar("Result")


class _Content:
    """A body as a key: all of its fields except the name, and its interfaces."""

    def __init__(self, body: Any):
        own = tuple(getattr(body, item.name) for item in fields(body) if item.name != "name")
        self.body, self.key = body, (type(body), own, body.basis, tuple(body.interface_directions.items()))

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Content) and self.key == other.key


def remembered(compute: Callable[[Any], Result]) -> Callable[[Any], Result]:
    """Cache `compute` by the content of a body; callers must not change the result."""

    @lru_cache(maxsize=_RECENT)
    def known(content: _Content) -> Result:
        return compute(content.body)

    @wraps(compute)
    def call(body: Any) -> Result:
        content = _Content(body)
        try:
            hash(content)
        except TypeError:  # an unhashable field such as a list
            return compute(body)
        return known(content)

    return call
