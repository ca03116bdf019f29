"""Rotations, twists, wrenches and inertias, with formulas for both numpy and CasADi."""
