"""`sequence_of`: checks that an argument is a sequence of objects of one class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from spacectl.core.errors import ModelError

__all__ = ["sequence_of"]


def sequence_of(kind: type, values: Any, what: str) -> tuple[Any, ...]:
    """Return `values` as a tuple whose entries are all of one kind; `what` names it in the error.

    Raises
    ------
    ModelError
        For a single value (text is not split into letters) and for entries of another class.

    Examples
    --------
    >>> sequence_of(str, ["a", "b"], "names")
    ('a', 'b')
    """
    if isinstance(values, Iterable) and not isinstance(values, (str, bytes, Mapping, kind)):
        entries = tuple(values)
        wrong = [entry for entry in entries if not isinstance(entry, kind)]
        if not wrong:
            return entries
        values = wrong[0]
    cure = f"; write ({values!r},)" if isinstance(values, str) and kind is str else ""
    raise ModelError(f"{what}: expected a sequence of {kind.__name__}, got {values!r}{cure}")
