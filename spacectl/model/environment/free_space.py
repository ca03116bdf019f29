"""`FreeSpace`: no gravity."""

from __future__ import annotations

from dataclasses import dataclass

from spacectl.model.environment.base import Environment

__all__ = ["FreeSpace"]


@dataclass(frozen=True, kw_only=True)
class FreeSpace(Environment):
    """No gravity."""

    @property
    def title(self) -> str:
        return "free space"
