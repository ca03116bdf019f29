"""Modes, stability, controllability and periodic motions of linear models."""
