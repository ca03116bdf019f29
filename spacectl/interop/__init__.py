"""Conversion to and from other programs: python-control."""
