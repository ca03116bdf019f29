"""Linear models along a sweep or a periodic motion: Campbell diagrams, Floquet multipliers."""
