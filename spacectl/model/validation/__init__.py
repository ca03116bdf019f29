"""Checks of a whole system."""
