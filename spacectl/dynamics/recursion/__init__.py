"""Order-N recursion over a tree: links, sweeps, C kernels and their reference implementations."""
