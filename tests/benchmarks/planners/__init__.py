"""Planners: time of a path, time of a flexible maneuver."""
