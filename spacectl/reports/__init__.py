"""Turns results into figures, pages and folders. It reads results, never recomputes, and alone imports plotting libraries."""

from spacectl.reports.figures import draw_figure, save_figure
from spacectl.reports.folder import rebuild_report, write_study_folder
from spacectl.reports.gallery import GalleryEntry, write_gallery
from spacectl.reports.page import write_report
from spacectl.reports.record import StudyRecord

__all__ = [
    "GalleryEntry",
    "StudyRecord",
    "draw_figure",
    "rebuild_report",
    "save_figure",
    "write_gallery",
    "write_report",
    "write_study_folder",
]
