"""What needs planner, law and simulation together: plans flown again, near-minimum time, comparisons."""
