"""Native driver of closed-loop runs, and its reference implementation in Python."""
