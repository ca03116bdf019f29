"""Rotations, twists, wrenches and inertias: one formula for numbers (numpy) and for symbols (CasADi)."""
