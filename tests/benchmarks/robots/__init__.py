"""Real robots: their descriptions, and the calls of the documentation on them."""
