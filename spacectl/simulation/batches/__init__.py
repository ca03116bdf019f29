"""Batches: many runs of one closed loop, natively in threads."""
