"""Outcome of a computation: status, message and statistics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

__all__ = ["Outcome", "Status"]


class Status(StrEnum):
    """Final status of a solver, planner or simulation."""

    OK = "ok"  #: completed
    EVENT = "event"  #: stopped early by a guard, as requested
    DIVERGED = "diverged"  #: stopped early by a guard that marks a failure
    FAILED = "failed"  #: could not continue (the message says where and why)
    LIMIT = "limit"  #: ran out of steps or iterations
    INTERRUPTED = "interrupted"  #: stopped by the user


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Status, message and statistics of a finished computation.

    Parameters
    ----------
    status : Status
        Final status.
    message : str
        One sentence for the user.
    stats : mapping
        Counts and times, for example ``n_steps``.
    """

    status: Status = Status.OK
    message: str = "done"
    stats: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_success(self) -> bool:
        """Whether the computation was completed, or stopped by a guard that does not mark a failure."""
        return self.status in (Status.OK, Status.EVENT)
