"""Turns results into figures, pages and folders. It reads results, never recomputes, and alone imports plotting libraries."""

from spacectl.reports.figures import draw_figure, save_figure
from spacectl.reports.folder import write_study_folder
from spacectl.reports.page import StudyRecord, write_report

__all__ = ["StudyRecord", "draw_figure", "save_figure", "write_report", "write_study_folder"]
