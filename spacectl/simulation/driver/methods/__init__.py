"""Coefficients of the integration methods."""
