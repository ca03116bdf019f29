"""The native driver of closed loops, and its reference implementation in Python."""
