"""`EquationsOfMotion`: the common result of all formulations, and the starting point of all analyses."""
