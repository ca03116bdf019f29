"""Analysis of closed loops: margins, spillover, growth of poles."""
