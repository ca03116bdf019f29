"""Labelled results, their files, and what makes them doubtful."""
