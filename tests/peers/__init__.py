"""The same systems in other programs (Pinocchio, MuJoCo) and in the point-cloud reference."""
