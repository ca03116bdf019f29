"""Ready systems with natural constraints."""
