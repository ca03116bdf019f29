"""C code from expressions, compiled and loaded through a private, verified cache, and fast calls of it."""
