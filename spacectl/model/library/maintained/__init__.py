"""Ready systems with constraints that actuators maintain."""
