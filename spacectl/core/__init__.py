"""Contracts shared by all layers: errors, labels, arrays, trajectories, laws, studies."""
