"""What closed loops do: margins, spillover, growth of poles."""
