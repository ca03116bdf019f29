"""Smaller linear models, with the error that this makes."""
