"""`StudyRecord`: information about a run for its report, besides the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from spacectl.core.provenance import versions
from spacectl.core.studies.requirement import Requirement

__all__ = ["StudyRecord"]


ACRONYMS = {"fem": "FEM", "iftomm": "IFToMM", "lqg": "LQG", "lqr": "LQR", "pd": "PD", "rae": "RAE", "ssrms": "SSRMS"}


@dataclass(frozen=True, kw_only=True)
class StudyRecord:
    """Information about a run for its report, besides the result.

    Parameters
    ----------
    name : str
        Title of the page, usually the study's name.
    question : str
        Question of the study.
    parameters, defaults : dataclass instances, optional
        Parameters of this run and those of the study; differences are marked.
    is_quick : bool
        Whether the run was the short form of the study.
    warnings : tuple of str
        Warnings that qualify the results.
    units : mapping of str to str
        SI units of metrics and parameters, by name, as far as they are known.
    requirements : tuple of Requirement
        Requirements of the user on the metrics.
    provenance : mapping
        Versions and hashes; default: the versions of this installation.
    """

    name: str
    question: str = ""
    parameters: Any = None
    defaults: Any = None
    is_quick: bool = False
    warnings: tuple[str, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)
    requirements: tuple[Requirement, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=lambda: {"versions": versions()})

    @property
    def title(self) -> str:
        """The name in words."""
        words = " ".join(ACRONYMS.get(word, word) for word in self.name.replace("_", " ").split())
        return words[:1].upper() + words[1:]
