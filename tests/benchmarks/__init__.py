"""Ours and the peers (Pinocchio, MuJoCo, scipy) on the same models and accuracy: `python -m tests.benchmarks`."""
