"""`EquationsOfMotion`: what every formulation produces and everything downstream starts from."""
