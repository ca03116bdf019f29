"""Constraint embedding (004): local loops folded into aggregate joints of an order-N recursion."""
