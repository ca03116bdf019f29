"""How many random cases tests draw: few in `make test`, all in `make test-all`."""

from __future__ import annotations

from typing import Any

import pytest

__all__ = ["first_of"]


def first_of(seeds: range, few: int) -> list[Any]:
    """Seeds for `parametrize`, all but the first few of them marked as slow."""
    return [*seeds[:few], *(pytest.param(seed, marks=pytest.mark.slow) for seed in seeds[few:])]
