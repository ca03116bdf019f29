"""Paths and the limits along them."""
