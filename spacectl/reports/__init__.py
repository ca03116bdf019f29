"""Turns results into figures, pages and folders. It reads results, never recomputes, and alone imports plotting libraries."""
