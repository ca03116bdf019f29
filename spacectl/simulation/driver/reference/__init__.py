"""Reference implementation of the driver in Python, for machines without a compiler."""
