"""Reference implementations of the C kernels of `dynamics/recursion`, in numpy."""
