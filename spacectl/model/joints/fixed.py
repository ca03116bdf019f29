"""`Fixed`: no relative motion."""

from __future__ import annotations

from dataclasses import dataclass

from spacectl.model.joints.base import Joint

__all__ = ["Fixed"]


@dataclass(frozen=True, kw_only=True)
class Fixed(Joint):
    """No relative motion."""
