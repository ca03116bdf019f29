"""Direct collocation on the exact equations."""
