"""`ReportPanel`: a user-defined section of reports, as data (`Section`) that the page renders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spacectl.core.errors import ShapeError
from spacectl.core.figure import Figure
from spacectl.core.input_checks import sequence_of

__all__ = ["ReportPanel", "Section"]


@dataclass(frozen=True, kw_only=True)
class Section:
    """Contents of a panel: sentences, a table, figures, in this order.

    Parameters
    ----------
    title : str
        Heading.
    text : tuple of str
        Paragraphs.
    columns : tuple of str
        Headings of the table, with units: ``"peak [N m]"``.
    rows : tuple of tuples
        Texts and numbers, one entry a column.
    figures : tuple of Figure
        Figures.
    """

    title: str
    text: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    figures: tuple[Figure, ...] = ()

    def __post_init__(self) -> None:
        for name, kind in (("text", str), ("columns", str), ("figures", Figure)):
            found = sequence_of(kind, getattr(self, name), f"section '{self.title}': {name}")
            object.__setattr__(self, name, found)
        object.__setattr__(self, "rows", tuple(tuple(row) for row in self.rows))
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ShapeError(
                    f"section '{self.title}': a row has {len(row)} entries, expected {len(self.columns)}, one a column"
                )


@dataclass(frozen=True, kw_only=True)
class ReportPanel:
    """Base of user-defined panels of reports: ``write_report(sim, path, panels=(MyPanel(),))``.

    A subclass provides (1) `show`, which reads a result and returns a `Section`. The section is stored with the result,
    so that the page can be rendered again without the class. A panel must not change or recompute the result.
    """

    def show(self, result: Any) -> Section:
        """Return the section about a `StudyResult`.

        Parameters
        ----------
        result : StudyResult
            Its ``simulations``, ``metrics``, ``plans``, ... A report about a single simulation has it under the name
            ``"simulation"``.
        """
        raise NotImplementedError(f"{type(self).__name__}: define show(self, result)")
