"""Closed-loop simulation: from equations, a law and an initial state to labelled histories and events."""
