"""Classes of a user's own, defined in the tests: one file each, served everywhere."""
