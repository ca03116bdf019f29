"""What all flexible bodies share: modal coordinates, integrals, interfaces, damping."""
