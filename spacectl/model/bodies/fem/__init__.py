"""Finite-element models: files, checks, reduction, second-order shapes."""
