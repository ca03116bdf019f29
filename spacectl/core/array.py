"""`Array`: a read-only float array, compared and hashed by content, for frozen descriptions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from spacectl.core.errors import ModelError, ShapeError

__all__ = ["Array", "as_array", "as_scalar"]


class Array:
    """Read-only array of floats with value semantics.

    numpy converts it wherever it accepts an array (write ``np.asarray(a)`` in formulas). Equality is one boolean and equal
    content has an equal hash, so a frozen dataclass with such a field is comparable and hashable.

    Parameters
    ----------
    values : array-like
        Numbers of any shape; they are copied.

    Examples
    --------
    >>> Array([1.0, 2.0]) == Array((1, 2))
    True
    >>> np.asarray(Array([1.0, 2.0])) * 2
    array([2., 4.])
    """

    __slots__ = ("_values",)

    def __init__(self, values: Any):
        array = np.array(values, dtype=float, order="C")
        array += 0.0  # -0.0 and 0.0 are the same content
        array.setflags(write=False)
        self._values = array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if dtype is not None and np.dtype(dtype) != self._values.dtype:
            return self._values.astype(dtype)
        return self._values.copy() if copy else self._values

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape, as of the numpy array."""
        return self._values.shape

    @property
    def size(self) -> int:
        """Number of entries."""
        return self._values.size

    @property
    def T(self) -> np.ndarray:
        """Transpose (a numpy view)."""
        return self._values.T

    def __len__(self) -> int:
        return len(self._values)

    def __float__(self) -> float:
        return float(self._values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __getitem__(self, key: Any) -> Any:
        return self._values[key]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Array):
            return NotImplemented
        return self._values.shape == other._values.shape and bool(np.array_equal(self._values, other._values))

    def __hash__(self) -> int:
        return hash((self._values.shape, self._values.tobytes()))

    def __repr__(self) -> str:
        if self.size > 12:
            return f"Array(shape={self.shape}, sha256={self.sha256()[:12]})"
        return f"Array({self._values.tolist()})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (Array, (np.array(self._values),))

    def tolist(self) -> Any:
        """Return nested lists of floats."""
        return self._values.tolist()

    def sha256(self) -> str:
        """Return the sha256 hash of shape and content."""
        return hashlib.sha256(repr(self.shape).encode() + self._values.tobytes()).hexdigest()


def as_array(values: Any, shape: tuple[int, ...] | None, what: str) -> Array:
    """Return `values` as a finite `Array` of the given shape; `what` names it in the error.

    Raises
    ------
    ShapeError
        If the shape differs.
    ModelError
        If an entry is not a finite number, or is text, even text of a number.
    """
    try:
        given = np.asarray(values)
        has_texts = _has_texts(given)
        if given.dtype.kind == "c":
            raise ModelError(
                f"{what}: expected real numbers, got {values!r}; take .real if the imaginary part is rounding"
            )
        array = Array(values)
    except (TypeError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"{what}: expected numbers, got {values!r}") from error
    if has_texts:
        raise ModelError(f"{what}: expected numbers, got text in {values!r}; write them without quotes, in SI units")
    if shape is not None and array.shape != shape:
        raise ShapeError(f"{what}: expected shape {shape}, got {array.shape}")
    if not np.all(np.isfinite(array)):
        raise ModelError(f"{what}: {array.tolist()} has an entry that is not finite; give finite SI numbers")
    return array


def _has_texts(given: np.ndarray) -> bool:
    if given.dtype.kind == "O":
        return any(isinstance(entry, (str, bytes)) for entry in given.flat)
    return given.dtype.kind in "SU"


def as_scalar(value: Any, what: str) -> float:
    """Return `value` as a finite float; `what` names it in the error. Text and booleans raise `ModelError`."""
    is_number = (
        not isinstance(value, (str, bytes, bool)) and getattr(value, "dtype", np.dtype(float)).kind not in "bcSU"
    )
    if not is_number:
        raise ModelError(f"{what}: expected a number, got {value!r}; write it without quotes, in SI units")
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelError(f"{what}: expected a number, got {value!r}") from error
    if not np.isfinite(number):
        raise ModelError(f"{what}: got {number}; give a finite SI number")
    return number + 0.0
