"""Contracts that every layer shares: errors, labels, arrays, trajectories, laws, studies."""
