"""Constraint equations: their terms, solvers for constrained accelerations, projection, redundancy."""
