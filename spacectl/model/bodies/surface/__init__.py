"""Thin surfaces: Kirchhoff-Love theory, Ritz functions, shells."""
