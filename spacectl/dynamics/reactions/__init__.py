"""Reactions: tension, wrenches of constraints and of the base, and whether they are unique."""
