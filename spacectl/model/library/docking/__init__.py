"""Ready docking mechanisms with closed loops."""
