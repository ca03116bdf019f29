"""The report: one HTML file that holds everything it shows."""
