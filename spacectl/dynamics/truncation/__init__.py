"""Truncated orders of flexible bodies, and the terms that premature linearisation omits."""
