"""Runs through stages: constraints that are switched on and off, and impulses."""
