"""Planted faults: each is one wrong expression in a copy of the tree that named tests must notice (`make mutants`)."""
