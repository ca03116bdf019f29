"""Order-N recursion over a tree: links, sweeps, their C kernels and the reference implementations of these."""
