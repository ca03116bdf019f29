"""Bodies: rigid ones, and flexible ones given by sections, dimensions, finite elements or modes."""
