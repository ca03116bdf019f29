"""Native kernels: generated steps of the recursion, the sweeps that drive them, and their numpy twins."""
