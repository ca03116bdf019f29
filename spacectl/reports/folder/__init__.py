"""What a run leaves behind: folders, galleries, files of metrics."""
