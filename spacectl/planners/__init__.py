"""Maneuvers before they are flown: paths, limits, the phase plane, direct collocation."""
