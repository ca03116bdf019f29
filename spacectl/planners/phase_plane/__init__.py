"""Minimum time along a path by its phase plane."""
