"""Output of runs: folders, galleries, files of metrics."""
