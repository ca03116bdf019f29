"""Planning of maneuvers: paths, limits, the phase plane, direct collocation, bang-bang plans."""
