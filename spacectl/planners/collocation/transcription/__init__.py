"""From a problem to a nonlinear programme with exact sparse derivatives."""
