"""Maneuvers that combine planner, law and simulation: simulated plans, near-minimum time, comparisons."""
