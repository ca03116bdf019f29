"""Sequential partitioning of loops (002): plans, elimination, closed forms, native code."""
