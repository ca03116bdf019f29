"""Closing the loops of a mechanism: states, errors, singular positions."""
