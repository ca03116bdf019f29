"""The gallery: a page of all studies with questions, figures, verdicts and published results beside ours.

It is made from result folders, without computing anything.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from spacectl.core.errors import ModelError
from spacectl.core.studies.published import VERDICTS
from spacectl.reports.folder.folder import PAGE, read_document
from spacectl.reports.page.figure_data import figure_from_data
from spacectl.reports.page.figures import render_figure
from spacectl.reports.page.page import judge_document, template, write_text
from spacectl.reports.page.summary import StudyRecord, printed_rows

__all__ = ["INDEX", "MARK", "GalleryEntry", "check_index", "write_gallery"]

INDEX = "index.html"
MARK = '<meta name="generator" content="spacectl gallery">'  #: a later run replaces only pages with this mark
PANELS = 2  # largest number of panels of a figure on a card
WORDS = (*VERDICTS, "")


@dataclass(frozen=True, kw_only=True)
class GalleryEntry:
    """One study of a gallery.

    Parameters
    ----------
    name, question : str
        Of the study.
    state : {"done", "kept", "failed", "waiting"}
        Whether it ran now, ran before, failed, or has not run yet.
    error : str
        Reason for the failure, in one line.
    """

    name: str
    question: str
    state: str
    error: str = ""


def write_gallery(folder: Path, entries: Sequence[GalleryEntry], *, is_quick: bool) -> Path:
    """Write ``index.html`` in a folder that contains a result folder for each completed study.

    Raises
    ------
    ModelError
        If there is another ``index.html``.
    """
    check_index(folder)
    cards = [_card(folder, entry) for entry in entries]
    rows = [{"study": card["name"], "title": card["title"], **row} for card in cards for row in card["printed"]]
    counts = {word: sum(row["verdict"] == word for row in rows) for word in WORDS}
    states = {state: sum(entry.state == state for entry in entries) for state in ("done", "kept", "failed", "waiting")}
    page = template("gallery.html").render(
        cards=cards, rows=rows, counts=counts, states=states, is_quick=is_quick, mark=MARK
    )
    return write_text(folder / INDEX, page)


def check_index(folder: Path) -> None:
    """Raise if a folder has an ``index.html`` that is not a gallery of spacectl."""
    index = folder / INDEX
    if index.exists() and MARK not in index.read_text(encoding="utf-8", errors="replace")[:2000]:
        raise ModelError(f"gallery '{folder}': its {INDEX} is not one of spacectl's; choose another folder for --out")


def _card(folder: Path, entry: GalleryEntry) -> dict[str, Any]:
    card: dict[str, Any] = {
        "name": entry.name, "title": StudyRecord(name=entry.name).title,
        "question": entry.question, "state": entry.state, "error": entry.error, "printed": [],
        "picture": "", "link": "", "caption": "", "notes": [], "seconds": "", "met": 0, "asked": 0,
    }  # fmt: skip
    if entry.state not in ("done", "kept"):
        return card
    document = read_document(folder / entry.name)
    verdicts = judge_document(document)
    seconds = next((row["value"] for row in document["provenance"] if row["key"] == "seconds"), "")
    card |= {
        "link": f"{entry.name}/{PAGE}",
        "printed": printed_rows(document["printed"]),
        "notes": document["notes"][:2],
        "seconds": seconds,
        "met": sum(verdict.is_met for verdict in verdicts),
        "asked": len(verdicts),
        **_picture(document),
    }
    return card


def _picture(document: Mapping[str, Any]) -> dict[str, str]:
    if not document["figures"]:
        return {}
    figure = document["figures"][0]
    drawn = figure_from_data(figure)
    drawn = replace(drawn, panels=drawn.panels[:PANELS])
    drawing = render_figure(drawn, suffix="png", has_title=False, is_transparent=True, dpi=75)
    return {"picture": f"data:image/png;base64,{base64.b64encode(drawing).decode('ascii')}", "caption": figure["title"]}
