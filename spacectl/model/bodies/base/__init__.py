"""Base of all bodies, and modal coordinates, integrals, interfaces and damping of flexible ones."""
