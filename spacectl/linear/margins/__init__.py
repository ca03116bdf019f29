"""Margins and norms of loops: disks, classical pairs, structured singular values."""
