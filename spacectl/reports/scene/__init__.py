"""The 3-D replay of a simulation."""
