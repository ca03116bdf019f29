"""Figures, pages and folders of results.

This package reads results without recomputing them. Only it imports plotting libraries.
"""
