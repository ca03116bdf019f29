"""Hand-over to and from other programs: python-control."""
