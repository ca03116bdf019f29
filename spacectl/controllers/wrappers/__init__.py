"""Wrappers around laws: hardware limits, delay, filters, noise, anti-windup."""
