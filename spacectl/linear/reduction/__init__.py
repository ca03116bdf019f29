"""Reduction of linear models, with error bounds."""
