"""`Beam`: a straight elastic beam."""
