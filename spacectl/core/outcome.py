"""How a computation ended: one status, one sentence, and the counts behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

__all__ = ["Outcome", "Status"]


class Status(StrEnum):
    """Ways a solver, planner or simulation can end."""

    OK = "ok"  #: reached what was asked
    EVENT = "event"  #: stopped early by a guard that asks for it
    DIVERGED = "diverged"  #: stopped early by a guard that marks a failure
    FAILED = "failed"  #: could not go on (the message says where and why)
    LIMIT = "limit"  #: ran out of steps or iterations
    INTERRUPTED = "interrupted"  #: stopped by the user


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Status, message and statistics of a finished computation.

    Parameters
    ----------
    status : Status
        How it ended.
    message : str
        One sentence for a person.
    stats : mapping
        Counts and times, for example ``n_steps``.
    """

    status: Status = Status.OK
    message: str = "done"
    stats: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_success(self) -> bool:
        """True when the computation reached what was asked, or a guard that asked it to stop and marks no failure."""
        return self.status in (Status.OK, Status.EVENT)
