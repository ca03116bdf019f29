"""Closed-loop simulation: from equations, a law and a starting state to labelled histories and events."""
