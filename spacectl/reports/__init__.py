"""Figures, pages and folders of results. This package reads results, never recomputes, and alone imports plotting libraries."""
